"""Nothing is lost by tiers: whatever a record is, it survives short → long → restore bit for bit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.strategies import records

from eidet import Memory
from eidet.core.record import Original, Record, Tier, Trust, decode_original, pack_original
from eidet.core.settings import Upkeep
from eidet.core.state import NO_STATE
from eidet.models.embed.quantise import dequantise, dequantise_all, how_many, quantise
from eidet.store import Store
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore
from eidet.upkeep.curve import DAY
from eidet.write.ingest import Ingest
from eidet.write.write_path import put_records

NOW = 1_700_000_000.0
LATER = NOW + 10_000 * DAY
WIDTH = 16
LONG = " ".join(f"Sentence {n} tells of the {n * 7}th thing in Lisbon, as Ann saw it." for n in range(30))
AT_ONCE = Upkeep(short_age_days=0, middle_age_days=0)

texts = st.sampled_from((LONG, LONG * 3, "Ann lives in Lisbon", "x" * 900, "é🙂\0 " * 200)) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=600
)
vectors = st.none() | st.lists(
    st.lists(st.floats(-4, 4, width=32), min_size=WIDTH, max_size=WIDTH), min_size=1, max_size=3
)


def stories(store: Store, record: Record, text: str, vector: list[list[float]] | None) -> None:
    now = [NOW]
    with Memory(store, embedder=f"hashing:{WIDTH}", clock=lambda: now[0]) as memory:
        plain = record.but(
            text=text,
            tier=Tier.SHORT,
            trust=Trust.USER,
            expires=None,
            meta={},
            state=NO_STATE,
            importance=0.5,
            created=NOW,
        )
        made = Ingest.of(memory.parts).derive([plain], [vector])
        born = put_records(memory.parts, made, now=NOW)[0]
        now[0] = LATER
        done = memory.upkeep.maintain(settings=AT_ONCE, only="move")
        assert done.counts == {"move": 1}
        there = memory.get(born.id, scope=born.scope)
        assert there is not None
        assert (there.tier, there.level) == (Tier.LONG, 2)
        assert exact(memory.upkeep.detail(born.id, scope=born.scope)) == exact(born)
        assert memory.get(born.id, scope=born.scope) == there, "looking at the detail changes nothing"
        back = memory.upkeep.restore(born.id, scope=born.scope)
        assert (back.tier, back.level, back.original) == (Tier.MIDDLE, 0, None)
        assert exact(back) == exact(born)
        assert memory.admin.check() == []


def exact(record: Record) -> str:
    """Everything but where it is kept; types and signs of numbers count."""
    return repr(
        [
            (name, getattr(record, name))
            for name in Record.__slots__
            if name not in ("seq", "tier", "uses", "last_used")
        ]
    )


@settings(derandomize=True, deadline=None, max_examples=examples(60))
@given(records(), texts, vectors)
def test_any_record_survives_the_tiers_in_ram(
    record: Record, text: str, vector: list[list[float]] | None
) -> None:
    stories(RamStore(), record, text, vector)


@settings(derandomize=True, deadline=None, max_examples=examples(15))
@given(records(), texts, vectors)
def test_any_record_survives_the_tiers_in_a_file(
    record: Record, text: str, vector: list[list[float]] | None
) -> None:
    with TemporaryDirectory() as folder:
        stories(SqliteStore(Path(folder) / "memory.db"), record, text, vector)


@settings(derandomize=True, deadline=None, max_examples=examples(100))
@given(
    text=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    data=st.none()
    | st.tuples(st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.just({"a": [0]})),
    vector=st.none() | st.binary(max_size=80),
)
@example(text="", data=(None,), vector=b"")
@example(text="a\0b", data=("\0",), vector=b"\0\0")
def test_an_original_is_read_as_it_was_packed(
    text: str | None, data: tuple[object] | None, vector: bytes | None
) -> None:
    original = Original(text=text, data=data, vector=vector, embedder="é" if vector is not None else "")
    assert decode_original(pack_original(original)) == original


@settings(derandomize=True, deadline=None, max_examples=examples(100))
@given(
    width=st.integers(1, 40),
    count=st.integers(1, 4),
    level=st.integers(0, 2),
    seed=st.integers(0, 2**32 - 1),
)
def test_lowered_vectors_point_the_same_way(width: int, count: int, level: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, width)).astype("<f4")
    kept = quantise(rows.tobytes(), level, width)
    again = np.frombuffer(dequantise(kept, level, width), "<f4").reshape(count, width)
    assert how_many(kept, level, width) == count
    assert dequantise_all([kept, None, b""], [level, level, level], width) == [again.tobytes(), None, b""]
    cosines = (rows * again).sum(1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(again, axis=1)
    assert cosines.min() > (1 - 1e-6, 0.99, 0.2)[level]
    if level == 2:
        assert ((rows >= 0) == (again >= 0)).all()
        assert len(kept) == 1 + count * -(-width // 8)
