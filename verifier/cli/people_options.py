"""What the commands share by which people say something: which dispute, whose key, and what is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.options import DEFAULT_LEDGER, ledger_option
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.cli.output import Output
    from verifier.ledger import Content, Ledger
    from verifier.ledger.speak import Fields, Spoken
    from verifier.ledger.standing import Replay
    from verifier.model.dispute_status import DisputeStatus, StandingRuling

Command = Callable[..., Any]

TIES = ("none", "same-institution", "coauthor", "reporter", "case-writer", "author")
_MIN_DIGITS = 6


def key_options(command: Command) -> Command:
    """`--key`, `--group` and `--request`: who says it, for which team, and whether it is a retry."""
    command = click.option("--request", default="", metavar="UUID", help="Repeat it to retry without saying it twice.")(
        command
    )
    command = click.option("--group", default="", metavar="TEAM", help="The pseudonym of your team.")(command)
    return click.option("--key", "key_file", required=True, metavar="FILE", help="Your private key.")(command)


def text_options(command: Command) -> Command:
    """`--text` and `--text-file`: what is said, in words."""
    command = click.option("--text-file", metavar="FILE", help="The same from a file, in UTF-8; - is standard input.")(
        command
    )
    return click.option("--text", default="", metavar="WORDS", help="What you have to say.")(command)


def dispute_command(command: Command) -> Command:
    """The argument DISPUTE and the options of every command that speaks about one."""
    return click.argument("which", metavar="DISPUTE")(key_options(ledger_option(command)))


def words(text: str, text_file: str | None) -> str:
    """What is said. Raises BadInput for both options at once, or a file that cannot be read."""
    from verifier.ledger.people_schema import MAX_TEXT

    if text_file is None:
        return text
    if text:
        raise BadInput("the words are given twice", where="--text-file", mend="give --text or --text-file")
    with click.open_file(text_file, "rb") as file:
        data: bytes = file.read(4 * MAX_TEXT + 1)
    try:
        decoded = data.decode()
    except UnicodeDecodeError as error:
        raise BadInput("it is not UTF-8", where=text_file) from error
    if len(decoded) > MAX_TEXT:
        raise BadInput(f"it has more than {MAX_TEXT} characters", where=text_file, mend="say it in fewer words")
    return decoded


def chosen_dispute(which: str, book: Ledger) -> str:
    """The id of the dispute that a case folder, or the first digits of the id, name. Raises BadInput."""
    from pathlib import Path

    if (Path(which) / "case.toml").is_file() or which.endswith("case.toml"):
        from verifier.casefile import load

        return load(which).dispute_id
    prefix = which.strip().lower()
    if len(prefix) < _MIN_DIGITS or len(prefix) > 64 or set(prefix) - set("0123456789abcdef"):
        raise BadInput(
            f"{which[:80]!r} is neither a case folder nor a dispute's id",
            where="DISPUTE",
            mend=f"name a case folder, or at least {_MIN_DIGITS} digits of the id that `verifier docket` shows",
        )
    ids = {str(entry.content.get("dispute", "")) for entry in book.entries("registration")}
    found = sorted(one for one in ids if one.startswith(prefix))
    if len(found) == 1:
        return found[0]
    what = "several disputes begin with it" if found else "no dispute registered in this ledger begins with it"
    raise BadInput(what, where=f"DISPUTE {prefix[:16]}", mend="see `verifier docket --all`")


def standing(read: Replay, dispute: str) -> tuple[DisputeStatus, StandingRuling]:
    """The dispute's status and the ruling that stands. Raises NotAllowed where there is no ruling."""
    from verifier.model.disputes import NotAllowed

    status = read.statuses[dispute]
    if status.ruling is None:
        raise NotAllowed("there is no ruling on this dispute yet", mend="run the case first")
    return status, status.ruling


def open_ledger(ledger_url: str) -> Ledger:
    """The ledger, which must exist."""
    from verifier.ledger import Ledger

    return Ledger.open(ledger_url, create=False)


def told(
    output: Output,
    *,
    which: str,
    ledger_url: str,
    key_file: str,
    group: str,
    request: str,
    kind: str,
    fields: Callable[[Replay, str], dict[str, Content]],
    says: str,
) -> None:
    """Says it, and prints where the dispute stands then. `says` completes "Entry 7 records …"."""
    from verifier.ledger.keys import load_private
    from verifier.ledger.speak import speak

    private = load_private(key_file)
    with open_ledger(ledger_url) as book:
        dispute = chosen_dispute(which, book)
        content: Fields = lambda read: fields(read, dispute)  # noqa: E731  # one name bound to the dispute just found
        spoken = speak(book, private=private, kind=kind, fields=content, dispute=dispute, group=group, request=request)
    show_spoken(output, spoken, says=says, ledger_url=ledger_url)


def show_spoken(output: Output, spoken: Spoken, *, says: str, ledger_url: str) -> None:
    """Prints what an entry records and where its dispute stands."""
    from verifier.model.dispute_document import status_fields

    entry, status = spoken.entry, spoken.status
    before = "recorded before, " if spoken.found else ""
    sentence = f"Entry {entry.n}, {before}signed by {entry.by[:16]}, records {says}."
    fields: dict[str, Any] = {}
    if status is not None:
        sentence += f" {_uncounted(entry.leaf, status)}{standing_words(status)}"
        fields = status_fields(status)
    output.result(
        f"verifier/{entry.kind}/1",
        sentence,
        next_=[_docket(ledger_url)],
        n=entry.n,
        leaf=entry.leaf,
        by=entry.by,
        group=entry.group,
        request=entry.content.get("request"),
        found=spoken.found,
        **fields,
    )


def _uncounted(leaf: str, status: DisputeStatus) -> str:
    barred = next((one.barred for one in (*status.adjudications, *status.readings) if one.leaf == leaf), "")
    return f"It does not count: {barred}. " if barred else ""


def _docket(ledger_url: str) -> str:
    import shlex

    return shlex.join(["verifier", "docket", *(() if ledger_url == DEFAULT_LEDGER else ("--ledger", ledger_url))])


def standing_words(status: DisputeStatus) -> str:
    """One sentence: the state, who may see it, and the flags."""
    flags = [", a challenge is open"] if status.challenge_open else []
    flags += [", what the authors were told is out of date"] if status.notice_outdated else []
    return (
        f"The dispute {status.dispute[:12]} is {status.state} ({status.state.sentence}), "
        f"{status.visibility}{''.join(flags)}."
    )
