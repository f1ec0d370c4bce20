"""A record that says what the query says is what was looked for, whatever else speaks for others.

- Two texts are the same if they differ in case, punctuation and spacing only. Such a record goes first.
- A stored question is no answer to itself: where something else was found, that goes first, and it second.
- A statement with all the words of a question for yes or no, and no others, answers it: its score says so.
- A record that has the whole query in it, word for word, goes first if the query is long and does not ask.
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

SAME: Final = 0.95  # the score of the very text that was asked for
ANSWERS: Final = 0.2  # from this score on, another hit may answer a question that is stored
STATED: Final = 0.85  # at least, for a statement of what a question asks whether it is so
QUOTED: Final = 0.8  # at least, for a text that has the whole query in it
QUOTED_WORDS: Final = 5  # of a query, from which on a text hardly has all of them in this order by chance
BEGUN_WORDS: Final = 2  # of a query that a text may begin with
AMONG: Final = 3
READ: Final = 4_000  # characters of a text in which a query is looked for
LONGER: Final = 1.5  # a text that is so many times longer or shorter is not the same
_SIGNS: Final = re.compile(r"""[\s.,;:!?…"'“”‘’„«»()\[\]{}*_`~¿¡。，、；：！？（）「」『』–—-]+""")
_WHETHER: Final = re.compile(
    r"(?:is|are|am|was|were|do|does|did|can|could|will|would|should|must|may|has|have|had)\b", re.IGNORECASE
)
_HELPERS: Final = frozenset(("do", "does", "did"))


def fold_text(text: str) -> str:
    """A text without case, punctuation and spacing; itself where nothing else is in it."""
    return _SIGNS.sub("", normalize("NFKC", text).casefold()) or text


def put_same_first(hits: list[Hit], query: str, asked: Understood, analyzer: Analyzer) -> list[Hit]:
    """The hits with those first that say what the query says."""
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
    """Tells whether a statement has all words of a yes/no question and no others."""
    if _WHETHER.match(question) is None or not len(question) / LONGER <= len(text) <= len(question) * LONGER:
        return False
    return _list_stems(text, analyzer) == _list_stems(question, analyzer)


def _list_stems(text: str, analyzer: Analyzer) -> list[str]:
    """The stems of all words, those of a text's helpers left out, in the order of the alphabet."""
    return sorted(stem for word in tokens(text) if word not in _HELPERS for stem in analyzer.terms(word))


def _put_quoting_first(hits: list[Hit], query: str, keys: set[str]) -> list[Hit]:
    """Puts first the best hit that has the query in it, word for word."""
    read = READ + 2 * len(query)
    for hit in hits:
        text = fold_text(hit.text[:read])
        if any(key in text for key in keys):
            return _raise_first(hit, hits, QUOTED)
    return hits


def _put_beginning_up(hits: list[Hit], query: str, keys: set[str]) -> list[Hit]:
    """Puts the best hit whose text begins with the query among the first three: it may be typed halfway."""
    if len(query.split(maxsplit=BEGUN_WORDS)) < BEGUN_WORDS:
        return hits
    begins, read = tuple(keys), 2 * len(query) + 8
    at = next((at for at, hit in enumerate(hits) if fold_text(hit.text[:read]).startswith(begins)), 0)
    if at < AMONG:
        return hits
    begun = rescore(hits[at], max(hits[at].score, hits[AMONG - 1].score), TEXT)
    return [*hits[: AMONG - 1], begun, *hits[AMONG - 1 : at], *hits[at + 1 :]]
