"""The ranking: one linear model over the feature table, with the probability that its best hit is right.

The logit of a candidate is the weighted sum of its features; a session has the odds of all its records. Two
logistic models give the probabilities that the best hit is right and that there is an answer, from measures
of the question and from the lead of the best hit, with separate weights for few candidates, among which a
lead means little. The log odds of the others fall with their distance. The weights are data, one file per
version: see `weights/`.
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
MOST_AHEAD: Final = 4.0  # logits at which the lead is capped
ALIKE: Final = 0.7  # the cosine that covering all words counts as, without vectors
DECIDES: Final = 12.0  # logits added for the identifier, so that its records come first
STEEP: Final = 8.0  # logits that a recency of 1 adds at most, scaled by its weight in a recipe
POOLED: Final = 0.125  # factor on date and form for a whole session, which has many of both
_OF_WHOLE: Final = np.array([POOLED if signal in ("date", "form") else 1.0 for signal in SIGNALS])
_TOLD: Final = tuple(dict.fromkeys(SIGNALS))
_GROUPS: Final = np.array([[name == signal for signal in _TOLD] for name in SIGNALS], float)


@dataclass(frozen=True, slots=True)
class Head:
    """The weights that turn logits into scores.

    right   a weight for each of `HEAD`, among many and among few, for whether the best hit is right
    answer  likewise, for whether there is an answer
    behind  the slope of the others' log odds over the distance of their logits
    """

    right: Floats
    answer: Floats
    behind: float

    def score(self, logits: Floats, known: Floats, limit: int) -> Floats:
        """Returns scores for the first `limit` of descending logits; `known` comes from `describe_best`."""
        return _to_chance(known @ self.right + self.behind * (logits[:limit] - logits[0]))


def _to_chance(odds: Floats) -> Floats:
    """Converts log odds to probabilities."""
    chance: Floats = 1.0 / (1.0 + np.exp(-np.minimum(np.maximum(odds, -30.0), 30.0)))
    return chance


@dataclass(frozen=True, slots=True)
class Weights:
    """One version of the ranking: feature weights by recipe, and heads by how the question is asked."""

    version: str
    ranking: Mapping[str, Floats]
    heads: Mapping[str, Head]

    def of_recipe(self, recipe: Recipe, asked_by: str = WORDS) -> Floats:
        """Returns the weight of each feature; a custom recipe scales them relative to auto."""
        named = RECIPES.get(recipe.name, AUTO)
        own = self.ranking[VECTOR if asked_by == VECTOR else named.name]
        return own if recipe is named else own * _scale(recipe, named)


def _scale(recipe: Recipe, named: Recipe) -> Floats:
    """Returns a recipe's factor for each feature: 1 as fitted, 0 to leave it out."""
    factors = {name: getattr(recipe, name) / (getattr(named, name) or 1.0) for name in WEIGHTS}
    both = float(recipe.dense > 0 and recipe.words > 0)  # for features of both arms
    return np.array([factors.get(signal, both) for signal in SIGNALS])


def describe_best(logits: Floats, known: tuple[float, ...], count: int) -> Floats:
    """Returns the values of `HEAD` twice, weighted by how far the candidates are many or few.

    logits  of the candidates, descending
    known   the result of `measure_question`
    count   the number of candidates
    """
    ahead = min(logits[0] - logits[min(FIFTH, len(logits) - 1)], MOST_AHEAD)
    values = np.array((1.0, *known, ahead, 1.0 / float(np.exp(logits - logits[0]).sum())))
    many = min(max(math.log(count / FEW) / math.log(MANY / FEW), 0.0), 1.0)
    return np.concatenate((many * values, (1.0 - many) * values))


def list_versions() -> list[str]:
    """Lists the versions in the package, the newest last."""
    folder = files(__package__).joinpath("weights")
    return sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))


@cache
def load_weights(version: str | None = None) -> Weights:
    """Loads a version of the ranking; the newest by default."""
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
    """Measures the values of `HEAD` that do not depend on the order of the candidates.

    A candidate that only asks the same is no sign of an answer. A question for nothing but a time is fully
    covered by records of that time.
    """
    tells = 1.0 - pool.asking * pool.told
    share = np.maximum(pool.covered, pool.date) if pool.asked.only_time else pool.covered
    covered = float(np.maximum.reduce(share * tells, initial=0.0))
    near = float(np.maximum.reduce(pool.near * tells, initial=0.0))
    blind = pool.asked.foreign if np.maximum.reduce(pool.found.dense, initial=0.0) else 1.0
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
    """Ranks the candidates, or the best of each session or scope, by the model; newer ones first if equal."""
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
    newest = np.arange(len(chosen))[::-1]  # rows ascend by seq: a stable sort puts newer ones first
    order = newest.take((-logits.take(newest)).argsort(kind="stable"))
    scores, answered = _score(pool, logits.take(order), weights.heads[asked_by], limit)
    ranked = Ranked(
        rows=rows.take(chosen.take(order[:limit])),
        scores=scores.tolist(),
        answered=answered,
        values=signals.values,
        shares=cache(partial(_tell_parts, features, own, rows, len(found))),
        alone=found.traits.session < 0,
    )
    return settle(ranked, found, signals, recipe, unit)


def _weigh(pool: Pool, features: Floats, weights: Floats, recipe: Recipe) -> Floats:
    """Computes the logit of each candidate."""
    logits: Floats = (features * weights).sum(axis=1) + DECIDES * pool.share("identifier")
    if recipe.recency > 0:
        logits = logits + STEEP * recipe.recency / (1 + recipe.recency) * pool.share("recency")
    return logits


def _score(pool: Pool, logits: Floats, head: Head, limit: int) -> tuple[Floats, float]:
    """Returns scores for the first of descending logits, and the probability that there is an answer."""
    known = describe_best(logits, measure_question(pool), len(pool.found))
    return head.score(logits, known, limit), float(_to_chance(known @ head.answer))


def _choose_rows(
    found: Candidates, signals: Signals, recipe: Recipe, limit: int, unit: str
) -> NDArray[np.intp]:
    """Returns the rows to rank: all for sessions and scopes; by words alone, only rows with such words."""
    rows = choose_rows(found, signals, limit) if unit == "record" else np.arange(len(found))
    if recipe.dense <= 0:
        rows = rows[found.words.take(rows) > 0]
    return rows if signals.meant is None else rows[signals.meant.take(rows)]


def number_groups(found: Candidates, unit: str) -> NDArray[np.int64]:
    """Numbers each row's session (or scope); a record without a session gets a number of its own."""
    if unit == "scope":
        return found.scope.astype(np.int64)
    alone = -1 - np.arange(len(found), dtype=np.int64)
    return np.where(found.traits.session >= 0, found.traits.session.astype(np.int64), alone)


def pool_groups(logits: Floats, groups: NDArray[np.int64]) -> tuple[NDArray[np.intp], Floats]:
    """Returns the best row of each group, ascending, and the log odds of the whole group."""
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
