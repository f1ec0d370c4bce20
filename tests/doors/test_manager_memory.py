"""`MemoryManager` and `ConversationContext`, as readers of the memory management document use them."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.timing import within

from eidet.compat.manager import (
    ConversationContext,
    MemoryConfig,
    MemoryEntry,
    MemoryManager,
    MemoryTypes,
    Message,
)
from eidet.compat.manager.entries import choose_window
from eidet.core.errors import BadInput, Misconfigured
from eidet.core.record import Record
from eidet.quality import RESPONSIVE

ALL_TYPES = ["short_term", "working", "long_term", "episodic"]


@pytest.fixture
def config(place: Path | None) -> Iterator[MemoryConfig]:
    made = MemoryConfig(memory=place, embedder="hashing")
    yield made
    made.close()


@pytest.fixture
def manager(config: MemoryConfig) -> MemoryManager:
    return MemoryManager(config)


def add(manager: MemoryManager, content: str, kind: str, metadata: dict[str, Any] | None = None) -> None:
    asyncio.run(manager.add_memory(content, kind, metadata))


def found(manager: MemoryManager, query: str, kind: str, limit: int = 5, **how: Any) -> list[str]:
    return [entry.content for entry in asyncio.run(manager.search_memory(query, kind, limit, **how))]


class TestTheValues:
    @pytest.mark.point(41)
    def test_an_entry_has_the_fields_of_the_document_in_their_order(self) -> None:
        names = [field.name for field in dataclasses.fields(MemoryEntry)]
        assert names[:6] == ["content", "embedding", "metadata", "timestamp", "source", "importance_score"]
        now = datetime.now(UTC)
        entry = MemoryEntry("hi", [0.1], {}, now, "doc", 0.5)
        assert (entry.content, entry.embedding, entry.source, entry.timestamp) == ("hi", [0.1], "doc", now)

    @pytest.mark.point(42)
    def test_the_types_are_the_strings_of_the_document(self) -> None:
        types = MemoryTypes
        assert [types.SHORT_TERM, types.WORKING, types.LONG_TERM, types.EPISODIC] == ALL_TYPES

    @pytest.mark.point(43)
    @pytest.mark.parametrize(
        "wrong",
        [
            {"short_term_window": 0},
            {"working_capacity": -1},
            {"summarize_threshold": 0},
            {"importance_threshold": 1.5},
            {"forget_below": -0.1},
            {"consolidate_every": True},
        ],
    )
    def test_a_config_that_makes_no_sense_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(Misconfigured, match=next(iter(wrong))):
            MemoryConfig(**wrong)

    @pytest.mark.point(45, 49)
    def test_the_verbs_have_the_signatures_of_the_document(self) -> None:
        adding = inspect.signature(MemoryManager.add_memory).parameters
        searching = inspect.signature(MemoryManager.search_memory).parameters
        assert list(adding) == ["self", "content", "memory_type", "metadata"]
        assert adding["metadata"].default is None
        assert list(searching)[:4] == ["self", "query", "memory_type", "limit"]
        assert searching["limit"].default == 5
        assert inspect.iscoroutinefunction(MemoryManager.add_memory)
        assert inspect.iscoroutinefunction(MemoryManager.search_memory)


class TestAddingAndSearching:
    @pytest.mark.point(45, 48, 49)
    @pytest.mark.parametrize("kind", ALL_TYPES)
    def test_every_type_is_stored_and_found(self, manager: MemoryManager, kind: str) -> None:
        add(manager, "Ann's favourite food is sushi", kind, {"source": "doc-1", "colour": "red"})
        add(manager, "The bridge over the river is closed", kind)
        [entry, *_] = asyncio.run(manager.search_memory("what does Ann like to eat?", kind))
        assert entry.content == "Ann's favourite food is sushi"
        assert entry.metadata == {"source": "doc-1", "colour": "red"}
        assert (entry.source, entry.memory_type) == ("doc-1", kind)
        assert len(entry.embedding) > 1
        assert entry.timestamp.tzinfo is not None
        assert 0 <= entry.importance_score <= 1
        assert 0 < (entry.score or 0) <= 1

    @pytest.mark.point(46)
    @pytest.mark.parametrize("kind", ALL_TYPES)
    def test_metadata_may_be_none_and_the_source_is_then_unknown(
        self, manager: MemoryManager, kind: str
    ) -> None:
        add(manager, "something to keep in mind", kind, None)
        [entry] = asyncio.run(manager.search_memory("keep in mind", kind))
        assert (entry.source, entry.metadata) == ("unknown", {})

    @pytest.mark.point(48)
    def test_the_types_are_kept_apart(self, manager: MemoryManager) -> None:
        for kind in ALL_TYPES:
            add(manager, f"the {kind} note about the harbour", kind)
        for kind in ALL_TYPES:
            assert found(manager, "note about the harbour", kind) == [f"the {kind} note about the harbour"]

    @pytest.mark.point(44)
    def test_the_buffer_and_the_working_memory_tell_what_is_there(self, manager: MemoryManager) -> None:
        assert manager.short_term_buffer == []
        assert dict(manager.working_memory) == {}
        add(manager, "Hello there", "short_term", {"role": "user"})
        add(manager, "compare three offers", "working", {"key": "goal"})
        assert [entry.content for entry in manager.short_term_buffer] == ["Hello there"]
        assert manager.working_memory["goal"].content == "compare three offers"
        assert len(manager.vector_store) == 0
        add(manager, "a fact", "long_term")
        assert len(manager.vector_store) == 1

    @pytest.mark.point(49)
    def test_the_limit_is_kept(self, manager: MemoryManager) -> None:
        for at in range(8):
            add(manager, f"fact {at} about the harbour", "long_term")
        assert len(found(manager, "harbour", "long_term")) == 5
        assert len(found(manager, "harbour", "long_term", 2)) == 2

    @pytest.mark.parametrize("kind", ["", "semantic", None, 3])
    def test_an_unknown_type_is_refused_with_those_there_are(self, manager: MemoryManager, kind: Any) -> None:
        with pytest.raises(BadInput, match="short_term, working, long_term, episodic"):
            add(manager, "x", kind)
        with pytest.raises(ValueError, match="unknown memory type"):
            found(manager, "x", kind)

    @pytest.mark.parametrize("content", ["", "  ", None, 5])
    def test_what_has_no_words_is_refused(self, manager: MemoryManager, content: Any) -> None:
        for kind in ALL_TYPES:
            with pytest.raises(BadInput):
                add(manager, content, kind)
        assert manager.memory.count() == 0

    @pytest.mark.parametrize("metadata", ["x", ["a"], {"f": object()}])
    def test_metadata_that_is_no_json_object_is_refused(self, manager: MemoryManager, metadata: Any) -> None:
        with pytest.raises(BadInput):
            add(manager, "x", "long_term", metadata)
        assert manager.memory.count() == 0

    @pytest.mark.point(62)
    @pytest.mark.parametrize("kind", ALL_TYPES)
    def test_metadata_filters_what_is_found(self, manager: MemoryManager, kind: str) -> None:
        add(manager, "the budget of the harbour is large", kind, {"project": "harbour", "year": 2026})
        add(manager, "the budget of the bridge is larger", kind, {"project": "bridge", "year": 2026})
        assert found(manager, "budget", kind, metadata={"project": "bridge"}) == [
            "the budget of the bridge is larger"
        ]
        assert len(found(manager, "budget", kind, metadata={"year": 2026})) == 2
        assert found(manager, "budget", kind, metadata={"project": "bridge", "year": 2025}) == []

    @pytest.mark.point(57, 61)
    def test_many_memories_are_searched_quickly(self, manager: MemoryManager) -> None:
        manager.memory.remember([f"fact {n} about hall {n % 89}" for n in range(4000)])
        add(manager, "Ann's favourite food is sushi", "long_term")
        found(manager, "warm up", "long_term")

        def ask_ten_times() -> None:
            for _ in range(10):
                told = found(manager, "what does Ann eat?", "long_term", 1)
                assert told == ["Ann's favourite food is sushi"]

        within(10 * 0.1, ask_ten_times)


class TestImportance:
    @pytest.mark.point(47, 59)
    def test_it_is_read_from_the_content(self, manager: MemoryManager) -> None:
        weigh = manager._calculate_importance
        assert weigh("The deadline of the project is 5 May 2027.", None) > 0.5
        assert weigh("ok thanks", {}) < 0.2

    @pytest.mark.point(47)
    def test_tags_raise_it_and_what_is_stated_is_taken(self, manager: MemoryManager) -> None:
        weigh = manager._calculate_importance
        assert weigh("it is so", {"tags": ["critical"]}) > weigh("it is so", {})
        assert weigh("it is so", {"tags": "critical"}) == weigh("it is so", {"tags": ["critical"]})
        assert weigh("ok", {"importance": 0.9}) == 0.9
        assert weigh("ok", {"pinned": True}) == 1.0

    @pytest.mark.parametrize("value", ["high", True, [1], 5, -0.1])
    def test_a_stated_importance_is_a_number(self, manager: MemoryManager, value: Any) -> None:
        with pytest.raises(BadInput, match="importance"):
            add(manager, "x", "long_term", {"importance": value})


class TestShortTerm:
    @pytest.mark.point(54)
    def test_the_window_keeps_the_newest(self, place: Path | None) -> None:
        config = MemoryConfig(memory=place, short_term_window=5)
        manager = MemoryManager(config)
        for at in range(12):
            add(manager, f"Message {at}", "short_term")
        assert [entry.content for entry in manager.short_term_buffer] == [
            f"Message {at}" for at in range(7, 12)
        ]
        assert set(found(manager, "Message", "short_term", 20)) == {f"Message {at}" for at in range(7, 12)}
        config.close()

    @pytest.mark.point(55)
    def test_trifles_are_pruned_before_what_matters(self, place: Path | None) -> None:
        config = MemoryConfig(memory=place, short_term_window=6)
        manager = MemoryManager(config)
        add(manager, "The deadline of the project is 5 May 2027.", "short_term")
        for at in range(9):
            add(manager, "ok thanks", "short_term", {"at": at})
        near = [entry.content for entry in manager.short_term_buffer]
        assert near == ["The deadline of the project is 5 May 2027.", *["ok thanks"] * 5]
        config.close()

    @given(
        weights=st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), max_size=40),
        size=st.integers(1, 12),
        threshold=st.sampled_from([0.0, 0.25, 0.6]),
    )
    @settings(max_examples=examples(80), deadline=None)
    def test_the_window_is_as_full_as_it_can_be_ordered_and_has_the_newest_half(
        self, weights: list[float], size: int, threshold: float
    ) -> None:
        records = [Record(id=str(at), scope="s", text="x", importance=w) for at, w in enumerate(weights)]
        near = choose_window(records, size, threshold)
        assert len(near) == min(size, len(records))
        assert [int(record.id) for record in near] == sorted(int(record.id) for record in near)
        newest = (size + 1) // 2
        assert near[-newest:] == records[-newest:]
        left_out = [record for record in records if record not in near]
        kept_trifles = [r for r in near[:-newest] if r.importance < threshold]
        assert not (kept_trifles and any(r.importance >= threshold for r in left_out))

    @pytest.mark.point(56, 63)
    def test_after_enough_messages_the_conversation_is_summed_up_in_episodic_memory(
        self, place: Path | None
    ) -> None:
        config = MemoryConfig(memory=place, summarize_threshold=10)
        context = ConversationContext("talk", config)

        async def talk() -> None:
            for at in range(10):
                await context.add_message(
                    Message("user", f"Decision {at}: the budget of hall {at} is {at * 100}.")
                )

        asyncio.run(talk())
        [entry] = asyncio.run(context.memory.search_memory("budget of the halls", MemoryTypes.EPISODIC))
        assert "budget of hall" in entry.content
        [episode] = config.open().find(kinds="episode")
        assert (episode.session, len(episode.derived_from)) == ("talk", 10)
        config.close()

    @pytest.mark.point(56)
    def test_a_model_words_the_summary_if_there_is_one(self) -> None:
        config = MemoryConfig(summarize_threshold=2, llm=lambda prompt: "They spoke of the harbour.")
        manager = MemoryManager(config)
        add(manager, "How is the harbour?", "short_term")
        add(manager, "The harbour is large.", "short_term")
        assert found(manager, "harbour", "episodic") == ["They spoke of the harbour."]

    def test_how_many_is_checked_also_where_there_is_nothing(self) -> None:
        with pytest.raises(BadInput, match="limit"):
            found(MemoryManager(), "x", "short_term", -1)

    def test_a_manager_takes_a_config(self) -> None:
        with pytest.raises(Misconfigured, match="MemoryConfig"):
            MemoryManager("memory.db")  # type: ignore[arg-type]


class TestWorking:
    @pytest.mark.point(48, 66)
    def test_the_task_at_hand_is_kept_by_key(self, manager: MemoryManager) -> None:
        manager.working_memory["goal"] = "book a flight"
        add(manager, "found three flights", "working", {"key": "step 1"})
        add(manager, "the second is cheapest", "working")
        assert list(manager.working_memory) == ["goal", "step 1", "item_0"]
        manager.working_memory["goal"] = "book a train"
        assert manager.working_memory["goal"].content == "book a train"
        assert repr(manager.working_memory).startswith("{'goal': 'book a train'")
        del manager.working_memory["step 1"]
        assert "step 1" not in manager.working_memory
        with pytest.raises(KeyError):
            del manager.working_memory["step 1"]
        manager.working_memory["copy"] = manager.working_memory["item_0"]
        assert manager.working_memory["copy"].content == "the second is cheapest"
        with pytest.raises(BadInput, match="NoneType"):
            manager.working_memory["nothing"] = None  # type: ignore[assignment]
        manager.working_memory.clear()
        assert len(manager.working_memory) == 0

    def test_over_its_capacity_the_least_important_goes(self, place: Path | None) -> None:
        config = MemoryConfig(memory=place, working_capacity=3)
        manager = MemoryManager(config)
        for key, weight in [("a", 0.9), ("b", 0.1), ("c", 0.5), ("d", 0.2)]:
            add(manager, f"entry {key}", "working", {"key": key, "importance": weight})
        assert list(manager.working_memory) == ["a", "c", "d"]
        add(manager, "entry e", "working", {"key": "e", "importance": 0.0})
        assert list(manager.working_memory) == ["a", "c", "e"], "what was just added stays"
        config.close()

    def test_the_working_memories_of_two_conversations_are_apart(self, config: MemoryConfig) -> None:
        one, two = (MemoryManager(config, conversation_id=name) for name in ("one", "two"))
        one.working_memory["goal"] = "fly"
        assert "goal" not in two.working_memory
        assert found(two, "fly", "working") == []


class TestConversations:
    @pytest.mark.point(50, 51)
    def test_a_message_goes_into_history_and_short_term_memory_once(self, config: MemoryConfig) -> None:
        context = ConversationContext("c-1", config)
        asyncio.run(context.add_message(Message(role="user", content="Hello there")))
        assert context.id == "c-1"
        assert [(m.role, m.content) for m in context.history] == [("user", "Hello there")]
        [entry] = context.memory.short_term_buffer
        assert (entry.content, entry.source) == ("Hello there", "c-1")
        assert entry.metadata == {"role": "user", "source": "c-1"}
        assert config.open().count() == 1

    def test_history_is_the_same_log(self, config: MemoryConfig) -> None:
        context = ConversationContext("c-1", config)
        context.history.add_message(Message("user", "Hello", metadata={"lang": "en"}))
        asyncio.run(context.add_message(Message("assistant", "Hi")))
        assert len(context.history) == len(context.memory.short_term_buffer) == 2
        assert context.history.messages[0].metadata["lang"] == "en"
        assert [m.content for m in context.history.last(1)] == ["Hi"]

    def test_a_message_may_be_a_dict_or_a_text(self, config: MemoryConfig) -> None:
        context = ConversationContext("c-1", config)
        asyncio.run(
            context.add_message({"role": "assistant", "content": "Hello", "metadata": {"lang": "en"}})
        )
        asyncio.run(context.add_message("Hi"))
        assert [(m.role, m.content) for m in context.history] == [("assistant", "Hello"), ("user", "Hi")]
        assert context.history.messages[0].metadata["lang"] == "en"

    def test_timestamps_and_messages_of_the_core_are_kept(self, config: MemoryConfig) -> None:
        from eidet import Message as CoreMessage

        context = ConversationContext("c-1", config)
        when = datetime(2026, 5, 8, 12, tzinfo=UTC)
        asyncio.run(context.add_message(Message("user", "Hello", timestamp=when)))
        asyncio.run(context.add_message(CoreMessage(role="assistant", tool_calls=[{"name": "search"}])))
        assert context.history.messages[0].timestamp == when
        assert context.history.messages[1].content is None

    @pytest.mark.parametrize("message", [None, 5, {"role": "user"}, {"role": "user", "content": 7}])
    def test_what_is_no_message_is_refused(self, config: MemoryConfig, message: Any) -> None:
        with pytest.raises(BadInput, match="message"):
            asyncio.run(ConversationContext("c-1", config).add_message(message))

    @pytest.mark.parametrize("id", ["", "  ", None, 7])
    def test_a_conversation_has_an_id(self, id: Any) -> None:
        with pytest.raises(BadInput, match="id"):
            ConversationContext(id, MemoryConfig())

    @pytest.mark.point(65)
    def test_what_was_told_in_one_conversation_is_found_in_another(self, config: MemoryConfig) -> None:
        first, second = ConversationContext("c-1", config), ConversationContext("c-2", config)
        asyncio.run(first.add_message(Message("user", "My sister Clara is a pilot")))
        asyncio.run(first.add_message(Message("user", "ok thanks")))
        asyncio.run(first.end())
        assert found(second.memory, "what is my sister's job?", "short_term") == []
        assert found(second.memory, "what is my sister's job?", "long_term") == ["My sister Clara is a pilot"]
        assert "Clara" in found(second.memory, "what is my sister's job?", "episodic")[0]


class TestUpkeep:
    @pytest.mark.point(58)
    def test_consolidation_merges_what_says_the_same(self, manager: MemoryManager) -> None:
        add(manager, "Ann lives in Lisbon.", "long_term", {"source": "a"})
        add(manager, "Ann lives in Lisbon!", "long_term", {"source": "b"})
        done = asyncio.run(manager.consolidate())
        assert done.counts.get("merge") == 1
        assert len(found(manager, "where does Ann live?", "long_term")) == 1

    @pytest.mark.point(58)
    def test_it_is_done_by_itself_after_so_many_additions(self, place: Path | None) -> None:
        config = MemoryConfig(memory=place, consolidate_every=4)
        manager = MemoryManager(config)
        for mark in (".", "!", "!!", "..."):
            add(manager, f"Ann lives in Lisbon{mark}", "long_term")
        assert len(manager.vector_store) < 4
        config.close()

    @pytest.mark.point(55, 71)
    def test_pruning_forgets_what_has_faded(self) -> None:
        now = 1_700_000_000.0
        config = MemoryConfig(clock=lambda: now, forget_below=0.2)
        manager = MemoryManager(config)
        add(manager, "a trifle", "long_term", {"importance": 0.05})
        add(manager, "a matter of life and death", "long_term", {"importance": 1.0})
        now += 400 * 86_400
        asyncio.run(manager.prune())
        assert found(manager, "trifle, life and death", "long_term") == ["a matter of life and death"]

    @pytest.mark.point(67, 68, 69, 70, 71, 72, 73, 74, 75)
    def test_the_success_metrics_are_told(self, manager: MemoryManager) -> None:
        add(manager, "Ann's favourite food is sushi", "long_term")
        add(manager, "The bridge is closed", "long_term")
        [entry] = asyncio.run(manager.search_memory("what does Ann eat?", "long_term", 1))
        asyncio.run(manager.feedback(True))
        asyncio.run(manager.feedback(True, entry))
        told = asyncio.run(manager.metrics())
        assert told["performance"]["memory_usage_efficiency"] == 0.5
        slowest = told["performance"]["retrieval_seconds_p95"] or 0
        assert 0 < slowest < 1
        assert (told["performance"]["storage_bytes_per_record"] or 0) > 0
        assert told["performance"]["storage_duplicate_ratio"] == 0
        assert told["quality"]["context_relevance"] == 1.0
        assert told["quality"]["response_accuracy"] == 1.0
        assert told["quality"]["information_retention"] == 1.0
        assert (told["scale"]["memory_growth_per_day"] or 0) > 0
        responsive = told["scale"]["system_responsiveness"]
        assert responsive in (0.0, 1.0), "of one recall"
        assert responsive == 1.0 or slowest > RESPONSIVE / 2
        assert told["scale"]["drift_detected"] is None, "too few recalls to tell"

    def test_there_must_be_something_to_judge(self, manager: MemoryManager) -> None:
        with pytest.raises(BadInput, match="call search_memory first"):
            asyncio.run(manager.feedback(True))

    @pytest.mark.point(60)
    def test_vectors_are_stored_once_and_compactly(self, tmp_path: Path) -> None:
        config = MemoryConfig(memory=tmp_path / "m.db")
        manager = MemoryManager(config)
        add(manager, "Ann lives in Lisbon", "long_term")
        [record] = config.open().find(kinds="fact")
        assert len(record.vector or b"") == 4 * len(asyncio.run(manager._get_embedding("x")))
        config.close()


@pytest.mark.point(76)
def test_all_phases_work_together(place: Path | None) -> None:
    now = 1_700_000_000.0
    config = MemoryConfig(
        memory=place, clock=lambda: now, short_term_window=4, summarize_threshold=6, consolidate_every=3
    )
    context, near = ConversationContext("project", config), list[str]()

    async def live() -> None:
        nonlocal now
        await context.add_message(Message("user", "The deadline of the project is 5 May 2027."))
        for at in range(5):
            await context.add_message(Message("user", f"ok thanks {at}"))
        for mark in (".", "!", "..."):
            await context.memory.add_memory(f"Ann lives in Lisbon{mark}", MemoryTypes.LONG_TERM)
        await context.memory.add_memory("a trifle", MemoryTypes.LONG_TERM, {"importance": 0.01})
        near.extend(entry.content for entry in context.memory.short_term_buffer)
        now += 200 * 86_400
        await context.memory.prune(below=0.05)

    asyncio.run(live())
    assert near == ["The deadline of the project is 5 May 2027.", "ok thanks 2", "ok thanks 3", "ok thanks 4"]
    assert "5 May 2027" in found(context.memory, "when is the deadline?", "episodic")[0]
    known = found(context.memory, "where does Ann live, and a trifle?", "long_term")
    assert [text for text in known if text.startswith("Ann lives")] == known[:1]
    assert "a trifle" not in known
    config.close()
