"""Which words answer for which: `bought` for `buy`, `canary` for `animal`, `flat` for `live`.

Vectors of words know that photos are pictures. They do not know that a canary is an animal, nor that somebody
who has a flat lives there. The lists in `thesaurus_words.py` say so, for everyday English.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from . import Analyzer, analyzer_of, term_id
from .stopwords import STOP_WORDS
from .thesaurus_words import FORMS, GROUPS

FORM: Final = 0.95  # another form of the same word
ALIKE: Final = 0.7  # a word of the same meaning
KIND: Final = 0.55  # a kind of what is asked for
CLASS: Final = 0.1  # the class of what is asked for

Related = dict[int, float]  # ids of terms, and how near they are
_NONE: Final[dict[int, Related]] = {}


def list_related(analyzer: Analyzer) -> dict[int, Related]:
    """By the id of a term: the terms that answer for it. Empty for a language without lists."""
    if analyzer.language != "en":
        return _NONE
    return _read_lists()


@cache
def _read_lists() -> dict[int, Related]:
    analyzer = analyzer_of("en")
    found: dict[int, Related] = {}
    for line in FORMS.strip().splitlines():
        _relate(found, _list_ids(analyzer, line), (), FORM)
    for line in GROUPS.strip().replace("\n ", " ").splitlines():
        heads, _, kinds = line.partition(":")
        _relate(found, _list_ids(analyzer, heads), _list_ids(analyzer, kinds), ALIKE)
    return found


def _relate(found: dict[int, Related], heads: tuple[int, ...], kinds: tuple[int, ...], alike: float) -> None:
    for head in heads:
        for other in heads:
            _add(found, head, other, alike)
        for kind in kinds:
            _add(found, head, kind, KIND)
            _add(found, kind, head, CLASS)


def _add(found: dict[int, Related], term: int, other: int, near: float) -> None:
    if term != other:
        known = found.setdefault(term, {})
        known[other] = max(near, known.get(other, 0.0))


def _list_ids(analyzer: Analyzer, words: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_read_ids(analyzer, words)))


def _read_ids(analyzer: Analyzer, words: str) -> Iterator[int]:
    for word in words.split():
        if word not in STOP_WORDS["en"]:
            for term in analyzer.terms(word):
                yield term_id(term)
