"""Laws of forgetting: whatever is said, moved, summed up and forgotten, nothing is left or comes back."""

from __future__ import annotations

import hmac
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.making import Clock, examples
from tests.unit.trust.erase.given import bytes_beside, left_of

from eidet import Memory, Refused, Where
from eidet.core.record import Kind, Record
from eidet.core.settings import Upkeep
from eidet.store.sql.scrubbing import PIECE, gaps_of, pieces_of
from eidet.store.tombstones import Marker, fold_text, is_everyday, list_absorbed

LAWS = settings(max_examples=examples(15), deadline=None, derandomize=True)
words = st.sampled_from(["safe", "cellar", "river", "Lisbon", "cello", "opera", "Bergen", "garden", "winter"])
sayings = st.lists(words, min_size=4, max_size=9).map(" ".join)
PART = {"id": "p", "text": "said before", "occurred": 1.0, "meta": {}}
lasting = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@LAWS
@given(
    said=st.lists(sayings, min_size=3, max_size=12, unique_by=fold_text),
    which=st.data(),
    kind=st.sampled_from(["message", "fact"]),
    moved=st.booleans(),
    summed=st.booleans(),
)
def test_nothing_of_what_was_forgotten_is_left_anywhere(
    said: list[str], which: st.DataObject, kind: str, moved: bool, summed: bool
) -> None:
    doomed = which.draw(st.sets(st.sampled_from(said), min_size=1))
    with TemporaryDirectory() as folder:
        export = Path(folder) / "all.jsonl"
        with Memory(Path(folder) / "m.db", embedder="hashing:16", clock=Clock(tick=1.0)) as memory:
            marked = [f"{text} mark{n}mark" for n, text in enumerate(said)]
            records = memory.remember(marked, kind=kind, session="s")
            if summed and kind == "message":
                memory.upkeep.end_session("s")
            if moved:
                memory.upkeep.maintain(only="move", settings=Upkeep(short_age_days=0, middle_age_days=0))
            memory.export(export)
            ids = [r.id for r, text in zip(records, said, strict=True) if text in doomed]
            gone = memory.forget(ids)
            export_bytes = export.read_bytes()
            export.unlink()
            check_gone(memory, Path(folder), [r.whole.text for r in records if r.id in ids], gone.receipt)
            export.write_bytes(export_bytes)
            memory.load(export)
            export.unlink()
            check_gone(memory, Path(folder), [r.whole.text for r in records if r.id in ids], gone.receipt)
            assert memory.count(Where(ids=tuple(r.id for r in records))) == len(records) - len(ids)
            assert memory.admin.check() == []


def check_gone(memory: Memory, folder: Path, texts: list[str], receipt: Any) -> None:
    held = bytes_beside(folder)
    for text in texts:
        assert text.encode() not in held
        assert left_of(memory, text) == []
        with pytest.raises(Refused):
            memory.remember(text)
    assert memory.trust.verify_receipt(receipt)


def record(text: str, **fields: Any) -> Record:
    return Record(id="x", scope="a", text=text, **fields)


@given(text=lasting, space=st.sampled_from([" ", "\n", "\t", "  "]))
def test_a_mark_does_not_see_spacing_or_case(text: str, space: str) -> None:
    marker = Marker(b"k" * 32)
    spaced = space + text.replace(" ", space) + space
    assert marker.of_content("a", text, None) == marker.of_content("a", spaced, None)
    assert marker.of_content("a", text, None) != marker.of_content("b", text, None)
    assert fold_text(fold_text(text)) == fold_text(text)


@given(one=lasting, other=lasting)
def test_marks_differ_where_words_do(one: str, other: str) -> None:
    marker = Marker(b"k" * 32)
    same = marker.of_content("a", one, None) == marker.of_content("a", other, None)
    assert same == (fold_text(one) == fold_text(other))
    assert marker.of_content("a", one, None) != Marker(b"j" * 32).of_content("a", one, None)


@given(text=lasting, secret=st.binary(min_size=1, max_size=100))
def test_a_mark_is_an_hmac(text: str, secret: bytes) -> None:
    said = f"a\0says\0{fold_text(text)}".encode()
    assert Marker(secret).of_content("a", text, None) == hmac.digest(secret, said, "sha256")[:16]


@given(text=lasting)
def test_only_short_messages_are_everyday(text: str) -> None:
    assert not is_everyday(record(text, kind=Kind.FACT))
    assert is_everyday(record(text, kind=Kind.MESSAGE)) or len(text.strip()) >= 12


@given(
    told=st.recursive(
        st.none() | st.text(max_size=3),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["id", "text", "meta"]), x),
        max_leaves=8,
    )
)
@example(told=[PART, PART | {"id": "q", "text": "of another"}])
def test_whatever_meta_says_of_parts_is_only_meta(told: Any) -> None:
    said = record("x", meta={"merged": told})
    assert list(list_absorbed(said)) == []


@given(blob=st.binary(max_size=3000) | st.binary(min_size=600, max_size=3000))
def test_gaps_of_any_file_can_be_read(blob: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "f"
        path.write_bytes(b"SQLite format 3\0\x02\x00" + blob)
        whole = path.read_bytes()
        pages = [whole[start : start + 512] for start in range(0, len(whole) - 511, 512)]
        for page, gap in zip(pages, gaps_of(path), strict=True):
            assert set(gap) <= set(page)
            assert gap == gap.strip(b"\0")


@given(text=st.binary(min_size=1, max_size=200))
def test_pieces_are_of_the_text(text: bytes) -> None:
    pieces = list(pieces_of(text))
    assert bool(pieces) == bool(text.strip() or len(text) > PIECE)
    assert all(piece in text for piece in pieces)
    assert text.startswith(b"".join(pieces))
