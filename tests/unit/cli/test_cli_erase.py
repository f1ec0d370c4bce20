"""`eidet forget`, `verify-forgotten` and `verify-receipt`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.shell import Shell

from eidet.memory import Memory

SECRET = "the safe in the cellar opens with 4711-0815"


def test_a_dry_run_names_what_would_go_and_changes_nothing(eidet: Shell) -> None:
    [id] = eidet("remember", SECRET).ids
    told = eidet("forget", id, "--dry-run")
    assert told.code == 0
    assert "would be forgotten" in told.out
    assert "would forget 1, 0 more with them, and rebuild 0" in told.out
    assert eidet("forget", id, "--dry-run", "--json").json["forget"] == 1
    assert eidet("find", "--json").json


def test_what_was_forgotten_is_refused_until_it_is_said_again(eidet: Shell) -> None:
    [id] = eidet("remember", SECRET).ids
    eidet("forget", id, "--yes")
    refused = eidet("remember", SECRET)
    assert refused.code == 2
    assert "forgotten for good" in refused.err
    assert eidet("remember", SECRET, "--again").code == 0


def test_not_for_good_it_may_come_back(eidet: Shell) -> None:
    [id] = eidet("remember", SECRET).ids
    eidet("forget", id, "--yes", "--not-for-good")
    assert eidet("remember", SECRET).code == 0


def test_a_receipt_proves_what_was_done(eidet: Shell, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    [id] = eidet("remember", SECRET).ids
    assert eidet("forget", id, "--yes", "--receipt", str(file), "--by", "ann", "--why", "asked").code == 0
    absent = eidet("verify-forgotten", "--receipt", str(file))
    assert absent.code == 0, absent.out
    assert "not found anywhere" in absent.out
    file.write_text(json.dumps({**json.loads(file.read_text()), "by": "bob"}))
    assert eidet("verify-forgotten", "--receipt", str(file)).code == 2


def test_what_is_still_there_is_found(eidet: Shell) -> None:
    [id] = eidet("remember", SECRET).ids
    for words in ((SECRET,), (id,)):
        found = eidet("verify-forgotten", *words)
        assert found.code == 1
        assert "records, by" in found.out
    told = eidet("verify-forgotten", SECRET, "--json")
    assert told.json["absent"] is False
    eidet("forget", id, "--yes")
    for sought in ([SECRET], [id], ["--data", '{"a": 1}']):
        assert eidet("verify-forgotten", *sought).code == 0


def test_what_is_unclear_is_refused(eidet: Shell, tmp_path: Path) -> None:
    eidet("remember", SECRET)
    for words in (
        ("verify-forgotten",),
        ("verify-forgotten", "x", "--data", "1"),
        ("forget", "x", "--yes", "--not-for-good", "--receipt", str(tmp_path / "r")),
    ):
        said = eidet(*words)
        assert said.code == 2, words
        assert said.err
    assert eidet("verify-forgotten", "--receipt", str(tmp_path / "none")).code == 7


def test_what_was_made_of_it_is_told(eidet: Shell) -> None:
    lines = "\n".join(json.dumps({"role": "user", "content": f"I said {SECRET} {n}"}) for n in range(3))
    eidet("remember", "--messages", "-", "--session", "s", input=lines)
    with Memory(eidet.file, embedder="hashing") as memory:
        memory.upkeep.end_session("s")
    id = eidet("find", "--kind", "message", "--json").lines[0]["id"]
    assert "1 rebuilt without them" in eidet("forget", id, "--yes").out


def test_bytes_are_told_to_be_of_every_scope(eidet: Shell) -> None:
    [id] = eidet("remember", "Ilse takes warfarin daily", "--scope", "patients/ilse").ids
    eidet("remember", "Ilse shares a room with Marta", "--scope", "patients/marta")
    eidet("forget", id, "--yes", "--scope", "patients/ilse")
    for columns in ("80", "120"):
        told = eidet("verify-forgotten", "Ilse", "--scope", "patients/ilse", COLUMNS=columns)
        assert told.code == 1
        assert "whole file:" in told.out
        assert told.out.endswith("found in 1 place\n")
    places = {place["name"]: place for place in eidet(
        "verify-forgotten", "Ilse", "--scope", "patients/ilse", "--json"
    ).json["places"]}  # fmt: skip
    assert places["files of the store, bytes"]["note"] == "whole file: other scopes may hold it too"
    assert places["records, by words in them"]["found"] == 0


def test_with_one_scope_bytes_are_of_that_scope(eidet: Shell) -> None:
    eidet("remember", SECRET)
    told = eidet("verify-forgotten", SECRET)
    assert "whole file" not in told.out


def test_a_place_that_was_not_searched_says_so(eidet: Shell, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    [id] = eidet("remember", SECRET).ids
    done = eidet("forget", id, "--yes", "--receipt", str(file))
    assert f"receipt: {file}" in done.err
    told = eidet("verify-forgotten", "--receipt", str(file), COLUMNS="100")
    rows = {line[:38].rstrip(): line for line in told.out.splitlines()}
    assert "not searched" in rows["files of the store, bytes"]
    assert "not searched" in rows["records, by words in them"]
    assert "not searched" not in rows["records, by id"]
    by_words = eidet("verify-forgotten", SECRET)
    assert "not searched" not in by_words.out
