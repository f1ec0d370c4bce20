"""The order of a log is the order of adding, whatever happens to its records afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import Clock, examples

from eidet import Memory, Message
from eidet.views import Conversation

STEPS = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 3)),
    st.tuples(st.just("key"), st.integers(0, 3)),
    st.tuples(st.just("extend"), st.integers(0, 5)),
    st.tuples(st.just("native"), st.integers(1, 3)),
    st.tuples(st.just("revise"), st.integers(0, 30)),
    st.tuples(st.just("tick"), st.integers(0, 1)),
    st.tuples(st.just("pop"), st.just(0)),
    st.tuples(st.just("trim"), st.integers(0, 6)),
    st.tuples(st.just("summarise"), st.integers(0, 6)),
)


class Model:
    """A log, and the list that it has to be."""

    def __init__(self) -> None:
        self.clock = Clock(1_000.0)
        self.memory = Memory(clock=self.clock, embedder="hashing")
        self.log = Conversation(self.memory, "s")
        self.expected: list[str] = []
        self.made = 0

    def fresh(self, count: int = 1) -> list[str]:
        texts = [f"m{self.made + number}" for number in range(count)]
        self.made += count
        self.expected += texts
        return texts

    def add(self, number: int) -> None:
        self.log.add(Message(role="user", content=self.fresh()[0], timestamp=float(5 - number)))

    def key(self, _: int) -> None:
        [text] = self.fresh()
        self.log.add(text, id=text)
        self.log.add(text, id=text)

    def extend(self, number: int) -> None:
        self.log.extend([{"role": "user", "content": text} for text in self.fresh(number)])

    def native(self, number: int) -> None:
        self.memory.remember([Message(role="user", content=text) for text in self.fresh(number)], session="s")

    def revise(self, number: int) -> None:
        if records := self.log.records():
            self.memory.revise(records[number % len(records)].id, importance=0.01 * number)

    def tick(self, number: int) -> None:
        self.clock.now += number

    def pop(self, _: int) -> None:
        popped = self.log.pop()
        assert (popped.content if popped else None) == (self.expected.pop() if self.expected else None)

    def trim(self, number: int) -> None:
        gone = max(len(self.expected) - number, 0)
        assert texts(self.log.trim(keep=number)) == self.expected[:gone]
        del self.expected[:gone]

    def summarise(self, number: int) -> None:
        self.log.summarise(keep=number, text="a summary")
        del self.expected[: max(len(self.expected) - number, 0)]


def texts(messages: list[Message]) -> list[str | None]:
    return [message.content for message in messages]


@settings(max_examples=examples(60), deadline=None)
@given(steps=st.lists(STEPS, max_size=14))
def test_a_log_is_a_list(steps: list[tuple[str, int]]) -> None:
    model = Model()
    for what, number in steps:
        getattr(model, what)(number)
        assert texts(model.log.messages()) == model.expected
        assert len(model.log) == len(model.expected)
    expected = model.expected
    for limit in range(len(expected) + 2):
        for offset in (0, 1, 3):
            newest = expected[max(len(expected) - offset - limit, 0) : max(len(expected) - offset, 0)]
            assert texts(model.log.messages(limit, offset=offset)) == newest


def test_the_order_outlives_moves_between_tiers_and_a_restart(tmp_path: Path) -> None:
    now = 1_000.0
    with Memory(tmp_path / "m.db", clock=lambda: now) as memory:
        log = Conversation(memory, "s")
        records = log.extend([f"m{number}" for number in range(30)])
        for number in (3, 17, 4, 29, 0):
            memory.revise(records[number].id, tier="long" if number % 2 else "middle")
        seqs = [record.seq for record in log.records()]
        assert seqs != sorted(seqs), "else this shows nothing"
        assert [message.content for message in log.messages(7)] == [f"m{number}" for number in range(23, 30)]
    with Memory(tmp_path / "m.db", clock=lambda: now) as memory:
        log = Conversation(memory, "s")
        log.add("last")
        expected = [f"m{number}" for number in range(30)] + ["last"]
        assert [message.content for message in log.messages()] == expected
        assert [message.content for message in log.messages(5, offset=20)] == expected[6:11]


def test_the_newest_of_many_are_read_without_reading_the_others(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing") as memory:
        log = Conversation(memory, "s")
        log.extend([f"m{number}" for number in range(2_000)])
        assert len(log.messages(10)) == 10, "the index may read all once"
        read = 0
        fetch = memory.parts.store.read

        def counted(scope: str, seqs: list[int]) -> object:
            nonlocal read
            read += len(seqs)
            return fetch(scope, seqs)

        memory.parts.store.read = counted  # type: ignore[method-assign, assignment]
        log.add("one more")
        assert [message.content for message in log.messages(3)] == ["m1998", "m1999", "one more"]
        assert [message.content for message in log.messages(1, offset=1)] == ["m1999"]
        assert read <= 25


def test_one_more_than_the_limit_reads_one_or_two_records() -> None:
    now = [1e9]

    def clock() -> float:
        now[0] += 1
        return now[0]

    memory = Memory(embedder="hashing:8", clock=clock)
    talk = Conversation(memory, "s")
    for n in range(30):
        talk.add(f"message {n}")
    store = memory.parts.store
    read: list[int] = []
    fetch = store.read

    def counted(scope: str, keys: Any) -> Any:
        if keys and isinstance(keys[0], int):
            read.extend(keys)
        return fetch(scope, keys)

    store.read = counted  # type: ignore[method-assign]
    assert [message.content for message in talk.trim(keep=29)] == ["message 0"]
    assert len(read) <= 2
