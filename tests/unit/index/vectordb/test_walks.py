"""Whatever happens to a store, an index over a database answers as the embedded one does."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.servers.pinecone import Pinecone

from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.index import Probe
from eidet.index.contract import NOW, WIDTH, long, unit
from eidet.index.embedded import EmbeddedIndex
from eidet.index.vectordb import VectorSettings
from eidet.index.vectordb.address import parse_database_address
from eidet.index.vectordb.index import VectorIndex
from eidet.index.vectordb.pinecone import PineconeDatabase
from eidet.net.retry import RetryPolicy
from eidet.store import Derived, verbs
from eidet.store.ram import RamStore
from eidet.text import pack, term_id
from eidet.text.analysis import pack_analysis

IDS = st.sampled_from("abcdef")
AXES = st.lists(st.integers(0, WIDTH - 1), max_size=3)
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), IDS, AXES),
        st.tuples(st.just("drop"), IDS, AXES),
        st.tuples(st.just("rewrite"), IDS, AXES),
        st.tuples(st.just("restart"), IDS, AXES),
        st.tuples(st.just("rebuild"), IDS, AXES),
        st.tuples(st.just("away"), IDS, AXES),
        st.tuples(st.just("back"), IDS, AXES),
    ),
    max_size=14,
)


class Walk:
    def __init__(self, server: Pinecone, ship_rows: int) -> None:
        self.server, self.store, self.ship_rows = server, RamStore(), ship_rows
        self.index = self.opened()
        self.plain = EmbeddedIndex(self.store, WIDTH)

    def opened(self) -> VectorIndex:
        url = f"pinecone+{self.server.url}?key={self.server.key}&settle=0"
        self.database = PineconeDatabase(parse_database_address(url, {}, own=("settle",)))
        self.database.retrier.policy = self.retry_policy()
        how = VectorSettings(small=2, ship_rows=self.ship_rows, background=False, batch=2)
        return VectorIndex(self.store, WIDTH, self.database, settings=how)

    def retry_policy(self) -> RetryPolicy:
        """With a server that answers, there is time; one that is away is not waited for."""
        return RetryPolicy(deadline_seconds=10.0 if self.server.down is None else 0.02, rest_seconds=1e-6)

    def put(self, id: str, axes: list[int]) -> None:
        verbs.put(self.store, [long(id, [f"w{id}"], axes=axes, step=len(axes))], now=NOW, unique=False)

    def drop(self, id: str, axes: list[int]) -> None:
        verbs.delete_where(self.store, Where(ids=(id,)), now=NOW)

    def rewrite(self, id: str, axes: list[int]) -> None:
        record = self.store.read("a", [id])[0]
        if record is not None:
            vector = b"".join(unit((axis, 1.0)).tobytes() for axis in axes) or None
            verbs.replace_derived(
                self.store, [Derived(record.seq, vector, pack_analysis([pack([f"w{id}"])]))]
            )

    def restart(self, id: str, axes: list[int]) -> None:
        self.index = self.opened()

    def rebuild(self, id: str, axes: list[int]) -> None:
        if self.server.down is None:
            self.restart(id, axes)
            self.index.rebuild("a")

    def away(self, id: str, axes: list[int]) -> None:
        self.server.down = 503
        self.database.retrier.policy = self.retry_policy()

    def back(self, id: str, axes: list[int]) -> None:
        self.server.down = None
        self.database.retrier.policy = self.retry_policy()

    def agree(self, axis: int, id: str) -> None:
        probe = Probe(
            scope=Scope("a"), now=NOW, vector=unit((axis, 1.0)), terms=(term_id(f"w{id}"),), where=None
        )
        mine, truth = self.index.search(probe), self.plain.search(probe)
        assert np.array_equal(mine.seq, truth.seq)
        assert np.allclose(mine.words, truth.words)
        if not mine.notes:
            assert np.allclose(mine.dense, truth.dense, atol=5e-3)
        assert not mine.notes or self.server.down is not None


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=MOVES, ship_rows=st.integers(1, 4))
def test_it_agrees_after_every_move(
    server: Pinecone, moves: list[tuple[str, str, list[int]]], ship_rows: int
) -> None:
    server.down = None
    server.spaces.clear()
    walk = Walk(server, ship_rows)
    for move, id, axes in moves:
        getattr(walk, move)(id, axes)
        walk.agree(axes[0] if axes else 0, id)
    walk.back("a", [])
    walk.agree(0, "a")
    assert walk.index.check("a") == []
