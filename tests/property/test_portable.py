"""What is exported comes back as it was, and a file that was touched comes back not at all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.strategies import records

from eidet import EidetError, Memory
from eidet.core.record import Record
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.export_file import read_export, verify_export, write_export
from eidet.store.ram import RamStore
from eidet.text.analysis import pack_analysis
from eidet.write.write_path import put_records

NOW = 1_700_000_000.0
often = settings(derandomize=True, deadline=None, max_examples=examples(100))


def full(record: Record, n: int, life: tuple[int, float | None, int, int]) -> Record:
    """The record with every other field filled, and an id of its own."""
    uses, last_used, level, version = life
    return record.but(
        id=f"{n}-{record.id}",
        uses=uses,
        last_used=last_used,
        level=level,
        version=version,
        derived_from=(record.id,) * (n % 3),
        vector=bytes([n]) * 64 * 4 if n % 2 else None,
        terms=pack_analysis([bytes([n, 0, 0, 0, 1]) * (n % 4)]),
    )


lives = st.tuples(st.integers(0, 9), st.none() | st.just(NOW), st.integers(0, 2), st.integers(1, 5))
many = st.lists(st.tuples(records(), lives), max_size=5).map(
    lambda found: [full(record, n, life) for n, (record, life) in enumerate(found)]
)


@often
@given(many)
def test_a_file_gives_every_record_back_exactly(said: list[Record]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "export.jsonl"
        assert write_export(path, said, {"embedder": "é"}) == len(said)
        assert verify_export(path) == {"eidet": "export", "format": 1, "embedder": "é", "count": len(said)}
        assert list(read_export(path)) == said
        assert [repr(record.data) for record in read_export(path)] == [repr(record.data) for record in said]


@settings(derandomize=True, deadline=None, max_examples=examples(40))
@given(many)
def test_a_memory_that_was_exported_and_loaded_is_the_same(said: list[Record]) -> None:
    said = [record if record.expires is None else record.but(expires=NOW + 1e6) for record in said]
    with TemporaryDirectory() as folder, opened() as one, opened() as other:
        put_records(one.parts, said, now=NOW)
        path = Path(folder) / "export.jsonl"
        assert one.export(path, scope=None) == other.load(path) == len(said)
        assert told(other) == told(one)
        before = other.parts.store.head()
        assert other.load(path) == len(said)
        assert other.parts.store.head() == before


@often
@given(st.data())
def test_a_file_in_which_any_byte_was_changed_is_refused_and_nothing_is_written(data: st.DataObject) -> None:
    content = bytearray(export())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] = data.draw(st.integers(0, 255).filter(lambda value: value != content[at]))
    assert_refused(bytes(content))


@often
@given(st.data())
def test_a_file_that_was_cut_or_grew_is_refused_and_nothing_is_written(data: st.DataObject) -> None:
    content = export()
    at = data.draw(st.integers(0, len(content)))
    more = data.draw(st.binary(max_size=3) | st.sampled_from([b"\n", b" ", b"{}\n", content]))
    changed = content[:at] + more
    if changed != content:
        assert_refused(changed)


def test_lines_that_changed_places_are_refused() -> None:
    manifest, one, two, end = export().splitlines(keepends=True)
    assert_refused(manifest + two + one + end)
    assert_refused(manifest + one + end)


def assert_refused(content: bytes) -> None:
    with TemporaryDirectory() as folder, opened() as memory:
        path = Path(folder) / "export.jsonl"
        path.write_bytes(content)
        with pytest.raises(EidetError):
            memory.load(path)
        assert memory.parts.store.head() == (0, 0)


def export() -> bytes:
    with TemporaryDirectory() as folder, opened() as memory:
        memory.remember("Ann lives in Lisbon.\n\0", data={"n": [1, 2.5, None]}, id="one")
        memory.remember("Bob lives in Porto 🙂", id="two", place=(1, 2))
        memory.export(Path(folder) / "export.jsonl")
        return (Path(folder) / "export.jsonl").read_bytes()


def opened() -> Memory:
    return Memory(RamStore(), embedder="hashing:64", clock=lambda: NOW)


def told(memory: Memory) -> list[Record]:
    return [record.but(seq=0) for record in verbs.scan(memory.parts.store, Where())]
