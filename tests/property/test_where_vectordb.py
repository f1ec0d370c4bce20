"""A filter means in a vector database what it means in Python, however it is asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.needs import ENGINES, each
from tests.servers.databases import DATABASES
from tests.strategies import records, wheres

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Probe
from eidet.index.embedded import EmbeddedIndex
from eidet.index.vectordb import Database, VectorSettings
from eidet.index.vectordb.index import VectorIndex
from eidet.store import verbs
from eidet.store.ram import RamStore

WIDTH, NOW = 8, 1.2  # between the times at which the records of our strategies expire


@pytest.fixture(scope="module", params=each(ENGINES))
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with ExitStack() as stack:
        yield DATABASES[request.param](stack, tmp_path_factory.mktemp(request.param), WIDTH)()


def stored(found: list[Record]) -> RamStore:
    store, rng = RamStore(), np.random.default_rng(len(found))
    rows = rng.normal(size=(len(found), WIDTH)).astype(np.float32)
    made = [
        record.but(id=f"r{number}", text=f"says {number}", scope="a", vector=row.tobytes())
        for number, (record, row) in enumerate(zip(found, rows, strict=True))
    ]
    verbs.put(store, made, now=0.0, unique=False)
    return store


@settings(
    max_examples=examples(8),
    phases=[Phase.generate],  # making a failure smaller would ask the engines a thousand times
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    found=st.lists(records(), min_size=4, max_size=14),
    asked=st.lists(wheres(), min_size=6, max_size=6),
)
def test_every_filter_finds_what_python_lets_pass(
    database: Database, found: list[Record], asked: list[Where]
) -> None:
    store = stored(found)
    how = VectorSettings(small=0, ship_rows=1, background=False)
    index, plain = VectorIndex(store, WIDTH, database, settings=how), EmbeddedIndex(store, WIDTH)
    query = np.random.default_rng(1).normal(size=WIDTH).astype(np.float32)
    for where in (*asked, *(~one for one in asked), asked[0] & asked[1], asked[2] | ~asked[3]):
        for depth in (2, 400):
            probe = Probe(scope=Scope("a"), now=NOW, where=where, vector=query, depth=depth)
            mine, truth = index.search(probe), plain.search(probe)
            assert mine.notes == ()
            assert mine.seq.tolist() == truth.seq.tolist(), where
            assert np.allclose(mine.dense, truth.dense, atol=2e-2), where
            lets = {r.seq for r in verbs.scan(store, where) if r.expires is None or r.expires > NOW}
            assert set(mine.seq.tolist()) == lets, where
    assert index.stats()["rows_in_ram"] == 0
    placed = index._filler.placement("a", store.head().epoch)
    assert placed is not None
    database.discard(placed.at)
