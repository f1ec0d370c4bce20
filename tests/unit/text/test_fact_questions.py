"""Questions about facts as patterns: whom they are about, which relation, what is asked, and of what time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fact_scoring import describe_mention
from tests.making import examples

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


def test_questions_of_languages_without_tables_are_not_understood() -> None:
    assert read_fact_question("¿Dónde vive Ana?", asked=ASKED, language="es") is None


GERMAN = {
    "Wo wohnt Ann?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.NOW),
    "Wo wohnt Ann jetzt?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.NOW),
    "In welcher Stadt wohnt Ann?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.NOW),
    "Wohin ist Ann gezogen?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.NOW),
    "Wo wohne ich?": ("me", "lives_in", "", Asks.OBJECT, Tense.NOW),
    "Wo wohnte Ann früher?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.BEFORE),
    "Wo hat Ann früher gewohnt?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.BEFORE),
    "Wo hat Ann vor März gewohnt?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.BEFORE),
    "Wo wohnte Ann?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.EVER),
    "Wo wohnte Ann im März?": ("Ann", "lives_in", "", Asks.OBJECT, Tense.AT),
    "Wo hat Ann im März 2023 gearbeitet?": ("Ann", "works_at", "", Asks.OBJECT, Tense.AT),
    "Bei wem arbeitet Ann?": ("Ann", "works_at", "", Asks.OBJECT, Tense.NOW),
    "Für wen arbeitet sie jetzt?": ("she", "works_at", "", Asks.OBJECT, Tense.NOW),
    "Als was arbeitet Ann?": ("Ann", "works_as", "", Asks.OBJECT, Tense.NOW),
    "Was ist Ann von Beruf?": ("Ann", "works_as", "", Asks.OBJECT, Tense.NOW),
    "Woher kommt Ann?": ("Ann", "from", "", Asks.OBJECT, Tense.NOW),
    "Mit wem ist Ann verheiratet?": ("Ann", "married_to", "", Asks.OBJECT, Tense.NOW),
    "Wie heißt Anns Schwester?": ("Ann", "sibling", "", Asks.OBJECT, Tense.NOW),
    "Wie heißt mein Hund?": ("me", "pet", "", Asks.OBJECT, Tense.NOW),
    "Wie alt ist Ann?": ("Ann", "age", "", Asks.OBJECT, Tense.NOW),
    "Was ist Anns Telefonnummer?": ("Ann", "phone", "", Asks.OBJECT, Tense.NOW),
    "Welche Sprachen spricht Ann?": ("Ann", "speaks", "", Asks.OBJECT, Tense.NOW),
    "Wogegen ist Ann allergisch?": ("Ann", "allergic_to", "", Asks.OBJECT, Tense.NOW),
    "Was mag Ann?": ("Ann", "likes", "", Asks.OBJECT, Tense.NOW),
    "Wer arbeitet bei Acme?": ("", "works_at", "Acme", Asks.SUBJECT, Tense.NOW),
    "Wer ist mit Tom verheiratet?": ("", "married_to", "Tom", Asks.SUBJECT, Tense.NOW),
    "Wohnt Ann noch in Porto?": ("Ann", "lives_in", "Porto", Asks.WHETHER, Tense.NOW),
    "Ist Ann mit Tom verheiratet?": ("Ann", "married_to", "Tom", Asks.WHETHER, Tense.NOW),
}


@pytest.mark.parametrize("text", GERMAN)
def test_german_questions_are_understood(text: str) -> None:
    found = read_fact_question(text, asked=ASKED, language="de")
    assert found is not None
    subject, relation, item, asks, tense = GERMAN[text]
    assert (spell(found.subject), spell(found.object)) == (subject, item)
    assert (found.relations[0], found.asks, found.tense) == (relation, asks, tense)


@pytest.mark.parametrize(
    "text",
    [
        "Wie geht es dir?",
        "Wann kommt der Zug?",
        "Was ist los?",
        "Warum regnet es?",
        "Ann wohnt in Porto.",
        "",
    ],
)
def test_other_german_questions_are_none(text: str) -> None:
    assert read_fact_question(text, asked=ASKED, language="de") is None


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
