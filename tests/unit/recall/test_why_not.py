"""`memory.admin.explain`: an answer with all that made it, and where any record stands in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eidet import Draft, Memory, Record

NOW = 1_800_000_000.0
DAY = 86_400.0


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(clock=lambda: NOW) as memory:
        for day, text in enumerate(TEXTS):
            memory.remember(Draft(text=text, id=f"r{day}", occurred=NOW - day * DAY), scope="ann")
        yield memory


TEXTS = (
    "Ann lives in Lisbon with two cats.",
    "Ben lives in Oslo.",
    "The ferry to Bergen leaves at noon.",
    "Ann bought a red bicycle in March.",
    "The library closes on Mondays.",
)


def record(memory: Memory, id: str) -> Record:
    found = memory.get(id, scope="ann")
    assert found is not None
    return found


def test_explain_answers_as_recall_does_and_counts_nothing(memory: Memory) -> None:
    explained = memory.admin.explain("Where does Ann live?", scope="ann", limit=3)
    before = memory.admin.stats("ann")["retrieval"]["recalls"]
    assert before == 0
    assert all(one.uses == 0 for one in memory.find(scope="ann"))
    hits = memory.recall("Where does Ann live?", scope="ann", limit=3)
    assert [hit.id for hit in explained.hits] == [hit.id for hit in hits]
    assert [hit.score for hit in explained.hits] == [hit.score for hit in hits]
    assert explained.context.text == memory.context("Where does Ann live?", scope="ann").text
    assert memory.admin.stats("ann")["retrieval"]["recalls"] == 2


def test_every_record_has_one_whereabout_and_ranks_are_those_of_the_answer(memory: Memory) -> None:
    explained = memory.admin.explain("Where does Ann live?", scope="ann", limit=2)
    shown = [hit.id for hit in explained.hits]
    for one in memory.find(scope="ann"):
        place = explained.why_not(one)
        assert (place.stage == "shown") == (one.id in shown)
        if one.id in shown:
            assert place.rank == shown.index(one.id) + 1
            assert place.score == explained.hits[place.rank - 1].score
        else:
            assert place.stage in ("outranked", "too weak")
            assert place.words


def test_a_record_that_is_outranked_is_told_which_signals_it_lacks(memory: Memory) -> None:
    explained = memory.admin.explain("Where does Ann live?", scope="ann", limit=1, least=0.0)
    place = explained.why_not(record(memory, "r1"))
    assert place.stage == "outranked"
    assert place.against == "r0"
    assert place.gaps[0].own < place.gaps[0].wanted
    assert sum(gap.own for gap in place.gaps) < sum(gap.wanted for gap in place.gaps)


def test_the_part_of_a_filter_that_a_record_fails_is_named(memory: Memory) -> None:
    explained = memory.admin.explain("Where does Ann live?", scope="ann", since=NOW - 1.5 * DAY, kinds="fact")
    place = explained.why_not(record(memory, "r3"))
    assert place.stage == "filtered"
    assert any(words.startswith("since") for words in place.words)
    assert not any(words.startswith("kind") for words in place.words)


def test_what_only_the_filter_keeps_out_is_told(memory: Memory) -> None:
    explained = memory.admin.explain("Where does Ann live?", scope="ann", kinds="message")
    assert not explained.hits
    assert [hit.id for hit in explained.removed][:1] == ["r0"]
    without = memory.admin.explain("Where does Ann live?", scope="ann")
    assert not without.removed


def test_quarantine_and_expiry_are_told_apart_from_filters(memory: Memory) -> None:
    aside = memory.trust.quarantine("r0", scope="ann")
    gone = record(memory, "r1").but(expires=NOW - 1)
    explained = memory.admin.explain("Where does Ann live?", scope="ann")
    assert explained.why_not(aside).stage == "set aside"
    assert explained.why_not(gone).stage == "expired"
    other = record(memory, "r2").but(scope="ben")
    assert explained.why_not(other).words == ("it is of the scope ben, which was not asked",)


def test_a_question_without_words_is_explained_by_its_order(memory: Memory) -> None:
    explained = memory.admin.explain("", scope="ann", limit=2)
    assert explained.ranking is None
    assert explained.why_not(record(memory, "r0")).stage == "shown"
    assert explained.why_not(record(memory, "r4")).stage == "outranked"


def test_a_record_that_came_after_the_question_is_no_candidate(memory: Memory) -> None:
    explained = memory.admin.explain("Where does Ann live?", scope="ann")
    late = memory.remember("Ann lives in Faro now.", scope="ann")
    assert explained.why_not(late).stage == "not a candidate"
