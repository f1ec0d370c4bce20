"""Files that the doors write themselves, trails that tenants cannot read, and what a query may ask."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.every_door import wait_for as run
from tests.making import history

from eidet import Memory
from eidet.compat.api import (
    AgentMemoryAPI,
    Attribute,
    MemoryStoreException,
    query,
)
from eidet.compat.messages import (
    ArchiveMemoryStore,
    AuditMemoryStore,
    BaseMemoryStore,
    Message,
)

KEY = bytes(range(32))
WORD = "Ishmael"  # what must not be in any file
SAID = f"Call me {WORD}"
GOOD = {"agent_id": "a", "contents": {"x": 1}}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "sealed.db", key=KEY, embedder="hashing") as opened:
        yield opened


def files_with(word: str, folder: Path) -> list[str]:
    """The files below a folder that have a word in them, in plain, as JSON or as UTF-16 has it."""
    forms = (word.encode(), word.encode("utf-16-le"), word.encode().hex().encode())
    return [
        file.name
        for file in sorted(folder.rglob("*"))
        if file.is_file() and any(form in file.read_bytes() for form in forms)
    ]


def said(**more: Any) -> Message:
    return Message(role="user", content=SAID, **more)


# What the doors' own files promise.


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_sealed_memory_saves_no_plain_file(suffix: str, memory: Memory, tmp_path: Path) -> None:
    api = AgentMemoryAPI(memory=memory)
    api.store_agent_state("a", {"name": SAID}, 1)
    with pytest.raises(Exception, match="this memory is sealed, and an export is not"):
        api.save(tmp_path / f"agents.{suffix}")
    assert files_with(WORD, tmp_path) == []


def test_an_audit_log_names_the_files_of_save_and_load(tmp_path: Path) -> None:
    from eidet.trust.audit.verify import entries

    with Memory(tmp_path / "m.db", audit=tmp_path / "audit.jsonl", embedder="hashing") as memory:
        api = AgentMemoryAPI(memory=memory)
        api.store_agent_state("a", {"x": 1}, 1)
        api.save(tmp_path / "agents.json")
        api.load(tmp_path / "agents.json")
    told = [(entry.verb, entry.count) for entry in entries(tmp_path / "audit.jsonl")]
    assert ("export", 1) in told
    assert "agents.json" in (tmp_path / "audit.jsonl").read_text()


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.json"])
@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_an_empty_file_is_no_memories(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(MemoryStoreException, match="was not loaded"):
        AgentMemoryAPI().load(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        json.dumps([{"eidet": "export", "format": 1}, {"agents": []}]),
        json.dumps([GOOD, {**GOOD, "agent_id": "b", "metadata": {"importance_score": "high"}}]),
        json.dumps([GOOD, {**GOOD, "agent_id": "b", "timestamp": "yesterday"}]),
        json.dumps([GOOD, {**GOOD, "agent_id": "b", "step_number": True}]),
    ],
    ids=["deep", "agents are a list", "importance", "time", "step"],
)
def test_a_file_is_checked_as_a_whole(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(text)
    api = AgentMemoryAPI()
    with pytest.raises(MemoryStoreException, match="was not loaded"):
        api.load(tmp_path / "bad.json")
    assert api.agents() == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_separators_inside_of_texts_separate_nothing(name: str, tmp_path: Path) -> None:
    words = "one\u2028two\x85three\x1cfour"
    plain = tmp_path / f"plain-{name}"
    entries = [{**GOOD, "contents": {"x": words}, "step_number": step} for step in (1, 2)]
    if name == "a.json":
        plain.write_text(json.dumps(entries, ensure_ascii=False))
    else:
        plain.write_text("\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries))
    api = AgentMemoryAPI()
    assert api.load(plain) == api.save(tmp_path / name)
    other = AgentMemoryAPI()
    other.load(tmp_path / name)
    assert other.retrieve_recent_states("a")[0]["contents"] == {"x": words}


# Isolation.


def test_no_tenant_reads_the_trail_of_another() -> None:
    memory = Memory(embedder="hashing")
    store = AuditMemoryStore(memory=memory, scope="X", session_id="s")
    run(store.add_message(said()))
    tenant = BaseMemoryStore(memory=memory, scope="X-audit", session_id="s")
    assert history(tenant) == []
    assert len(memory.recall(SAID, scope="X")) == 1, "nor does the trail come up in the scope itself"
    again = AuditMemoryStore(memory=memory, scope="X", session_id="s")
    assert history(again.audit_store) == [SAID]
    other = AuditMemoryStore(memory=memory, scope="Y", session_id="s")
    assert history(other.audit_store) == []
    assert AgentMemoryAPI(memory=memory, scope="X").agents() == []


# Wrappers let nothing past themselves.


def test_what_was_archived_is_found_by_what_is_forgotten_later(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing") as memory:
        store = ArchiveMemoryStore(tmp_path / "archive", memory=memory)
        run(store.add_message(said()))
        memory.forget(everything=True, scope="default")
    assert files_with(WORD, tmp_path / "archive") == []


# What is asked must be able to be asked.


@pytest.mark.parametrize(
    "ask",
    [
        lambda: query().important(top=-5),
        lambda: query().important(-0.5),
        lambda: query().important(0.9, 0.1),
        lambda: query().important(level="huge"),
        lambda: query().limit(-1),
        lambda: query().similar_to("x", least=2),
        lambda: query().about("x", least=-1),
        lambda: query().about(7),  # type: ignore[arg-type]
        lambda: query().steps(5, 1),
        lambda: query().between(2.0, 1.0),
        lambda: query().between("monday"),  # type: ignore[arg-type]
        lambda: query().recent_first(2),
        lambda: query().recent_first(half_life=0),
        lambda: query().around_step(3, before=-1),
        lambda: query().around_step("x"),  # type: ignore[arg-type]
        lambda: query().around_memory("m", after=-1),
        lambda: query().around_memory(7),  # type: ignore[arg-type]
        lambda: query().within(minutes=-1, hours=2),
        lambda: query().within(minutes="x"),  # type: ignore[arg-type]
        lambda: query().near([1, 2], -1),
        lambda: query().near([1, 2], "x"),  # type: ignore[arg-type]
        lambda: query().weigh(query().about("x"), -1).build(),
        lambda: query().like("x"),  # type: ignore[arg-type]
        lambda: query().path("x", "smells"),
    ],
)
def test_numbers_of_queries_are_checked_where_they_are_said(ask: Callable[[], object]) -> None:
    from eidet.compat.api import MemoryRetrievalException

    with pytest.raises(MemoryRetrievalException):
        ask()


def test_any_of_no_attributes_is_none_and_all_of_none_is_every_memory() -> None:
    api = AgentMemoryAPI()
    api.store_agent_state("a", {"x": 1}, 1)
    space = api.get_memory_space("a")
    assert space.search(Attribute(fields={}, mode="any")) == []
    assert len(space.search(Attribute(fields={}))) == 1
    assert space.query().any_of(Attribute(fields={}, mode="any"), query().attribute("x", 2)).run() == []


def test_a_memory_by_its_id_is_whole_in_every_tier_and_counts_as_a_use() -> None:
    api = AgentMemoryAPI()
    contents = {"text": f"{SAID}. " * 200, "x": 0.1 + 0.2, "list": list(range(100))}
    stored = api.store_agent_state("a", contents, 1)
    for used in (1, 2):
        found = api.retrieve_state_by_id("a", stored)
        assert found is not None
        assert found["contents"] == contents
        assert api.get_memory_statistics("a")["retrievals"] == used
        api.flush_to_ltm("a")
    assert api.retrieve_recent_states("a")[0]["metadata"]["compression_level"] > 0
    assert api.set_importance_score("a", stored, 0.5)
    assert api.get_memory_statistics("a")["retrievals"] == 2, "to set is not to retrieve"


def test_a_copy_of_a_memory_finds_its_trails(tmp_path: Path) -> None:
    from eidet.copy import copy

    source, target = Memory(embedder="hashing"), Memory(tmp_path / "copy.db", embedder="hashing")
    run(AuditMemoryStore(memory=source, scope="X", session_id="s").add_message(said()))
    copy(source, target)
    assert history(AuditMemoryStore(memory=target, scope="X", session_id="s").audit_store) == [SAID]
    target.close()
