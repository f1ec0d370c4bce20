"""What goes into a context and how it is told, without a memory behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.tokenizer_file import LLAMA

from eidet.core.hit import Hit
from eidet.core.record import Record
from eidet.recall.nearby import Beside
from eidet.recall.pack import Context, line_of, pack
from eidet.recall.query import key_of
from eidet.text import analyzer_of, term_id
from eidet.text import pack as pack_terms
from eidet.text.analysis import pack_analysis
from eidet.text.sentences import units_of
from eidet.text.tokens import Estimate, Words, counter_of

DAY = 86_400.0
NOON = 1_700_000_000.0  # 14 November 2023
ONE_A_WORD = Words(factor=1)


def record(id: str, text: str, **said: Any) -> Record:
    return Record(id=id, scope="s", text=text, occurred=NOON, created=NOON).but(**said)


def turn(n: int, text: str, session: str | None = "one", **said: Any) -> Record:
    made = record(f"t{n}", text, kind="message", session=session, occurred=NOON + n, seq=n)
    return made.but(**said)


def hits(*records: Record) -> list[Hit]:
    """The first is the best."""
    return [Hit(record=one, score=1 - n / 100) for n, one in enumerate(records)]


def conversation(*told: Record) -> Beside:
    """All of one session, each with those next to it."""
    return {key_of(one): [*told[n + 1 : n + 2], *told[max(0, n - 1) : n]] for n, one in enumerate(told)}


def ids(told: Sequence[Record | Hit]) -> list[str]:
    return [one.id for one in told]


def packed(*found: Record, budget: int = 1000, **how: Any) -> Context:
    return pack(hits(*found), budget, Estimate(), **how)


# sections and their order


def test_nothing_found_is_an_empty_text() -> None:
    context = packed()
    assert (str(context), context.tokens, context.sections) == ("", 0, {})


def test_instructions_and_working_state_come_first_then_the_rest_by_time() -> None:
    found = (turn(1, "I moved", who="Ann"), record("f", "Ann likes tea"))
    context = packed(
        *found,
        standing=[record("i", "Answer in German", occurred=NOON - DAY)],
        working=[record("w", "booking a flight", kind="working")],
    )
    assert str(context) == (
        "# Instructions\n[1] Answer in German\n\n"
        "# Working state\nTue 14 Nov 2023\n[2] booking a flight\n\n"
        "# Memory\nTue 14 Nov 2023\n[3] Ann likes tea\n[4] Ann: I moved"
    )
    assert context.sections["memory"] == "Tue 14 Nov 2023\n[3] Ann likes tea\n[4] Ann: I moved"
    assert ids(context.records) == ["i", "w", "f", "t1"], "by the numbers of their lines"
    assert ids(context.hits) == ["t1", "f"]


def test_without_headings_there_are_only_lines_with_their_days() -> None:
    found = (turn(1, "I moved", who="Ann"), record("f", "Ann likes tea"))
    context = packed(*found, working=[record("w", "packing", kind="working")], headings=False)
    assert str(context) == "[2023-11-14] packing\n[2023-11-14] Ann likes tea\n[2023-11-14] Ann: I moved"


def test_a_day_is_told_once_and_its_year_where_it_begins() -> None:
    days = (0, 0, 1, 1, 60)
    found = [turn(n, f"part {n}", occurred=NOON + day * DAY, seq=n) for n, day in enumerate(days)]
    lines = str(packed(*found)).split("\n")
    assert lines == [
        "Tue 14 Nov 2023",
        "[1] part 0",
        "[2] part 1",
        "Wed 15 Nov",
        "[3] part 2",
        "[4] part 3",
        "Sat 13 Jan 2024",
        "[5] part 4",
    ]


@pytest.mark.parametrize("kind", ["episode", "message"])
def test_a_text_that_tells_its_day_has_no_second_stamp(kind: str) -> None:
    text = str(packed(record("a", "[2023-11-14] Ann: Good morning. assistant: Hello!", kind=kind)))
    assert text == "Tue 14 Nov 2023\n[1] Ann: Good morning. assistant: Hello!"


def test_what_happened_later_leaves_the_beginning_as_it_was() -> None:
    before = [record(f"f{n}", f"fact number {n}", occurred=NOON + n) for n in range(5)]
    after = record("f9", "a new fact", occurred=NOON + 9)
    assert str(packed(after, *before)).startswith(str(packed(*before)))


# lines


def test_a_line_tells_day_speaker_and_text_on_one_line() -> None:
    assert line_of(turn(1, "I\nmoved\u2028 to  Porto", who="Ann\n# Facts")) == (
        "[2023-11-14] Ann # Facts: I moved to Porto"
    )
    assert line_of(record("f", "tea", occurred=-62135596800.0)) == "[0001-01-01] tea"
    assert line_of(record("f", "tea", who=" \n")) == "[2023-11-14] tea"


# neighbours


def test_a_turn_brings_those_beside_it_where_there_is_room() -> None:
    told = [turn(n, f"part {n}") for n in range(5)]
    context = packed(told[2], turns=conversation(*told))
    assert ids(context.records) == ["t1", "t2", "t3"]
    assert ids(context.hits) == ["t2"]
    assert context.left_out == ()


def test_good_hits_come_before_the_neighbours_of_a_turn_that_says_enough() -> None:
    told = [turn(n, f"turn number {n} says what it means by itself") for n in range(3)]
    facts = [record(f"f{n}", f"fact number {n}") for n in range(6)]
    budget = packed(told[1], *facts).tokens + 4
    context = packed(told[1], *facts, budget=budget, turns=conversation(*told))
    assert len(context.hits) == 7
    assert "t0" not in ids(context.records)


def test_a_turn_of_few_words_brings_the_one_before_it_at_once() -> None:
    told = [turn(0, "When shall we meet the notary?"), turn(1, "15:30 it is"), turn(2, "Fine, see you there")]
    facts = [record(f"f{n}", f"fact number {n} of a long list of facts") for n in range(20)]
    context = packed(told[1], *facts, budget=120, turns=conversation(*told))
    assert ids(context.left_out)
    assert {"t0", "t1"} <= set(ids(context.records))


def test_a_neighbour_is_not_told_without_its_turn() -> None:
    told = [turn(0, "yes"), turn(1, "word " * 80), turn(2, "no")]
    context = packed(told[1], record("f", "tea"), budget=60, turns=conversation(*told))
    assert ids(context.records) == ["f"]


# choosing


def test_what_does_not_fit_makes_room_for_what_does() -> None:
    context = packed(record("long", "word " * 100), record("short", "tea"), budget=40)
    assert ids(context.hits) == ["short"]
    assert ids(context.left_out) == ["long"]


def test_better_hits_are_chosen_and_the_rest_is_left_out_in_order() -> None:
    found = [record(f"f{n}", f"fact number {n}") for n in range(30)]
    context = packed(*found, budget=100)
    count = len(context.hits)
    assert 3 < count < 20
    assert ids(context.hits) == [f"f{n}" for n in range(count)]
    assert ids(context.left_out) == [f"f{n}" for n in range(count, 30)]


@pytest.mark.parametrize("spec", ["estimate", LLAMA])
def test_a_budget_is_used_to_nearly_its_end(spec: str) -> None:
    found = [turn(n, f"part {n} of a longer conversation about the sea", who="Ann") for n in range(60)]
    context = pack(hits(*found), 500, counter_of(spec))
    assert 480 <= context.tokens <= 500


def test_the_beginning_of_the_best_is_told_where_nothing_fits() -> None:
    context = pack(hits(record("a", "word " * 50), record("b", "term " * 50)), 5, ONE_A_WORD)
    assert str(context) == "[2023-11-14] word word word word"
    assert (ids(context.hits), ids(context.left_out)) == (["a"], ["b"])
    assert context.sections == {"memory": str(context)}


def test_a_line_without_its_heading_is_better_than_nothing() -> None:
    context = pack(hits(record("a", "tea")), 2, ONE_A_WORD)
    assert str(context) == "[2023-11-14] tea"


def test_a_day_without_a_text_is_nothing() -> None:
    context = pack(hits(record("a", "tea")), 1, ONE_A_WORD)
    assert (str(context), context.hits, ids(context.left_out)) == ("", (), ["a"])


def test_working_state_takes_a_quarter_at_most_and_the_newest_first() -> None:
    state = [record(f"w{n}", f"step {n}", kind="working", occurred=NOON + n) for n in range(20, 0, -1)]
    context = packed(*[record(f"f{n}", f"fact {n}") for n in range(60)], budget=400, working=state)
    assert Estimate().count("# Working state\n" + context.sections["working"]) <= 100
    told = [one for one in context.records if one.kind == "working"]
    assert ids(told) == [f"w{n}" for n in range(21 - len(told), 21)], "the newest, told in order"
    assert context.tokens > 380


def test_working_state_that_is_found_too_is_told_once_and_as_working_state() -> None:
    state = record("w", "packing", kind="working")
    context = packed(state, working=[state])
    assert (ids(context.records), ids(context.hits)) == (["w"], ["w"])
    assert list(packed(state).sections) == ["working"]


# what is said twice


@pytest.mark.parametrize("text", ["Ann likes tea", "ann likes TEA.", "“Ann likes tea”"])
def test_what_another_one_says_is_left_out(text: str) -> None:
    longer = record("long", "Since May Ann likes tea, and cakes")
    for found in ((longer, record("short", text)), (record("short", text), longer)):
        context = packed(*found)
        assert (ids(context.hits), ids(context.left_out)) == (["long"], ["short"])


def test_the_better_one_of_two_equal_ones_is_told() -> None:
    assert ids(packed(record("b", "tea"), record("a", "Tea!")).hits) == ["b"]


def test_words_are_not_part_of_longer_words() -> None:
    assert len(packed(record("a", "art"), record("b", "a party")).hits) == 2


def test_what_two_people_say_or_one_on_two_days_is_told_twice() -> None:
    ann, bob = turn(1, "I run", who="Ann"), turn(2, "I run", who="Bob")
    later = turn(3, "I run", who="Ann", occurred=NOON + DAY)
    assert len(packed(ann, bob, later).hits) == 3
    again = turn(4, "I run", who="Ann")
    assert ids(packed(ann, again).left_out) == ["t4"]


def test_a_neighbour_is_told_though_something_else_says_it_too() -> None:
    told = [turn(1, "yes", who="Ann"), turn(2, "so?", who="Bob"), turn(3, "yes indeed", who="Ann")]
    assert ids(packed(told[1], told[2], turns=conversation(*told)).records) == ["t1", "t2", "t3"]


def test_a_turn_that_is_left_out_takes_its_neighbours_along() -> None:
    told = [turn(n, f"turn number {n}") for n in range(3)]
    facts = [record(f"f{n:02}", f"fact number {n}") for n in range(14)]
    context = packed(told[1], *facts, record("s", "turn number 1 was said"), turns=conversation(*told))
    assert ids(context.left_out) == ["t1"]
    assert not {"t0", "t2"} & set(ids(context.records))


# long texts


def long_record(**said: Any) -> Record:
    text = " ".join(f"Sentence {n} is about {'kayaks' if n == 60 else 'weather'} only." for n in range(100))
    return record("d", text, kind="document").but(**said)


def analysed(made: Record) -> Record:
    units = [pack_terms(unit.casefold().replace(".", "").split()) for unit in units_of(made.text)]
    return made.but(terms=pack_analysis(units))


def test_of_a_long_text_the_unit_is_told_that_has_the_words() -> None:
    context = packed(analysed(long_record()), budget=400, terms={term_id("kayaks")})
    said = str(context).partition("] ")[2]
    assert "about kayaks" in said
    assert said.startswith("… Sentence")
    assert said.endswith("only. …")
    assert len(said) < 700


def test_of_a_long_text_without_known_words_the_first_unit_is_told() -> None:
    for made in (long_record(), analysed(long_record())):
        said = str(packed(made, budget=400)).partition("] ")[2]
        assert said.startswith("Sentence 0 ")
        assert said.endswith("only. …")


def test_a_long_text_is_told_whole_where_it_takes_little_of_the_budget() -> None:
    made = long_record()
    assert made.text in str(packed(made, budget=10_000))
    assert made.text in str(packed(made, budget=2_000)), "the best may take half"
    assert made.text not in str(packed(record("f", "tea"), made, budget=2_000))


def test_very_long_texts_that_do_not_fit_are_passed_over_unread() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return Estimate().count(text)

    text = " ".join(f"Sentence {n} of a very long text." for n in range(900))
    found = [record(f"d{n}", f"{n} {text}", kind="document") for n in range(50)]
    context = pack(hits(*found, record("f", "tea")), 1000, counter_of(count))
    assert 1 < len(context.hits) < 10
    assert context.hits[-1].id == "f"
    assert sum(map(len, counted)) < len(text)


def test_of_a_text_that_takes_too_much_the_sentences_around_the_words_are_told() -> None:
    said = [f"Sentence {n} of this mail speaks of {'kayaks' if n == 5 else 'weather'}." for n in range(16)]
    mail, terms = record("m", " ".join(said)), {term_id(stem) for stem in analyzer_of("en").terms("kayak")}
    short, how = record("f", "tea"), {"terms": terms, "analyzer": analyzer_of("en")}
    told = str(packed(short, mail, budget=200, **how)).partition("[2] ")[2]
    assert "kayaks" in told
    assert told.startswith("… Sentence")
    assert told.endswith("weather. …")
    assert Estimate().count(told) <= 55
    assert mail.text in str(packed(mail, budget=500, **how)), "the best may take half"


def test_what_says_as_much_in_fewer_words_is_told_first() -> None:
    best, short = record("b", "tea"), record("s", "a short fact")
    long = [record(f"l{n}", f"fact number {n} of many words " + "and more of them " * 8) for n in range(4)]
    found = [Hit(record=one, score=0.2) for one in (best, *long, short)]
    assert {"b", "s"} <= set(ids(pack(found, 100, Estimate()).hits))
    assert ids(pack(found, 100, Estimate()).left_out)[-1] != "s"
