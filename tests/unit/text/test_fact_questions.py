"""Questions about facts as patterns: whom they are about, which relation, what is asked, and of what time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.eval.fact_scoring import describe_mention
from eidet.text.facts import Asks, FactQuestion, Mention, Tense, read_fact_question

ASKED = datetime(2024, 10, 15, 12, tzinfo=UTC)
often = settings(derandomize=True, deadline=None, max_examples=examples(150))


def ask(text: str) -> FactQuestion:
    found = read_fact_question(text, asked=ASKED)
    assert found is not None, text
    return found


def spell(mention: Mention | None) -> str:
    if mention is None:
        return ""
    return describe_mention(mention)


@pytest.mark.parametrize(
    "text",
    [
        "where does Ann live?",
        "Where does Ann live now?",
        "Where is Ann living?",
        "Where's Ann living these days?",
        "What city does Ann live in?",
        "In which city does Ann live?",
        "Where is Ann based?",
        "Where has Ann moved to?",
        "Where did Ann move?",
        "Do you know where Ann lives?",
        "Tell me where Ann lives.",
        "Can you tell me where Ann lives currently?",
        "Where is Ann's home?",
        "Where is Ann?",
    ],
)
def test_where_somebody_lives_is_asked_in_many_words(text: str) -> None:
    found = ask(text)
    assert (spell(found.subject), found.object, found.asks, found.tense) == (
        "Ann",
        None,
        Asks.OBJECT,
        Tense.NOW,
    )
    assert found.relations[0] == "lives_in"


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("Where did she live before?", Tense.BEFORE),
        ("Where did she use to live?", Tense.BEFORE),
        ("Where did she previously live?", Tense.BEFORE),
        ("Where did she live?", Tense.EVER),
        ("Did she ever live in Paris?", Tense.EVER),
        ("Where was she living in March?", Tense.AT),
        ("Where did she live in 2022?", Tense.AT),
        ("Where does she still live?", Tense.NOW),
    ],
)
def test_the_time_that_is_asked_about(text: str, tense: Tense) -> None:
    found = ask(text)
    assert (spell(found.subject), found.relations[0], found.tense) == ("she", "lives_in", tense)


def test_a_time_is_a_range() -> None:
    found = ask("Where was Ann living in March?")
    assert found.since == datetime(2024, 3, 1, tzinfo=UTC).timestamp()
    assert found.until == datetime(2024, 4, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "subject", "relation", "target", "asks"),
    [
        ("who is Leo's sister?", "Leo", "sibling", "", Asks.OBJECT),
        ("Who's my boss?", "me", "boss", "", Asks.OBJECT),
        ("what's my phone number?", "me", "phone", "", Asks.OBJECT),
        ("remind me what my email is", "me", "email", "", Asks.OBJECT),
        ("What is my sister called?", "me", "sibling", "", Asks.OBJECT),
        ("What's my dog's name?", "me", "pet", "", Asks.OBJECT),
        ("What is the name of my dog?", "me", "pet", "", Asks.OBJECT),
        ("What does Ann do for a living?", "Ann", "works_as", "", Asks.OBJECT),
        ("Which company does Ann work for?", "Ann", "works_at", "", Asks.OBJECT),
        ("Who is Ann married to?", "Ann", "married_to", "", Asks.OBJECT),
        ("What is Ann allergic to?", "Ann", "allergic_to", "", Asks.OBJECT),
        ("What languages does Ann speak?", "Ann", "speaks", "", Asks.OBJECT),
        ("How old is Leo?", "Leo", "age", "", Asks.OBJECT),
        ("When is Ann's birthday?", "Ann", "birthday", "", Asks.OBJECT),
        ("What's my favourite colour?", "me", "favourite_colour", "", Asks.OBJECT),
        ("Where does my sister work?", "my sister", "works_at", "", Asks.OBJECT),
        ("What does the billing service depend on?", "billing service", "depends_on", "", Asks.OBJECT),
        ("Where is the billing service deployed?", "billing service", "deployed_at", "", Asks.OBJECT),
        ("Who is the owner of the billing service?", "billing service", "owner", "", Asks.OBJECT),
        ("What's the status of the migration?", "migration", "status", "", Asks.OBJECT),
        ("who works at Acme?", "", "works_at", "Acme", Asks.SUBJECT),
        ("Who lives in Porto?", "", "lives_in", "Porto", Asks.SUBJECT),
        ("Which services use Kafka?", "", "uses", "Kafka", Asks.SUBJECT),
        ("Whose sister is Maria?", "", "sibling", "Maria", Asks.SUBJECT),
        ("does Ann still work at Acme?", "Ann", "works_at", "Acme", Asks.WHETHER),
        ("Is Ann married to Tom?", "Ann", "married_to", "Tom", Asks.WHETHER),
        ("Is Maria Ann's sister?", "Ann", "sibling", "Maria", Asks.WHETHER),
        ("Am I allergic to nuts?", "me", "allergic_to", "nuts", Asks.WHETHER),
        ("When did Ann move to Porto?", "Ann", "lives_in", "Porto", Asks.WHEN),
        ("When is my dentist appointment?", "me", "appointment", "", Asks.WHEN),
    ],
)
def test_who_what_and_whether(text: str, subject: str, relation: str, target: str, asks: Asks) -> None:
    found = ask(text)
    assert (spell(found.subject), found.relations[0], spell(found.object)) == (subject, relation, target)
    assert found.asks is asks


@pytest.mark.parametrize(
    "text",
    ["How are you?", "What's up?", "What did you do last weekend?", "What's the weather like?", "Ann.", ""],
)
def test_other_questions_are_none(text: str) -> None:
    assert read_fact_question(text, asked=ASKED) is None


def test_only_english_questions_are_understood() -> None:
    assert read_fact_question("Wo wohnt Anna?", asked=ASKED, language="de") is None


WORDS = [
    "where",
    "who",
    "what",
    "whose",
    "how",
    "when",
    "is",
    "does",
    "did",
    "Ann",
    "Ann's",
    "my",
    "sister",
    "live",
    "works",
    "at",
    "in",
    "the",
    "of",
    "name",
    "he",
    "'s",
    ",",
    "before",
]


@often
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=80))
def test_no_text_makes_it_raise(text: str) -> None:
    assert read_fact_question(text, asked=ASKED) == read_fact_question(text, asked=ASKED)
