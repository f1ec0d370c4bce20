"""A legal hold is heeded behind every door, because all of them write in one way."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shell import Shell
from tests.unit.trust.holds.verbs import HELD, SCOPE, TEXT
from typer.main import get_command

import eidet
from eidet import Memory, Refused
from eidet.cli import app
from eidet.core.record import Record
from eidet.core.state import Protection
from eidet.store import Erasure, verbs
from eidet.store.contract import NOW, fact
from eidet.store.ram import RamStore
from eidet.store.rules import Held
from eidet.upkeep.archive import FolderArchive
from eidet.views import Conversation, Episodic, Semantic, Working

# The verbs of stores.


def held_in(store: RamStore) -> Record:
    return verbs.put(store, [with_hold(fact("x"))], now=NOW)[0]


def with_hold(record: Record) -> Record:
    return record.but(state=record.state.but(hold=Protection(at=NOW)))


STORE_VERBS: dict[str, Callable[[RamStore, Record], object]] = {
    "put": lambda s, r: verbs.put(s, [r.but(text="other")], now=NOW),
    "put, without the hold": lambda s, r: verbs.put(s, [fact("x")], now=NOW),
    "put, that releases and more": lambda s, r: verbs.put(
        s, [fact("x").but(text="o")], now=NOW, releases=True
    ),
    "put, with another hold": lambda s, r: verbs.put(s, [_hold_otherwise(r)], now=NOW, releases=True),
    "rewrite_form": lambda s, r: verbs.rewrite_form(s, [(r, r.but(tier="long"))], now=NOW),
    "delete_unchanged": lambda s, r: verbs.delete_unchanged(s, [r], now=NOW),
    "delete_where": lambda s, r: verbs.delete_where(s, eidet.Where(ids=("x",)), now=NOW),
    "erase, by record": lambda s, r: verbs.erase(s, lambda _: Erasure(gone=[r]), now=NOW),
    "erase, by filter": lambda s, r: verbs.erase(s, lambda _: Erasure(where=eidet.Where()), now=NOW),
    "erase, anew": lambda s, r: verbs.erase(s, lambda _: Erasure(anew=[(r, fact("x"))]), now=NOW),
}


def _hold_otherwise(record: Record) -> Record:
    return record.but(state=record.state.but(hold=Protection(at=NOW + 1, by="nobody")))


@pytest.mark.parametrize("verb", STORE_VERBS)
def test_each_verb_of_a_store_names_what_is_held(verb: str) -> None:
    store = RamStore()
    record = held_in(store)
    with pytest.raises(Held, match="record 'x' is under a legal hold") as caught:
        STORE_VERBS[verb](store, record)
    assert caught.value.records == ((record.scope, "x"),)
    assert store.read(record.scope, ["x"]) == [record]


def test_what_says_the_same_and_what_follows_a_copy_pass() -> None:
    store = RamStore()
    record = held_in(store)
    assert verbs.put(store, [record.but(uses=5)], now=NOW) == [record]
    assert verbs.rewrite_form(store, [(record, record)], now=NOW) != [None]
    (there,) = store.read(record.scope, ["x"])
    assert there is not None
    assert verbs.put(store, [fact("x")], now=NOW, follows=True)[0].state.hold is None


# AsyncMemory, views and the command line.


@pytest.fixture
def memory() -> Iterator[Memory]:
    with closing(Memory(embedder="hashing:16")) as memory:
        yield memory


def _converse(memory: Memory) -> Conversation:
    return Conversation(memory, session="s", scope=SCOPE)


VIEWS: dict[str, Callable[[Memory], object]] = {
    "Conversation.add": lambda m: _converse(m).add("else", id=HELD),
    "Conversation.extend": lambda m: _converse(m).extend(["else"]),
    "Conversation.pop": lambda m: _converse(m).pop(),
    "Conversation.trim": lambda m: _converse(m).trim(keep=0),
    "Conversation.summarise": lambda m: _converse(m).summarise(keep=0),
    "Conversation.clear": lambda m: _converse(m).clear(),
    "Semantic.add": lambda m: Semantic(m, scope=SCOPE).add("else", key="k"),
    "Semantic.set_importance": lambda m: Semantic(m, scope=SCOPE).set_importance(HELD, 0.9),
    "Semantic.forget": lambda m: Semantic(m, scope=SCOPE).forget(HELD),
    "Semantic.consolidate": lambda m: Semantic(m, scope=SCOPE).consolidate(below=1.0, uses=10**6),
    "Episodic.record": lambda m: Episodic(m, scope=SCOPE).record("else", key="k"),
    "Episodic.forget": lambda m: Episodic(m, scope=SCOPE).forget(HELD),
}
VIEWS_READ = {
    Conversation: "messages records get window search containing count",
    Semantic: "get search similar all count",
    Episodic: "get similar lessons count",
}


def test_somebody_has_decided_about_every_verb_of_a_view() -> None:
    for view, reading in VIEWS_READ.items():
        members = inspect.getmembers(view, inspect.isfunction)
        found = {name for name, _ in members if not name.startswith("_")}
        writing = {verb.partition(".")[2] for verb in VIEWS if verb.startswith(view.__name__)}
        assert writing | set(reading.split()) == found, view


@pytest.mark.parametrize("kind", ["message", "fact", "episode"])
@pytest.mark.parametrize("verb", VIEWS)
def test_a_view_leaves_what_is_held(memory: Memory, verb: str, kind: str) -> None:
    how: Any = {"scope": SCOPE, "kind": kind, "session": "s", "importance": 0.1}
    ids = [memory.remember(TEXT, id=HELD, **how).id, memory.remember("by a key", key="k", **how).id]
    before = [memory.upkeep.hold(id, scope=SCOPE) for id in ids]
    with suppress(Refused):
        VIEWS[verb](memory)
    for old, new in zip(before, memory.get(ids, scope=SCOPE), strict=True):
        assert new is not None
        assert new.but(uses=0, last_used=None) == old.but(uses=0, last_used=None)


def test_working_state_under_a_hold_stays(memory: Memory) -> None:
    working = Working(memory, scope=SCOPE, persist=True)
    working.set("side", "left")
    (record,) = memory.find(scope=SCOPE)
    before = memory.upkeep.hold(record.id, scope=SCOPE)
    changes: list[Callable[[], object]] = [partial(working.set, "side", "right"), working.clear]
    for change in changes:
        with pytest.raises(Refused, match="legal hold"):
            change()
    assert memory.get(record.id, scope=SCOPE) == before


REFUSED_COMMANDS = (
    f"remember else --id {HELD}",
    f"forget {HELD} --yes",
    *(f"mark {HELD} {how}" for how in ("pin", "restore", "quarantine", "approve", "reject")),
)
LEAVING_COMMANDS = (
    "load before.jsonl",
    "load archive",
    "import jsonl rows.jsonl --overwrite",
    "maintain",
    f"mark {HELD} hold",
    f"mark {HELD} unpin",
    "rebuild",
    "rebuild --reembed --embedder hashing:32",
)
OTHER_COMMANDS = """
    audit context copy demo integrate doctor eval export facts find keys mcp mirror recall review scopes
    serve show stats sync receipt
"""


def test_somebody_has_decided_about_every_command() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    tried = {line.split()[0] for line in (*REFUSED_COMMANDS, *LEAVING_COMMANDS)}
    assert tried | set(OTHER_COMMANDS.split()) == commands.keys()


@pytest.mark.parametrize("command", [*REFUSED_COMMANDS, *LEAVING_COMMANDS])
def test_no_command_changes_what_is_held(command: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    with Memory(shell.file, embedder="hashing") as memory:
        record = memory.remember(TEXT, id=HELD, kind="message", session="s")
        memory.export(tmp_path / "before.jsonl")
        (tmp_path / "rows.jsonl").write_text(json.dumps({"id": HELD, "text": "else"}))
        FolderArchive(tmp_path / "archive").keep([record], memory.parts.manifest(1.0), now=1.0)
        memory.revise(HELD, importance=0.9, tier="long")
        before = memory.upkeep.hold(HELD)
    words = command.split()
    said = shell(*[str(tmp_path / word) if (tmp_path / word).exists() else word for word in words])
    expected = (2, True) if command in REFUSED_COMMANDS else (0, False)
    if words[0] == "import":  # says what it left as it was
        expected = (1, True)
    assert (said.code, "legal hold" in said.err) == expected
    with Memory(shell.file) as memory:
        after = memory.get(HELD)
        assert after is not None
        plain = {"uses": 0, "last_used": None, "vector": None, "terms": b"", "seq": 0}
        assert after.but(**plain) == before.but(**plain)
