"""What the text of an answer has, set against what a question asks for."""

from __future__ import annotations

import pytest

from eidet.recall.answer_forms import read_wants, weigh_text


def prefers(question: str, better: str, worse: str, *, several: bool = False) -> bool:
    wants = read_wants(question, question, several=several)
    return weigh_text(better, wants) > weigh_text(worse, wants)


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("How hot is the sauna?", "We keep it at 85 degrees.", "It was built by an uncle."),
        ("How heavy is the parcel?", "About 7 kg with the box.", "It went out on 3 May."),
        ("How tall is the mast?", "It measures 11 metres.", "It was painted twice."),
        ("How much does the ferry cost?", "A ticket is 12 euros.", "It sails at 8:15."),
        ("At what time does the market close?", "It shuts at 17:30.", "It has forty stalls."),
        ("How often is the pool cleaned?", "A firm comes twice a week.", "The tiles are blue."),
        ("How old is the violin?", "It is 140 years old.", "It has a crack."),
        ("How long is the course?", "It takes six weeks.", "It is in the old town hall."),
        ("Why was the race called off?", "Because of the wind.", "The race is run in Bergen."),
        ("Where is the ladder?", "It stands behind the shed.", "It has twelve steps."),
        ("Who feeds the hens?", "The hens get their corn from Sigrid.", "The hens lay five eggs."),
        ("Does Tor eat fish?", "Tor never touches it.", "Tor caught a large one."),
        ("What does Tor dislike?", "Tor cannot stand loud music.", "Tor bought a drum."),
        ("Which tea does Inga like?", "Inga prefers green tea.", "Inga spilt the tea."),
        ("What weighs 420 kilos?", "The boat trailer: 420 in all.", "The boat trailer: 240 in all."),
        ("Which ferry takes cars?", "The late one takes cars.", "The early one takes no cars."),
        ("Who eats pork?", "Tor had pork for lunch.", "Inga never eats pork."),
        ("Which bill is not paid?", "The one of the roofer is still open.", "The one of the baker is paid."),
        ("the blue garden gate", "Paint for the blue garden gate.", "The gate, blue, of a garden."),
    ],
)
def test_a_text_with_what_is_asked_for_weighs_more(question: str, better: str, worse: str) -> None:
    assert prefers(question, better, worse)


def test_one_number_is_no_answer_to_a_question_for_several() -> None:
    asked = "How many kilos did each of them carry?"
    assert prefers(asked, "Ola took 12 kg.", "Ola took the tent.")
    assert not prefers(asked, "Ola took 12 kg.", "Ola took the tent.", several=True)


def test_a_price_is_not_told_by_a_length() -> None:
    assert not prefers("What is the price?", "It is 1.90 m wide.", "It is made of oak.")


def test_a_denial_that_says_what_is_so_instead_is_an_answer() -> None:
    wants = read_wants("Which network do I use?", "", several=False)
    assert weigh_text("I am not on any network except the photo one.", wants) == 0
    assert weigh_text("I am not on any network.", wants) < 0


def test_nothing_asked_for_weighs_nothing() -> None:
    assert weigh_text("It is 85 degrees because of the sun.", read_wants("", "", several=False)) == 0
