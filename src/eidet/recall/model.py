"""The ranking: one linear model over the feature table, and the probability that its best hit is right.

The logit of a candidate is the sum of its features by weight. The score of the best hit is a logistic of its
features, of its lead and of what the question lacks; the log odds of the others fall with their distance. The
weights are data, one file a version: see `weights/`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInput
from ..index import Candidates
from .calibrate import fits
from .features import NAMES, SIGNALS, Pool, choose_rows, compute_features
from .fuse import Ranked, settle, sum_signals
from .recipes import AUTO, WEIGHTS, Recipe
from .signals import Signals
from .understand import Understood

Floats = NDArray[Any]

HEAD: Final = (
    "always",
    *("terms", "unidentified", "identifiers", "best near", "best counted", "best covered"),
    *("ahead", "ahead of five", "chance", "chance covered", "ahead covered", "ahead of five covered"),
    *("covered", "near share", "told", "asking", "identifier", "date"),
)  # what the score of a best hit is made of; the last ones are its own features
OWN: Final = HEAD[-6:]
FIFTH: Final = 4
MOST_AHEAD: Final = 4.0  # logits: a longer lead says no more
DECIDES: Final = 12.0  # logits: who has the identifier goes first
STEEP: Final = 8.0  # logits that a recency of 1 adds for each weight of a recipe
_TOLD: Final = tuple(dict.fromkeys(SIGNALS))
_GROUPS: Final = np.array([[name == signal for signal in _TOLD] for name in SIGNALS], float)


@dataclass(frozen=True, slots=True)
class Weights:
    """One version of the ranking.

    ranking  a weight for each feature
    answer   of the best hit: a weight for each of `HEAD`
    behind   how the log odds of the others fall with the distance of their logits
    """

    version: str
    ranking: Floats
    answer: Floats
    behind: float

    def of_recipe(self, recipe: Recipe) -> Floats:
        """The weight of each feature, of which a recipe of one's own may leave some out."""
        return self.ranking if recipe is AUTO else self.ranking * _scale(recipe)

    def score(self, best: Floats, logits: Floats, known: tuple[float, ...], limit: int) -> Floats:
        """Scores for the first of logits that fall; `best` are the features of the best."""
        sure = describe_best(best, logits, known) @ self.answer
        odds = sure + self.behind * (logits[:limit] - logits[0])
        scores: Floats = 1.0 / (1.0 + np.exp(-np.minimum(np.maximum(odds, -30.0), 30.0)))
        return scores


def describe_best(best: Floats, logits: Floats, known: tuple[float, ...]) -> Floats:
    """The values of `HEAD`: what the question lacks, the lead of the best hit and what it has."""
    second, fifth = (
        min(logits[0] - logits[at], MOST_AHEAD) if len(logits) > at else MOST_AHEAD for at in (1, FIFTH)
    )
    chance = 1.0 / float(np.exp(logits - logits[0]).sum())
    covered = best[_COVERED]
    lead = (second, fifth, chance, chance * covered, second * covered, fifth * covered)
    return np.array((1.0, *known, *lead, *best[_OWN]))


_COVERED: Final = NAMES.index("covered")
_OWN: Final = [NAMES.index(name) for name in OWN]


def _scale(recipe: Recipe) -> Floats:
    """What a recipe makes of each feature: 1 as it was fitted, 0 leaves it out."""
    factors = {name: getattr(recipe, name) / (getattr(AUTO, name) or 1.0) for name in WEIGHTS}
    return np.array([factors.get(signal, 1.0) for signal in SIGNALS])


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
    text = files(__package__).joinpath("weights", f"{chosen}.json").read_text(encoding="utf-8")
    told = json.loads(text)
    ranking = np.array([told["ranking"].get(name, 0.0) for name in NAMES])
    answer = np.array([told["answer"].get(name, 0.0) for name in HEAD])
    return Weights(chosen, ranking, answer, told["behind"])


def measure_answer(pool: Pool) -> tuple[float, ...]:
    """What `HEAD` knows of a question before its candidates are in order."""
    asked, signals = pool.asked, pool.signals
    return (
        float(np.log1p(signals.terms)) / 4.0,
        float(bool(asked.identifiers) and "identifier" not in signals.shares),
        float("identifier" in signals.shares),
        float(np.maximum.reduce(pool.near, initial=0.0)),
        float(np.maximum.reduce(pool.counted, initial=0.0)),
        float(np.maximum.reduce(pool.covered, initial=0.0)),
    )


def rank_fitted(
    found: Candidates, signals: Signals, asked: Understood, recipe: Recipe, limit: int, weights: Weights
) -> Ranked:
    """The candidates by the model; equal ones: the newer first."""
    rows = choose_rows(found, signals, sum_signals(signals, len(found)), limit)
    if signals.meant is not None:
        rows = rows[signals.meant.take(rows)]
    if not len(rows):
        return settle(Ranked(rows=rows), found, signals, recipe)
    pool = Pool(found, rows, asked, signals)
    features, own = compute_features(pool), weights.of_recipe(recipe)
    logits = (features * own).sum(axis=1) + DECIDES * pool.share("identifier")
    if recipe.recency > 0 and "recency" in signals.shares:
        logits = logits + STEEP * recipe.recency * signals.shares["recency"].take(rows)
    newest = np.arange(len(rows))[::-1]  # rows rise by seq: a stable sort puts newer ones first
    order = newest.take((-logits.take(newest)).argsort(kind="stable"))
    scores = weights.score(features[order[0]], logits.take(order), measure_answer(pool), limit)
    if not pool.counted.any() and not fits(rows, signals):  # only the meaning speaks for any
        speaks = np.maximum.reduce(pool.near) + np.maximum.reduce(pool.covered)
        scores = scores * min(1.0, 2.0 * speaks)
    ranked = Ranked(
        rows=rows.take(order[:limit]),
        scores=scores.tolist(),
        values=signals.values,
        shares=partial(_tell_parts, features, own, rows, len(found)),
        alone=found.traits.session < 0,
    )
    return settle(ranked, found, signals, recipe)


def _tell_parts(features: Floats, weights: Floats, rows: NDArray[np.intp], count: int) -> dict[str, Floats]:
    """By signal, what it adds to the logit of each candidate; of the kind of record, against the others."""
    parts = (features * weights) @ _GROUPS
    told: dict[str, Floats] = {}
    for name, column in zip(_TOLD, parts.T, strict=True):
        told[name] = np.zeros(count)
        told[name][rows] = column - column.mean() if name == "kind" else column
    return told
