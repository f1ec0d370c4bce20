"""The stores of messages: what all of them promise, and those that keep to a size."""

from __future__ import annotations

import asyncio
import threading
from asyncio import run
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.doors.every_door import said as user
from tests.making import contents, examples, history

from eidet import Memory, Settings
from eidet.compat.messages import (
    BaseMemoryStore,
    FileMemoryStore,
    InMemoryMemoryStore,
    Message,
    SafeMemoryStore,
    SlidingWindowMemory,
    SummaryMemory,
    TokenLimitedMemoryStore,
)
from eidet.core.errors import BadInput


async def filled(store: BaseMemoryStore, count: int) -> BaseMemoryStore:
    for i in range(count):
        await store.add_message(user(f"Message {i}"))
    return store


@pytest.mark.point(78, 79, 99)
def test_of_ten_messages_the_last_five_are_kept(memory: Memory) -> None:
    store = InMemoryMemoryStore(max_messages=5, memory=memory)
    run(filled(store, 10))
    history = run(store.get_history())
    assert len(history) == 5
    assert history[-1].content == "Message 9"
    assert contents(history) == [f"Message {i}" for i in range(5, 10)]
    assert store.current_count == 5 == memory.count()


@pytest.mark.point(77, 81)
def test_a_store_without_arguments_keeps_everything() -> None:
    store = InMemoryMemoryStore()
    run(filled(store, 120))
    assert len(run(store.get_history())) == 120


@pytest.mark.point(77)
@pytest.mark.parametrize(
    ("limit", "offset", "expected"),
    [(None, 0, "012345"), (2, 0, "45"), (2, 1, "34"), (None, 2, "0123"), (0, 0, ""), (9, 9, ""), (3, 5, "0")],
)
def test_a_page_of_history_counts_from_the_newest(
    memory: Memory, limit: int | None, offset: int, expected: str
) -> None:
    store = BaseMemoryStore(memory=memory)
    run(filled(store, 6))
    found = run(store.get_history(limit=limit, offset=offset))
    assert contents(found) == [f"Message {i}" for i in expected]


@pytest.mark.point(77, 84)
def test_roles_are_filtered_before_the_page_is_cut(memory: Memory) -> None:
    store = BaseMemoryStore(memory=memory)

    async def talk() -> list[list[str | None]]:
        for i in range(4):
            await store.add_message(user(f"q{i}"))
            await store.add_message(Message(role="assistant", content=f"a{i}"))
        both = await store.get_history(limit=2, roles=["user"])
        return [
            contents(both),
            contents(await store.get_history(roles=["tool"])),
            contents(await store.get_history(roles=[])),
        ]

    users, tools, all_of_them = run(talk())
    assert users == ["q2", "q3"]
    assert tools == []
    assert len(all_of_them) == 8


@pytest.mark.parametrize(
    "arguments", [{"limit": -1}, {"offset": -1}, {"limit": True}, {"limit": "5"}, {"offset": None}]
)
def test_a_page_that_makes_no_sense_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="whole number"):
        run(BaseMemoryStore().get_history(**arguments))


@pytest.mark.point(83)
def test_a_message_comes_back_with_all_it_had(memory: Memory) -> None:
    store = BaseMemoryStore(memory=memory)
    berlin = timezone(timedelta(hours=1))
    said = [
        Message("system", "Be brief."),
        Message(
            "user",
            "naïve 🙂\x00 text",
            datetime.fromisoformat("2024-05-06T07:08:09.123456"),
            {"a": {"b": [1, None]}},
        ),
        Message("user", "aware", datetime(2024, 5, 6, 7, 8, 9, 1, tzinfo=berlin)),
        Message("assistant", None, tool_calls=[{"id": "c1", "name": "look", "input": {}}]),
        Message("tool", "found", tool_call_id="c1", name="look"),
        Message("assistant", ""),
    ]

    async def round_trip() -> list[Message]:
        for message in said:
            await store.add_message(message)
        return await store.get_history()

    found = run(round_trip())
    assert found == said
    assert [message.timestamp.utcoffset() for message in found] == [m.timestamp.utcoffset() for m in said]


def test_what_is_no_message_is_refused_and_nothing_is_stored(memory: Memory) -> None:
    store = BaseMemoryStore(memory=memory)
    for wrong in ("text", None, {"role": "user"}, 5):
        with pytest.raises(BadInput, match="takes a Message"):
            run(store.add_message(wrong))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="JSON"):
        run(store.add_message(user("x", metadata={"when": datetime.now(UTC)})))
    with pytest.raises(BadInput, match="surrogate"):
        user("\ud800")
    with pytest.raises(BadInput, match="role"):
        Message(role="", content="x")
    with pytest.raises(BadInput, match="ISO 8601"):
        Message(role="user", content="x", timestamp="yesterday")  # type: ignore[arg-type]
    assert memory.count() == 0


@pytest.mark.point(77)
def test_the_window_is_the_newest_that_fit_and_at_least_one() -> None:
    store = BaseMemoryStore(token_counter="words")
    run(filled(store, 10))  # two words are three tokens each
    assert contents(run(store.get_context_window(max_tokens=7))) == ["Message 8", "Message 9"]
    assert contents(run(store.get_context_window(max_tokens=1))) == ["Message 9"]
    assert len(run(store.get_context_window())) == 10
    with pytest.raises(BadInput, match="max_tokens"):
        run(store.get_context_window(max_tokens=0))


def test_a_closed_store_opens_again(tmp_path: Path) -> None:
    async def work() -> int:
        store = FileMemoryStore(tmp_path / "m.db")
        await filled(store, 2)
        await store.close()
        await store.close()
        count = len(await store.get_history())
        await store.close()
        return count

    assert run(work()) == 2


@pytest.mark.point(88, 89)
def test_sessions_and_scopes_are_apart_and_what_is_shared_is_shared(memory: Memory) -> None:
    here, there = (
        BaseMemoryStore(memory=memory, session_id="a"),
        BaseMemoryStore(memory=memory, session_id="b"),
    )
    elsewhere = BaseMemoryStore(memory=memory, session_id="a", scope="bob")
    run(filled(here, 2))
    assert run(there.get_history()) == run(elsewhere.get_history()) == []
    assert len(run(BaseMemoryStore(memory=memory, session_id="a").get_history())) == 2
    run(there.clear())
    assert here.current_count == 2


def test_after_clearing_the_same_may_be_said_again(memory: Memory) -> None:
    store = BaseMemoryStore(memory=memory)
    run(filled(store, 2))
    run(store.clear())
    assert run(store.get_history()) == []
    run(filled(store, 2))
    store.messages.pop(0)
    run(store.add_message(user("Message 0")))
    assert history(store) == ["Message 1", "Message 0"]


def test_a_list_that_cannot_be_kept_changes_nothing() -> None:
    store = BaseMemoryStore(memory=Memory(settings=Settings(text_chars=50)))
    run(filled(store, 2))
    for bad in (user("x" * 51), user("x", metadata={"a": object()}), "x"):
        with pytest.raises(BadInput):
            store.messages = [bad]  # type: ignore[list-item]
        with pytest.raises(BadInput):
            store.messages[0] = bad
    assert history(store) == ["Message 0", "Message 1"]


@pytest.mark.point(80)
def test_many_threads_and_tasks_lose_nothing_and_keep_the_limit(memory: Memory) -> None:
    store = InMemoryMemoryStore(max_messages=50, memory=memory)
    everything = BaseMemoryStore(memory=memory, session_id="all")

    async def many(thread: int) -> None:
        async def one(i: int) -> None:
            await store.add_message(user(f"{thread}-{i}"))
            await everything.add_message(user(f"{thread}-{i}"))

        await asyncio.gather(*(one(i) for i in range(10)))

    threads = [threading.Thread(target=lambda n=n: run(many(n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(history(everything), key=str) == sorted(f"{t}-{i}" for t in range(8) for i in range(10))
    assert store.current_count == 50


@pytest.mark.point(78)
def test_a_limit_of_tokens_drops_the_oldest() -> None:
    store = InMemoryMemoryStore(max_tokens=9, token_counter="words")
    run(filled(store, 5))  # three tokens each
    assert history(store) == ["Message 2", "Message 3", "Message 4"]


@pytest.mark.parametrize(
    "wrong", [{"max_messages": 0}, {"max_tokens": -1}, {"max_messages": 1.5}, {"eviction_strategy": "random"}]
)
def test_a_limit_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        InMemoryMemoryStore(**wrong)


@pytest.mark.point(90)
def test_token_limits_count_one_point_three_a_word_and_keep_one(memory: Memory) -> None:
    store = TokenLimitedMemoryStore(max_tokens=13, memory=memory)
    run(store.add_messages([user("word") for _ in range(12)]))  # 1.3 each: exactly ten fit
    assert store.current_count == 10
    run(store.add_message(user("word " * 50)))
    assert store.current_count == 1


@pytest.mark.point(91)
def test_a_sliding_window_keeps_the_last_ten(memory: Memory) -> None:
    store = SlidingWindowMemory(memory=memory)
    run(filled(store, 15))
    assert store.window_size == 10
    assert contents(list(store.messages)) == [f"Message {i}" for i in range(5, 15)]


@pytest.mark.point(98)
def test_an_overflow_is_handled_and_the_newest_four_fifths_are_kept(memory: Memory) -> None:
    seen: list[list[str | None]] = []

    async def handler(messages: list[Message]) -> None:
        await asyncio.sleep(0)
        seen.append(contents(messages))

    store = SafeMemoryStore(max_size=10, overflow_handler=handler, memory=memory)
    run(filled(store, 11))
    assert seen == [[f"Message {i}" for i in range(10)]]
    assert history(store) == [f"Message {i}" for i in range(2, 11)]


@pytest.mark.point(98)
def test_when_the_handler_fails_nothing_is_lost() -> None:
    def handler(messages: list[Message]) -> None:
        raise OSError("disk full")

    store = SafeMemoryStore(3, handler)
    run(filled(store, 3))
    with pytest.raises(OSError, match="disk full"):
        run(store.add_message(user("one more")))
    assert history(store) == ["Message 0", "Message 1", "Message 2"]


def test_a_safe_store_is_never_over_its_size_however_small_or_busy() -> None:
    handled: list[int] = []

    async def handler(messages: list[Message]) -> None:
        await asyncio.sleep(0.001)
        handled.append(len(messages))

    store = SafeMemoryStore(3, handler)

    async def burst() -> None:
        await asyncio.gather(*(store.add_message(user(f"m{i}")) for i in range(20)))

    run(burst())
    assert store.current_count == 3
    assert handled == [3] * 17


def test_a_handler_and_a_summarizer_may_use_the_store_they_serve() -> None:
    async def note(messages: list[Message]) -> None:
        await safe.add_message(user("overflow"))

    async def summarize(request: str) -> str:
        await summed.add_message(user("summing up"))
        return "all of it"

    safe, summed = SafeMemoryStore(5, note), SummaryMemory(summarize, threshold=11)

    async def both() -> None:
        await asyncio.wait_for(filled(safe, 6), 10)
        await asyncio.wait_for(filled(summed, 11), 10)

    run(both())
    assert contents(list(safe.messages)) == [f"Message {i}" for i in range(1, 5)] + ["overflow", "Message 5"]
    assert contents(list(summed.messages))[-2:] == ["Message 10", "summing up"]
    assert len(summed.summaries) == 1


def test_several_at_once_go_through_what_a_store_does_with_each() -> None:
    handled: list[int] = []
    store = SafeMemoryStore(3, lambda messages: handled.append(len(messages)))
    run(store.add_messages([user(f"m{i}") for i in range(5)]))
    assert (handled, store.current_count) == ([3, 3], 3)


@pytest.mark.point(92)
def test_at_the_threshold_old_messages_become_a_summary(memory: Memory) -> None:
    asked: list[str] = []

    async def summarizer(request: str) -> str:
        asked.append(request)
        return f"{len(asked)} summed up"

    store = SummaryMemory(summarizer, threshold=12, memory=memory)
    run(filled(store, 14))
    assert asked[0].startswith("Summarize this conversation:\nuser: Message 0\nuser: Message 1\n")
    assert [m.content for m in store.summaries] == [
        "Previous conversation summary: 1 summed up",
        "Previous conversation summary: 2 summed up",
    ]
    assert {message.role for message in store.summaries} == {"system"}
    assert contents(list(store.recent_messages)) == [f"Message {i}" for i in range(4, 14)]
    history = run(store.get_history())
    assert history[:2] == store.summaries
    assert len(history) == 12
    assert contents(run(store.get_history(limit=1))) == ["Message 13"]
    assert contents(run(store.get_history(roles=["user"]))) == [f"Message {i}" for i in range(4, 14)]
    assert memory.recall("Message 0", kinds="message"), "what was summed up is still in the memory"


def test_without_a_summarizer_or_where_it_fails_sentences_sum_up(caplog: pytest.LogCaptureFixture) -> None:
    def fails(request: str) -> str:
        raise RuntimeError("no credit")

    for summarizer in (None, fails):
        store = SummaryMemory(summarizer, threshold=11)
        run(store.add_message(user("Ann lives in Lisbon with two cats.")))
        run(filled(store, 10))
        assert "Lisbon" in (store.summaries[0].content or "")
    assert "no credit" in caplog.text


def test_a_summary_takes_at_most_half_of_the_window() -> None:
    store = SummaryMemory(lambda request: "many words " * 40, threshold=11, token_counter="words")
    run(filled(store, 12))
    window = run(store.get_context_window(max_tokens=30))
    assert {message.role for message in window} == {"user"}
    window = run(store.get_context_window(max_tokens=400))
    assert window[0].role == "system"
    assert window[-1].content == "Message 11"


words = st.text("ab c", min_size=1, max_size=12)


operations = st.lists(
    st.tuples(
        st.sampled_from(["append", "pop", "insert", "set", "cut", "reverse", "del"]), st.integers(0, 5)
    ),
    max_size=12,
)


@settings(max_examples=examples(25), deadline=None)
@given(operations)
def test_the_messages_behave_like_a_list(steps: list[tuple[str, int]]) -> None:
    store, plain = BaseMemoryStore(), list[str | None]()
    for n, (what, at) in enumerate(steps):
        _step(store, plain, what, at, f"m{n}")
        assert contents(list(store.messages)) == plain
        assert store.current_count == len(plain)


def _step(store: BaseMemoryStore, plain: list[str | None], what: str, at: int, text: str) -> None:
    log, inside = store.messages, at < len(plain)
    match what:
        case "append":
            log.append(user(text))
            plain.append(text)
        case "pop" if plain:
            assert log.pop().content == plain.pop()
        case "insert":
            log.insert(at, user(text))
            plain.insert(at, text)
        case "set" if inside:
            log[at] = user(text)
            plain[at] = text
        case "cut":
            store.messages = store.messages[at:]
            del plain[:at]
        case "reverse":
            log.reverse()
            plain.reverse()
        case "del" if inside:
            del log[at]
            del plain[at]
