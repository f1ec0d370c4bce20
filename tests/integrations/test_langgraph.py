"""LangGraph's store, judged by LangGraph's own tests, by its in-memory store, and by langmem's tools."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.upstream import Upstream, judge
from tests.making import Clock

need("langgraph.store", "langgraph")

from langgraph.store.base import InvalidNamespaceError, Item, PutOp, SearchOp  # noqa: E402
from langgraph.store.memory import InMemoryStore  # noqa: E402

from eidet import Memory, Upkeep  # noqa: E402
from eidet.integrations.langgraph import EidetStore  # noqa: E402
from eidet.models.adapt import adapt_embedder  # noqa: E402

SHIM = """
import os
from contextlib import contextmanager
from langgraph.store.base import ensure_embeddings
from eidet import Memory
from eidet.integrations.langgraph import EidetStore
from eidet.models.adapt import adapt_embedder

NS_MATCH_FUNCTION = _escape_glob_literal = _namespace_match_pattern = None
SqliteIndexConfig = dict

class BaseSqliteStore: ...

def open_memory(place, index):
    if not index:
        return Memory(place)
    embeddings = ensure_embeddings(index["embed"])
    return Memory(
        place,
        embedder=adapt_embedder(
            embeddings.embed_documents, name="upstream", width=index["dims"], batch=True
        ),
    )

class SqliteStore(EidetStore):
    MIGRATIONS = []

    def setup(self): ...

    @classmethod
    @contextmanager
    def from_conn_string(cls, place, index=None, ttl=None):
        with open_memory(None if place == ":memory:" else place + ".eidet", index) as memory:
            yield cls(memory, index=index, ttl=ttl)

class InMemoryStore(EidetStore):
    def __init__(self, *, index=None):
        super().__init__(open_memory(None, index), index=index)
"""

SQLITE = Upstream(
    requirement="langgraph-checkpoint-sqlite==3.1.2",
    sha256="4e3f376fa6f192d6ad2a1a4643b039986f1593552ef870e9e45281575de6fbf2",
    files=["tests/test_store.py"],
    changes={
        "tests/test_store.py": [
            ("from langgraph.store.sqlite import SqliteStore\n", "from eidet_shim import SqliteStore\n"),
            ("from langgraph.store.sqlite.base import (", "from eidet_shim import ("),
        ]
    },
    shim=SHIM,
)
BASE = Upstream(
    requirement="langgraph-checkpoint==4.3.1",
    sha256="625e7c78a72b33e7c47f7e87ca051060fb90aa66f5fd551c472c08376fb669cb",
    files=["tests/test_store.py"],
    changes={
        "tests/test_store.py": [
            ("from langgraph.store.memory import InMemoryStore", "from eidet_shim import InMemoryStore")
        ]
    },
    shim=SHIM,
)
SQLITE_ONLY = {
    "test_store::test_vector_store_initialization": "reads attributes of the SQLite store",
    "test_store::test_sql_injection_vulnerability[memory]": "expects an error for a key that SQL can't quote",
    "test_store::test_sql_injection_vulnerability[file]": "the same: such a key is a plain key here",
    "test_store::test_escape_glob_literal": "a function for SQL patterns",
    "test_store::test_namespace_match_pattern": "a function for SQL patterns",
    "test_store::test_list_namespaces_prefix_uses_indexable_condition": "reads the SQL that is made",
}


@pytest.mark.parametrize(
    ("upstream", "expected"), [(SQLITE, SQLITE_ONLY), (BASE, {})], ids=["sqlite", "base"]
)
def test_langgraph_judges(upstream: Upstream, expected: dict[str, str], tmp_path: Path) -> None:
    verdict = judge(upstream, tmp_path)
    assert verdict.failed == set(expected), verdict.said
    assert len(verdict.passed) > 20


LABELS = ("a", "b", "ab", "a/b", "a b", "%41", "é", "*", "a\n")
NAMESPACES = st.lists(st.sampled_from(LABELS), min_size=1, max_size=3).map(tuple)
VALUES = st.dictionaries(
    st.sampled_from(["x", "y"]), st.one_of(st.integers(0, 2), st.sampled_from(["u", "v"])), max_size=2
)
FILTERS = st.sampled_from([None, {"x": 1}, {"x": "u"}, {"y": {"$ne": "v"}}, {"x": {"$eq": 2}}, {"z": None}])
PUTS = st.tuples(st.just("put"), NAMESPACES, st.sampled_from("kl"), st.one_of(st.none(), VALUES))
GETS = st.tuples(st.just("get"), NAMESPACES, st.sampled_from("kl"), st.none())
SEARCHES = st.tuples(st.just("search"), NAMESPACES, FILTERS, st.integers(0, 1))
LISTS = st.tuples(st.just("list"), NAMESPACES, st.sampled_from(["prefix", "suffix"]), st.integers(1, 3))


def answer(store: Any, step: tuple[Any, ...]) -> object:
    what, namespace, one, other = step
    if what == "put":
        return store.put(namespace, one, other) if other is not None else store.delete(namespace, one)
    if what == "get":
        item = store.get(namespace, one)
        return item and (item.namespace, item.key, item.value)
    if what == "search":
        found = store.search(namespace[:1], filter=one, offset=other, limit=100)
        if other:
            return len(found)
        return sorted((item.namespace, item.key, sorted(item.value.items())) for item in found)
    if isinstance(store, InMemoryStore):  # it also lists namespaces that were only asked for
        for empty in [name for name, items in store._data.items() if not items]:
            del store._data[empty]
    return store.list_namespaces(**{one: namespace[:1]}, max_depth=other)


@given(st.lists(st.one_of(PUTS, PUTS, GETS, SEARCHES, LISTS), max_size=12))
def test_it_answers_as_the_in_memory_store_does(steps: list[tuple[Any, ...]]) -> None:
    with Memory() as memory:
        ours, theirs = EidetStore(memory), InMemoryStore()
        for step in steps:
            assert answer(ours, step) == answer(theirs, step), step


def test_a_fact_is_there_after_a_restart_and_only_for_its_user(reopen: Reopen) -> None:
    with reopen() as memory:
        store = EidetStore(memory, scope="app")
        store.put(("users", "ann"), "food", {"text": "Ann is allergic to peanuts"})
        store.put(("users", "bob"), "food", {"text": "Bob loves peanuts"})
    with reopen() as memory:
        store = EidetStore(memory, scope="app")
        (best,) = store.search(("users", "ann"), query="what can't she eat, peanuts?")
        assert best.value == {"text": "Ann is allergic to peanuts"}
        assert best.namespace == ("users", "ann")
        assert store.get(("users", "bob"), "food") is not None
        assert EidetStore(memory, scope="other").search((), query="peanuts") == []


def test_async_calls_see_what_sync_calls_wrote(reopen: Reopen) -> None:
    async def ask(store: EidetStore) -> tuple[Any, Any]:
        await store.aput(("n",), "b", {"text": "two"})
        return await store.aget(("n",), "a"), await store.asearch(("n",), query="two", limit=1)

    with reopen() as memory:
        store = EidetStore(memory)
        store.put(("n",), "a", {"text": "one"})
        one, found = asyncio.run(ask(store))
        assert (one.value, found[0].value) == ({"text": "one"}, {"text": "two"})


def test_what_a_batch_refuses_writes_nothing() -> None:
    with Memory() as memory:
        store = EidetStore(memory)
        bad = PutOp(namespace=("a.b",), key="k", value={})
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(namespace=("a",), key="k", value={}), bad])
        assert store.get(("a",), "k") is None


def test_items_live_as_long_as_they_are_read() -> None:
    clock = Clock()
    with Memory(clock=clock) as memory:
        store = EidetStore(memory, ttl={"default_ttl": 10, "refresh_on_read": True})
        store.put(("n",), "short", {"v": 1})
        store.put(("n",), "long", {"v": 2}, ttl=None)
        clock.pass_(9 * 60)
        assert store.get(("n",), "short", refresh_ttl=True) is not None
        clock.pass_(9 * 60)
        assert store.get(("n",), "short", refresh_ttl=False) is not None
        clock.pass_(2 * 60)
        assert store.get(("n",), "short") is None
        assert [item.key for item in store.search(("n",))] == ["long"]


def test_langmem_tools_work_on_it() -> None:
    langmem = pytest.importorskip("langmem")
    with Memory() as memory:
        store = EidetStore(memory)
        manage = langmem.create_manage_memory_tool(("memories",), store=store)
        search = langmem.create_search_memory_tool(("memories",), store=store)
        manage.invoke({"content": "Ann prefers aisle seats", "action": "create"})
        assert "aisle" in str(search.invoke({"query": "which seat does Ann want?"}))


def test_reads_of_a_batch_see_what_was_there_before() -> None:
    with Memory() as memory:
        store = EidetStore(memory)
        put = PutOp(namespace=("n",), key="k", value={"text": "tea"})
        found, _ = store.batch([SearchOp(namespace_prefix=("n",)), put])
        assert found == []


def _embed(texts: list[str]) -> list[list[float]]:
    vectors = []
    for text in texts:
        source = random.Random(text)
        vectors.append([source.gauss(0, 1) for _ in range(64)])
    return vectors


def test_scores_of_a_lower_tier_are_about_those_of_before() -> None:
    with Memory(embedder=adapt_embedder(_embed, name="drinks", width=64, batch=True)) as memory:
        store = EidetStore(memory, index={"dims": 64, "embed": _embed, "fields": ["text"]})
        store.put(("n",), "a", {"text": "tea"})
        store.put(("n",), "b", {"text": "coffee"})
        before = {item.key: item.score for item in store.search(("n",), query="tea")}
        settings = Upkeep(short_age_days=1, middle_age_days=10)
        for days in (5, 50):
            memory.upkeep.maintain(settings=settings, only="move", now=time.time() + days * 86_400)
        (scope,) = memory.scopes()
        assert {record.level for record in memory.find(scope=scope)} == {2}
        after = {item.key: item.score for item in store.search(("n",), query="tea")}
        assert before["a"] == pytest.approx(1.0)
        assert after == {key: pytest.approx(score, abs=0.25) for key, score in before.items()}


def test_a_store_inside_another_shows_each_item_where_it_can_be_read() -> None:
    with Memory() as memory:
        outer, inner = EidetStore(memory, scope="ann"), EidetStore(memory, scope="ann/work")
        outer.put(("home",), "k", {"text": "the spare key is at the bakery"})
        outer.put(("work",), "k", {"text": "the badge is in the drawer"})
        inner.put(("desk",), "k", {"text": "the desk is by the window"})
        memory.remember("A note of the same scope that is no item", scope="ann/work/desk")
        for store, expected in ((outer, [("home",), ("work",), ("work", "desk")]), (inner, [("desk",)])):
            for found in (store.search(()), store.search((), query="where is it?")):
                assert sorted(item.namespace for item in found) == expected
            for item in store.search(()):
                assert store.get(item.namespace, item.key) == item_of(item)
            assert [one for one in store.list_namespaces() if one] == expected


def item_of(found: Any) -> Any:
    """A search's item without its score."""
    return Item(
        **{name: getattr(found, name) for name in ("value", "key", "namespace", "created_at", "updated_at")}
    )
