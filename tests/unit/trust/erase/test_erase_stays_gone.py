"""Forgetting for good: what is gone stays gone, whoever says it again."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from tests.making import Clock
from tests.unit.trust.erase.given import OTHER, SECRET, texts

from eidet import Kind, Memory, Refused, Where
from eidet.trust.erase import Forgotten
from eidet.views import Conversation


def test_forget_answers_a_number_with_a_receipt(memory: Memory) -> None:
    gone = memory.forget(memory.remember(SECRET).id, by="ann", why="she asked")
    assert gone == 1
    assert isinstance(gone, Forgotten)
    assert gone.receipt is not None
    assert (gone.receipt.by, gone.receipt.why) == ("ann", "she asked")
    copy = pickle.loads(pickle.dumps(gone))
    assert (copy, copy.receipt) == (gone, gone.receipt)


@pytest.mark.parametrize(
    "said",
    [SECRET, SECRET.upper(), f"  {SECRET}.", SECRET.replace(" ", "\n\t "), SECRET.replace(" ", "\u00a0")],
)
def test_what_was_forgotten_is_refused_however_it_is_spaced(memory: Memory, said: str) -> None:
    memory.forget(memory.remember(SECRET).id)
    with pytest.raises(Refused, match=r"record 0 .*'default' on 2023-11-14 .*again=True"):
        memory.remember(said)
    assert memory.count() == 0


def test_a_list_is_stored_without_what_was_forgotten(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.forget(memory.remember(SECRET).id)
    stored = memory.remember([OTHER, SECRET, "a third one, of its own"])
    assert [record.text for record in stored] == [OTHER, "a third one, of its own"]
    assert [one.index for one in stored.rejected] == [1]
    assert "forgotten for good on 2023-11-14" in str(stored.rejected[0])
    assert "at 1 of the list" in caplog.text
    assert SECRET not in caplog.text
    assert memory.count() == 2
    assert memory.remember([SECRET], again=True).rejected == ()


def test_conversations_go_on_without_what_was_forgotten(memory: Memory) -> None:
    memory.forget(memory.remember({"role": "user", "content": SECRET}).id)
    log = Conversation(memory, "monday")
    added = log.extend(
        [
            {"role": "user", "content": "Good morning to you all"},
            {"role": "user", "content": SECRET},
            {"role": "assistant", "content": OTHER},
        ]
    )
    assert [one.index for one in added.rejected] == [1]
    assert [message.content for message in log.messages()] == ["Good morning to you all", OTHER]
    with pytest.raises(Refused):
        log.add(SECRET, role="user")


def test_it_may_be_said_again_by_who_says_so(memory: Memory) -> None:
    memory.forget(memory.remember(SECRET).id)
    memory.remember(SECRET, again=True)
    memory.forget(memory.find()[0].id, for_good=False)
    assert memory.remember(SECRET).text == SECRET


def test_a_record_cannot_be_revised_into_what_was_forgotten(memory: Memory) -> None:
    memory.forget(memory.remember(SECRET).id)
    other = memory.remember(OTHER)
    with pytest.raises(Refused, match="forgotten for good"):
        memory.revise(other.id, text=SECRET)
    assert memory.revise(other.id, importance=0.9).text == OTHER
    assert memory.revise(other.id, text=SECRET, again=True).text == SECRET


def test_another_value_under_the_same_key_is_fine(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon, in the old town", key="home")
    memory.forget(memory.find()[0].id)
    assert memory.remember("Ann lives in Porto now", key="home").version == 1


def test_what_a_record_said_earlier_is_refused_too(memory: Memory) -> None:
    record = memory.remember(SECRET)
    memory.revise(record.id, text=OTHER)
    memory.forget(record.id)
    for said in (SECRET, OTHER):
        with pytest.raises(Refused):
            memory.remember(said)


def test_other_scopes_may_say_it(memory: Memory) -> None:
    memory.forget(memory.remember(SECRET).id)
    assert memory.remember(SECRET, scope="other").text == SECRET


def test_data_is_a_value_too(memory: Memory) -> None:
    memory.forget(memory.remember({"card": "4111 1111", "code": 7}).id)
    with pytest.raises(Refused):
        memory.remember({"code": 7, "card": "4111  1111"})
    assert memory.remember({"code": 8, "card": "4111 1111"}).id


@pytest.mark.parametrize("said", ["ok", "thank you", "yes, do it"[:9], "好的"])
def test_everyday_messages_may_be_said_again(memory: Memory, said: str) -> None:
    memory.remember({"role": "user", "content": said}, session="s")
    memory.forget(where=Where(session="s"))
    assert memory.remember({"role": "user", "content": said}).text == said


def test_a_longer_message_may_not(memory: Memory) -> None:
    said = [{"role": "user", "content": text} for text in (SECRET, "我住在里斯本的阿尔法玛区的一座老房子里")]
    memory.remember(said)
    memory.forget(where=Where(kinds=(Kind.MESSAGE,)))
    for message in said:
        with pytest.raises(Refused):
            memory.remember(message)


def test_copies_go_with_what_is_forgotten(memory: Memory) -> None:
    said = {"role": "user", "content": SECRET}
    one, _, _ = memory.remember([said, said, said])
    memory.remember([{"role": "user", "content": "ok"}] * 2)
    gone = memory.forget(one.id)
    assert (gone, gone.receipt and gone.receipt.counts["copies"]) == (1, 2)
    assert texts(memory) == ["ok", "ok"]


def test_housekeeping_forbids_nothing(memory: Memory) -> None:
    record = memory.remember(SECRET)
    made = memory.remember("a summary of it", derived_from=[record.id])
    gone = memory.forget(record.id, for_good=False)
    assert (gone, gone.receipt) == (1, None)
    assert memory.remember(SECRET).text == SECRET
    assert memory.get(made.id) == made


def test_a_whole_scope_can_be_forgotten_for_good(memory: Memory) -> None:
    memory.remember([SECRET, OTHER], scope="ann")
    memory.forget(everything=True, scope="ann", for_good=True)
    with pytest.raises(Refused):
        memory.remember(OTHER, scope="ann")


def test_a_load_leaves_out_what_was_forgotten(
    memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, _ = memory.remember([SECRET, OTHER])
    short = memory.remember({"role": "user", "content": "ok"})
    memory.export(tmp_path / "e.jsonl")
    memory.forget([one.id, short.id])
    with caplog.at_level("INFO", "eidet"):
        assert memory.load(tmp_path / "e.jsonl") == 1
    assert "2 records were forgotten for good" in caplog.text
    assert texts(memory) == [OTHER]
    with Memory(embedder="hashing:32", clock=Clock(tick=1.0)) as elsewhere:
        assert elsewhere.load(tmp_path / "e.jsonl") == 3


def test_an_older_version_does_not_come_back_from_a_file(memory: Memory, tmp_path: Path) -> None:
    record = memory.remember(SECRET)
    memory.export(tmp_path / "e.jsonl")
    memory.revise(record.id, text=OTHER)
    memory.forget(record.id)
    assert memory.load(tmp_path / "e.jsonl") == 0


def test_a_short_fact_that_was_forgotten_does_not_come_back_as_a_message(memory: Memory) -> None:
    memory.forget(memory.remember("PIN 4711").id)
    with pytest.raises(Refused, match="forgotten for good"):
        memory.remember({"role": "user", "content": "pin 4711"})
    said = memory.remember([{"role": "user", "content": "pin 4711"}, {"role": "assistant", "content": "ok"}])
    assert [record.text for record in said] == ["ok"]
    memory.forget(said[0].id)
    assert memory.remember({"role": "assistant", "content": "ok"}).text == "ok"
