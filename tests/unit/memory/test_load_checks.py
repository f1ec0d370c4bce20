"""A file is checked as a whole before anything of it is written; whatever is wrong is named by its line."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import struct
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import NOW, Clock, examples

from eidet import AsyncMemory, Corrupt, EidetError, Memory, Misconfigured, Refused, Scope
from eidet.core.record import Original, pack_original
from eidet.models.embed import Vectors

WIDTH = 64
KEY = bytes(range(32))


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def floats(*numbers: float) -> str:
    return b64(struct.pack(f"<{len(numbers)}f", *numbers))


LINE: dict[str, Any] = {"id": "x", "scope": "a", "text": "Ann lives in Lisbon", "created": NOW}
WRONG: dict[str, dict[str, Any]] = {
    "a vector with NaN": {"vector": floats(math.nan, *[0.0] * (WIDTH - 1))},
    "a vector of another width": {"vector": floats(1.0, 2.0)},
    "a vector of odd bytes": {"vector": b64(b"abc")},
    "a lowered vector with NaN": {
        "vector": b64(b"\x01" + struct.pack("<f", math.nan) + bytes(WIDTH)),
        "level": 1,
    },
    "a vector that is a list": {"vector": [1.0, 2.0]},
    "an importance in words": {"importance": "high"},
    "an importance of True": {"importance": True},
    "a version of 0": {"version": 0},
    "uses below 0": {"uses": -1},
    "an expiry in words": {"expires": "tomorrow"},
    "a creation beyond all time": {"created": 1e300},
    "an unknown kind": {"kind": "wish"},
    "an unknown tier": {"tier": 1},
    "a huge step": {"step": 2**80},
    "a place of one number": {"place": [1]},
    "a level of 7": {"level": 7},
    "labels that are numbers": {"agent": 5},
    "a very long label": {"who": "x" * 1001},
    "sources that are one text": {"derived_from": "abc"},
    "a meta that is a list": {"meta": [1]},
    "a meta that is nested too deeply": {"meta": {"a": json.loads("[" * 300 + "]" * 300)}},
    "a state that is a text": {"state": "pinned"},
    "a state with a hold in words": {"state": {"hold": {"at": "now"}}},
    "a state that is nested too deeply": {"state": {"more": json.loads("[" * 600 + "]" * 600)}},
    "an original that is none": {"original": b64(b"nothing")},
    "an original whose text is a number": {"original": b64(pack_original(Original(text=5)) or b"")},  # type: ignore[arg-type]
    "an original whose vector is NaN": {
        "original": b64(pack_original(Original(vector=struct.pack("<f", math.nan), embedder="x")) or b"")
    },
    "sealed bytes in a plain file": {"sealed": b64(bytes(64))},
    "an empty id": {"id": ""},
    "a scope that is none": {"scope": "a//b"},
    "half of a character": {"text": "\ud800"},
    "a field that nobody knows": {"colour": "red"},
}
RAW: dict[str, str] = {
    "brackets ten million deep": "[" * 10_000_000,
    "an object that never ends": '{"id":' * 100_000,
    "NaN": '{"id":"x","scope":"a","text":"t","importance":NaN}',
    "a number of 5,000 digits": '{"id":"x","scope":"a","text":"t","data":' + "9" * 5000 + "}",
    "a key twice": '{"id":"x","scope":"a","text":"t","text":"u"}',
    "no JSON": "{",
    "nothing": "",
    "a record without a text": '{"id":"x","scope":"a"}',
}


def export_of(*lines: str, count: int | None = None, manifest: str = "") -> bytes:
    """A file whose checksum is right, whatever its lines say."""
    first = manifest or json.dumps({"eidet": "export", "format": 1, "embedder": f"hashing:{WIDTH}"})
    body = "".join(line + "\n" for line in (first, *lines)).encode()
    end = {"count": len(lines) if count is None else count, "sha256": sha256(body).hexdigest()}
    return body + json.dumps(end, separators=(",", ":")).encode() + b"\n"


def line_of(**fields: Any) -> str:
    return json.dumps({**LINE, **fields})


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder=f"hashing:{WIDTH}", clock=Clock()) as opened:
        yield opened


def assert_refused(memory: Memory, file: Path, content: bytes, line: int | None = None) -> str:
    file.write_bytes(content)
    head = memory.parts.store.head()
    with pytest.raises((Corrupt, Misconfigured)) as refused:
        memory.load(file)
    assert memory.parts.store.head() == head, "nothing is written"
    assert str(file) in str(refused.value)
    assert line is None or f"line {line}" in str(refused.value), refused.value
    assert len(str(refused.value)) < 1000
    return str(refused.value)


@pytest.mark.parametrize("what", WRONG)
def test_a_line_that_could_be_no_record_keeps_all_others_out(
    memory: Memory, tmp_path: Path, what: str
) -> None:
    good = [line_of(id=str(n)) for n in range(3)]
    content = export_of(*good, line_of(**WRONG[what]), *good)
    assert_refused(memory, tmp_path / "x.jsonl", content, line=5)


@pytest.mark.parametrize("what", RAW)
def test_a_line_that_is_no_line_of_ours_is_named(memory: Memory, tmp_path: Path, what: str) -> None:
    assert_refused(memory, tmp_path / "x.jsonl", export_of(line_of(), RAW[what], line_of(id="y")), line=3)


@pytest.mark.parametrize("bad", [0, 1000, 1500])
def test_many_good_lines_and_a_bad_one_leave_nothing(memory: Memory, tmp_path: Path, bad: int) -> None:
    lines = [line_of(id=str(n)) for n in range(1501)]
    lines[bad] = line_of(importance="high")
    assert_refused(memory, tmp_path / "x.jsonl", export_of(*lines), line=bad + 2)
    assert memory.count(scope="a") == 0


def test_an_empty_file_and_one_without_records_say_so(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    assert "is empty" in assert_refused(memory, file, b"")
    assert "manifest only" in assert_refused(memory, file, export_of().splitlines(keepends=True)[0])
    assert "not an export" in assert_refused(memory, file, b'{"a": 1}\n')
    assert "not valid JSON" in assert_refused(memory, file, b"\n")
    assert "truncated" in assert_refused(memory, file, export_of(line_of(), count=2))
    assert "last line" in assert_refused(memory, file, export_of(line_of())[:-20])
    file.write_bytes(export_of())
    assert memory.load(file) == 0


def test_what_can_be_a_record_is_loaded(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(export_of(line_of(importance=1, step=-5, place=[1, 2.5], expires=NOW + 5, uses=3)))
    assert memory.load(file) == 1
    [record] = memory.find(scope="a")
    assert (record.importance, record.step, record.place, record.uses) == (1.0, -5, (1.0, 2.5), 3)


def test_a_policy_that_keeps_one_record_out_keeps_out_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    good = [line_of(id=str(n)) for n in range(1200)]
    file.write_bytes(export_of(*good, line_of(text="write to ann@example.com")))
    with Memory(embedder=f"hashing:{WIDTH}", guard="refuse") as memory:
        with pytest.raises(Refused):
            memory.load(file)
        assert memory.count(scope="a") == 0


def test_a_load_can_be_confined_to_a_scope(memory: Memory, tmp_path: Path) -> None:
    file, scopes = tmp_path / "x.jsonl", ("acme", "acme/ann", "acmeb", "bob")
    file.write_bytes(export_of(*(line_of(id=scope, scope=scope) for scope in scopes)))
    assert memory.load(file, scope="acme") == 1
    assert memory.scopes() == {"acme": 1}
    assert memory.load(file, scope=Scope.under("acme")) == 2
    assert memory.scopes() == {"acme": 1, "acme/ann": 1}
    assert memory.load(file, scope="nobody") == 0
    assert memory.load(file) == 4

    async def load() -> int:
        async with AsyncMemory(embedder=f"hashing:{WIDTH}") as other:
            return await other.load(file, scope="bob")

    assert asyncio.run(load()) == 1


class Mine:
    """An embedder that changed its width and not its name."""

    name = "mine"

    def __init__(self, width: int) -> None:
        self.width = width

    def embed(self, texts: Any) -> Vectors:
        return np.ones((len(texts), self.width), dtype=np.float32)


VERBS: dict[str, Callable[[Memory, Path], object]] = {
    "remember": lambda memory, file: memory.remember("Bob lives in Porto"),
    "remember with a vector": lambda memory, file: memory.remember("Bob", vector=[1.0] * 4),
    "revise": lambda memory, file: memory.revise(memory.find()[0].id, text="Bob"),
    "recall": lambda memory, file: memory.recall("Lisbon"),
    "context": lambda memory, file: memory.context("Lisbon"),
    "load": lambda memory, file: memory.load(file),
    "maintain": lambda memory, file: memory.upkeep.maintain(),
    "dry run": lambda memory, file: memory.upkeep.maintain(dry_run=True),
}


@pytest.mark.parametrize("verb", VERBS)
def test_an_embedder_of_the_same_name_and_another_width_is_refused(tmp_path: Path, verb: str) -> None:
    place, file = tmp_path / "m.db", tmp_path / "x.jsonl"
    with Memory(place, embedder=Mine(8)) as memory:
        memory.remember("Ann lives in Lisbon")
        memory.export(file)
    with Memory(place, embedder=Mine(4)) as memory:
        head = memory.parts.store.head()
        with pytest.raises(Misconfigured, match=r"vectors of 8 numbers.*makes 4.*same name 'mine'.*reembed"):
            VERBS[verb](memory, file)
        assert memory.parts.store.head() == head
        assert memory.find()[0].text == "Ann lives in Lisbon", "what needs no vector works"


def test_a_file_of_another_width_is_embedded_anew(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    with Memory(embedder=Mine(8)) as memory:
        memory.remember("Ann lives in Lisbon")
        memory.export(file)
    with Memory(embedder=Mine(4)) as memory:
        assert memory.load(file) == 1
        assert [len(record.vector or b"") for record in memory.find()] == [16]
        assert memory.recall("Lisbon")[0].text == "Ann lives in Lisbon"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.sampled_from(["", "high", "tomorrow", "\ud800", "AAAA", "AACAfw==", "fact", "1", "a/b"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = [
    *(
        "id",
        "scope",
        "text",
        "kind",
        "tier",
        "data",
        "who",
        "agent",
        "session",
        "step",
        "place",
        "importance",
    ),
    *("created", "occurred", "uses", "last_used", "expires", "source", "meta", "state", "vector", "terms"),
    *("level", "original", "derived_from", "trust", "sealed", "version", "seq", "other"),
]
STATES = ["pinned", "hold", "ttl", "poison", "quarantine", "reviewed", "merged", "weighed", "pii"]
states = st.dictionaries(st.sampled_from([*STATES, "at", "other"]), values, max_size=3)
changes = st.dictionaries(st.sampled_from(NAMES), values, max_size=3) | st.fixed_dictionaries(
    {"state": states}
)


def try_to_load(memory: Memory, file: Path) -> str | None:
    try:
        memory.load(file)
    except EidetError as error:
        return str(error)
    return None


@settings(deadline=None, max_examples=examples(300))
@given(change=changes)
def test_no_line_breaks_the_memory_it_is_loaded_into(
    tmp_path_factory: pytest.TempPathFactory, change: dict[str, Any]
) -> None:
    """Either the file is refused with an error of ours and nothing is written, or all verbs work."""
    file = tmp_path_factory.mktemp("load") / "x.jsonl"
    first = json.dumps({"eidet": "export", "format": 1, "embedder": f"hashing:{WIDTH}"})
    file.write_bytes(export_of(line_of(id="good"), json.dumps({**LINE, **change}), manifest=first))
    with Memory(embedder=f"hashing:{WIDTH}", clock=Clock()) as memory:
        error = try_to_load(memory, file)
        if error is not None:
            assert "line 3" in error
            assert memory.parts.store.head().seq == 0
            return
        for scope in memory.scopes():
            memory.recall("where does Ann live?", scope=scope)
            memory.context("where does Ann live?", scope=scope)
            for record in memory.find(scope=scope):
                record.to_dict(vectors=True)
                memory.get(record.id, scope=scope)
                memory.history(record.id, scope=scope)
        memory.upkeep.maintain()
        memory.export(file, scope=None)
        memory.load(file)
        for scope in memory.scopes():
            memory.forget(everything=True, scope=scope, for_good=False)


def test_words_that_could_not_be_searched_are_refused_unless_they_are_analysed_anew(
    memory: Memory, tmp_path: Path
) -> None:
    manifest = {"eidet": "export", "format": 1, "embedder": f"hashing:{WIDTH}"}
    broken = line_of(terms=b64(b"abc"))
    named = json.dumps(manifest | {"analyzer": memory.parts.analyzer.name})
    refused = assert_refused(memory, tmp_path / "x.jsonl", export_of(broken, manifest=named), line=2)
    assert "the analysis of a text is damaged" in refused
    (tmp_path / "x.jsonl").write_bytes(export_of(broken, manifest=json.dumps(manifest)))
    assert memory.load(tmp_path / "x.jsonl") == 1
    assert [hit.id for hit in memory.recall("Lisbon", scope="a")] == ["x"]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_file_that_is_too_large_to_keep_is_read_a_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: bool
) -> None:
    key = KEY if sealed else None
    with Memory(embedder=f"hashing:{WIDTH}", key=key) as memory:
        stored = memory.remember([f"fact {n}" for n in range(30)])
        memory.export(tmp_path / "x.jsonl", plain=sealed)
    for most in (29, 30, 5000):
        monkeypatch.setattr("eidet.memory.export_import.READ_ONCE", most)
        with Memory(embedder=f"hashing:{WIDTH}", key=key) as other:
            assert other.load(tmp_path / "x.jsonl") == 30
            assert sorted(one.text for one in other.find()) == sorted(one.text for one in stored)
