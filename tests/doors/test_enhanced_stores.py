"""The stores of the advanced memory guide, as its readers use them."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eidet import Memory
from eidet.compat.enhanced import InMemoryStore, MemoryStore, RedisStore, SqliteStore, VectorMemoryStore
from eidet.core.errors import BadInput, Misconfigured, Refused

TEXTS = {
    "cat": "the cat sat on the mat",
    "market": "stock markets fell sharply today",
    "pets": "dogs and cats are popular pets",
    "lisbon": "the weather in Lisbon is warm",
}


@pytest.fixture(params=["in_memory", "sqlite", "vector", "vector_file", "redis_over_ram"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InMemoryStore]:
    makers: dict[str, Callable[[], InMemoryStore]] = {
        "in_memory": InMemoryStore,
        "sqlite": lambda: SqliteStore(tmp_path / "store.db"),
        "vector": VectorMemoryStore,
        "vector_file": lambda: VectorMemoryStore(memory=tmp_path / "vectors.db"),
        "redis_over_ram": lambda: RedisStore(memory="ram://"),
    }
    with makers[request.param]() as made:
        yield made


class TestEveryStore:
    """What all stores have in common (6)."""

    @pytest.mark.point(6)
    def test_it_is_a_memory_store(self, store: InMemoryStore) -> None:
        assert isinstance(store, MemoryStore)

    @pytest.mark.point(6, 7)
    def test_what_was_added_is_had_by_its_key(self, store: InMemoryStore) -> None:
        store.add("a", "alpha")
        store.add("b", "beta", {"colour": "red"})
        assert (store.get("a"), store.get("b"), store.get("c")) == ("alpha", "beta", None)
        assert store.meta["b"] == {"colour": "red"}
        assert store.meta["a"] == {}

    def test_a_key_that_is_added_again_is_replaced_and_keeps_its_place_and_metadata(
        self, store: InMemoryStore
    ) -> None:
        store.add("a", "first", {"n": 1})
        store.add("b", "other")
        store.add("a", "second")
        assert dict(store.data) == {"a": "second", "b": "other"}
        assert list(store.data) == ["a", "b"]
        assert store.meta["a"] == {"n": 1}
        assert len(store.data) == len(store) == 2

    def test_keys_keep_their_places_if_all_were_added_at_one_moment(self) -> None:
        with Memory(clock=lambda: 1_700_000_000.0) as memory:
            store = InMemoryStore(memory=memory)
            for key in "cabc":
                store.add(key, "text")
            assert list(store.data) == ["c", "a", "b"]

    @pytest.mark.point(6)
    def test_forgetting_says_whether_there_was_something(self, store: InMemoryStore) -> None:
        store.add("a", "alpha")
        assert store.forget("a") is True
        assert store.forget("a") is False
        assert store.get("a") is None
        assert "a" not in store.data
        assert store.search("alpha") == []

    def test_the_same_text_may_have_two_keys(self, store: InMemoryStore) -> None:
        store.add("a", "twin")
        store.add("b", "twin")
        assert dict(store.data) == {"a": "twin", "b": "twin"}
        assert store.forget("a")
        assert dict(store.data) == {"b": "twin"}

    def test_what_was_forgotten_can_be_added_again_unless_it_was_for_good(self, store: InMemoryStore) -> None:
        store.add("a", "Ann's number is 4711")
        assert store.forget("a")
        store.add("a", "Ann's number is 4711")
        assert store.get("a") == "Ann's number is 4711"
        assert store.forget("a", for_good=True)
        with pytest.raises(Refused):
            store.add("b", "Ann's number is 4711")

    def test_the_order_is_that_of_adding_whatever_the_keys_are(self, store: InMemoryStore) -> None:
        keys = ["z", "ä", "0", " ", "a/b", "日本", "x" * 300]
        for key in keys:
            store.add(key, f"text of {key[:5]}")
        assert list(store.data) == keys
        assert store.data[" "] == "text of  "

    def test_data_can_be_used_as_a_dict(self, store: InMemoryStore) -> None:
        store.data["a"] = "alpha"
        assert list(store.data.values())[-1:] == ["alpha"]
        assert store.data == {"a": "alpha"}
        assert repr(store.data) == "{'a': 'alpha'}"
        del store.data["a"]
        assert store.get("a") is None
        with pytest.raises(KeyError):
            _ = store.data["a"]
        with pytest.raises(KeyError):
            del store.data["a"]

    def test_metadata_is_never_lost_silently(self, store: InMemoryStore) -> None:
        store.add("a", "alpha", {"n": 1})
        with pytest.raises(TypeError):
            store.meta["a"] = {"n": 2}  # type: ignore[index]
        with pytest.raises(TypeError):
            store.meta["a"]["n"] = 3  # type: ignore[index]

    @pytest.mark.parametrize(("key", "value"), [("", "x"), (None, "x"), (1, "x"), ("a", None), ("a", 5)])
    def test_what_is_no_text_is_refused_before_anything_is_written(
        self, store: InMemoryStore, key: Any, value: Any
    ) -> None:
        with pytest.raises(BadInput):
            store.add(key, value)
        assert len(store) == 0

    def test_metadata_that_is_no_json_is_refused(self, store: InMemoryStore) -> None:
        with pytest.raises(BadInput):
            store.add("a", "alpha", {"f": object()})
        assert store.get("a") is None

    @pytest.mark.parametrize("top_k", [0, -1])
    def test_none_are_found_if_none_are_wanted(self, store: InMemoryStore, top_k: int) -> None:
        store.add("a", "alpha")
        assert store.search("alpha", top_k) == []

    @pytest.mark.parametrize("top_k", ["5", 2.5, None, True])
    def test_how_many_is_a_whole_number(self, store: InMemoryStore, top_k: Any) -> None:
        with pytest.raises(BadInput, match="whole number"):
            store.search("alpha", top_k)

    def test_more_than_there_are_may_be_asked_for(self, store: InMemoryStore) -> None:
        store.add("a", "alpha")
        assert len(store.search("alpha", 10**12)) == 1

    def test_an_empty_text_can_be_stored(self, store: InMemoryStore) -> None:
        store.add("a", "")
        assert store.get("a") == ""
        assert store.data == {"a": ""}

    def test_the_whole_number_of_importance_stays_and_counts_from_0_to_1(self, store: InMemoryStore) -> None:
        store.add("a", "alpha", {"importance": 3})
        store.add("b", "beta", {"importance": 25})
        found = {record.text: record.importance for record in store.records()}
        assert found == {"alpha": 0.3, "beta": 1.0}
        assert store.meta["a"] == {"importance": 3}

    @pytest.mark.parametrize("importance", [-1, True, "high", float("nan")])
    def test_an_importance_that_is_none_is_refused(self, store: InMemoryStore, importance: Any) -> None:
        with pytest.raises(BadInput, match="importance"):
            store.add("a", "alpha", {"importance": importance})


class TestTheAbstractStore:
    @pytest.mark.point(5, 6)
    def test_it_cannot_be_made_and_a_store_of_yours_needs_four_methods(self) -> None:
        with pytest.raises(TypeError):
            MemoryStore()  # type: ignore[abstract]
        assert MemoryStore.__abstractmethods__ == {"add", "get", "search", "forget"}
        assert MemoryStore[dict[str, int]] is not None

    @pytest.mark.point(6)
    def test_its_signatures_are_those_of_the_document(self) -> None:
        told = {name: list(inspect.signature(getattr(MemoryStore, name)).parameters)
                for name in ("add", "get", "search", "forget")}  # fmt: skip
        assert told == {
            "add": ["self", "key", "value", "meta"],
            "get": ["self", "key"],
            "search": ["self", "query", "top_k"],
            "forget": ["self", "key"],
        }
        assert inspect.signature(MemoryStore.search).parameters["top_k"].default == 5


class TestInMemoryStore:
    @pytest.mark.point(7)
    def test_it_searches_by_substring_in_any_case_and_every_hit_scores_one(self) -> None:
        store = InMemoryStore()
        store.add("a", "Hello World")
        store.add("b", "goodbye WORLD")
        store.add("c", "something else")
        assert store.search("world") == [("a", "Hello World", 1.0), ("b", "goodbye WORLD", 1.0)]
        assert store.search("world", top_k=1) == [("a", "Hello World", 1.0)]
        assert store.search("nothing") == []

    def test_stores_of_one_memory_are_told_apart_by_name_and_scope(self, memory: Memory) -> None:
        one = InMemoryStore(memory=memory, name="one")
        two = InMemoryStore(memory=memory, name="two")
        three = InMemoryStore(memory=memory, name="one", scope="elsewhere")
        for at, store in enumerate((one, two, three)):
            store.add("k", f"text {at}")
        assert [store.get("k") for store in (one, two, three)] == ["text 0", "text 1", "text 2"]
        assert one.forget("k")
        assert (two.get("k"), three.get("k")) == ("text 1", "text 2")

    def test_a_store_seen_by_meaning_is_not_closed_with_the_view(self) -> None:
        store = InMemoryStore()
        store.add("k", "the cat sat on the mat")
        with VectorMemoryStore.over(store) as seen:
            assert seen.search("feline", 1)[0][0] == "k"
        assert store.get("k") == "the cat sat on the mat"


class TestSqliteStore:
    @pytest.mark.point(2, 9, 34)
    def test_it_survives_a_restart(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "s.db") as store:
            for at in range(20):
                store.add(f"k{at}", f"text {at}", {"importance": at})
            store.forget("k3")
        with SqliteStore(tmp_path / "s.db") as store:
            assert list(store.data) == [f"k{at}" for at in range(20) if at != 3]
            assert (store.get("k7"), store.meta["k7"]) == ("text 7", {"importance": 7})
            assert store.search("TEXT 7") == [("k7", "text 7", 1.0)]


class TestRedisStore:
    @pytest.mark.point(10)
    def test_entries_live_as_long_as_it_was_said(self) -> None:
        now = 1_700_000_000.0
        memory = Memory(clock=lambda: now)
        store = RedisStore(ttl=60, memory=memory)
        store.add("a", "alpha")
        now += 59
        assert store.get("a") == "alpha"
        store.add("b", "beta")
        now += 2
        assert (store.get("a"), store.get("b")) == (None, "beta")
        assert dict(store.data) == {"b": "beta"}
        assert store.search("alpha") == []

    @pytest.mark.point(10)
    def test_an_entry_that_was_added_again_begins_its_time_anew(self) -> None:
        now = 1_700_000_000.0
        store = RedisStore(ttl=60, memory=Memory(clock=lambda: now))
        store.add("a", "alpha")
        now += 50
        store.add("a", "alpha two")
        now += 50
        assert store.get("a") == "alpha two"

    @pytest.mark.parametrize("ttl", [0, -5])
    def test_a_time_to_live_is_above_zero(self, ttl: float) -> None:
        with pytest.raises(Misconfigured, match="time to live"):
            RedisStore(ttl=ttl, memory="ram://")


class TestVectorMemoryStore:
    @pytest.mark.point(3, 8)
    def test_it_ranks_by_the_dot_product_of_normalised_vectors(self, place: Path | None) -> None:
        with VectorMemoryStore(memory=place) as store:
            for key, value in TEXTS.items():
                store.add(key, value)
            found = store.search("a feline animal", top_k=4)
            asked = store._embed("a feline animal")
            exact = {key: float(row @ asked) for key, row in zip(store.keys, store.embeds, strict=True)}
        assert [key for key, _, _ in found] == sorted(exact, key=lambda key: -exact[key])
        assert [score for _, _, score in found] == pytest.approx(
            sorted(exact.values(), reverse=True), abs=1e-4
        )
        assert found[0][0] in ("cat", "pets")
        assert all(np.linalg.norm(row) == pytest.approx(1.0, abs=1e-5) for row in store_vectors(TEXTS))

    @pytest.mark.point(8)
    def test_it_cuts_at_top_k_and_gives_as_many_as_there_are(self) -> None:
        store = VectorMemoryStore()
        for at in range(12):
            store.add(f"k{at}", f"note number {at} about the harbour")
        assert len(store.search("harbour")) == 5
        assert len(store.search("quantum chromodynamics", top_k=12)) == 12

    @pytest.mark.point(3)
    def test_meaning_beats_recency(self) -> None:
        store = VectorMemoryStore()
        store.add("old", "Ann's favourite food is sushi")
        for at in range(200):
            store.add(f"new{at}", f"the build number {at} has passed on the server")
        assert store.search("what does Ann like to eat?", 1)[0][0] == "old"

    def test_keys_texts_and_embeds_go_together(self) -> None:
        store = VectorMemoryStore()
        for key, value in TEXTS.items():
            store.add(key, value)
        store.add("cat", "a cat on a mat")
        assert store.keys == list(TEXTS)
        assert store.texts[0] == "a cat on a mat"
        assert len(store.embeds) == 4

    @pytest.mark.point(11)
    def test_any_callable_can_make_the_vectors(self) -> None:
        def letters(texts: list[str]) -> list[list[float]]:
            return [[float(text.count(letter)) for letter in "abc"] for text in texts]

        store = VectorMemoryStore(model=letters)
        store.add("a", "aaaa")
        store.add("b", "bbbb")
        assert [key for key, _, _ in store.search("abb", 2)] == ["b", "a"]
        assert store.search("a", 1)[0][2] == pytest.approx(1.0)

    @pytest.mark.point(11)
    def test_an_object_with_encode_is_a_model_as_in_the_document(self) -> None:
        class Model:
            def encode(self, txt: Any, normalize_embeddings: bool = True) -> Any:
                texts = [txt] if isinstance(txt, str) else txt
                rows = [[float(len(text)), 1.0] for text in texts]
                return rows[0] if isinstance(txt, str) else rows

        store = VectorMemoryStore(model=Model())
        store.add("a", "four")
        [(key, text, score)] = store.search("four", 1)
        assert (key, text) == ("a", "four")
        assert score == pytest.approx(1.0, abs=1e-5)

    def test_another_model_by_name_is_never_replaced_silently(self) -> None:
        with pytest.raises(Misconfigured, match="sentence-transformers"):
            VectorMemoryStore("all-mpnet-base-v2")

    def test_where_the_default_model_is_not_installed_the_log_says_what_stands_in_for_it(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        from eidet.compat.enhanced import vector

        vector._say_once.cache_clear()
        with caplog.at_level(logging.WARNING, "eidet"):
            name = VectorMemoryStore().model.name
            VectorMemoryStore()
        if "minilm" in name or "sentence" in name:
            assert not caplog.records
        else:
            [line] = [record.getMessage() for record in caplog.records]
            assert "all-MiniLM-L6-v2 is not installed" in line
            assert name in line

    def test_a_memory_keeps_the_embedder_it_has(self, tmp_path: Path) -> None:
        with Memory(tmp_path / "m.db", embedder="hashing:64") as memory:
            memory.remember("a fact")
        with VectorMemoryStore(memory=tmp_path / "m.db") as store:
            assert store.model.name == "hashing:64"
            store.add("k", "something to find")
            assert store.search("something", 1)[0][0] == "k"

    def test_another_model_for_a_memory_that_has_one_is_an_error(self) -> None:
        with pytest.raises(Misconfigured, match="reembed"):
            VectorMemoryStore(memory=Memory(embedder="hashing:64"), model="hashing:128")


def store_vectors(texts: dict[str, str]) -> list[Any]:
    store = VectorMemoryStore()
    for key, value in texts.items():
        store.add(key, value)
    return list(store.embeds)
