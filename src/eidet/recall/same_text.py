"""Puts records first that say the same as the query, whatever the signals of others.

- Two texts are the same if they differ in case, punctuation and spacing only. Such a record goes first.
- A stored question is no answer to itself: if another hit was found, that goes first and the question second.
- A statement with all the words of a yes/no question and no others answers it and gets a high score.
- A record that contains the whole query, word for word, goes first if the query is long and not a question.
- A record that begins with the query is among the first three.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

from ..core.hit import Hit
from ..text import Analyzer
from ..text.analysis import is_question
from ..text.words import tokens
from .rescore import TEXT, add_words, rescore
from .understand import Understood

SAME: Final = 0.95  # the score of the same text
ANSWERS: Final = 0.2  # the lowest score of another hit that may answer a stored question
STATED: Final = 0.85  # the least score of a statement that answers a yes/no question
QUOTED: Final = 0.8  # the least score of a text that contains the whole query
QUOTED_WORDS: Final = 5  # words of the shortest query that a text hardly contains by chance
BEGUN_WORDS: Final = 2  # words of the shortest query that a text may begin with
AMONG: Final = 3
READ: Final = 4_000  # characters of a text that are searched for a query
LONGER: Final = 1.5  # factor in length beyond which two texts are not the same
_SIGNS: Final = re.compile(r"""[\s.,;:!?…"'“”‘’„«»()\[\]{}*_`~¿¡。，、；：！？（）「」『』–—-]+""")
_WHETHER: Final = re.compile(
    r"(?:is|are|am|was|were|do|does|did|can|could|will|would|should|must|may|has|have|had)\b", re.IGNORECASE
)
_HELPERS: Final = frozenset(("do", "does", "did"))


def fold_text(text: str) -> str:
    """Folds a text to compare it: without case, punctuation and spacing, unless nothing else is in it."""
    return _SIGNS.sub("", normalize("NFKC", text).casefold()) or text


def put_same_first(hits: list[Hit], query: str, asked: Understood, analyzer: Analyzer) -> list[Hit]:
    """Puts the hit first that says the same as the query, by the rules above."""
    keys = {fold_text(query), fold_text(asked.text)}
    least, most = len(asked.text) / LONGER, len(query) * LONGER + 8
    same = [hit for hit in hits if least <= len(hit.text) <= most and fold_text(hit.text) in keys]
    if same:
        first = min(same, key=lambda hit: hit.text != query)
        return _put_first(first, [hit for hit in hits if hit is not first])
    stated = next((hit for hit in hits if states(hit.text, asked.text, analyzer)), None)
    if stated is not None:
        return _raise_first(stated, hits, STATED)
    if asked.asks or len(asked.text.split(maxsplit=QUOTED_WORDS)) < QUOTED_WORDS:
        return _put_beginning_up(hits, query, keys)
    return _put_quoting_first(hits, query, keys)


def _put_first(same: Hit, others: list[Hit]) -> list[Hit]:
    best = others[0].score if others else 0.0
    if is_question(same.record.terms) and best >= ANSWERS:
        return [others[0], add_words(rescore(same, min(SAME, best), TEXT), "asks the same"), *others[1:]]
    return [rescore(same, max(SAME, best, same.score), TEXT), *others]


def _raise_first(hit: Hit, hits: list[Hit], least: float) -> list[Hit]:
    """Puts a hit first, with at least a certain score."""
    others = [other for other in hits if other is not hit]
    best = others[0].score if others else 0.0
    return [rescore(hit, max(least, best, hit.score), TEXT), *others]


def states(text: str, question: str, analyzer: Analyzer) -> bool:
    """Returns whether a statement has all words of a yes/no question and no others."""
    if _WHETHER.match(question) is None or not len(question) / LONGER <= len(text) <= len(question) * LONGER:
        return False
    return _list_stems(text, analyzer) == _list_stems(question, analyzer)


def _list_stems(text: str, analyzer: Analyzer) -> list[str]:
    """Returns the stems of all words except auxiliaries, in alphabetical order."""
    return sorted(stem for word in tokens(text) if word not in _HELPERS for stem in analyzer.terms(word))


def _put_quoting_first(hits: list[Hit], query: str, keys: set[str]) -> list[Hit]:
    """Puts the best hit first that contains the query, word for word."""
    read = READ + 2 * len(query)
    for hit in hits:
        text = fold_text(hit.text[:read])
        if any(key in text for key in keys):
            return _raise_first(hit, hits, QUOTED)
    return hits


def _put_beginning_up(hits: list[Hit], query: str, keys: set[str]) -> list[Hit]:
    """Puts the best hit that begins with the query among the first three: the query may be half typed."""
    if len(query.split(maxsplit=BEGUN_WORDS)) < BEGUN_WORDS:
        return hits
    begins, read = tuple(keys), 2 * len(query) + 8
    at = next((at for at, hit in enumerate(hits) if fold_text(hit.text[:read]).startswith(begins)), 0)
    if at < AMONG:
        return hits
    begun = rescore(hits[at], max(hits[at].score, hits[AMONG - 1].score), TEXT)
    return [*hits[: AMONG - 1], begun, *hits[AMONG - 1 : at], *hits[at + 1 :]]
