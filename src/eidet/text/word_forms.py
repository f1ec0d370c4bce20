"""Forms of one word that no stemmer brings together: `bought` of `buy`, from `word_forms.txt`, in English."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from . import Analyzer, analyzer_of, term_id

_FORM: Final = 0.95  # how near another form of the same word is

Related = dict[int, float]  # ids of terms, and how near they are
_NONE: Final[dict[int, Related]] = {}


@cache
def load_forms() -> tuple[tuple[str, ...], ...]:
    """The forms of each word."""
    text = files(__package__).joinpath("word_forms.txt").read_text(encoding="utf-8")
    return tuple(tuple(line.split()) for line in text.splitlines())


def list_related(analyzer: Analyzer) -> dict[int, Related]:
    """Maps a term's id to those of its other forms. Empty for a language without a list."""
    return _relate_forms() if analyzer.language == "en" else _NONE


@cache
def _relate_forms() -> dict[int, Related]:
    analyzer = analyzer_of("en")
    found: dict[int, Related] = {}
    for forms in load_forms():
        ids = [term_id(term) for form in forms for term in analyzer.terms(form)]
        for one in ids:
            others = {other: _FORM for other in ids if other != one}
            if others:
                found.setdefault(one, {}).update(others)
    return found
