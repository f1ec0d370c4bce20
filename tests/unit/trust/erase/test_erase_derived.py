"""Forgetting for good: what was made of it goes too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.trust.erase.given import NOW, OTHER, SECRET, TALK, left_of, talk, texts

from eidet import Kind, Memory, Refused, Where
from eidet.core.settings import Upkeep
from eidet.core.state import MergedPart, State
from eidet.write.write_path import put_records


def test_an_episode_goes_and_upkeep_tells_it_anew_without_what_was_forgotten(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    episode = memory.upkeep.end_session("s1")
    assert "alarm" in episode.text
    gone = memory.forget(ids[1])
    assert gone.receipt is not None
    assert gone.receipt.counts["derived_dropped"] == 1
    assert memory.get(episode.id) is None
    assert left_of(memory, TALK[1]) == []
    memory.upkeep.maintain(only="summarise", settings=Upkeep(session_idle_hours=0.0))
    told = memory.get(episode.id)
    assert told is not None
    assert "alarm" not in told.text
    assert set(told.derived_from) == {ids[0], ids[2], ids[3]}
    assert left_of(memory, TALK[1]) == []
    assert memory.admin.check() == []


def test_a_consolidated_fact_goes_with_an_episode_and_is_made_again_of_the_others(memory: Memory) -> None:
    said = "Eva plays the cello in the city orchestra every Friday evening"
    for session in ("a", "b", "c"):
        talk(memory, said, f"The weather in {session} was very fine all day long today", session=session)
        memory.upkeep.end_session(session)
    memory.upkeep.maintain(only="consolidate")
    (fact,) = memory.find(kinds="fact")
    weather = memory.find(where=Where(session="a", kinds=(Kind.MESSAGE,)))
    memory.forget(next(record.id for record in weather if "weather" in record.text))
    assert memory.find(kinds="fact") == []
    memory.upkeep.maintain(only="consolidate")
    assert [made.text for made in memory.find(kinds="fact")] == [fact.text]


def test_an_old_episode_does_not_come_back_from_a_file(memory: Memory, tmp_path: Path) -> None:
    ids = talk(memory, *TALK)
    memory.upkeep.end_session("s1")
    memory.export(tmp_path / "e.jsonl")
    memory.forget(ids[1])
    memory.load(tmp_path / "e.jsonl")
    assert left_of(memory, TALK[1]) == []
    assert not any("alarm" in text for text in texts(memory))


def test_an_episode_that_was_forgotten_can_be_told_again(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    memory.upkeep.end_session("s1")
    memory.forget(ids[1])
    memory.remember({"role": "user", "content": "and the dog has a new collar now"}, session="s1")
    assert "alarm" not in memory.upkeep.end_session("s1").text


def test_what_somebody_derived_goes_and_all_that_follows(memory: Memory) -> None:
    one = memory.remember(SECRET)
    two = memory.remember("a note on the safe", derived_from=[one.id])
    memory.remember("a note on that note", derived_from=[two.id])
    memory.remember(OTHER, derived_from=["unknown"])
    gone = memory.forget(one.id)
    assert (gone, gone.receipt and gone.receipt.counts["derived_dropped"]) == (1, 2)
    assert texts(memory) == [OTHER]


def test_a_legal_hold_on_what_was_made_of_it_refuses_all(memory: Memory) -> None:
    one = memory.remember(SECRET)
    made = memory.remember("a note on the safe", derived_from=[one.id])
    memory.upkeep.hold(made.id)
    with pytest.raises(Refused, match="legal hold"):
        memory.forget(one.id)
    assert memory.count() == 2
    memory.upkeep.release(made.id)
    assert memory.forget(one.id) == 1


def test_a_hold_anywhere_in_a_large_scope_refuses_all(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eidet.trust.erase.WHOLESALE", 2)
    held = memory.remember([SECRET, OTHER, "a third thing"], scope="ann")[1]
    memory.upkeep.hold(held.id, scope="ann")
    with pytest.raises(Refused, match="legal hold"):
        memory.forget(everything=True, scope="ann")
    memory.upkeep.release(held.id, scope="ann")
    assert memory.forget(everything=True, scope="ann") == 3
    assert left_of(memory, OTHER) == []


MERGED = ("Ann keeps her spare key under the blue pot", "ann keeps her spare key, under the blue pot!")


def merged(memory: Memory) -> tuple[str, str]:
    """Two facts that upkeep made one: the id that stayed, and the one that became part of it."""
    one, two = (memory.remember(text, who="Ann") for text in MERGED)
    memory.upkeep.maintain(only="merge")
    assert texts(memory) == [MERGED[0]], "the two should have been merged"
    return one.id, two.id


def test_a_part_of_a_merged_record_is_taken_out(memory: Memory) -> None:
    one, two = merged(memory)
    gone = memory.forget(two)
    assert gone.receipt is not None
    assert gone.receipt.counts["derived_anew"] == 1
    left = memory.get(one)
    assert left is not None
    assert "merged" not in left.meta
    assert left.derived_from == ()
    assert left_of(memory, MERGED[1]) == []
    with pytest.raises(Refused):
        memory.remember(MERGED[1])


def test_a_merged_record_goes_with_its_parts(memory: Memory) -> None:
    one, _ = merged(memory)
    memory.forget(one)
    for text in MERGED:
        assert left_of(memory, text) == []
        with pytest.raises(Refused):
            memory.remember(text)


def test_a_record_that_still_tells_the_text_of_its_part_goes_too(memory: Memory) -> None:
    told = State(merged=(MergedPart(id="part", text=SECRET, occurred=NOW),))
    one = memory.remember(f"Well, {SECRET.upper()}, he said", derived_from=["part"])
    two = memory.remember(OTHER, derived_from=["part"])
    put_records(memory.parts, [one.but(state=told), two.but(state=told)], now=NOW)
    gone = memory.forget("part")
    assert gone.receipt is not None
    assert (gone.receipt.counts["derived_dropped"], gone.receipt.counts["derived_anew"]) == (1, 1)
    assert texts(memory) == [OTHER]
    assert left_of(memory, SECRET) == []


def test_upkeep_passes_over_what_was_forgotten_while_it_planned(memory: Memory) -> None:
    ids = talk(memory, *TALK)
    idle = Upkeep(session_idle_hours=0.0)

    def forgetful(_request: Any) -> str:
        memory.forget(ids[1])
        return "They spoke of a code."

    done = memory.upkeep.maintain(only="summarise", settings=idle, llm=forgetful)
    assert (done.skipped, done.failed, dict(done.counts)) == (1, (), {})
    done = memory.upkeep.maintain(only="summarise", settings=idle)
    assert dict(done.counts) == {"summarise": 1}
    assert "alarm" not in memory.find(kinds="episode")[0].text
