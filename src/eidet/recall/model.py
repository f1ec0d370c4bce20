"""The ranking: one linear model over the feature table, and how likely its best hit is right.

The logit of a candidate is the sum of its features by weight; a session has the odds of all its records. Two
logistics tell how likely the best hit is right and how likely there is an answer, by what the question found
and by the lead of the best, which says little among few: these have weights of their own. The log odds of the
others fall with their distance. The weights are data, one file a version: see `weights/`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInput
from ..index import Candidates
from .features import NAMES, SIGNALS, Pool, choose_rows, compute_features
from .fuse import Ranked, settle
from .recipes import AUTO, RECIPES, WEIGHTS, Recipe
from .signals import Signals
from .understand import Understood

Floats = NDArray[Any]

WORDS, VECTOR = "words", "vector"  # how a question is asked: with words, or by a vector alone
HEAD: Final = (
    "always",
    "terms",
    "unidentified",
    "fits",
    "best near",
    "best covered",
    "ahead of five",
    "chance",
)
OF_HEAD: Final = (*HEAD, *(f"{name} (few)" for name in HEAD))
FIFTH: Final = 4
FEW, MANY = 3, 200  # candidates up to which they are few, and from which on they are not
MOST_AHEAD: Final = 4.0  # logits: a longer lead says no more
ALIKE: Final = 0.7  # covering all words is as good as this cosine, where no vector tells
DECIDES: Final = 12.0  # logits: who has the identifier goes first
STEEP: Final = 8.0  # logits that a recency of 1 adds at most, by its weight in a recipe
POOLED: Final = 0.125  # of theirs, date and form keep for a whole session, which has many of both
_OF_WHOLE: Final = np.array([POOLED if signal in ("date", "form") else 1.0 for signal in SIGNALS])
_TOLD: Final = tuple(dict.fromkeys(SIGNALS))
_GROUPS: Final = np.array([[name == signal for signal in _TOLD] for name in SIGNALS], float)


@dataclass(frozen=True, slots=True)
class Head:
    """What makes scores of logits.

    right   a weight for each of `HEAD`, among many and among few: whether the best hit is right
    answer  likewise: whether there is an answer
    behind  how the log odds of the others fall with the distance of their logits
    """

    right: Floats
    answer: Floats
    behind: float

    def score(self, logits: Floats, known: Floats, limit: int) -> Floats:
        """Scores for the first of logits that fall; `known` is what `describe_best` returns."""
        return _to_chance(known @ self.right + self.behind * (logits[:limit] - logits[0]))


def _to_chance(odds: Floats) -> Floats:
    """Probabilities of log odds."""
    chance: Floats = 1.0 / (1.0 + np.exp(-np.minimum(np.maximum(odds, -30.0), 30.0)))
    return chance


@dataclass(frozen=True, slots=True)
class Weights:
    """One version of the ranking: by recipe, a weight for each feature; by how it is asked, the scores."""

    version: str
    ranking: Mapping[str, Floats]
    heads: Mapping[str, Head]

    def of_recipe(self, recipe: Recipe, asked_by: str = WORDS) -> Floats:
        """The weight of each feature; one's own recipe says how much more or less than in auto it is."""
        named = RECIPES.get(recipe.name, AUTO)
        own = self.ranking[VECTOR if asked_by == VECTOR else named.name]
        return own if recipe is named else own * _scale(recipe, named)


def _scale(recipe: Recipe, named: Recipe) -> Floats:
    """Returns a recipe's factor for each feature: 1 as fitted, 0 to leave it out."""
    factors = {name: getattr(recipe, name) / (getattr(named, name) or 1.0) for name in WEIGHTS}
    both = float(recipe.dense > 0 and recipe.words > 0)  # the kind of a record says nothing of one arm alone
    return np.array([factors.get(signal, both) for signal in SIGNALS])


def describe_best(logits: Floats, known: tuple[float, ...], count: int) -> Floats:
    """The values of `HEAD`, split into what counts among many and what counts among few.

    logits  of the candidates, falling
    known   what `measure_question` returns
    count   how many candidates there are
    """
    ahead = min(logits[0] - logits[min(FIFTH, len(logits) - 1)], MOST_AHEAD)
    values = np.array((1.0, *known, ahead, 1.0 / float(np.exp(logits - logits[0]).sum())))
    many = min(max(math.log(count / FEW) / math.log(MANY / FEW), 0.0), 1.0)
    return np.concatenate((many * values, (1.0 - many) * values))


def list_versions() -> list[str]:
    """The versions that come with the package, the newest last."""
    folder = files(__package__).joinpath("weights")
    return sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))


@cache
def load_weights(version: str | None = None) -> Weights:
    """A version of the ranking; the newest if none is named."""
    known = list_versions()
    if version is not None and version not in known:
        raise BadInput(f"there is no ranking {version!r}; there are {', '.join(known)}")
    chosen = version or known[-1]
    told = json.loads(files(__package__).joinpath("weights", f"{chosen}.json").read_text(encoding="utf-8"))
    heads = {
        name: Head(_read_row(head["right"], OF_HEAD), _read_row(head["answer"], OF_HEAD), head["behind"])
        for name, head in told["heads"].items()
    }
    return Weights(chosen, {name: _read_row(row, NAMES) for name, row in told["ranking"].items()}, heads)


def _read_row(row: Mapping[str, float], names: tuple[str, ...]) -> Floats:
    return np.array([row.get(name, 0.0) for name in names])


def measure_question(pool: Pool) -> tuple[float, ...]:
    """Measures what `HEAD` needs of a question before its candidates are ordered.

    A candidate that only asks the same is no sign of an answer. Who asks for a time and nothing else has
    all of the question covered by what happened then.
    """
    tells = 1.0 - pool.asking * pool.told
    share = np.maximum(pool.covered, pool.date) if pool.asked.only_time else pool.covered
    covered = float(np.maximum.reduce(share * tells, initial=0.0))
    near = float(np.maximum.reduce(pool.near * tells, initial=0.0))
    blind = 1.0 if pool.found.spans["dense"].high <= 0 else pool.asked.foreign
    missing = bool(pool.asked.identifiers) and "identifier" not in pool.signals.shares
    fits = pool.signals.fit(pool.rows)
    terms = float(np.log1p(pool.signals.terms)) / 4.0
    return (terms, float(missing), float(fits), near + blind * ALIKE * covered, covered)


def rank_candidates(
    found: Candidates,
    signals: Signals,
    asked: Understood,
    recipe: Recipe,
    limit: int,
    weights: Weights,
    unit: str = "record",
) -> Ranked:
    """The candidates, or the best of each session or scope, by the model; equal ones: the newer first."""
    rows = _choose_rows(found, signals, recipe, limit, unit)
    if not len(rows):
        return settle(Ranked(rows=rows), found, signals, recipe, unit)
    asked_by = WORDS if signals.terms and recipe.words > 0 else VECTOR
    pool = Pool(found, rows, asked, signals)
    features, own = compute_features(pool), weights.of_recipe(recipe, asked_by)
    if unit != "record":
        own = own * _OF_WHOLE
    logits, chosen = _weigh(pool, features, own, recipe), np.arange(len(rows))
    if unit != "record":
        chosen, logits = pool_groups(logits, number_groups(found, unit).take(rows))
    newest = np.arange(len(chosen))[::-1]  # rows rise by seq: a stable sort puts newer ones first
    order = newest.take((-logits.take(newest)).argsort(kind="stable"))
    scores, answered = _score(pool, logits.take(order), weights.heads[asked_by], limit)
    ranked = Ranked(
        rows=rows.take(chosen.take(order[:limit])),
        scores=scores.tolist(),
        answered=answered,
        values=signals.values,
        shares=partial(_tell_parts, features, own, rows, len(found)),
        alone=found.traits.session < 0,
    )
    return settle(ranked, found, signals, recipe, unit)


def _weigh(pool: Pool, features: Floats, weights: Floats, recipe: Recipe) -> Floats:
    """The logit of each candidate."""
    logits: Floats = (features * weights).sum(axis=1) + DECIDES * pool.share("identifier")
    if recipe.recency > 0:
        logits = logits + STEEP * recipe.recency / (1 + recipe.recency) * pool.share("recency")
    return logits


def _score(pool: Pool, logits: Floats, head: Head, limit: int) -> tuple[Floats, float]:
    """Scores for the first of logits that fall, and how likely there is an answer."""
    known = describe_best(logits, measure_question(pool), len(pool.found))
    return head.score(logits, known, limit), float(_to_chance(known @ head.answer))


def _choose_rows(
    found: Candidates, signals: Signals, recipe: Recipe, limit: int, unit: str
) -> NDArray[np.intp]:
    """The rows to rank: of sessions all; asked by words alone, what has none is no answer."""
    rows = choose_rows(found, signals, limit) if unit == "record" else np.arange(len(found))
    if recipe.dense <= 0:
        rows = rows[found.words.take(rows) > 0]
    return rows if signals.meant is None else rows[signals.meant.take(rows)]


def number_groups(found: Candidates, unit: str) -> NDArray[np.int64]:
    """A number for each row's session (or scope); a record without a session is its own."""
    if unit == "scope":
        return found.scope.astype(np.int64)
    alone = -1 - np.arange(len(found), dtype=np.int64)
    return np.where(found.traits.session >= 0, found.traits.session.astype(np.int64), alone)


def pool_groups(logits: Floats, groups: NDArray[np.int64]) -> tuple[NDArray[np.intp], Floats]:
    """The best of each group, rising, and the log odds of the whole group."""
    order = np.lexsort((-np.arange(len(logits)), -logits, groups))
    starts = np.flatnonzero(np.append(True, np.diff(groups[order]) != 0))
    top = np.maximum.reduce(logits)
    pooled = top + np.log(np.add.reduceat(np.exp(logits[order] - top), starts))
    best = order[starts]
    rising = best.argsort()
    return best[rising], pooled[rising]


def _tell_parts(features: Floats, weights: Floats, rows: NDArray[np.intp], count: int) -> dict[str, Floats]:
    """Splits each candidate's logit by signal; the part of a record's kind is relative to the others."""
    parts = (features * weights) @ _GROUPS
    told: dict[str, Floats] = {}
    for name, column in zip(_TOLD, parts.T, strict=True):
        told[name] = np.zeros(count)
        told[name][rows] = column - column.mean() if name == "kind" else column
    return told
