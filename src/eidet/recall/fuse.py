"""Fuses signals into one ranking with scores from 0 to 1, and explains it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from ..core.errors import Unavailable
from ..core.hit import Hit, Reasons, Signal
from ..index import Candidates
from ..text import Analyzer
from ..text.analysis import is_question
from ..text.words import tokens
from .recipes import Recipe
from .signals import Signals
from .understand import Understood

if TYPE_CHECKING:
    from ..models.rerank import Reranker

RANKED: Final = ("dense", "words")
STRANGE: Final = 6.0  # factor on the lowest score if no hit shares a word with the question


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Rows of the candidates, best first, with their scores and the data to explain them."""

    rows: NDArray[np.intp]
    scores: list[float] = field(default_factory=list)
    answered: float = 0.0  # probability that there is an answer
    values: dict[str, NDArray[Any]] = field(default_factory=dict)
    shares: Callable[[], dict[str, NDArray[Any]]] = dict  # by signal, what it adds for each candidate
    alone: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def signals(self, at: int) -> tuple[Signal, ...]:
        """Lists the signals behind the score at a place, largest share first, without empty ones."""
        row, shares = self.rows[at], self.shares()
        parts = {name: float(column[row]) for name, column in shares.items()}
        arms = [name for name in RANKED if name in parts]
        if arms and "context" in parts and self.alone[row]:  # it has no context but itself
            own = parts.pop("context")
            parts |= {name: parts[name] + own / len(arms) for name in arms}
        total = sum(parts.values())
        if total <= 0:  # explained by its positive signals alone
            parts = {name: part for name, part in parts.items() if part > 0}
            total = sum(parts.values())
        scale = self.scores[at] / total if total > 0 else 0.0
        signals = []
        for name, part in parts.items():
            if share := part * scale:
                values = self.values.get(name, shares[name])
                rank = 1 + int((values > values[row]).sum()) if name in RANKED else None
                signals.append(Signal(name=name, value=float(values[row]), share=share, rank=rank))
        return tuple(sorted(signals, key=attrgetter("share"), reverse=True))

    def list_weights(self) -> dict[str, float]:
        """Returns the weight of each signal, adding up to one, by what it adds for the best hits."""
        added = {
            name: float(abs(shares[self.rows]).max(initial=0.0)) for name, shares in self.shares().items()
        }
        total = sum(added.values())
        return {name: most / total for name, most in added.items() if most}


def settle(
    ranked: Ranked, found: Candidates, signals: Signals, recipe: Recipe, unit: str = "record"
) -> Ranked:
    """Drops all hits if even the best is too weak; for records, adds the nearest row of each arm."""
    rows, scores = ranked.rows, ranked.scores
    least = recipe.nothing
    if signals.terms and not _shares_anything(rows, found, signals):
        least *= STRANGE
    if len(rows) and scores[0] < least and not signals.fit(rows):
        rows, scores = rows[:0], []
    if unit == "record" and (nearest := _list_nearest(rows, found)):
        rows, scores = np.append(rows, nearest), scores + [0.0] * len(nearest)
    return replace(ranked, rows=rows, scores=scores)


def _shares_anything(rows: NDArray[np.intp], found: Candidates, signals: Signals) -> bool:
    """Returns whether any row has a word of the question, or is by or about the person it names."""
    named = signals.shares.get("speaker")
    return bool(found.words.take(rows).any() or (named is not None and named.take(rows).any()))


def _list_nearest(rows: NDArray[np.intp], found: Candidates) -> list[int]:
    """Returns each arm's nearest row unless one as near is ranked: it may have the very text."""
    nearest = []
    for arm in (found.dense, found.words):
        if len(arm) and np.maximum.reduce(arm.take(rows), initial=0.0) < arm.max():
            nearest.append(int(arm.argmax()))
    return list(dict.fromkeys(nearest))


def _count_phrases(text: str, phrases: tuple[str, ...]) -> int:
    low = text.casefold()
    return sum(phrase.casefold() in low for phrase in phrases)


def with_phrases(hits: list[Hit], phrases: tuple[str, ...], recipe: Recipe) -> list[Hit]:
    """Ranks the hits again with those up that contain a quoted phrase."""
    weight = recipe.asked / (1 + recipe.asked)
    counts = [_count_phrases(hit.text, phrases) for hit in hits]
    if not weight or not any(counts):
        return hits
    again = [
        rescore(hit, _raise(hit.score, weight * has / len(phrases)), "asked")
        for hit, has in zip(hits, counts, strict=True)
    ]
    return sorted(again, key=lambda hit: -hit.score)


def rerank_hits(hits: list[Hit], query: str, reranker: Reranker | None) -> tuple[list[Hit], tuple[str, ...]]:
    """Orders the hits by a reranker's scores; leaves them as they are, with a note, if it is unavailable."""
    if reranker is None or not hits:
        return hits, ()
    from ..models.rerank import score_checked

    try:
        scores = score_checked(reranker, query, [hit.text for hit in hits])
    except Unavailable as error:
        return hits, (f"not reranked: {error}",)
    again = [_replace_score(hit, reranker.name, score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(again, key=lambda hit: -hit.score), (f"reranked by {reranker.name}",)


def _replace_score(hit: Hit, name: str, score: float) -> Hit:
    own = hit.reasons()
    others = (replace(signal, share=0.0) for signal in own.signals)
    reasons = replace(own, signals=(Signal(name=name, value=score, share=score), *others))
    return replace(hit, score=score, reasons=lambda: reasons)


def _raise(score: float, share: float) -> float:
    """Moves a score towards 1 by a share of the distance."""
    return score + share * (1 - score)


# --- scores that a later stage changes

TEXT: Final = "text"  # what the text itself tells of how well it answers
TIME: Final = "time"  # what later records say of the same
_EQUAL: Final = 1e-12


def rescore(hit: Hit, score: float, stage: str) -> Hit:
    """Returns the hit with a stage's score; the difference becomes a signal of that stage."""
    share = score - hit.score
    if abs(share) <= _EQUAL:
        return hit
    reasons = hit.reasons

    def explain() -> Reasons:
        own = reasons()
        return replace(own, signals=_add(own.signals, stage, share))

    return replace(hit, score=score, reasons=explain)


def _add(signals: tuple[Signal, ...], stage: str, share: float) -> tuple[Signal, ...]:
    """Adds a signal, or adds to it."""
    others = [signal for signal in signals if signal.name != stage]
    before = sum(signal.share for signal in signals if signal.name == stage)
    own = Signal(name=stage, value=min(1.0, abs(before + share)), share=before + share)
    return tuple(sorted([*others, own], key=lambda signal: -abs(signal.share)))


def add_words(hit: Hit, words: str, *, first: bool = False) -> Hit:
    """Returns the hit with one more reason in words."""
    reasons = hit.reasons

    def explain() -> Reasons:
        own = reasons()
        return replace(own, words=(words, *own.words) if first else (*own.words, words))

    return replace(hit, reasons=explain)


# --- records that say the same as the query

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
    stated = next((hit for hit in hits if _states(hit.text, asked.text, analyzer)), None)
    if stated is not None:
        return _raise_first(stated, hits, STATED)
    if asked.asks or len(asked.text.split(maxsplit=QUOTED_WORDS)) < QUOTED_WORDS:
        return _put_beginning_up(hits, query, keys)
    return _put_quoting_first(hits, query, keys)


def _put_first(same: Hit, others: list[Hit]) -> list[Hit]:
    best = others[0].score if others else 0.0
    if is_question(same.record.terms) and best >= ANSWERS:
        return [others[0], add_words(rescore(same, min(SAME, best), TEXT), "asks the same"), *others[1:]]
    return _raise_first(same, others, SAME)


def _raise_first(hit: Hit, hits: list[Hit], least: float) -> list[Hit]:
    """Puts a hit first, with at least a certain score."""
    others = [other for other in hits if other is not hit]
    best = others[0].score if others else 0.0
    return [rescore(hit, max(least, best, hit.score), TEXT), *others]


def _states(text: str, question: str, analyzer: Analyzer) -> bool:
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
