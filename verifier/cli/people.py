"""`verifier adjudicate|challenge|retract|publish|correct`: what people say about a ruling, as signed entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from verifier.cli.output import Output, with_output
from verifier.cli.people_options import TIES, dispute_command, standing, text_options, told, words
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.ledger import Content
    from verifier.ledger.standing import Replay


@click.command()
@dispute_command
@click.option("--agree/--disagree", "agrees", required=True, default=None, help="Whether you agree with the ruling.")
@click.option("--tie", type=click.Choice(TIES), required=True, help="What binds you to it; only none counts.")
@click.option("--reading", metavar="LEAF", help="About how this evidence reads, not about the ruling.")
@text_options
@with_output
def adjudicate(
    output: Output, agrees: bool, tie: str, reading: str | None, text: str, text_file: str | None, **common: Any
) -> None:
    """Agree or disagree with the ruling that stands, after reading its evidence."""
    from verifier.ledger import FreeText

    said = FreeText(words(text, text_file))

    def fields(read: Replay, dispute: str) -> dict[str, Content]:
        target = standing(read, dispute)[1].leaf if reading is None else whole_leaf(read, reading)
        about = "ruling" if reading is None else "reading"
        return {"about": about, "target": target, "agrees": agrees, "tie": tie, "text": said}

    word = "agreement" if agrees else "disagreement"
    about = "the ruling" if reading is None else f"the reading of {reading[:12]}"
    told(output, kind="adjudication", fields=fields, says=f"{word} with {about}", **common)


@click.command()
@dispute_command
@click.option("--end", "ended", metavar="LEAF", help="End this challenge, or disagreement, instead of opening one.")
@click.option("--how", type=click.Choice(("withdrawn", "dismissed", "sustained")), help="How it ended.")
@click.option("--tie", type=click.Choice(TIES), help="What binds you to the dispute, to decide a challenge.")
@text_options
@with_output
def challenge(
    output: Output,
    ended: str | None,
    how: str | None,
    tie: str | None,
    text: str,
    text_file: str | None,
    **common: Any,
) -> None:
    """Challenge the ruling that stands, or end a challenge."""
    from verifier.ledger import FreeText

    said = FreeText(words(text, text_file))
    if ended is None:
        if how or tie:
            raise BadInput("no challenge to end is named", where="--how", mend="name it with --end LEAF")
        if not said.text.strip():
            raise BadInput("the challenge says nothing", where="--text", mend="say what is wrong with the ruling")
        told(
            output,
            kind="challenge",
            fields=lambda read, dispute: {"target": standing(read, dispute)[1].leaf, "text": said},
            says="a challenge to the ruling",
            **common,
        )
        return
    if how is None or (how != "withdrawn" and tie is None):
        raise BadInput(
            "how the challenge ended is not said",
            where="--end",
            mend="add --how withdrawn, or --how dismissed or sustained with --tie",
        )
    told(
        output,
        kind="challenge-end",
        fields=lambda read, _dispute: {
            "target": whole_leaf(read, ended),
            "how": how,
            "tie": tie or "none",
            "text": said,
        },
        says=f"that the challenge {ended[:12]} was {how}",
        **common,
    )


@click.command()
@dispute_command
@text_options
@with_output
def retract(output: Output, text: str, text_file: str | None, **common: Any) -> None:
    """Withdraw the ruling that stands. Only the reporter or an administrator can."""
    from verifier.ledger import FreeText

    said = FreeText(words(text, text_file))
    if not said.text.strip():
        raise BadInput("the retraction gives no reason", where="--text", mend="say why the ruling is withdrawn")

    def fields(read: Replay, dispute: str) -> dict[str, Content]:
        status, ruling = standing(read, dispute)
        return {"target": ruling.leaf, "notices": [notice.leaf for notice in status.notices], "text": said}

    told(output, kind="retraction", fields=fields, says="that the ruling is withdrawn", **common)


@click.command()
@dispute_command
@click.option("--ground", type=click.Choice(("window", "consent", "not-upheld")), required=True, help="On what ground.")
@click.option("--source", default="", metavar="WHERE", help="What is public already, for the ground not-upheld.")
@with_output
def publish(output: Output, ground: str, source: str, **common: Any) -> None:
    """Make a dispute public, where the table of docs/people.md gives a ground."""
    from verifier.ledger import FreeText

    fields: dict[str, Content] = {"ground": ground, "source": FreeText(source)}
    told(output, kind="publication", fields=lambda _read, _dispute: fields, says="that the dispute is public", **common)


def whole_leaf(read: Replay, prefix: str) -> str:
    """The leaf hash of the one entry that begins with these digits. Raises BadInput."""
    found = read.leaves_like(prefix.strip().lower())
    if len(found) == 1:
        return found[0]
    what = "several entries begin with it" if found else "no entry of this ledger begins with it"
    raise BadInput(what, where=f"LEAF {prefix[:16]}", mend="see `verifier ledger log`")
