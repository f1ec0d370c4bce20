"""`eidet audit` and the policies of retention in a shell."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell

from eidet.memory import Memory
from eidet.trust.audit import Audit
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.verify import entries

DAY = 86_400.0
KEY = "a key of many letters"


@pytest.fixture
def log(eidet: Shell) -> Path:
    """A log of a few changes in two scopes."""
    path = eidet.folder / "audit.jsonl"
    log = AuditLog(Audit(path=path))
    log.note("configure", settings=["embedder"])
    log.note("put", scope="acme/ann", ids=["one"], count=1, kinds={"fact": 1})
    log.note("put", scope="acme/bob", ids=["two"], count=1, kinds={"fact": 1})
    log.note("put", scope="acme/ann", ids=["one"], count=1, by="ann")
    drop = log.note("drop", scope="acme/bob", ids=["two"])
    log.afterwards("done", of=[drop], count=1)
    return path


def test_commands_are_audited_where_the_environment_asks_for_it(eidet: Shell) -> None:
    path = eidet.folder / "audit.jsonl"
    for words in (
        ("remember", "Ann lives in Lisbon", "--id", "one"),
        ("mark", "one", "pin", "--by", "ann"),
    ):
        assert eidet(*words, EIDET_AUDIT=str(path)).code == 0
    assert eidet("audit", EIDET_AUDIT=str(path)).code == 0
    told = [(entry.ids, entry.by) for entry in entries(path) if entry.verb == "put"]
    assert told == [(("one",), None), (("one",), "ann")]


def test_a_log_is_verified(eidet: Shell, log: Path) -> None:
    said = eidet("audit", str(log))
    assert said.code == 0
    assert said.out.startswith("7 entries, all unchanged\nhead 7:")
    told = eidet("audit", str(log), "--json").json
    assert (told["ok"], told["entries"], told["faults"]) == (True, 7, [])


def test_a_changed_entry_is_named_and_the_exit_code_says_so(eidet: Shell, log: Path) -> None:
    log.write_text(log.read_text().replace('"by":"ann"', '"by":"eve"'))
    said = eidet("audit", str(log))
    assert said.code == 1
    assert "fault line 5: entry 5 was altered" in said.out
    told = eidet("audit", str(log), "--json")
    assert told.code == 1
    assert [fault["line"] for fault in told.json["faults"]] == [5]
    assert "head" not in said.out


def test_a_head_that_was_kept_shows_what_is_missing(eidet: Shell, log: Path) -> None:
    printed = eidet("audit", str(log)).out
    kept = eidet("audit", str(log), "--json").json["head"]
    assert kept == printed.split()[-1]
    assert eidet("audit", str(log), "--head", kept).code == 0
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    log.with_name("audit.jsonl.head").write_text(f"6:{log.read_bytes().splitlines()[-1][-66:-2].decode()}\n")
    assert eidet("audit", str(log)).code == 0, "whoever removes it can write the head anew"
    said = eidet("audit", str(log), "--head", kept)
    assert said.code == 1
    assert "fault line 7: the newest 1 entries are missing" in said.out
    assert eidet("audit", str(log), "--head", "nonsense").code == 2


def test_a_log_with_a_key_needs_it(eidet: Shell) -> None:
    path, key = eidet.folder / "audit.jsonl", eidet.folder / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    log = AuditLog(Audit(path=path, key=KEY))
    log.note("put", scope="a")
    assert eidet("audit", str(path)).code == 1
    assert eidet("audit", str(path), "--key", KEY).code == 0
    assert eidet("audit", str(path), "--key-file", str(key)).code == 0
    assert eidet("audit", str(path), EIDET_AUDIT_KEY=KEY).code == 0
    assert eidet("audit", str(path), "--key", "another key of letters").code == 1
    assert eidet("audit", str(path), "--key", "short").code == 7
    written = eidet("remember", "x", EIDET_AUDIT=str(path), EIDET_AUDIT_KEY_FILE=str(key))
    assert written.code == 0
    assert eidet("remember", "x", EIDET_AUDIT=str(path)).code == 7


def test_a_log_that_is_not_there_is_not_found(eidet: Shell) -> None:
    said = eidet("audit", str(eidet.folder / "none.jsonl"))
    assert said.code == 3
    assert "there is no audit log" in said.err


# Retention.

POLICIES = """
[[eidet.retention]]
kinds = ["message"]
then = "delete"
days = 30

[[eidet.retention]]
scope = "acme/**"
then = "keep"
"""


def test_policies_are_shown_with_what_they_would_do(eidet: Shell) -> None:
    config = eidet.folder / "eidet.toml"
    config.write_text(POLICIES)
    with Memory(eidet.file, embedder="hashing", clock=lambda: time.time() - 40 * DAY) as memory:
        memory.remember(["hello", "again"], kind="message", scope="acme/ann")
        memory.remember("Ann lives in Lisbon", scope="acme/ann")
    said = eidet("maintain", "--policies", "--config", str(config), "--json").json
    assert [(row["covered"], row["due"], row["kept"]) for row in said] == [(2, 2, 0), (1, 0, 1)]
    assert said[0]["says"] == "delete message of ** after 30 days"
    shown = eidet("maintain", "--policies", "--config", str(config), COLUMNS="120")
    assert "keep all of acme/** for good" in shown.out
    dry = eidet("maintain", "--dry-run", "--only", "retain", "--config", str(config), COLUMNS="200")
    assert "40 days since it was stored" in dry.out
    assert "would delete 2 by retention (3 examined)" in dry.out
    assert eidet("stats", "--json").json["records"] == 3
    done = eidet("maintain", "--only", "retain", "--config", str(config))
    assert "\ndeleted 2 by retention (3 examined)\n" in done.out
    assert eidet("stats", "--json").json["records"] == 1


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_an_id_that_would_go_can_be_copied(eidet: Shell, columns: int) -> None:
    config = eidet.folder / "eidet.toml"
    config.write_text(POLICIES)
    with Memory(eidet.file, embedder="hashing", clock=lambda: time.time() - 40 * DAY) as memory:
        said = memory.remember("hello", kind="message", scope="acme/hospitals/north/wards/ann-of-the-hills")
    for words in (("--dry-run",), ()):
        told = eidet("maintain", *words, "--only", "retain", "--config", str(config), COLUMNS=str(columns))
        assert f" {said.id} " in told.out


def test_without_policies_it_is_said_how_to_write_them(eidet: Shell) -> None:
    eidet("remember", "x")
    said = eidet("maintain", "--policies")
    assert said.code == 0
    assert "[[eidet.retention]]" in said.err
