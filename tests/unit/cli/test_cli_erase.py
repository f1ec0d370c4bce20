"""`eidet forget`, and `eidet receipt`."""

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
    assert "would forget 1, 0 more with them, and change 0" in told.out
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
    told = eidet("receipt", str(file))
    assert told.out.startswith("forgotten in scope default at ")
    assert id in told.out
    assert eidet("receipt", str(file), "--json").json["ids"] == [id]
    file.write_text(json.dumps({**json.loads(file.read_text()), "by": "bob"}))
    assert eidet("receipt", str(file)).code == 2


def test_what_is_unclear_is_refused(eidet: Shell, tmp_path: Path) -> None:
    eidet("remember", SECRET)
    for words in (
        ("forget", "--shred", "--everything", "--scope", "default", "--yes"),
        ("forget", "x", "--yes", "--not-for-good", "--receipt", str(tmp_path / "r")),
    ):
        said = eidet(*words)
        assert said.code == 2, words
        assert said.err
    assert eidet("receipt", str(tmp_path / "none")).code == 7


def test_what_was_made_of_it_is_told(eidet: Shell) -> None:
    lines = "\n".join(f"I said {SECRET} {n}" for n in range(3))
    eidet("remember", "--file", "-", "--kind", "message", "--session", "s", input=lines)
    with Memory(eidet.file, embedder="hashing") as memory:
        memory.upkeep.end_session("s")
    id = eidet("find", "--kind", "message", "--json").lines[0]["id"]
    assert "1 records derived from them" in eidet("forget", id, "--yes").out
