"""What is asked of every database: points that can be put, replaced, found among all or some, and removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from tests.needs import each
from tests.servers.databases import DATABASES
from tests.servers.pinecone import Pinecone
from tests.servers.weaviate import Weaviate
from tests.timing import until

from eidet.core.errors import Misconfigured
from eidet.index import Floats
from eidet.index.vectordb import Database, Point, VectorLost, VectorShelf, key_of
from eidet.index.vectordb.address import parse_database_address
from eidet.index.vectordb.pinecone import PineconeDatabase
from eidet.index.vectordb.weaviate import WeaviateDatabase

WIDTH = 8
SHELF, OTHER = VectorShelf("Eidet_ab_8", "s-1", WIDTH), VectorShelf("Eidet_ab_8", "t-1", WIDTH)


@pytest.fixture(scope="module", params=each(DATABASES))
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with ExitStack() as stack:
        yield DATABASES[request.param](stack, tmp_path_factory.mktemp(request.param), WIDTH)()


@pytest.fixture
def database(opened: Database) -> Iterator[Database]:
    for shelf in (SHELF, OTHER):
        opened.prepare(shelf)
    yield opened
    for shelf in (SHELF, OTHER):
        opened.discard(shelf)


def vector(n: int) -> Floats:
    made = np.random.default_rng(n).normal(size=WIDTH).astype(np.float32)
    return made / np.linalg.norm(made)


def points(count: int = 20) -> list[Point]:
    return [Point(key_of(n + 1, 0), vector(n)) for n in range(count)]


def test_only_records_that_are_named_are_found(database: Database) -> None:
    database.put(SHELF, points())
    for seqs in ([3], [1, 7, 20, 99], list(range(1, 10_001)), [77]):
        found = {match.key for match in database.near(SHELF, vector(0), 100, seqs=seqs)}
        assert found == {point.key for point in points() if point.seq in seqs}


def test_the_nearest_come_first_with_their_cosines(database: Database) -> None:
    database.put(SHELF, points())
    found = database.near(SHELF, vector(3), 5)
    truth = sorted(((float(vector(n) @ vector(3)), key_of(n + 1, 0)) for n in range(20)), reverse=True)[:5]
    assert [match.key for match in found] == [key for _, key in truth]
    assert np.allclose([match.score for match in found], [score for score, _ in truth], atol=1e-5)


def test_shelves_do_not_see_each_other(database: Database) -> None:
    database.put(SHELF, points(4))
    database.put(OTHER, points(3))
    assert len(database.near(SHELF, vector(0), 50)) == 4
    assert len(database.near(OTHER, vector(0), 50)) == 3
    database.remove(OTHER, [1, 2])
    assert (database.count(SHELF), database.count(OTHER)) == (4, 1)
    database.discard(OTHER)
    assert (database.count(SHELF), database.count(OTHER)) == (4, 0)


def test_a_point_with_the_same_key_is_replaced(database: Database) -> None:
    database.put(SHELF, points(3))
    database.put(SHELF, [Point(key_of(2, 0), vector(99))])
    until(lambda: database.count(SHELF) == 3)  # a database may take a moment between the old and the new
    (found,) = database.near(SHELF, vector(99), 9, seqs=[2])
    assert found.key == key_of(2, 0)
    assert found.score == pytest.approx(1, abs=1e-5)


def test_all_units_of_a_record_go_with_it(database: Database) -> None:
    units = [Point(key_of(7, unit), vector(unit)) for unit in (0, 1, 4095)]
    database.put(SHELF, [*units, Point(key_of(8, 0), vector(4))])
    database.remove(SHELF, [7, 12345])
    assert [match.key for match in database.near(SHELF, vector(0), 9)] == [key_of(8, 0)]


def test_large_seqs_keep_every_digit(database: Database) -> None:
    seq = 2**50 + 1
    database.put(SHELF, [Point(key_of(seq, 3), vector(1))])
    database.remove(SHELF, [seq - 1])
    (found,) = database.near(SHELF, vector(1), 5)
    assert found.key == key_of(seq, 3)
    database.remove(SHELF, [seq])
    assert database.count(SHELF) == 0


def test_preparing_and_discarding_twice_is_fine(database: Database) -> None:
    database.put(SHELF, points(2))
    database.prepare(SHELF)
    assert database.count(SHELF) == 2
    for _ in range(2):
        database.discard(SHELF)
        database.discard(VectorShelf("Eidet_no_8", "u-1", WIDTH))
    assert database.count(SHELF) == 0


def test_a_collection_that_is_gone_is_lost(database: Database) -> None:
    if isinstance(database, PineconeDatabase):
        pytest.skip("an index of Pinecone is made by its user")
    nowhere = VectorShelf("Eidet_gone_8", "s-1", WIDTH)
    with pytest.raises(VectorLost):
        database.near(nowhere, vector(0), 5)
    with pytest.raises(VectorLost):
        database.put(nowhere, points(1))
    assert database.count(nowhere) == 0


def test_a_pinecone_index_of_another_width_or_metric_is_refused_with_advice() -> None:
    for server in (Pinecone(WIDTH + 1), Pinecone(WIDTH, metric="euclidean")):
        try:
            database = PineconeDatabase(parse_database_address(f"pinecone+{server.url}?key={server.key}", {}))
            with pytest.raises(Misconfigured, match="needs 8 and cosine"):
                database.prepare(SHELF)
        finally:
            server.stop()


def test_requests_to_pinecone_stay_below_their_limit() -> None:
    wide, server = 3072, Pinecone(3072)
    try:
        database = PineconeDatabase(parse_database_address(f"pinecone+{server.url}?key={server.key}", {}))
        made = np.random.default_rng(1).normal(size=wide).astype(np.float32)
        database.put(VectorShelf("E", "s", wide), [Point(key_of(n + 1, 0), made) for n in range(100)])
        assert database.count(VectorShelf("E", "s", wide)) == 100
    finally:
        server.stop()


@pytest.mark.parametrize("wrong", ["", "guess"])
def test_a_wrong_key_is_misconfigured_and_is_not_told(wrong: str) -> None:
    weaviate, pinecone = Weaviate("right"), Pinecone(WIDTH)
    try:
        at = parse_database_address(f"weaviate+{weaviate.url}" + (f"?key={wrong}" if wrong else ""), {})
        with pytest.raises(Misconfigured, match="401") as error:
            WeaviateDatabase(at).prepare(SHELF)
        assert "guess" not in str(error.value)
        with pytest.raises(Misconfigured, match="401") as error:
            PineconeDatabase(parse_database_address(f"pinecone+{pinecone.url}?key=guess", {})).prepare(SHELF)
        assert "guess" not in str(error.value)
    finally:
        weaviate.stop()
        pinecone.stop()
