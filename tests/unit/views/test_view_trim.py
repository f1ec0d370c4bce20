"""Trimming drops the oldest, whatever shares a moment, and reads little more than those."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet import Memory
from eidet.views import Conversation

steps = st.lists(st.tuples(st.booleans(), st.integers(1, 4)), min_size=1, max_size=8)


@settings(derandomize=True, deadline=None, max_examples=examples(60))
@given(steps, st.integers(0, 12), st.booleans())
def test_what_is_left_are_the_newest_in_their_order(
    said: list[tuple[bool, int]], keep: int, revised: bool
) -> None:
    now = [1e9]
    memory = Memory(embedder="hashing:8", clock=lambda: now[0])
    talk, texts = Conversation(memory, "s"), []
    for at, (moves_on, count) in enumerate(said):
        now[0] += moves_on
        new = [f"{at}-{n}" for n in range(count)]
        records = talk.extend([{"role": "user", "content": text} for text in new])
        if revised:
            memory.revise(records[0].id, meta={"seen": True})  # its seq is the newest now
        texts += new
    dropped = talk.trim(keep=keep)
    cut = max(len(texts) - keep, 0)
    assert [message.content for message in dropped] == texts[:cut]
    assert [message.content for message in talk.messages()] == texts[cut:]


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
