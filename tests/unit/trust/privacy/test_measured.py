"""Precision and recall over the labelled set, by class and locale."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.unit.trust.privacy import digits
from tests.unit.trust.privacy.people import KINDS, LOCALES, Score, cases, scores, table

from eidet.trust.privacy import find

Rows = dict[tuple[str, str], Score]
FLOORS = {"phone": (0.8, 0.8), "national_id": (0.8, 0.85), "address": (0.95, 0.9), "birth": (0.95, 0.95)}


@pytest.fixture(scope="module")
def rows() -> Rows:
    return scores(cases())


@pytest.mark.parametrize("kind", KINDS)
def test_each_class_is_found_and_hardly_anything_else(kind: str, rows: Rows) -> None:
    parts = [rows.get((kind, locale), Score()) for locale in LOCALES]
    whole = Score(*(sum(getattr(one, name) for one in parts) for name in ("right", "missed", "wrong")))
    precision, recall = FLOORS.get(kind, (0.99, 0.99))
    assert whole.precision >= precision
    assert whole.recall >= recall


def test_no_locale_is_forgotten(rows: Rows) -> None:
    assert all(rows[kind, locale].recall >= 0.5 for kind in KINDS for locale in LOCALES)


def test_the_page_shows_the_table_that_was_measured(rows: Rows) -> None:
    page = Path(__file__).parents[4] / "bench" / "notes" / "privacy.md"
    assert table(rows) in page.read_text()


WORDS = {
    "de-DE": "Steuer-ID",
    "fr-FR": "NIR",
    "es-ES": "documento",
    "it-IT": "codice fiscale",
    "pt-PT": "NIF",
    "nl-NL": "BSN",
    "pl-PL": "PESEL",
    "sv-SE": "personnummer",
}


def is_national_id(text: str) -> bool:
    """As sure as a word that names it makes it: by chance it may be a number of another country."""
    return any(one.kind == "national_id" and one.confidence >= 0.95 for one in find(text))


@pytest.mark.parametrize("locale", WORDS)
def test_another_last_character_breaks_the_check(locale: str) -> None:
    random, said = Random(3), WORDS[locale]
    for _ in range(30):
        good = digits.national_id(random, locale)
        others = "0123456789" if good[-1].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        assert is_national_id(f"{said} {good}")
        wrong = [other for other in others if other != good[-1]]
        assert not any(is_national_id(f"{said} {good[:-1]}{other}") for other in wrong)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("GB82WEST12345698765432", ["iban"]),
        ("GB82WEST1234569876543", []),
        ("GB83WEST12345698765432", []),
        ("4242424242424242", ["card"]),
        ("378282246310005", ["card"]),
        ("44051401359", ["national_id"]),
        ("Steuer-ID 86095742719", ["national_id"]),
        ("SSN 666-12-1234", []),
        ("NI GB123456A", []),
    ],
)
def test_known_examples_of_checks_hold(text: str, kinds: list[str]) -> None:
    assert [one.kind for one in find(text)] == kinds
