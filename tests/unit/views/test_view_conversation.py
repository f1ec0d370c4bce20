"""A log of messages: what goes in comes out, in the order it went in."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from eidet import BadInput, Condition, Memory, Message, Upkeep, Where
from eidet.views import Conversation, message_of

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


@pytest.fixture
def memory() -> Memory:
    return Memory()


def texts(messages: list[Message]) -> list[str | None]:
    return [message.content for message in messages]


def said(log: Conversation, **how: Any) -> list[str | None]:
    return texts(log.messages(**how))


def test_every_part_of_a_message_comes_back(memory: Memory) -> None:
    when = datetime(2026, 5, 8, 9, 30, tzinfo=UTC)
    sent = [
        Message(
            role="user", content="Hi ☕ שלום", timestamp=when, metadata={"lang": "he", "deep": {"a": [1]}}
        ),
        Message(role="assistant", content=None, timestamp=when, tool_calls=(CALL,)),
        Message(role="tool", content="", timestamp=when, tool_call_id="c1", name="weather"),
        Message(role="user", content="ok", timestamp=when, name="Ann"),
    ]
    log = Conversation(memory, "s")
    log.extend(sent)
    assert log.messages() == sent


def test_a_message_is_a_record_like_any_other(memory: Memory) -> None:
    log = Conversation(memory, "s", scope="acme", agent="planner")
    record = log.add({"role": "user", "content": "The code is 4711", "name": "Ann"})
    assert (record.kind, record.session, record.scope) == ("message", "s", "acme")
    assert (record.agent, record.who, record.text) == ("planner", "Ann", "The code is 4711")
    assert memory.recall("what is the code?", scope="acme")[0].id == record.id
    assert message_of(record).name == "Ann"


def test_messages_remembered_natively_are_in_the_log(memory: Memory) -> None:
    memory.remember(
        [{"role": "user", "content": "one"}, Message(role="assistant", tool_calls=[CALL])], session="s"
    )
    memory.remember("two", kind="message", who="user", session="s")
    log = Conversation(memory, "s")
    log.add("three")
    assert said(log) == ["one", None, "two", "three"]
    assert said(log, roles="user") == ["one", "two", "three"]
    assert log.messages()[1].tool_calls == (CALL,)


def test_sessions_and_scopes_do_not_see_each_other(memory: Memory) -> None:
    here = Conversation(memory, "s", scope="a")
    here.add("here", id="1")
    for other in (Conversation(memory, "t", scope="a"), Conversation(memory, "s", scope="b")):
        other.add("there", id="1")
        assert said(other) == ["there"]
        assert other.clear() == 1
    assert said(here) == ["here"]


def test_without_a_session_a_new_one_begins(memory: Memory) -> None:
    one, two = Conversation(memory), Conversation(memory)
    assert one.session != two.session
    one.add("mine")
    assert said(two) == []


def test_adding_again_under_the_same_id_changes_nothing(memory: Memory) -> None:
    log = Conversation(memory, "s")
    first = log.add("pay 10 euros", id="m1")
    log.add("later")
    again = log.add("pay 99 euros", id="m1")
    assert again == first
    assert said(log) == ["pay 10 euros", "later"]
    assert log.get("m1") == first == log.get(first.id)
    assert log.get("m2") is None
    assert Conversation(memory, "other").get(first.id) is None


def test_fields_of_a_message_that_others_use_stay_theirs(memory: Memory) -> None:
    told = {"role": "user", "content": "two chairs", "id": "theirs", "order": 66}
    log = Conversation(memory, "s")
    log.add(told, id="mine")
    log.extend([told, told])
    kept = [(record.data["id"], record.data["order"]) for record in log.records()]
    assert kept == [("theirs", 66)] * 3
    assert all(record.step is None for record in log.records()), "steps are the agent's"


def test_many_threads_that_add_under_one_id_add_one_message(memory: Memory) -> None:
    log = Conversation(memory, "s")
    log.add("before")
    barrier = threading.Barrier(6)

    def add() -> None:
        barrier.wait()
        log.add("the same", id="once")

    threads = [threading.Thread(target=add) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.add("after")
    assert said(log) == ["before", "the same", "after"]


def test_extend_adds_all_messages_or_none(memory: Memory) -> None:
    log = Conversation(memory, "s")
    for bad in (
        {"content": "no role"},
        7,
        {"role": "user", "content": 3},
        Message(role="user", content="x" * 10**7),
    ):
        with pytest.raises(BadInput):
            log.extend(["good", bad])  # type: ignore[list-item]
    assert said(log) == []
    assert log.extend([]) == []
    assert texts([message_of(record) for record in log.extend(iter(["a", "b"]))]) == ["a", "b"]


@pytest.mark.parametrize("bad", [None, 7, b"x", ["x"], {"content": "x"}, {"role": 3, "content": "x"}])
def test_what_is_no_message_is_refused(memory: Memory, bad: Any) -> None:
    with pytest.raises(BadInput):
        Conversation(memory, "s").add(bad)
    assert memory.count() == 0


def test_a_role_is_said_beside_a_text_or_in_the_message(memory: Memory) -> None:
    log = Conversation(memory, "s")
    log.add("a")
    log.add("b", role="system")
    log.add({"content": "c"}, role="tool")
    log.add({"role": "assistant", "content": "d"}, role="tool")
    assert [message.role for message in log.messages()] == ["user", "system", "tool", "assistant"]
    assert said(log, roles=["system", "assistant"]) == ["b", "d"]


def test_messages_are_chosen_by_their_timestamps_and_by_any_filter(memory: Memory) -> None:
    log = Conversation(memory, "s")
    for day in (3, 1, 2):
        log.add(
            Message(
                role="user",
                content=f"day {day}",
                timestamp=f"2026-05-0{day}T12:00:00+00:00",
                metadata={"day": day},
            )
        )
    assert said(log) == ["day 3", "day 1", "day 2"], "the order of adding"
    assert said(log, since="2026-05-02T00:00:00+00:00") == ["day 3", "day 2"]
    assert said(log, until="2026-05-02T00:00:00+00:00") == ["day 1"]
    assert said(log, where=Where(conditions=(Condition("meta.day", ">=", 2),)), limit=1) == ["day 2"]


def test_parts_of_content_stay_in_the_record(memory: Memory) -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}]
    log = Conversation(memory, "s")
    log.add({"role": "user", "content": parts, "refusal": False})
    assert said(log) == ["look"]
    [record] = log.records()
    assert record.data["content"] == parts


def test_a_window_holds_the_newest_messages_that_fit(memory: Memory) -> None:
    log = Conversation(memory, "s", counter=len)
    for text in ("aaaa", "bbb", "cc", "d"):
        log.add(text)
    assert texts(log.window(6)) == ["bbb", "cc", "d"]
    assert texts(log.window(5)) == ["cc", "d"]
    assert texts(log.window(0)) == ["d"], "always at least the newest"
    assert texts(log.window(3, counter=lambda text: 1)) == ["bbb", "cc", "d"]
    assert log.window() == log.messages()
    with pytest.raises(BadInput):
        log.window(-1)


def test_a_window_reads_on_until_it_is_full(memory: Memory) -> None:
    log = Conversation(memory, "s", counter=lambda text: 1)
    log.extend([str(number) for number in range(700)])
    assert texts(log.window(600)) == [str(number) for number in range(100, 700)]
    assert len(log.window(10_000)) == 700


def test_a_window_never_begins_with_the_result_of_a_call_that_it_left_out(memory: Memory) -> None:
    log = Conversation(memory, "s", counter=lambda text: 1)
    log.add("ask")
    log.add({"role": "assistant", "content": "wait", "tool_calls": [CALL]})
    log.add({"role": "tool", "content": "sunny", "tool_call_id": "c1"})
    assert texts(log.window(1)) == ["sunny"], "the newest is always there"
    log.add({"role": "assistant", "content": "It is sunny"})
    assert texts(log.window(2)) == ["It is sunny"]
    assert texts(log.window(4)) == ["wait", "sunny", "It is sunny"], "a call costs its JSON as well"


def test_each_message_is_popped_by_one_thread_only(memory: Memory) -> None:
    log = Conversation(memory, "s")
    log.extend([str(number) for number in range(40)])
    popped: list[str | None] = []

    def pop() -> None:
        while (message := log.pop()) is not None:
            popped.append(message.content)

    threads = [threading.Thread(target=pop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(popped, key=lambda text: int(text or 0)) == [str(number) for number in range(40)]


def test_trim_drops_the_oldest_and_tells_which(memory: Memory) -> None:
    log = Conversation(memory, "s", counter=len)
    log.extend(["aaaa", "bbb", "cc", "d"])
    assert texts(log.trim(keep=3)) == ["aaaa"]
    assert texts(log.trim(max_tokens=3)) == ["bbb"]
    assert texts(log.trim(keep=2, max_tokens=0)) == ["cc"]
    assert log.trim(keep=5) == []
    assert texts(log.trim(keep=0)) == ["d"]
    assert len(log) == 0
    with pytest.raises(BadInput, match="how much to keep"):
        log.trim()


def test_search_finds_by_meaning_in_this_session_only(memory: Memory) -> None:
    log = Conversation(memory, "s")
    log.extend(["My cat is called Minka", "The train leaves at nine", "I like the rain"])
    Conversation(memory, "t").add("The train to Graz leaves at ten")
    found = log.search("when does the train leave?", limit=1)
    assert texts(found) == ["The train leaves at nine"]
    assert log.search("train", 5)[0].content == "The train leaves at nine"


def test_containing_finds_a_text_in_any_case_oldest_first(memory: Memory) -> None:
    log = Conversation(memory, "s")
    log.extend([f"{'STRASSE' if number % 50 == 0 else 'weg'} {number}" for number in range(300)])
    assert texts(log.containing("straße")) == [f"STRASSE {number}" for number in range(0, 300, 50)]
    assert log.containing("nowhere") == []


def test_a_summary_stands_for_the_older_messages_and_names_them(memory: Memory) -> None:
    log = Conversation(memory, "s")
    stored = log.extend([f"message {number}" for number in range(12)])
    assert Conversation(memory, "s").summary is None
    made = log.summarise(keep=4)
    assert made is not None
    assert "message 3" in made
    assert log.summary == made
    assert said(log) == [f"message {number}" for number in range(8, 12)]
    assert len(log) == 4
    [record] = memory.find(kinds="summary", session="s")
    assert record.derived_from == tuple(record.id for record in stored[:8])
    assert record.text == made
    assert memory.get(stored[0].id) is not None, "the messages stay in the memory"
    assert texts(log.containing("message 3")) == ["message 3"]
    assert "message 3" in texts(log.search("message 3", 12))


def test_a_second_summary_takes_in_the_first(memory: Memory) -> None:
    log = Conversation(memory, "s")
    log.extend(["a1", "a2", "a3"])
    assert log.summarise(keep=5) is None, "there is nothing older"
    log.summarise(keep=1, text="They began.")
    log.extend(["b1", "b2"])
    assert said(log) == ["a3", "b1", "b2"]
    second = log.summarise(keep=1)
    assert second is not None
    assert second.startswith("They began.")
    assert "a3" in second
    assert said(log) == ["b2"]
    assert log.summarise(keep=1) == second, "nothing new to sum up"
    [record] = memory.find(kinds="summary", session="s")
    assert len(record.derived_from) == 4
    log.add("c1")
    assert said(log) == ["b2", "c1"]


def test_forgetting_a_message_for_good_takes_the_summary_that_told_of_it(memory: Memory) -> None:
    log = Conversation(memory, "s")
    secret, *_ = log.extend(["The code of the safe is 4711", "thank you", "goodbye then"])
    log.summarise(keep=1)
    assert memory.forget(secret.id) == 1
    assert Conversation(memory, "s").summary is None
    assert said(log) == ["thank you", "goodbye then"], "the others are shown again"
    assert log.summarise(keep=1, text="They thanked.") == Conversation(memory, "s").summary == "They thanked."
    assert said(log) == ["goodbye then"]


def test_a_model_words_the_summary_and_the_rules_do_where_it_fails(memory: Memory) -> None:
    def model(prompt: str) -> str:
        assert "left at dawn" in prompt
        return "They left early."

    def broken(prompt: str) -> str:
        raise ConnectionError(prompt)

    log = Conversation(memory, "s")
    log.extend(["We left at dawn", "ok"])
    assert log.summarise(keep=1, llm=model) == "They left early."
    log.add("Then it rained")
    made = log.summarise(keep=0, llm=broken)
    assert made is not None
    earlier, *later = made.splitlines()
    assert earlier == "They left early."
    assert [line.rpartition("user: ")[2] for line in later] == ["ok", "Then it rained"]
    assert said(log) == []


def test_clear_deletes_messages_and_summary_of_this_session(memory: Memory) -> None:
    log = Conversation(memory, "s")
    log.extend(["a", "b", "c"])
    log.summarise(keep=1)
    memory.remember("a fact of the session", session="s")
    assert log.clear() == 3
    assert log.summary is None
    assert said(log) == []
    assert memory.count() == 1
    assert log.clear() == 0
    log.add("a")
    assert said(log) == ["a"]


def test_what_the_long_tier_shortened_comes_back_in_full() -> None:
    now = [1_700_000_000.0]
    memory = Memory(embedder="hashing", clock=lambda: now[0])
    long = " ".join(f"Sentence number {number} tells of something else." for number in range(60))
    log = Conversation(memory, "s")
    log.extend([Message(role="user", content=long, metadata={"x": 0.123456}), "b", "c"])
    log.summarise(keep=2, text="a long story")
    for _ in range(2):
        now[0] += 20 * 86_400
        memory.upkeep.maintain(settings=Upkeep(short_age_days=1, middle_age_days=10), only="move")
    [lowered] = [record for record in memory.find(limit=10) if record.text.startswith("Sentence")]
    assert lowered.level == 2
    assert len(lowered.text) < len(long)
    assert said(log) == ["b", "c"], "where the summary ends is known as exactly as before"
    assert texts(log.containing("number 59")) == [long]
    [told] = log.containing("number 59")
    assert (told.content, told.metadata) == (long, {"x": 0.123456})


def test_limits_and_sessions_are_checked(memory: Memory) -> None:
    log = Conversation(memory, "s")
    for bad in (-1, True, 2.5, "3", 10**9):
        with pytest.raises(BadInput):
            log.messages(bad)  # type: ignore[arg-type]
    with pytest.raises(BadInput):
        log.messages(offset=-1)
    for session in ("", "  ", 3):
        with pytest.raises(BadInput):
            Conversation(memory, session)  # type: ignore[arg-type]
