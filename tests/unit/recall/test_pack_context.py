"""`context` on a memory: what it looks up beside the hits, and what it does with its arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.making import PLACES, place_of
from tests.tokenizer_file import LLAMA

from eidet import AsyncMemory, BadInput, Context, Draft, Kind, Memory, Misconfigured, Recipe, Scope, Where
from eidet.core.record import Record
from eidet.store.ram import RamStore

NOW = 1_700_000_000.0
DAY = 86_400.0


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = place_of(request, tmp_path)
    with Memory(place, embedder="hashing:64", clock=lambda: NOW) as opened:
        yield opened


def talk(memory: Memory, session: str, *said: str, start: float = NOW - DAY, **details: Any) -> None:
    """Ann and Bob take turns."""
    memory.remember(
        [
            Draft(text=text, who=("Ann", "Bob")[n % 2], occurred=start + n, session=session, kind="message")
            for n, text in enumerate(said)
        ],
        **details,
    )


def said(context: Context) -> list[str]:
    return [record.text for record in context.records]


SEA = ("hello there", "the weather is fine", "I bought a kayak", "which colour", "a red one", "good bye")


def test_a_context_has_working_state_facts_and_turns(memory: Memory) -> None:
    talk(memory, "sea", *SEA)
    memory.remember("Ann owns a kayak shop", occurred="2023-01-05T12:00:00")
    memory.remember("answering about boats", kind="working", occurred="2023-11-14T12:00:00")
    context = memory.context("kayak", limit=2)
    assert str(context) == (
        "# Working state\nTue 14 Nov 2023\n[1] answering about boats\n\n"
        "# Memory\nThu 5 Jan 2023\n[2] Ann owns a kayak shop\n"
        "Mon 13 Nov\n[3] Bob: the weather is fine\n[4] Ann: I bought a kayak\n[5] Bob: which colour"
    )
    assert (len(context.hits), context.left_out, context.budget, context.scope) == (2, (), 1000, "default")


@pytest.mark.parametrize(("neighbours", "told"), [(0, SEA[2:3]), (1, SEA[1:4]), (2, SEA[:5]), (9, SEA)])
def test_neighbours_say_how_many_turns_come_with_a_turn(
    memory: Memory, neighbours: int, told: Sequence[str]
) -> None:
    talk(memory, "sea", *SEA)
    assert said(memory.context("kayak", limit=1, neighbours=neighbours)) == list(told)


def test_neighbours_are_of_the_same_session_and_scope_though_others_speak_meanwhile(memory: Memory) -> None:
    talk(memory, "sea", *SEA)
    talk(memory, "land", "one", "two", "three", "four", start=NOW - DAY + 0.5)
    talk(memory, "sea", "five", "six", "seven", "eight", start=NOW - DAY + 0.5, scope="other")
    assert said(memory.context("kayak", limit=1)) == list(SEA[1:4])


def test_facts_and_working_state_of_a_session_are_no_neighbours(memory: Memory) -> None:
    talk(memory, "sea", *SEA[:3])
    for kind in ("fact", "working"):
        memory.remember(f"some {kind}", session="sea", occurred=NOW - DAY + 2.5, kind=kind)
    assert said(memory.context("kayak", limit=1, where=Where(kinds=(Kind.MESSAGE,)))) == list(SEA[1:3])
    memory.remember("paddles", session="sea", occurred=NOW - DAY + 3, kind="action")
    assert said(memory.context("kayak", limit=1)) == ["some working", *SEA[1:3], "paddles"]


def test_neighbours_and_working_state_pass_the_filter_too(memory: Memory) -> None:
    talk(memory, "sea", *SEA)
    memory.remember("plans of another", kind="working", agent="other")
    context = memory.context("kayak", where=Where(who="Ann"), limit=1)
    assert said(context) == [SEA[0], SEA[2], SEA[4]]


def test_what_expired_is_neither_neighbour_nor_working_state() -> None:
    clock = iter([NOW] * 3 + [NOW + DAY] * 9)
    with Memory(embedder="hashing:64", clock=lambda: next(clock)) as memory:
        talk(memory, "sea", *SEA[:3])
        for kind in ("message", "working"):
            memory.remember("gone", kind=kind, session="sea", occurred=NOW - DAY + 2.5, expires=NOW + 1)
        assert said(memory.context("kayak", limit=1)) == list(SEA[1:3])


def test_a_prefix_of_scopes_has_the_neighbours_of_each(memory: Memory) -> None:
    talk(memory, "sea", *SEA, scope="team/ann")
    talk(memory, "sea", "the sun shines", "a kayak for me", "why", scope="team/bob", start=NOW)
    memory.remember("counting boats", kind="working", scope="team/bob")
    context = memory.context("kayak", scope=Scope.under("team"), limit=2)
    assert said(context) == ["counting boats", *SEA[1:4], "the sun shines", "a kayak for me", "why"]
    assert [record.scope for record in context.records[1:]] == ["team/ann"] * 3 + ["team/bob"] * 3


def test_turns_without_a_session_come_alone(memory: Memory) -> None:
    memory.remember([{"role": "user", "content": text} for text in SEA])
    assert said(memory.context("kayak", limit=1)) == [SEA[2]]


class Counted(RamStore):
    """Counts how often records are read."""

    reads = 0

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        self.reads += 1
        return super().read(scope, keys)


def test_the_store_is_asked_three_times_however_many_hits_there_are() -> None:
    store = Counted()
    with Memory(store, embedder="hashing:64", clock=lambda: NOW) as memory:
        for n in range(20):
            talk(memory, f"s{n}", *SEA, start=NOW - n * DAY)
        memory.remember("working", kind="working")
        memory.context("kayak colour")
        store.reads = 0
        assert len(memory.context("kayak colour", budget=3000).hits) > 30
        assert store.reads == 3


def test_turns_of_every_session_are_told_with_their_neighbours() -> None:
    with Memory(embedder="hashing:64", clock=lambda: NOW) as memory:
        for n in range(20):
            talk(memory, f"s{n}", f"hello {n}", f"a kayak {n}", f"bye {n}", start=NOW - n * DAY)
        context = memory.context("kayak", limit=20, budget=5000)
        assert len(context.hits) == 20
        sessions = list(dict.fromkeys(hit.record.session for hit in context.hits))
        told = {hit.id for hit in context.hits}
        beside = {record.session for record in context.records if record.id not in told}
        assert beside == set(sessions)
        assert len(sessions) > 15


def test_a_counter_may_be_named(memory: Memory) -> None:
    memory.remember("Ann likes tea")
    assert memory.context("tea", counter="words").tokens == 11, "eight words by 1.3"
    assert memory.context("tea", counter=LLAMA).tokens > 8
    with pytest.raises(Misconfigured, match="there is no token counter named 'elephants'"):
        memory.context("tea", counter="elephants")


def test_the_time_of_the_question_reaches_the_recall(memory: Memory) -> None:
    talk(memory, "a", "tide table", start=0)
    talk(memory, "b", "tide table", start=100 * DAY)
    recent = Recipe(recency=5.0, half_life_days=1)
    asked = [memory.context("table of the tide", recipe=recent, now=day * DAY).hits for day in (101, 20_000)]
    assert [hit.record.session for hit in asked[0]] == ["b", "a"]
    assert asked[0][0].score - asked[0][1].score > 0.3 > asked[1][0].score - asked[1][1].score


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": 0}, "a budget of tokens must be a whole number from 1"),
        ({"budget": True}, "a budget of tokens must be a whole number from 1"),
        ({"budget": "many"}, "a budget of tokens must be a whole number from 1"),
        ({"neighbours": -1}, "neighbours must be a whole number from 0 to 100, not -1"),
        ({"neighbours": 1.5}, "neighbours must be"),
        ({"neighbours": True}, "neighbours must be"),
        ({"counter": 5}, "a token counter has a count method"),
        ({"now": "yesterday"}, "not an ISO 8601 date"),
    ],
)
def test_wrong_arguments_are_told(memory: Memory, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        memory.context("Ann", **wrong)


def test_the_arguments_reach_the_memory_from_a_loop_too(tmp_path: Path) -> None:
    async def asked() -> Context:
        async with AsyncMemory(tmp_path / "memory.db", embedder="hashing:64", clock=lambda: NOW) as memory:
            await memory.remember([Draft(text=text, kind="message", session="sea") for text in SEA])
            return await memory.context(
                "kayak", limit=1, neighbours=2, headings=False, counter="words", now=NOW, budget=90
            )

    context = asyncio.run(asked())
    assert said(context) == list(SEA[:5])
    assert (context.text.count("#"), context.tokens, context.budget) == (0, 26, 90)


def test_what_the_reader_was_shown_is_left_out(memory: Memory) -> None:
    talk(memory, "sea", *SEA)
    memory.remember("answering about kayaks", kind="working")
    first = memory.context("kayak", budget=40)
    second = memory.context("kayak", seen=first.sources)
    assert first.records
    assert second.records
    assert not {record.id for record in first.records} & {record.id for record in second.records}
    assert not memory.context("kayak", seen=[record.id for record in memory.find(limit=None)]).records


def test_a_line_is_cited_by_its_number(memory: Memory) -> None:
    talk(memory, "sea", *SEA)
    context = memory.context("kayak")
    for number, id in enumerate(context.sources, 1):
        record = memory.get(id)
        assert record is not None
        assert f"[{number}] {record.who}: {record.text}" in context.text


def test_low_scores_fill_a_context_only_beside_a_hit_that_is_shown(memory: Memory) -> None:
    talk(memory, "sea", *SEA)
    assert not memory.context("xylophone zzz", neighbours=0).hits
    assert memory.context("kayak", least=0.9).hits == tuple(memory.recall("kayak", least=0.9, limit=50))


def test_what_hardly_fits_is_not_told_merely_because_there_is_room() -> None:
    with Memory() as memory:
        memory.remember(["Ann lives in Lisbon.", "The oak table is due on 12 June.", "Bob likes tea."])
        asked = {
            "Where does Ann live?": "Lisbon",
            "When is the table due?": "12 June",
            "What does Bob like?": "tea",
        }
        for question, answer in asked.items():
            assert [answer in hit.text for hit in memory.context(question).hits] == [True]
        assert len(memory.context("Where does Ann live?", least=0).hits) == 3


@pytest.mark.parametrize("seen", ["abc", [3], [None]])
def test_seen_takes_ids(memory: Memory, seen: object) -> None:
    with pytest.raises(BadInput, match="seen"):
        memory.context("kayak", seen=seen)  # type: ignore[arg-type]


def test_entries_of_several_days_that_say_the_same_are_all_told_after_what_else_is_known(
    memory: Memory,
) -> None:
    for days in range(6):
        memory.remember("Took metoprolol 25 mg.", occurred=NOW - days * DAY)
    memory.remember("Dr. Weber lowered metoprolol to 25 mg.", occurred=NOW - 60 * DAY)
    whole = memory.context("On which days did I take metoprolol 25 mg?", budget=400)
    assert [record.occurred for record in whole.records[1:]] == [
        NOW - days * DAY for days in range(5, -1, -1)
    ]
    small = memory.context("On which days did I take metoprolol 25 mg?", budget=60)
    assert len(small.records) < len(whole.records)
    assert "Dr. Weber lowered" in str(small)
