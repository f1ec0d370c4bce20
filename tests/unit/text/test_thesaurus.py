"""Words that answer for others: forms, synonyms, kinds."""

from __future__ import annotations

import pytest

from eidet.text import analyzer_of, term_id
from eidet.text.thesaurus import list_related


def nearness(asked: str, told: str) -> float:
    english = analyzer_of("en")
    ask, tell = (term_id(english.terms(word)[0]) for word in (asked, told))
    return list_related(english).get(ask, {}).get(tell, 0.0)


@pytest.mark.parametrize(("asked", "told"), [("drive", "drove"), ("children", "child"), ("sell", "sold")])
def test_forms_of_a_word_are_nearly_the_same(asked: str, told: str) -> None:
    assert nearness(asked, told) > 0.9
    assert nearness(told, asked) > 0.9


@pytest.mark.parametrize(
    ("asked", "told"), [("pets", "rabbits"), ("instrument", "harp"), ("certificate", "pem"), ("herb", "dill")]
)
def test_a_kind_answers_for_its_class_more_than_the_class_for_a_kind(asked: str, told: str) -> None:
    assert nearness(asked, told) > nearness(told, asked) > 0


def test_two_kinds_of_one_class_do_not_answer_for_each_other() -> None:
    assert nearness("rabbit", "parrot") == 0
    assert nearness("harp", "oboe") == 0


def test_a_word_is_not_related_to_itself_and_no_nearer_than_one() -> None:
    for term, others in list_related(analyzer_of("en")).items():
        assert term not in others
        assert all(0 < near < 1 for near in others.values())


def test_other_languages_have_no_lists() -> None:
    assert list_related(analyzer_of("de")) == {}
