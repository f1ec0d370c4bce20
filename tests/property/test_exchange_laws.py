"""Export and import in formats of others give back all that a caller can say of a record, exactly.

What they cannot hold: times finer than a microsecond, earlier versions, uses, and the marks of upkeep.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import NOW, examples
from tests.strategies import documents, objects, places, shares, texts

from eidet import Draft, Memory
from eidet.core.record import Kind, Record, Tier, Trust
from eidet.core.where import Where
from eidet.exchange import export_memories, import_memories
from eidet.store import verbs
from eidet.store.ram import RamStore

LABELS = ("ann", "Ann", "bob ", "x\0y", "é", "1")
IDS = ("a", "b", "é", "a b", "1", "k'")
SCOPES = ("a", "a/b", "a b", "é/b")
TIMES = (-62135596800.0, -5.0, 0.0, 1.5, 1.7e9, 1.7e9 + 0.000001, 1.6e9 + 0.123456, 4e9)
FORMATS = ["jsonl"]

label = st.none() | st.sampled_from(LABELS)
drafts = st.builds(
    Draft,
    text=texts,
    data=documents.filter(lambda data: data is not None),  # which lets the text be empty
    kind=st.sampled_from([kind for kind in Kind if kind is not Kind.PROCEDURE]),  # which has a shape
    tier=st.sampled_from(Tier),
    trust=st.sampled_from([trust for trust in Trust if trust is not Trust.QUARANTINED]),
    meta=st.none() | objects,
    who=label,
    agent=label,
    session=label,
    source=label,
    step=st.none() | st.sampled_from((-1, 0, 3, 2**40)),
    place=st.none() | places,
    importance=shares,
    occurred=st.sampled_from(TIMES),
    expires=st.none() | st.sampled_from((NOW + 1.5, 4e9)),
    ttl=st.none() | st.sampled_from((1, 1.5)),
    pinned=st.none() | st.booleans(),
    derived_from=st.lists(st.sampled_from(IDS), max_size=2),
)
memories = st.dictionaries(st.tuples(st.sampled_from(SCOPES), st.sampled_from(IDS)), drafts, max_size=4)


def open_memory() -> Memory:
    return Memory(RamStore(), embedder="hashing:16", clock=lambda: NOW)


def list_all(memory: Memory) -> dict[tuple[str, str], Record]:
    found = verbs.scan(memory.parts.store, Where())
    return {(record.scope, record.id): record.but(seq=0) for record in found}


@pytest.mark.parametrize("format", FORMATS)
@settings(derandomize=True, deadline=None, max_examples=examples(100))
@given(said=memories)
def test_what_is_exported_comes_back_as_it_was(format: str, said: dict[tuple[str, str], Draft]) -> None:
    with TemporaryDirectory() as folder, open_memory() as one, open_memory() as other:
        for (scope, id), draft in said.items():
            fields: dict[str, Any] = {name: getattr(draft, name) for name in Draft.__slots__}
            one.remember(Draft(**{**fields, "id": id}), scope=scope, keep_duplicates=True)
        path = Path(folder) / "file"
        assert export_memories(one, format, path).count == len(said)
        done = import_memories(other, format, path)
        assert (done.created, done.skipped) == (len(said), {})
        expected, found = list_all(one), list_all(other)
        assert found == expected
        for place, record in found.items():
            assert repr(record.data) == repr(expected[place].data)
            assert repr(record.meta) == repr(expected[place].meta)
        assert import_memories(other, format, path).same == len(said)
