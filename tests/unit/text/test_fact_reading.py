"""What rules read in a text: who, what, since when, how sure; and what they leave alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fact_scoring import Labelled, compare, describe_mention, read_labels, score_facts
from tests.making import examples

from eidet import Memory, Settings
from eidet.core.errors import Corrupt
from eidet.core.settings import read_settings
from eidet.text import pack
from eidet.text.analysis import decode_analysis, pack_analysis
from eidet.text.facts.fact_reader import read_facts
from eidet.text.facts.sentence_words import LONGEST
from eidet.text.facts.statement import (
    Mention,
    Nature,
    Reference,
    Statement,
    pack_statements,
    parse_statements,
)
from eidet.text.facts.vocabulary import RELATIONS, relation_of

SAID = datetime(2024, 6, 15, 12, tzinfo=UTC)
LABELS = read_labels(Path(__file__).with_name("facts.jsonl"))
often = settings(derandomize=True, deadline=None, max_examples=examples(150))


def read(text: str, language: str = "en") -> list[tuple[str, str, str]]:
    return [
        (describe_mention(one.subject), one.relation, describe_mention(one.object))
        for one in read_facts(text, said=SAID, language=language)
    ]


def only(text: str) -> Statement:
    (statement,) = read_facts(text, said=SAID)
    return statement


def day(seconds: float | None) -> str:
    assert seconds is not None
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


@pytest.mark.parametrize("half", ["tune", "held"])
def test_labelled_sentences_are_read_well(half: str) -> None:
    sentences = [one for one in LABELS if one.half == half]
    score = score_facts(sentences)
    assert len(sentences) >= 300
    assert score.precision >= 0.95, score.wrong
    assert score.recall >= 0.90, score.missed


@pytest.mark.parametrize("sentence", [one for one in LABELS if one.half == "exact"], ids=lambda one: one.text)
def test_what_each_of_these_says_is_read_and_nothing_else(sentence: Labelled) -> None:
    """Instructions and what is none, quoted speech, questions, secrets, what is over, what is denied."""
    _, wrong, missed = compare(sentence)
    assert not wrong
    assert not missed


@pytest.mark.parametrize("text", ["Always answer in metric units.", "Never book flights before nine."])
def test_a_standing_instruction_is_of_a_kind_of_its_own(text: str) -> None:
    assert only(text).nature is Nature.INSTRUCTION


def test_there_are_sixty_relations_and_each_inverse_is_one() -> None:
    assert len(RELATIONS) >= 60
    for relation in RELATIONS.values():
        assert "{subject}" in relation.phrase
        assert "{object}" in relation.phrase
        if relation.inverse:
            assert RELATIONS[relation.inverse].inverse == relation.name


def test_every_relation_of_the_labels_is_known() -> None:
    for sentence in LABELS:
        for fact in sentence.facts:
            assert fact[1] in RELATIONS or relation_of(fact[1]).single, fact


def test_a_relation_of_your_own_holds_many_values() -> None:
    assert relation_of("mentors").single is False
    assert relation_of("mentors").phrase == "{subject} mentors {object}"
    assert relation_of("favourite_colour").phrase == "{subject}'s favourite colour is {object}"
    assert relation_of("shoe_size_is").single


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I've lived in Porto since March.", "2024-03-01", None),
        ("I moved to Porto in 2021.", "2021-01-01", None),
        ("I've been working at Acme for three years.", "2021-06-15", None),
        ("I'm moving to Oslo next month.", "2024-07-01", None),
        ("I lived in Kyoto from 2010 to 2014.", "2010-01-01", "2015-01-01"),
        ("I worked at Acme until 2023.", None, "2024-01-01"),
        ("I sold my car on 3 June.", None, "2024-06-03"),
    ],
)
def test_times_become_since_and_until(text: str, since: str | None, until: str | None) -> None:
    statement = only(text)
    assert (statement.since and day(statement.since)) == since
    assert (statement.until and day(statement.until)) == until


def test_moving_from_one_place_to_another_ends_the_first() -> None:
    first, second = read_facts("We moved from Berlin to Vienna last year.", said=SAID)
    assert (first.object.name, first.ended, first.until) == ("Berlin", True, second.since)
    assert (second.object.name, second.ended) == ("Vienna", False)


def test_hedges_hearsay_and_quotes_lower_the_confidence() -> None:
    sure = only("Ann lives in Madrid.").confidence
    told = only("Ben said Ann lives in Madrid.").confidence
    doubted = only("Maybe Ann lives in Madrid.").confidence
    quoted = only('The sign read "Ann lives in Madrid".').confidence
    assert sure == 1.0 > told > doubted >= quoted > 0


def test_pronouns_stay_references() -> None:
    assert only("She lives in Madrid.").subject.reference is Reference.SHE
    assert only("It depends on Redis.").subject.reference is Reference.IT
    assert only("Her brother Alex called.").object == Mention(
        name="Alex", kind="person", role="brother", owner="she"
    )


def test_a_role_tells_people_apart() -> None:
    first, second = read_facts("My sister Maria lives in Porto.", said=SAID)
    assert first.object == second.subject == Mention(name="Maria", kind="person", role="sister")


@pytest.mark.parametrize("text", ["I prefer aisle seats.", "I'd rather walk.", "My favourite tea is oolong."])
def test_preferences_are_facts_of_their_own_kind(text: str) -> None:
    assert only(text).nature is Nature.PREFERENCE


def test_statements_say_which_sentence_they_stand_in() -> None:
    text = "Hello there. Ann lives in Porto. Bye."
    statement = only(text)
    assert text[statement.start : statement.end] == "Ann lives in Porto"


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    filler = "word " * (LONGEST // 5)
    assert read("Ann lives in Porto. " + filler) == [("Ann", "lives_in", "Porto")]
    assert read(filler + ". Ann lives in Porto.") == []


def test_a_language_without_tables_states_nothing() -> None:
    assert read("Ann lives in Porto.", language="fi") == []


mentions = st.builds(
    Mention,
    name=st.text(max_size=8),
    reference=st.sampled_from(Reference),
    kind=st.sampled_from(["", "person", "value"]),
    role=st.text(max_size=4),
    owner=st.text(max_size=4),
)
moments = st.none() | st.floats(-1e9, 1e10)
statements = st.builds(
    Statement,
    subject=mentions,
    relation=st.sampled_from(sorted(RELATIONS)) | st.text(min_size=1, max_size=9),
    object=mentions,
    since=moments,
    until=moments,
    ended=st.booleans(),
    negated=st.booleans(),
    confidence=st.floats(0, 1),
    nature=st.sampled_from(Nature),
    start=st.integers(0, 4000),
    end=st.integers(0, 4000),
)


@often
@given(st.lists(statements, max_size=5))
def test_what_was_packed_is_read_back(facts: list[Statement]) -> None:
    assert parse_statements(pack_statements(facts)) == tuple(facts)
    blob = pack_analysis([pack(["cat"])], 3, [(7, 8)], pack_statements(facts))
    kept = decode_analysis(blob)
    assert kept.statements == tuple(facts)
    assert (kept.flags, kept.days, kept.units) == (3, ((7, 8),), (pack(["cat"]),))


@often
@given(st.lists(statements, min_size=1, max_size=2), st.data())
def test_damaged_facts_are_corrupt(facts: list[Statement], data: st.DataObject) -> None:
    blob = pack_analysis([pack(["cat"])], 0, [], pack_statements(facts))
    cut = data.draw(st.integers(2, len(blob) - 1))
    for damaged in (blob[:cut], blob + b"x"):
        with pytest.raises(Corrupt):
            decode_analysis(damaged)
    with pytest.raises(Corrupt):
        parse_statements(b"[{}]")


VOCABULARY = sorted(
    {word for one in LABELS for word in one.text.split()}
    | {"'s", ",", "\u2019", "n't", "(", '"', "\n", "\u0130"}
)


@often
@given(st.lists(st.sampled_from(VOCABULARY), max_size=40).map(" ".join) | st.text(max_size=200))
def test_no_text_makes_it_raise_and_reading_is_pure(text: str) -> None:
    first = read_facts(text, said=SAID)
    assert first == read_facts(text, said=SAID)
    for one in first:
        assert 0 <= one.start <= one.end <= len(text)
        assert 0 < one.confidence <= 1


def test_bytes_of_texts_without_facts_stay_as_they_were() -> None:
    units = [pack(["cat", "dog"])]
    assert pack_analysis(units, 5, [(1, 2)]) == pack_analysis(units, 5, [(1, 2)], b"")
    assert decode_analysis(pack_analysis(units, 5, [(1, 2)])).statements == ()


def test_facts_are_read_when_a_text_is_stored_and_one_setting_turns_it_off() -> None:
    for on in (True, False):
        with Memory(settings=Settings(facts=on)) as memory:
            memory.remember("Ann lives in Lisbon.")
            (record,) = memory.find()
            assert bool(decode_analysis(record.terms).statements) is on
    assert read_settings({"EIDET_FACTS": "no"}).facts is False


def test_a_revision_replaces_what_a_text_states() -> None:
    with Memory() as memory:
        record = memory.remember("Ann lives in Lisbon.")
        memory.revise(record.id, text="Ann lives in Porto.")
        (kept,) = memory.find()
        (statement,) = decode_analysis(kept.terms).statements
        assert statement.object.name == "Porto"


def test_documents_are_not_read_for_facts() -> None:
    with Memory() as memory:
        memory.remember("Ann lives in Lisbon.", kind="document")
        (record,) = memory.find()
        assert decode_analysis(record.terms).statements == ()
