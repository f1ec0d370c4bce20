"""What Eidet promises of every verb, for those of `memory.facts`: who acts, whose scope, what is sealed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contract.test_facts_on_stores import STORES
from tests.fact_verbs import FACT_VERBS, FIRM, OTHER, PERSON, READING, TOWN, WRITING, FactCase
from tests.making import Clock, make_store

import eidet
from eidet import Audit, Memory
from eidet.memory.facts import FactsNamespace
from eidet.trust.audit.chain import AuditEntry
from eidet.trust.audit.verify import entries

MINE, THEIRS = "acme/ann", "acme/bob"
SEALED_KEY = "00112233445566778899aabbccddeeff" * 2
SECRETS = (PERSON, OTHER, TOWN, FIRM, "Bergenville")


def test_no_verb_is_left_out() -> None:
    verbs = [name for name, _ in inspect.getmembers(FactsNamespace, inspect.isfunction) if name[0] != "_"]
    assert sorted(FACT_VERBS) == sorted(verbs)


@pytest.fixture(params=STORES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FactCase]:
    """Two people's scopes with the same facts, on each store."""
    store = make_store(request.param, tmp_path, request)
    with closing(Memory(store, embedder="hashing:16", clock=Clock(1_730_000_000.0, tick=1.0))) as memory:
        FactCase(memory=memory, scope=THEIRS).prepare()
        mine = FactCase(memory=memory, scope=MINE)
        mine.prepare()
        yield mine


def look_at(memory: Memory, scope: str) -> tuple[Any, ...]:
    """All that a scope holds and tells."""
    records = memory.find(scope=scope, limit=1000, order="seq")
    facts = memory.facts.export(scope=scope, ever=True)
    return records, facts, memory.facts.entities(scope=scope), memory.facts.decisions(scope=scope)


def test_no_verb_reaches_into_another_scope(case: FactCase) -> None:
    before = look_at(case.memory, THEIRS)
    for name, verb in FACT_VERBS.items():
        verb(case)
        assert look_at(case.memory, THEIRS) == before, name


def test_nobody_is_told_of_another_scope(case: FactCase) -> None:
    empty = FactCase(memory=case.memory, scope="acme/carl", kept=case.kept)
    for name, verb in READING.items():
        if name != "why":  # a fact knows its scope
            assert not any(word in repr(verb(empty)) for word in SECRETS), name
    assert case.memory.count(scope="acme/carl") == 0


def test_reading_verbs_change_nothing(case: FactCase) -> None:
    before = case.memory.find(scope=MINE, limit=1000, order="seq")
    for verb in READING.values():
        verb(case)
    assert case.memory.find(scope=MINE, limit=1000, order="seq") == before


def test_writing_verbs_can_be_taken_back(case: FactCase) -> None:
    """All that they write are records that can be forgotten, and what was told before is told again."""
    before = case.memory.facts.timeline(PERSON, scope=MINE)
    known = {record.id for record in case.memory.find(scope=MINE, limit=1000)}
    for name, verb in WRITING.items():
        if name != "undo":
            verb(case)
    assert case.memory.facts.timeline(PERSON, scope=MINE) != before
    for record in case.memory.find(scope=MINE, limit=1000):
        if record.id not in known and "#" not in record.id:
            case.memory.forget(record.id, scope=MINE)
    assert case.memory.facts.timeline(PERSON, scope=MINE) == before


@pytest.mark.parametrize("key", [None, SEALED_KEY], ids=["plain", "sealed"])
def test_the_audit_log_says_who_used_each_verb(tmp_path: Path, key: str | None) -> None:
    if key is not None:
        pytest.importorskip("cryptography", reason="needs pip install 'eidet[seal]'")
    log = tmp_path / "audit.jsonl"
    audit = Audit(path=log, recalls=True)
    with closing(Memory(tmp_path / "m.db", embedder="hashing:16", audit=audit, key=key)) as memory:
        case = FactCase(memory=memory)
        case.prepare()
        for name, verb in FACT_VERBS.items():
            with eidet.acting(by=f"user of {name}", why=f"ticket {name}"):
                verb(case)
    found = list(entries(log))
    for name in FACT_VERBS:
        mine = [entry for entry in found if entry.by == f"user of {name}"]
        assert {entry.why for entry in mine} == {f"ticket {name}"}, name
        assert _is_told(name, mine), name


def _is_told(name: str, mine: list[AuditEntry]) -> bool:
    """What writes is told as a change, what reads by its name."""
    verbs = {entry.verb for entry in mine}
    if name in WRITING:
        return bool(verbs & {"put", "drop"})
    return f"facts.{name}" in verbs


def test_the_files_of_a_sealed_memory_tell_nothing_of_facts(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="needs pip install 'eidet[seal]'")
    folder = tmp_path / "sealed"
    folder.mkdir()
    memory = Memory(folder / "m.db", embedder="hashing:16", key=SEALED_KEY, audit=folder / "audit.jsonl")
    with closing(memory):
        case = FactCase(memory=memory)
        case.prepare()
        for verb in FACT_VERBS.values():
            verb(case)
    for path in folder.rglob("*"):
        if path.is_file():
            stored = path.read_bytes().lower()
            assert not any(word.lower().encode() in stored for word in SECRETS), path.name
