"""The API in this process: what it shows to whom, what it appends for whom, and that its description is true."""

from __future__ import annotations

import base64
import json
import sqlite3
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.judged import ledger_of, tried
from tests.integration.served import (
    ADMINISTRATOR,
    BASE,
    MARK,
    PRIVATE_PAPER,
    PUBLIC_PAPER,
    Reply,
    Served,
    make,
    public_key,
    say,
)
from verifier.ledger import KINDS, FreeText, Ledger
from verifier.ledger.checkpoints import open_checkpoint, sign_checkpoint
from verifier.ledger.content import Content, seal
from verifier.ledger.keys import PrivateKey, fingerprint, generate
from verifier.ledger.merkle import verify_consistency, verify_inclusion
from verifier.ledger.public import public_lines
from verifier.ledger.signed import signed_content
from verifier.web.openapi import description
from verifier.web.writes import MAX_BODY, SCOPES

ENTRIES = f"{BASE}/entries"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, str]]]:
    """A server over a ledger that the tests of this module only read."""
    path = tmp_path_factory.mktemp("served") / "verifier.db"
    ids = make(path)
    folder = path.with_name("verifier-checkpoints")
    folder.mkdir()
    served = Served(path)
    note = sign_checkpoint(ADMINISTRATOR, size=served.ledger.size, root=bytes.fromhex(served.ledger.root))
    (folder / f"{served.ledger.size}.txt").write_text(str(note))
    (folder / "5.txt").write_text("no checkpoint\n")
    with served.ledger:
        yield served, ids


@pytest.fixture
def writable(tmp_path: Path) -> Iterator[tuple[Served, dict[str, str]]]:
    ids = make(tmp_path / "verifier.db")
    served = Served(tmp_path / "verifier.db")
    with served.ledger:
        yield served, ids


def paths(ids: dict[str, str], size: int) -> list[str]:
    """Every question that can be asked, of everything in the ledger."""
    asked = [
        "",
        "/openapi.json",
        "/entries",
        "/entries?from=2&limit=3",
        "/checkpoints",
        f"/checkpoints/{size}",
        "/papers",
    ]
    asked += [f"/entries/{n}" for n in range(1, size + 1)] + [
        "/disputes",
        *(f"/disputes/{one}" for one in ids.values()),
    ]
    asked += [f"/proofs/inclusion?entry={n}" for n in range(1, size + 1)]
    asked += [f"/proofs/consistency?old={n}" for n in range(size + 1)]
    asked += [f"/verdicts?paper={one}" for one in (PUBLIC_PAPER, PRIVATE_PAPER, "2699.09999", "2699.09999v1")]
    return [BASE + one for one in asked]


# --- reading


def test_the_public_sees_nothing_of_a_private_dispute(made: tuple[Served, dict[str, str]]) -> None:
    served, ids = made
    size = served.ledger.size
    hidden = [ids["private"], PRIVATE_PAPER, MARK, "2699.09999"]
    for token in ("", served.token("append")):
        for path in paths(ids, size):
            said = served.get(path, token=token)
            assert not [one for one in hidden if one in said.body.decode() and one not in path], path
    told = served.get(f"{BASE}/disputes/{ids['private']}")
    assert told.status == 404
    assert told.body == served.get(f"{BASE}/disputes/{'0' * 64}").body
    assert served.get(f"{BASE}/verdicts?paper={PRIVATE_PAPER}").body == served.get(f"{BASE}/verdicts?paper=none").body


@pytest.mark.parametrize("scope", ["adjudicate", "administer"])
def test_who_adjudicates_or_administers_sees_all(made: tuple[Served, dict[str, str]], scope: str) -> None:
    served, ids = made
    token = served.token(scope)
    assert served.get(f"{BASE}/disputes/{ids['private']}", token=token).document["visibility"] == "private"
    (claim,) = served.get(f"{BASE}/verdicts?paper=2699.09999", token=token).document["claims"]
    assert claim["private"]
    assert MARK in served.get(ENTRIES, token=token).body.decode()


def test_a_public_page_is_the_public_export(made: tuple[Served, dict[str, str]]) -> None:
    served, _ = made
    head, *lines = public_lines(served.ledger.entries())
    document = served.get(ENTRIES).document
    assert (document["size"], document["root"]) == (head["size"], head["root"])
    quoted = {one["n"]: one for one in document["quoted"]["entries"]}
    for line, shown in zip(lines, document["entries"], strict=True):
        whole = quoted.get(line["n"], {})
        said = {"n": shown["n"], "leaf": shown["leaf"]}
        if whole:
            said |= {"salt": shown["salt"], **{name: whole[name] for name in ("envelope", "content", "texts")}}
        else:
            assert set(shown) == {"n", "leaf"}
        assert said == line


def test_an_alias_that_only_a_private_dispute_knows_names_nothing(tmp_path: Path) -> None:
    path = tmp_path / "verifier.db"
    make(path)
    with Ledger.open(path, create=False) as book, book.transaction() as transaction:
        tried(transaction, name="other", claim="Another claim.", version="2688.00001v2")
    served = Served(path)
    with served.ledger:
        for name in ("2688.00001", "arxiv:2688.00001v2"):
            assert served.get(f"{BASE}/verdicts?paper={name}").status == 404
            assert served.get(f"{BASE}/verdicts?paper={name}", token=served.token("administer")).status == 200
        for name in (PUBLIC_PAPER, f"openreview:{PUBLIC_PAPER}", "2606.01342", "arxiv:2606.01342v7"):
            assert served.get(f"{BASE}/verdicts?paper={name}").status == 200


def test_proofs_hold(made: tuple[Served, dict[str, str]]) -> None:
    served, _ = made
    size = served.ledger.size
    for total in (1, 6, size):
        for n in range(1, total + 1):
            told = served.get(f"{BASE}/proofs/inclusion?entry={n}&size={total}").document
            assert told["leaf"] == served.ledger.entry(n).leaf
            assert told["root"] == served.ledger.entry(total).root
            assert verify_inclusion(
                leaf=bytes.fromhex(told["leaf"]),
                index=n - 1,
                size=total,
                proof=[bytes.fromhex(one) for one in told["proof"]],
                root=bytes.fromhex(told["root"]),
            )
            told = served.get(f"{BASE}/proofs/consistency?old={n}&size={total}").document
            assert verify_consistency(
                old=n,
                old_root=bytes.fromhex(served.ledger.entry(n).root),
                size=total,
                root=bytes.fromhex(told["root"]),
                proof=[bytes.fromhex(one) for one in told["proof"]],
            )
    leaf = served.ledger.entry(3).leaf
    assert served.get(f"{BASE}/proofs/inclusion?entry={leaf}").document["n"] == 3
    assert served.get(f"{BASE}/proofs/inclusion?entry=3&size=2").status == 400
    assert served.get(f"{BASE}/proofs/consistency?old={size + 1}").status == 400


def test_checkpoints_are_the_signed_notes(made: tuple[Served, dict[str, str]]) -> None:
    served, _ = made
    size = served.ledger.size
    (row,) = served.get(f"{BASE}/checkpoints").document["checkpoints"]
    assert (row["size"], row["root"], row["fits"]) == (size, served.ledger.root, True)
    said = served.get(row["note"])
    assert said.headers["content-type"].startswith("text/plain")
    assert open_checkpoint(said.body, key=ADMINISTRATOR.public, where="there").checkpoint.size == size
    for other in ("5", "6", "08", "verifier"):
        assert served.get(f"{BASE}/checkpoints/{other}").status in (400, 404)


def test_pages_lead_through_all_of_it(made: tuple[Served, dict[str, str]]) -> None:
    served, _ = made
    at, found = f"{ENTRIES}?limit=3", []
    while at:
        page = served.get(at).document
        found += [one["n"] for one in page["entries"]]
        at = (page["next"] or [""])[0]
    assert found == list(range(1, served.ledger.size + 1))
    assert served.get(f"{ENTRIES}?from=1000").document["entries"] == []
    assert served.get(f"{ENTRIES}?limit=101").status == 400
    token = served.token("adjudicate")
    one, two = (served.get(f"{BASE}/disputes?from={n}&limit=1", token=token).document for n in (1, 2))
    assert one["next"] == [f"{BASE}/disputes?from=2&limit=1"]
    assert one["disputes"] != two["disputes"]
    assert two["next"] == []


def test_an_etag_saves_the_answer_until_something_changes(writable: tuple[Served, dict[str, str]]) -> None:
    served, ids = writable
    first = served.get(f"{BASE}/disputes")
    assert served.get(f"{BASE}/disputes", if_none_match=first.headers["etag"]).status == 304
    assert served.get(f"{BASE}/disputes", if_none_match=f'W/{first.headers["etag"]}, "x"').status == 304
    say(served.ledger, generate("ann"), "challenge", ids["public"], target=ruling_of(served, ids), text=FreeText("No."))
    again = served.get(f"{BASE}/disputes", if_none_match=first.headers["etag"])
    assert again.status == 200
    assert again.document["disputes"][0]["challenge_open"]
    assert "no-store" in served.get(BASE, token=served.token("append")).headers["cache-control"]


def ruling_of(served: Served, ids: dict[str, str]) -> str:
    leaf = served.get(f"{BASE}/disputes/{ids['public']}").document["ruling_leaf"]
    assert isinstance(leaf, str)
    return leaf


@pytest.mark.parametrize(
    "path",
    [
        "/entries/../../../etc/passwd",
        "/entries/%2e%2e/x",
        "/checkpoints/..%2f..%2fverifier",
        "/checkpoints/8.txt%00",
        "//entries",
        "/entries/",
        "/entries\\1",
        "/./entries",
        f"/entries/{'1' * 300}",
        "/entries/1e3",
        "/entries/٣",
        "/entries/-1",
        "/entries/0",
        "/entries/9999999999999999999999",
        "/checkpoints/../verifier.db",
        "/entries?from=1&from=2",
        "/entries?from=99999999999999999999",
        "/entries?limit=1e1",
        "/entries?from=+1",
        "/verdicts?paper=%00",
        "/verdicts?paper=",
        "/verdicts",
        f"/verdicts?paper={'x' * 3000}",
        f"/disputes/{'f' * 63}",
        f"/disputes/{'F' * 64}",
    ],
)
def test_a_strange_address_is_refused_in_one_sentence(made: tuple[Served, dict[str, str]], path: str) -> None:
    said = made[0].get(BASE + path)
    assert said.status in (400, 404)
    assert said.document["ok"] is False
    assert said.document["sentence"].count("\n") == 0


def test_other_methods_and_tokens_are_refused(made: tuple[Served, dict[str, str]]) -> None:
    served, _ = made
    size = served.ledger.size
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert served.ask(method, ENTRIES).status == 405
    token = served.token("append", "adjudicate", "administer")
    for wrong in (token[:-1], token + "x", token.upper(), "vt_0000000000000000_" + "A" * 43, "../" + token, ""):
        said = served.ask("GET", ENTRIES, headers={"authorization": f"Bearer {wrong}"})
        assert (said.status, said.headers["www-authenticate"]) == (401, "Bearer")
    assert served.ask("GET", ENTRIES, headers={"authorization": f"Basic {token}"}).status == 401
    assert served.get(ENTRIES, token=token).status == 200
    served.tokens.revoke(token.split("_")[1])
    assert served.get(ENTRIES, token=token).status == 401
    assert served.ledger.size == size


def test_one_address_is_slowed_and_another_is_not(made: tuple[Served, dict[str, str]]) -> None:
    served = Served(made[0].ledger.path, rate=3)
    with served.ledger:
        assert [served.get(BASE).status for _ in range(4)] == [200, 200, 200, 429]
        said = served.ask("POST", ENTRIES, headers={"authorization": "Bearer guessed"})
        assert said.status == 429
        assert 1 <= int(said.headers["retry-after"]) <= 60
        assert served.ask("GET", BASE, client="192.0.2.2").status == 200


def test_the_description_is_true(made: tuple[Served, dict[str, str]]) -> None:
    served, ids = made
    document = served.get(f"{BASE}/openapi.json").document
    assert document == description()
    checked = set()
    for path in paths(ids, served.ledger.size):
        said = served.get(path)
        described = next(
            (one for name, one in document["paths"].items() if fits(name, path.partition("?")[0])), {"get": {}}
        )["get"]
        response = described["responses"][str(said.status)]
        (media,) = response["content"]
        assert said.headers["content-type"].startswith(media), path
        if media == "application/json":
            schema = {**response["content"][media]["schema"], "components": document["components"]}
            jsonschema.validate(said.document, schema)
        if said.status == 200:
            checked.add(described["operationId"])
    assert checked == {one["get"]["operationId"] for one in document["paths"].values()}


def fits(template: str, path: str) -> bool:
    ours, theirs = template.split("/"), path.split("/")
    return len(ours) == len(theirs) and all(a == b or a.startswith("{") for a, b in zip(ours, theirs, strict=True))


# --- writing


def line(kind: str, content: dict[str, Content], **more: Any) -> dict[str, Any]:
    """A request's body for content whose free texts have salts."""
    sealed, texts = seal(content, lambda pointer: pointer.encode().ljust(32, b"s")[:32])
    told = [{"salt": one.salt.hex(), "text": one.text} for one in texts]
    return {"kind": kind, "content": sealed.decode(), "texts": told, **more}


def signed(private: PrivateKey, kind: str, dispute: str, group: str, **fields: Content) -> dict[str, Any]:
    said = {"kind": kind, "dispute": dispute, "group": group, "request": str(uuid.uuid4()), **fields}
    return line(kind, signed_content(said, private))


def unchanged(served: Served, said: Reply, status: int, size: int) -> None:
    assert said.status == status, said.body
    jsonschema.validate(said.document, {**description()["components"]["schemas"]["Error"]})
    assert served.ledger.size == size


def test_a_case_run_elsewhere_is_appended_and_judged(writable: tuple[Served, dict[str, str]], tmp_path: Path) -> None:
    served, _ = writable
    ledger_of(
        tmp_path / "elsewhere.db", {"name": "elsewhere", "paper": "openreview:Ab12CdEf34", "claim": "Of elsewhere."}
    )
    token = served.token("append", name="machine", group="north")
    leaves: dict[str, str] = {}
    with Ledger.open(tmp_path / "elsewhere.db", create=False) as other:
        bodies = [
            {
                "kind": entry.kind,
                "content": entry.content_bytes.decode(),
                "texts": [{"salt": text.salt.hex(), "text": text.text} for text in entry.texts],
                "refs": list(entry.refs),
                "leaf": entry.leaf,
            }
            for entry in other.entries()
        ]
    for body in bodies:
        wanted = {**body, "refs": [leaves[ref] for ref in body["refs"]]}
        mine = wanted.pop("leaf")
        said = served.post(wanted, token=token)
        assert said.status == 201, said.body
        leaves[mine] = said.document["leaf"]
        entry = served.ledger.entry(said.document["n"])
        assert (entry.by, entry.group) == ("machine", "north")
        assert entry.content_bytes.decode() == body["content"]
        (note,) = served.ledger.notes(entry.n)
        assert note["api"]["token"] == token.split("_")[1]
        again = served.post(wanted, token=token)
        assert (again.status, again.document["found"], again.document["leaf"]) == (200, True, entry.leaf)
    assert served.ledger.verify().size == served.ledger.size
    told = served.get(f"{BASE}/verdicts?paper=Ab12CdEf34", token=served.token("adjudicate"))
    assert told.document["claims"][0]["verdict"] == "falsified"
    assert served.get(f"{BASE}/verdicts?paper=Ab12CdEf34").status == 404


def test_two_people_adjudicate_with_their_own_keys(writable: tuple[Served, dict[str, str]]) -> None:
    served, ids = writable
    ruling = ruling_of(served, ids)
    fields: dict[str, Content] = {
        "about": "ruling",
        "target": ruling,
        "agrees": True,
        "tie": "none",
        "text": FreeText("Read."),
    }
    ann, bob = generate("ann"), generate("bob")
    for private, group in ((ann, "north"), (bob, "south")):
        token = served.token("adjudicate", name=private.name, group=group)
        body = signed(private, "adjudication", ids["public"], group, **fields)
        said = served.post(body, token=token)
        assert said.status == 201, said.body
        entry = served.ledger.entry(said.document["n"])
        assert (entry.by, entry.group) == (fingerprint(private.public), group)
        assert served.ledger.notes(entry.n)[0]["api"]["name"] == private.name
        assert served.post(body, token=token).document["found"]
        assert ruling in entry.refs
    assert served.get(f"{BASE}/disputes/{ids['public']}").document["state"] == "adjudicated"
    assert served.ledger.verify().size == served.ledger.size


def test_what_the_state_table_and_signatures_do_not_allow_is_not_recorded(
    writable: tuple[Served, dict[str, str]],
) -> None:
    served, ids = writable
    size, ruling = served.ledger.size, ruling_of(served, ids)
    token = served.token("append", "adjudicate", "administer", group="north")
    ann = generate("ann")
    fields: dict[str, Content] = {
        "about": "ruling",
        "target": ruling,
        "agrees": True,
        "tie": "none",
        "text": FreeText(""),
    }
    good = signed(ann, "adjudication", ids["public"], "north", **fields)

    def changed(**other: Any) -> dict[str, Any]:
        return {
            **good,
            "content": json.dumps({**json.loads(good["content"]), **other}, sort_keys=True, separators=(",", ":")),
        }

    for body, status in (
        (changed(agrees=False), 409),
        (changed(group="south"), 403),
        (changed(key=public_key(generate("eve"))), 409),
        (changed(signature=base64.b64encode(bytes(64)).decode()), 409),
        (changed(key=7), 409),
        ({**good, "kind": "challenge"}, 409),
        ({**good, "texts": [{"salt": good["texts"][0]["salt"], "text": "Other."}]}, 400),
        ({**good, "refs": [ruling]}, 400),
        (signed(ann, "adjudication", "0" * 64, "north", **fields), 409),
        (signed(ann, "adjudication", ids["public"], "north", **{**fields, "target": "0" * 64}), 400),
        (signed(ann, "publication", ids["private"], "north", ground="window", source=FreeText("")), 409),
        (signed(ann, "retraction", ids["public"], "north", target=ruling, notices=[], text=FreeText("x")), 409),
        (signed(ann, "withheld", ids["public"], "north", target=ruling, texts=[], text=FreeText("x")), 409),
        (line("evidence", {"registration": "0" * 64}), 409),
        (line("registration", {"registration": "0" * 64, "dispute": "", "case": {}}), 409),
        (line("ruling", {"registration": "0" * 64, "ruling": "SO"}), 409),
        (line("import", {"a": "b"}, refs=["0" * 64]), 400),
    ):
        unchanged(served, served.post(body, token=token), status, size)
    assert served.post(good, token=token).status == 201


def test_a_request_is_not_repeated_for_anything_else(writable: tuple[Served, dict[str, str]]) -> None:
    served, ids = writable
    token = served.token("adjudicate", group="north")
    said: dict[str, Content] = {"target": ruling_of(served, ids), "text": FreeText("No.")}
    first = signed(generate("ann"), "challenge", ids["public"], "north", **said)
    assert served.post(first, token=token).status == 201
    size = served.ledger.size
    told = {**json.loads(first["content"]), "target": "0" * 64}
    other = {**first, "content": json.dumps(told, sort_keys=True, separators=(",", ":"))}
    unchanged(served, served.post(other, token=token), 409, size)


def test_every_kind_needs_its_scope_and_no_other_does(writable: tuple[Served, dict[str, str]]) -> None:
    served, _ = writable
    tokens = {scope: served.token(scope) for scope in ("append", "adjudicate", "administer")}
    assert SCOPES.keys() == KINDS.keys()
    for kind in KINDS:
        size = served.ledger.size
        body = line(kind, {"registration": "0" * 64, "group": ""})
        unchanged(served, served.post(body), 401, size)
        for scope, token in tokens.items():
            if scope != SCOPES[kind]:
                said = served.post(body, token=token)
                unchanged(served, said, 403, size)
                assert f'scope="{SCOPES[kind]}"' in said.headers["www-authenticate"]
        assert served.post(body, token=tokens[str(SCOPES[kind])]).status in (201, 409)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"kind": "import"}',
        b'{"kind": "import", "kind": "import", "content": "{}"}',
        b'{"kind": "import", "content": "{}", "by": "somebody"}',
        b'{"kind": "import", "content": "{}", "texts": 1.5}',
        b'{"kind": "import", "content": "{}", "texts": NaN}',
        b'{"kind": "import", "content": "{}", "texts": ' + b"9" * 5000 + b"}",
        b'{"kind": "imports", "content": "{}"}',
        b'{"kind": ["import"], "content": "{}"}',
        b'{"kind": "import", "content": {}}',
        b'{"kind": "import", "content": "{ }"}',
        b'{"kind": "import", "content": "[]"}',
        b'{"kind": "import", "content": "{\\"a\\":1.5}"}',
        b'{"kind": "import", "content": "{\\"a\\":NaN}"}',
        b'{"kind": "import", "content": "{\\"b\\":1,\\"a\\":1}"}',
        b'{"kind": "import", "content": "\\ud800"}',
        b'{"kind": "import", "content": "{}", "texts": [{"salt": "zz", "text": "x"}]}',
        b'{"kind": "import", "content": "{}", "texts": [{"salt": "' + b"a" * 64 + b'", "text": "x"}]}',
        b'{"kind": "import", "content": "{}", "texts": [{"salt": "' + b"  " * 32 + b'", "text": "x"}]}',
        b'{"kind": "import", "content": "{}", "texts": [{"salt": "' + b"a" * 64 + b'", "text": "\\ud800"}]}',
        b'{"kind": "import", "content": "{}", "refs": "x"}',
        b'{"kind": "import", "content": "{}", "refs": [1]}',
        b'{"kind": "import", "content": "{}", "refs": ["x"]}',
        b'{"kind": "import", "content": "{}", "supersedes": []}',
        b'{"kind": "import", "content": "{\\"a\\":{\\"text_commitment\\":7}}"}',
        b'{"kind": "import", "content": "' + b"[" * 100_000 + b'"}',
        b"[" * 100_000,
        b'{"kind": "import", "content": "{\\"a\\":' + b"[" * 500 + b"]" * 500 + b'}"}',
        b"\xff\xfe",
    ],
    ids=range(32),
)
def test_a_strange_body_is_refused_in_one_sentence(made: tuple[Served, dict[str, str]], body: bytes) -> None:
    served, _ = made
    size = served.ledger.size
    unchanged(served, served.post(body, token=served.token("append")), 400, size)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(
    st.dictionaries(
        st.sampled_from(["kind", "content", "texts", "refs", "supersedes", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from([*KINDS, "{}", "0" * 64]),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=6,
        ),
    )
)
def test_no_body_makes_the_server_fail(made: tuple[Served, dict[str, str]], document: dict[str, Any]) -> None:
    served, _ = made
    if (document.get("kind"), document.get("content")) in (("import", "{}"), ("judge-reading", "{}")):
        return  # that may be recorded
    size = served.ledger.size
    said = served.post(document, token=served.token("append", "adjudicate", "administer"))
    assert said.status in (400, 403, 409), said.body
    assert served.ledger.size == size


def test_a_body_too_large_too_slow_or_of_another_type_is_refused(made: tuple[Served, dict[str, str]]) -> None:
    served, _ = made
    size, token = served.ledger.size, served.token("append")
    kind = {"content-type": "application/json"}
    unchanged(served, served.post(b" " * (MAX_BODY + 1), token=token), 413, size)
    for stated in (str(MAX_BODY + 1), "9" * 40):
        unchanged(
            served,
            served.ask("POST", ENTRIES, token=token, body=None, headers={**kind, "content-length": stated}),
            413,
            size,
        )
    unchanged(served, served.ask("POST", ENTRIES, token=token, body=None, headers=kind), 408, size)
    unchanged(served, served.ask("POST", ENTRIES, token=token, headers={"content-type": "text/plain"}), 415, size)
    unchanged(served, served.post(b"{}", token=token, path=f"{ENTRIES}?x=1"), 400, size)


def test_an_entry_changed_in_the_store_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "verifier.db"
    make(path)
    served = Served(path)
    with served.ledger:
        assert served.get(f"{ENTRIES}/2").status == 200
        third = served.ledger.entry(3)
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE ledger_entries SET leaf = x'00' WHERE n = 3")
            connection.execute(
                "UPDATE ledger_entries SET leaf = ?, envelope = ?, content = ?, salt = ?, kind = ? WHERE n = 2",
                (bytes.fromhex(third.leaf), third.envelope_bytes, third.content_bytes, third.salt, third.kind),
            )
        connection.close()
        for n in (2, 3):  # the one is whole, but not the one that stood there
            said = served.get(f"{ENTRIES}/{n}")
            assert said.status == 500
            assert third.content_bytes.decode() not in said.body.decode()
            assert said.document["error"]["where"] == ""
