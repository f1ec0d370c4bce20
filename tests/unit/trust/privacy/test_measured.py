"""Precision and recall over the labelled set, by class and locale."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.unit.trust.privacy import digits
from tests.unit.trust.privacy.people import KINDS, Score, cases, scores, table
from tests.unit.trust.privacy.phrases import LOCALES

from eidet.trust.privacy import check_digits as checks

ROWS = scores(cases())
FLOORS = {"phone": (0.8, 0.8), "national_id": (0.8, 0.85), "address": (0.95, 0.9), "birth": (0.95, 0.95)}


@pytest.mark.parametrize("kind", KINDS)
def test_each_class_is_found_and_hardly_anything_else(kind: str) -> None:
    parts = [ROWS.get((kind, locale), Score()) for locale in LOCALES]
    whole = Score(*(sum(getattr(one, name) for one in parts) for name in ("right", "missed", "wrong")))
    precision, recall = FLOORS.get(kind, (0.99, 0.99))
    assert whole.precision >= precision
    assert whole.recall >= recall


def test_no_locale_is_forgotten() -> None:
    assert all(ROWS[kind, locale].recall >= 0.5 for kind in KINDS for locale in LOCALES)


def test_the_page_shows_the_table_that_was_measured() -> None:
    page = Path(__file__).parents[4] / "bench" / "notes" / "privacy.md"
    assert table(ROWS) in page.read_text()


CHECKS = {
    "de-DE": checks.german_tax_id,
    "fr-FR": checks.french_nir,
    "es-ES": checks.spanish_dni,
    "it-IT": checks.italian_fiscal_code,
    "pt-PT": checks.portuguese_nif,
    "nl-NL": checks.dutch_bsn,
    "pl-PL": checks.polish_pesel,
    "sv-SE": checks.swedish_personnummer,
}


@pytest.mark.parametrize("locale", CHECKS)
def test_another_last_character_breaks_the_check(locale: str) -> None:
    random = Random(3)
    for _ in range(30):
        good = "".join(one for one in digits.national_id(random, locale) if one.isalnum())
        others = "0123456789" if good[-1].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        assert CHECKS[locale](good)
        assert not any(CHECKS[locale](good[:-1] + other) for other in others if other != good[-1])


def test_known_examples_of_checks_hold() -> None:
    assert checks.iban("GB82WEST12345698765432")
    assert checks.card("4242424242424242")
    assert checks.card("378282246310005")
    assert checks.polish_pesel("44051401359")
    assert checks.german_tax_id("86095742719")
    assert not checks.iban("GB82WEST1234569876543")
    assert not checks.iban("GB83WEST12345698765432")
    assert not checks.us_ssn("666121234")
    assert not checks.uk_nino("GB123456A")
