"""A fact answers only with records that the query may see: not quarantined, expired, filtered or foreign."""

from __future__ import annotations

from datetime import timedelta

from tests.making import Clock

from eidet import Memory

QUESTION = "Where does Ann live?"


def test_what_the_filter_keeps_out_neither_answers_nor_is_named() -> None:
    with Memory() as memory:
        memory.remember("Ann lives in Lisbon.", occurred="2026-01-10", who="leo")
        memory.remember("Ann moved to Porto.", occurred="2026-06-03", who="kim")
        for hits in (memory.recall(QUESTION, who="leo"), memory.recall(QUESTION, until="2026-02-01")):
            assert [hit.text for hit in hits] == ["Ann lives in Lisbon."]
            assert hits[0].superseded_by is None
            assert "Porto" not in hits[0].why()


def test_what_is_in_quarantine_neither_answers_nor_closes_anything() -> None:
    with Memory() as memory:
        memory.remember("Ann lives in Lisbon.", occurred="2026-01-10")
        moved = memory.remember("Ann moved to Porto.", occurred="2026-06-03", trust="web")
        memory.trust.quarantine(moved.id)
        (hit,) = memory.recall(QUESTION)
        assert (hit.text, hit.superseded_by) == ("Ann lives in Lisbon.", None)


def test_what_has_expired_does_not_answer() -> None:
    clock = Clock()
    with Memory(clock=clock) as memory:
        memory.remember("Ann lives in Lisbon.")
        clock.days(1)
        memory.remember("Ann moved to Porto.", expires=timedelta(hours=1))
        assert "Porto" in memory.recall(QUESTION)[0].text
        clock.days(1)
        (hit,) = memory.recall(QUESTION)
        assert (hit.text, hit.superseded_by) == ("Ann lives in Lisbon.", None)


def test_what_another_scope_says_does_not_answer() -> None:
    with Memory() as memory:
        memory.remember("Ann lives in Lisbon.", scope="a", occurred="2026-01-10")
        memory.remember("Ann moved to Porto.", scope="b", occurred="2026-06-03")
        (hit,) = memory.recall(QUESTION, scope="a")
        assert (hit.text, hit.superseded_by) == ("Ann lives in Lisbon.", None)
