"""Texts that Eidet or a model words pass the guard, and quarantine ends by approval alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.served import serve_in_thread

from eidet import Memory, Refused, Settings
from eidet.core.record import Record, Trust

MAIL = "ann.lee@example.com"
KEY = "00112233445566778899aabbccddeeff"
SAID = [
    {"role": "user", "content": "We should meet the architect about the kitchen next week."},
    {"role": "assistant", "content": "I will ask her for a date and tell you about the plans."},
]


def tell(request: Any) -> str:
    """A model that knows an address, and tells it whatever it is asked."""
    asked = getattr(request, "purpose", "")
    if asked == "facts":
        fact = {"subject": "architect", "relation": f"reached_at_{MAIL}", "object": "kitchen"}
        return json.dumps({"facts": [fact]})
    return f"They agreed that {MAIL} plans the kitchen."


def end_session(memory: Memory) -> None:
    memory.remember(SAID, session="s")
    memory.upkeep.end_session("s", llm=tell)


def maintain(memory: Memory) -> None:
    memory.remember(SAID * 10, session="s", occurred="2020-01-01", keep_duplicates=True)
    memory.upkeep.maintain(llm=tell)


def summarise(memory: Memory) -> None:
    from eidet.views import Conversation

    memory.remember(SAID, session="s")
    Conversation(memory, session="s").summarise(keep=0, llm=tell)


def quarantine(memory: Memory) -> None:
    memory.trust.quarantine(memory.remember("a page").id, because=f"sent by {MAIL}")


def forget(memory: Memory) -> None:
    memory.forget(memory.remember("a page").id, why=f"{MAIL} asked for it")


def delete(memory: Memory) -> None:
    memory.forget(memory.remember("a page").id, for_good=False, why=f"{MAIL} asked for it")


def retract(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.")
    memory.facts.retract(memory.facts.about("Ann")[0], because=f"{MAIL} says so")


WRITERS: dict[str, Callable[[Memory], None]] = {
    one.__name__: one for one in (end_session, maintain, summarise, quarantine, forget, delete, retract)
}
GUARDS: dict[str, dict[str, Any]] = {
    "redact": {"guard": "redact"},
    "hash": {"guard": "hash", "guard_key": KEY},
}


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("writer", WRITERS)
def test_no_text_gets_around_the_guard(
    tmp_path: Path, writer: str, guard: str, sealed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings(**GUARDS[guard])
    how: dict[str, Any] = {"key": "ab" * 32} if sealed else {}
    with Memory("a.db", embedder="hashing:64", settings=settings, audit="audit.jsonl", **how) as memory:
        WRITERS[writer](memory)
        told = [*memory.find(limit=1000), *memory.find(limit=1000, trust="quarantined")]
        assert MAIL not in repr(told)
        memory.export("all.jsonl", plain=True)
    assert MAIL not in Path("all.jsonl").read_text()
    assert MAIL not in Path("audit.jsonl").read_text()
    assert sealed or MAIL.encode() not in Path("a.db").read_bytes()


def test_a_summary_that_names_what_is_refused_is_redacted() -> None:
    with Memory(embedder="hashing:64", settings=Settings(guard="refuse")) as memory:
        memory.remember(SAID, session="s")
        assert MAIL not in memory.upkeep.end_session("s", llm=tell).text


# Quarantine.


def revise_trust(memory: Memory, record: Record, _: Path) -> None:
    memory.revise(record.id, trust="user")


def clear_trust(memory: Memory, record: Record, _: Path) -> None:
    memory.revise(record.id, clear=["trust"])


def revise_text(memory: Memory, record: Record, _: Path) -> None:
    memory.revise(record.id, text="another page")


def remember_again(memory: Memory, record: Record, _: Path) -> None:
    memory.remember("a page, said again", id=record.id, trust="trusted")


def load(memory: Memory, _: Record, export: Path) -> None:
    memory.load(export)


WAYS = {one.__name__: one for one in (revise_trust, clear_trust, revise_text, remember_again, load)}
REFUSED = {"revise_trust", "clear_trust"}


@pytest.fixture(params=["here", "server"])
def doors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    """A memory, and the same as its caller sees it."""
    with Memory(tmp_path / "a.db", embedder="hashing:64", settings=Settings(poison="off")) as memory:
        if request.param == "here":
            yield memory, memory
            return
        with serve_in_thread(tmp_path / "a.db") as running, Memory(running.url) as client:
            yield memory, client


@pytest.mark.parametrize("way", WAYS)
def test_only_approval_ends_a_quarantine(doors: tuple[Memory, Memory], way: str, tmp_path: Path) -> None:
    memory, caller = doors
    record = memory.remember("a page", id="page", trust="web")
    memory.export(tmp_path / "before.jsonl")
    memory.trust.quarantine("page", because="odd")
    if way in REFUSED:
        with pytest.raises(Refused, match="approve"):
            WAYS[way](caller, record, tmp_path / "before.jsonl")
    else:
        WAYS[way](caller, record, tmp_path / "before.jsonl")
    kept = memory.get("page")
    assert kept is not None
    assert kept.trust is Trust.QUARANTINED
    assert memory.trust.approve("page", trust="web").trust is Trust.WEB


def test_an_export_made_after_the_approval_brings_the_approval(tmp_path: Path) -> None:
    with Memory(embedder="hashing:64") as one, Memory(embedder="hashing:64") as other:
        for memory in (one, other):
            memory.remember("a page", id="page", trust="web")
            memory.trust.quarantine("page")
        one.trust.approve("page", trust="user")
        one.export(tmp_path / "approved.jsonl")
        other.load(tmp_path / "approved.jsonl")
        kept = other.get("page")
        assert kept is not None
        assert kept.trust is Trust.USER
