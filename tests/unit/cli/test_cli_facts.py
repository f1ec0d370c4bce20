from __future__ import annotations

import pytest
from tests.unit.cli.shell import Shell


@pytest.fixture
def filled(eidet: Shell) -> Shell:
    eidet("remember", "Ann lives in Lisbon.", "--id", "a", "--occurred", "2024-01-10")
    eidet("remember", "Ann moved to Porto.", "--id", "b", "--occurred", "2024-06-03")
    return eidet


def test_about_tells_what_holds_now_and_what_held_then(filled: Shell) -> None:
    assert "Ann lives in Porto" in filled("facts", "Ann").out
    (then,) = filled("facts", "Ann", "--as-of", "2024-03-01", "--json").lines
    assert (then["text"], then["superseded_by"]) == ("Ann lives in Lisbon", "b#0")


def test_the_timeline_has_both(filled: Shell) -> None:
    out = filled("facts", "Ann", "--ever").out
    for part in ("2024-01-10", "2024-06-03", "Ann lives in Lisbon", "Ann lives in Porto", "a#0"):
        assert part in out


def test_why_entities_and_contradictions(filled: Shell) -> None:
    assert "Ann moved to Porto" in filled("facts", "--why", "b#0").out
    assert "person" in filled("facts").out
    assert filled("facts", "--contradictions", "--json").out == ""
    assert filled("facts", "--why", "nothing").code == 3


def test_contradictions_name_who_said_what(eidet: Shell) -> None:
    for who, year in (("Ann", 1990), ("Bob", 1991)):
        eidet("remember", f"Cleo was born in {year}.", "--who", who, "--occurred", "2026-05-01")
    out = eidet("facts", "--contradictions", COLUMNS="120").out
    assert "Ann, 2026-05-01" in out
    assert "Bob, 2026-05-01" in out
    (found,) = eidet("facts", "--contradictions", "--json").lines
    assert [[one["who"] for one in side] for side in found["quotations"]] == [["Ann"], ["Bob"]]


def test_options_without_what_they_need_are_refused(filled: Shell) -> None:
    for words in (("--ever",), ("Ann", "--relation", "lives_in"), ("--as-of", "2024-03-01")):
        assert filled("facts", *words).code == 2
    (first,) = filled("facts", "Ann", "--ever", "--relation", "lives_in", "--json").lines[:1]
    assert first["text"] == "Ann lives in Lisbon"


def test_ids_of_facts_are_whole_in_a_narrow_terminal(eidet: Shell) -> None:
    eidet("remember", "Ann works at Siemens Energy in Berlin.", "--occurred", "2024-01-01")
    (fact,) = eidet("facts", "Ann", "--ever", "--json").lines
    assert fact["id"] in eidet("facts", "Ann", "--ever", COLUMNS="80").out
    assert "`eidet facts` lists" in eidet("facts", "Zoe").err


def test_facts_of_several_scopes_say_theirs(eidet: Shell) -> None:
    for scope in ("ann", "team/core"):
        eidet("remember", f"Ann lives in {scope[:3].title()}ville.", "--scope", scope)
    said = eidet("facts", "Ann", "-s", "ann", "-s", "team/core").out
    assert [scope in said for scope in ("scope", "ann ", "team/core")] == [True] * 3
    assert "scope" not in eidet("facts", "Ann", "-s", "ann").out
