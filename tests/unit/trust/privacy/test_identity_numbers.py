"""Numbers of passports, cards and registers: found where their form is certain, or a word names them."""

from __future__ import annotations

import pytest

from eidet.trust.privacy import find

CERTAIN = {  # the form alone says what it is
    "Brazil": "392.408.062-37",
    "Belgium": "40.11.21-951.15",
    "Switzerland": "756.1745.5166.74",
    "Norway": "11058937020",
    "Finland": "010268-698A",
    "China": "110101194702198951",
    "Mexico": "QAHZ540910HDFCMH89",
    "Chile": "26.776.927-3",
    "Czechia": "671121/4081",
    "Korea": "461107-1129502",
    "Singapore": "S1234567D",
    "Spain, foreigners": "X1234567L",
}
NAMED = {  # a word before them must say what they are
    "Germany, identity card": ("Personalausweis", "L01X00T471"),
    "Germany, old identity card": ("Ausweisnummer", "T220001293"),
    "Germany, passport": ("Reisepass", "C01X00T478"),
    "Germany, passport without check digit": ("Reisepass", "C01X00T47"),
    "United Kingdom, passport": ("passport number", "925665416"),
    "Italy, passport": ("passaporto", "YA1234567"),
    "United States, passport": ("passport #", "C12345678"),
    "India": ("Aadhaar", "7945 2669 8572"),
    "Brazil": ("CPF", "39240806237"),
    "Belgium": ("rijksregisternummer", "40112195115"),
    "Switzerland": ("AHV-Nummer", "7561745516674"),
    "Argentina": ("CUIL", "20-96188481-1"),
    "Canada": ("SIN", "190-531-871"),
    "United Kingdom, health": ("NHS number", "708 459 1419"),
    "Ireland": ("PPS number", "5593789JH"),
    "Romania": ("CNP", "1620216127614"),
    "Turkey": ("TC kimlik", "17937303340"),
    "South Africa": ("ID number", "9812274745180"),
    "Croatia": ("OIB", "81054756093"),
    "Australia": ("TFN", "497 939 108"),
    "Denmark": ("CPR-nummer", "170999-1234"),
}
UNCHECKED = {  # these have no check digit, or none that is always printed
    "Germany, passport without check digit",
    "United Kingdom, passport",
    "Italy, passport",
    "United States, passport",
    "Denmark",
}
# The examples of ICAO 9303.
PASSPORT = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10"
CARD = "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<"


def found_in(text: str) -> list[str]:
    return [one.text for one in find(text) if one.kind == "national_id"]


def change_last(number: str) -> str:
    place = max(at for at, one in enumerate(number) if one.isdigit())
    return number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1 :]


@pytest.mark.parametrize("country", CERTAIN)
def test_a_certain_form_needs_no_word(country: str) -> None:
    number = CERTAIN[country]
    assert found_in(f"Ann gave {number} at the desk") == [number]
    assert found_in(f"Ann gave {change_last(number)} at the desk") == []
    assert found_in(f"order {number} arrived") == []


@pytest.mark.parametrize("country", NAMED)
def test_other_numbers_need_a_word_that_names_them(country: str) -> None:
    word, number = NAMED[country]
    assert found_in(f"{word} {number}, noted today") == [number]
    assert found_in(f"{word}: {number}") == [number]
    assert found_in(f"it was {number}, noted today") == []
    assert found_in(f"order number {number} arrived") == []


@pytest.mark.parametrize("country", sorted(NAMED.keys() - UNCHECKED))
def test_a_wrong_check_digit_is_no_number_of_a_person(country: str) -> None:
    word, number = NAMED[country]
    passport = "passport" in country or "card" in country  # printed without the check digit too
    assert passport or found_in(f"{word} {change_last(number)}") == []


@pytest.mark.parametrize("lines", [PASSPORT, CARD])
def test_the_lines_for_machines_are_found_whole(lines: str) -> None:
    assert found_in(f"scan:\n{lines}\nend") == lines.split("\n")


def test_a_line_of_letters_and_digits_is_no_passport() -> None:
    assert found_in("L898902C37UTO7408123F1204158ZE184226B<<<<<10") == []
    assert found_in("ABCDEFGHIJ0123456789ABCDEFGHIJ and 5 < 6") == []
