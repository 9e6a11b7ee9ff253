"""`verifier ledger admit|rotate` and `verifier withhold`: what administrators do, and how a person's key changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from verifier.cli.options import ledger_option
from verifier.cli.output import Output, with_output
from verifier.cli.people import whole_leaf
from verifier.cli.people_options import key_options, open_ledger, show_spoken, text_options, words
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.ledger import Content
    from verifier.ledger.keys import PublicKey
    from verifier.ledger.standing import Replay


@click.command()
@ledger_option
@key_options
@click.option("--public", "vkey", metavar="VKEY", help="The key that is admitted; your own where left out.")
@click.option("--administrator", is_flag=True, help="Admit it as an administrator's; the first admits itself.")
@click.option("--pseudonym", default="", metavar="NAME", help="How cases call its owner, as reporter or writer.")
@with_output
def admit(
    output: Output,
    ledger_url: str,
    key_file: str,
    group: str,
    request: str,
    vkey: str | None,
    administrator: bool,
    pseudonym: str,
) -> None:
    """Record whose key is whose. Only an administrator does; the first one of a ledger admits itself."""
    from verifier.ledger import Ledger
    from verifier.ledger.keys import fingerprint, load_private, parse_vkey
    from verifier.ledger.speak import speak

    if not administrator and not pseudonym:
        raise BadInput(
            "nothing is said of the key", where="--public", mend="add --pseudonym NAME, --administrator, or both"
        )
    private = load_private(key_file)
    public = private.public if vkey is None else parse_vkey(vkey, where="--public")
    role = "administrator" if administrator else "person"
    content = _key(public, role=role, pseudonym=pseudonym)
    with Ledger.open(ledger_url, create=True) as book:
        spoken = speak(book, private=private, kind="key", fields=lambda _read: content, group=group, request=request)
    says = f"the key {fingerprint(public)[:16]} as that of {'an administrator' if administrator else 'a person'}"
    show_spoken(
        output, spoken, says=says + (f" whom cases call {pseudonym}" if pseudonym else ""), ledger_url=ledger_url
    )


def _key(
    public: PublicKey, *, role: str, pseudonym: str = "", replaces: str = "", proof: str = ""
) -> dict[str, Content]:
    import base64

    encoded = base64.b64encode(public.raw).decode()
    return {"role": role, "public": encoded, "pseudonym": pseudonym, "replaces": replaces, "proof": proof}


@click.command()
@ledger_option
@key_options
@click.option("--new", "new_file", required=True, metavar="FILE", help="The private key that takes its place.")
@click.option("--log", "log", is_flag=True, help="They are the log's own keys, which sign its checkpoints.")
@with_output
def rotate(output: Output, ledger_url: str, key_file: str, group: str, request: str, new_file: str, log: bool) -> None:
    """Replace your key by a new one. Both sign; the old one says nothing from then on."""
    import base64

    from verifier.ledger.keys import fingerprint, load_private, sign
    from verifier.ledger.log_keys import rotation_content
    from verifier.ledger.roster import rotation_bytes
    from verifier.ledger.speak import speak

    private, new = load_private(key_file), load_private(new_file)
    if log:
        content = rotation_content(private, new)
    else:
        proof = base64.b64encode(sign(new, rotation_bytes(new.public, private.public))).decode()
        content = _key(new.public, role="person", replaces=fingerprint(private.public), proof=proof)
    with open_ledger(ledger_url) as book:
        spoken = speak(book, private=private, kind="key", fields=lambda _read: content, group=group, request=request)
    replaced = "the log's key" if log else "the one"
    says = f"that the key {fingerprint(new.public)[:16]} replaces {replaced} that signs this"
    show_spoken(output, spoken, says=says, ledger_url=ledger_url)


@click.command()
@click.argument("which", metavar="N|LEAF")
@ledger_option
@key_options
@click.option("--at", "pointers", multiple=True, metavar="POINTER", help="The text there, such as /text; repeatable.")
@click.option(
    "--whole", is_flag=True, help="All that the entry says; for evidence no ruling rests on, imports, readings."
)
@text_options
@with_output
def withhold(
    output: Output,
    which: str,
    ledger_url: str,
    key_file: str,
    group: str,
    request: str,
    pointers: tuple[str, ...],
    whole: bool,
    text: str,
    text_file: str | None,
) -> None:
    """Take free texts of an entry out of the ledger, all of them or some. Only an administrator can."""
    from verifier.ledger import FreeText
    from verifier.ledger.keys import load_private
    from verifier.ledger.speak import speak

    if whole and pointers:
        raise BadInput("a whole entry and texts of it are named", where="--whole", mend="give --whole or --at")
    said = FreeText(words(text, text_file))
    private = load_private(key_file)
    with open_ledger(ledger_url) as book:
        entry = book.entry(int(which) if which.isdecimal() and int(which[:12]) <= book.size else which)
        known = {one.pointer: one.commitment for one in entry.texts}
        unknown = [pointer for pointer in pointers if pointer not in known]
        if unknown or (not known and not whole):
            raise BadInput(
                f"entry {entry.n} has no text {'at ' + unknown[0][:80] if unknown else 'left'}",
                where="--at",
                mend=f"name one of {', '.join(list(known)[:20])}" if known else "see `verifier ledger show`",
            )
        texts = [] if whole else [known[pointer] for pointer in pointers or known]

        def fields(read: Replay) -> dict[str, Content]:
            return {"target": whole_leaf(read, entry.leaf), "texts": list(texts), "text": said}

        spoken = speak(
            book,
            private=private,
            kind="withheld",
            fields=fields,
            dispute=lambda read: read.dispute_of(entry),
            group=group,
            request=request,
        )
    what = f"that entry {entry.n} is withheld" if whole else f"that {len(texts)} texts of entry {entry.n} are withheld"
    show_spoken(output, spoken, says=what, ledger_url=ledger_url)
