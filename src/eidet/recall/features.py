"""The feature table: what the ranking knows of a candidate, all of it from columns of the index.

A feature has a name, the signal that a reason tells it as, one line why it is there, and a function of a
`Pool`. All values are 0 to 1. The weights are data (`weights/`), made by `bench/fit_ranking.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.record import Kind
from ..index import Candidates
from ..text.analysis import ACTOR, NAMED, NUMBERED, QUESTION, TIMED
from .participants import AGENT_ROLES
from .signals import POOR, Signals
from .understand import Understood

Floats = NDArray[Any]

BEST: Final = 50  # candidates of each arm, and of both together, that are ranked
LONG_TERMS: Final = 200.0  # what a record in several units counts as
LATER: Final = 60.0  # by which all places count as later ones, so that the first is not everything
ASIDE: Final = 30.0  # terms from which on a question tells something, too
_KINDS: Final = {kind: code for code, kind in enumerate(Kind)}


def choose_rows(found: Candidates, signals: Signals, limit: int) -> NDArray[np.intp]:
    """The rows worth ranking, rising: the best of each arm, of both, and those with what is named."""
    if len(found) <= 2 * BEST:
        return np.arange(len(found))
    best = max(BEST, limit)
    picked = np.zeros(len(found), np.bool_)
    aligned = found.traits.aligned
    for values in (found.dense, found.words, signals.match, *(() if aligned is None else (aligned,))):
        picked[_top(values, best)] = True
    for name in ("identifier", "date", "asked", "speaker"):
        if name in signals.shares:
            here = (signals.shares[name] > 0).nonzero()[0]
            picked[here[_top(signals.match.take(here), best)]] = True
    return picked.nonzero()[0]


def _top(values: Floats, count: int) -> NDArray[np.intp]:
    if len(values) <= count:
        return np.arange(len(values))
    return values.argpartition(len(values) - count)[-count:]


class Pool:
    """The candidates to rank for one question, and what the index measured of them.

    near, counted, covered   the cosine; BM25 by what all words weigh; the share of the question they cover
    told, length             the share of its own words that the question has; how many it has
    asking, has, tells       whether it asks; has a name, a time, a number; has what is expected of an answer
    around, date             the best match within six turns; how well its time fits
    """

    def __init__(
        self, found: Candidates, rows: NDArray[np.intp], asked: Understood, signals: Signals
    ) -> None:
        self.found, self.rows, self.asked, self.signals = found, rows, asked, signals
        self.nothing: Floats = np.zeros(len(rows))
        traits = found.traits
        known = 1.0 - asked.foreign  # vectors of a script that they do not know are noise
        self.near: Floats = np.maximum(found.dense.take(rows), 0.0) * known
        self.near_share = _to_best(self.near, POOR)
        self.counted = self._count_words()
        self.covered: Floats = self.counted
        if traits.aligned is not None:
            self.covered = traits.aligned.take(rows) * known + self.counted * asked.foreign
        self.covered_share = _to_best(self.covered)
        full = traits.length.take(rows)
        self.units: Floats = np.isinf(full)
        self.length: Floats = np.minimum(full, LONG_TERMS)
        self.size: Floats = np.log1p(self.length) / 5.0
        told = self.covered * signals.terms / np.maximum(self.length, 1.0)
        self.told: Floats = np.minimum(told, 1.0)
        marks = _list_marks(asked.expects).take(traits.flags.take(rows), axis=1)
        self.asking: Floats = marks[0]
        self.has: Floats = marks[1:4]
        self.tells: Floats = marks[4:]
        own = 0.5 * self.near_share + 0.5 * self.covered_share
        self.around: Floats = self.share("context") if "context" in signals.shares else own
        self.date: Floats = self.share("date")
        self.kind: Floats = traits.kind.take(rows)
        self.who: Floats = traits.who.take(rows)

    def share(self, name: str) -> Floats:
        """A signal of the first stage; zeros where the question has no use for it."""
        shares = self.signals.shares.get(name)
        return self.nothing if shares is None else shares.take(self.rows)

    def _count_words(self) -> Floats:
        words = self.found.words.take(self.rows)
        rarity = self.found.rarity or float(np.maximum.reduce(words, initial=0.0))
        return np.minimum(words / rarity, 1.0) if rarity > 0 else self.nothing

    def add_places(self) -> Floats:
        """Reciprocal ranks, 0 to 1 among the candidates."""
        if not self.asked.message:
            return self.nothing
        both = sum((1.0 / (LATER + 1.0 / _rank(arm)) for arm in (self.near, self.counted)), self.nothing)
        low, high = np.minimum.reduce(both, initial=1.0), np.maximum.reduce(both, initial=0.0)
        return self.asked.message * (both - low) / (high - low) if high > low else self.nothing

    def is_kind(self, kind: Kind) -> Floats:
        same: Floats = self.kind == _KINDS[kind]
        return same

    def is_by_agent(self) -> Floats:
        by_agent = self.nothing
        for code, who in enumerate(self.found.traits.voices):
            if who and who.casefold() in AGENT_ROLES:
                by_agent = np.maximum(by_agent, self.who == code)
        return by_agent


@lru_cache(maxsize=256)
def _list_marks(expects: int) -> Floats:
    """Tabulates, for each of the 256 combinations of flags, what a record is, has, and has as expected."""
    flags = np.arange(256)
    has = [(flags & which) > 0 for which in (QUESTION, NAMED, TIMED, NUMBERED)]
    wanted = ((TIMED, TIMED), (NUMBERED, NUMBERED), (NAMED, NAMED | ACTOR), (ACTOR, NAMED | ACTOR))
    fits = [((flags & which) > 0) & bool(expects & expected) for expected, which in wanted]
    marks: Floats = np.array([*has, *fits], float)
    return marks


def _to_best(values: Floats, least: float = 0.0) -> Floats:
    """Shares of the best one, or of the `least` that a good one has."""
    best = np.maximum.reduce(values, initial=least)
    shares: Floats = values / best if best > 0 else values
    return shares


def _rank(values: Floats) -> Floats:
    """1 for the best, 1/2 for the next; the same for equal ones."""
    better = len(values) - np.sort(values).searchsorted(values, "right")
    ranks: Floats = 1.0 / (1.0 + better)
    return ranks


class Feature(NamedTuple):
    """A column of the feature table. `signal` names it in reasons."""

    name: str
    signal: str
    why: str
    compute: Callable[[Pool], Floats]


TABLE: Final = (
    Feature("near share", "dense", "the cosine by the best one's", lambda p: p.near_share),
    Feature("counted share", "words", "BM25 by the best one's", lambda p: _to_best(p.counted)),
    Feature("covered", "words", "the share of the question it covers", lambda p: p.covered),
    Feature("covered share", "words", "that by the best one's", lambda p: p.covered_share),
    Feature("covered rank", "words", "its place by that", lambda p: _rank(p.covered)),
    Feature("told", "words", "the share of its words that the question has", lambda p: p.told),
    Feature("reciprocal", "words", "its places in both arms, for a message", lambda p: p.add_places()),
    Feature("smoothed", "dense", "nearness of it and the turns beside it", lambda p: p.share("dense")),
    Feature("around", "context", "the best match within six turns", lambda p: p.around),
    Feature("reply", "reply", "it answers another's matching question", lambda p: p.share("reply")),
    Feature("asking", "question", "a question seldom answers one", lambda p: p.asking),
    Feature("echo", "question", "a question that says no more than this", lambda p: p.asking * p.told),
    Feature(
        "asking long",
        "question",
        "a long question tells something",
        lambda p: p.asking * np.minimum(p.length / ASIDE, 1.0),
    ),
    Feature("speaker", "speaker", "by who is asked about", lambda p: p.share("speaker")),
    Feature("identifier", "identifier", "has the code asked for", lambda p: p.share("identifier")),
    Feature("date", "date", "of the time asked about", lambda p: p.date),
    Feature("date covered", "date", "and of the subject", lambda p: p.date * p.covered_share),
    Feature("dated message", "date", "of the time a message speaks of", lambda p: p.date * p.asked.message),
    Feature("tells when", "form", "a time is asked for", lambda p: p.tells[0]),
    Feature("tells how many", "form", "a number is asked for", lambda p: p.tells[1]),
    Feature("tells which", "form", "a name is asked for", lambda p: p.tells[2]),
    Feature("tells who", "form", "a person is asked for", lambda p: p.tells[3]),
    Feature("asked", "asked", "of the session named", lambda p: p.share("asked")),
    Feature("importance", "importance", "said to matter", lambda p: p.found.traits.importance.take(p.rows)),
    Feature("named", "kind", "names somebody or something", lambda p: p.has[0]),
    Feature("timed", "kind", "speaks of a time", lambda p: p.has[1]),
    Feature("numbered", "kind", "has a number", lambda p: p.has[2]),
    Feature("length", "kind", "long records match by chance", lambda p: p.size),
    Feature("length squared", "kind", "and so do very short ones", lambda p: p.size * p.size),
    Feature("units", "kind", "a document of many parts", lambda p: p.units),
    Feature("nobody", "kind", "no speaker", lambda p: p.who < 0),
    Feature("agent", "kind", "said by the agent", lambda p: p.is_by_agent()),
    Feature("fact", "kind", "a fact", lambda p: p.is_kind(Kind.FACT)),
    Feature("document", "kind", "a document", lambda p: p.is_kind(Kind.DOCUMENT)),
    Feature("message", "kind", "a message", lambda p: p.is_kind(Kind.MESSAGE)),
)
KEPT: Final = frozenset(
    ("told", "reciprocal", "identifier", "dated message", "asked", "importance")
)  # what counts for a message, too, which is searched for neither names nor forms of answers
NAMES: Final = tuple(feature.name for feature in TABLE)
SIGNALS: Final = tuple(feature.signal for feature in TABLE)
RISES: Final = np.array([signal not in ("kind", "question") for signal in SIGNALS])  # never counts against
_FADES: Final = np.array([name not in KEPT for name in NAMES])
_COMPUTES: Final = tuple(feature.compute for feature in TABLE)


def compute_features(pool: Pool) -> Floats:
    """Computes one row per candidate and one column per feature."""
    columns = np.empty((len(TABLE), len(pool.rows)))
    for at, compute in enumerate(_COMPUTES):
        columns[at] = compute(pool)
    if pool.asked.message:
        columns[_FADES] *= 1.0 - pool.asked.message
    return columns.T
