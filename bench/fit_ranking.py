"""Fits the weights of the ranking from the development sets, and says how it does on sets it has not seen.

    python bench/fit_ranking.py ../shared/data              writes src/eidet/recall/weights/<day>.json
    python bench/fit_ranking.py ../shared/data --check everyday.hit@1=.77    writes nothing, gates figures

The model is linear: a softmax over a question's candidates. What speaks for a record never counts against it
(weights of 0 or more); only its kind and length, and that it asks, may do so. Each recipe, and a question
that is a vector alone, has weights of its own. Two logistics tell whether the best hit is right and whether
there is an answer. Candidates dated after a question are left out: in two sets they are nearly always wrong.
A sample of the questions is also asked in small letters, without signs, politely and in keywords; by its
vector; of a memory without what answers it; of another memory; and of one that has only few of the records,
in half of the cases some that answer it. The same data, seed and numpy give the same file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from eidet import Draft, Memory
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.eval import Case, Question, read_cases
from eidet.recall import AUTO, RECIPES, Query, Recall, Recipe
from eidet.recall.features import NAMES, RISES, SIGNALS, Pool, choose_rows, compute_features
from eidet.recall.model import DECIDES, OF_HEAD, VECTOR, WORDS, Head, describe_best, measure_question
from eidet.text.words import STOP_WORDS

SEED = 7
LIMIT = 10
DAY = 86_400.0
REST = 5e-3  # how strongly weights are held near 0
ROUNDS = 100
START = 0.3  # roots of weights that only rise begin here: at 0 they would stay
LEAST_SPREAD = 5e-3
VARIED = 0.25  # of the questions are asked in another way, too, by their vector, or without their gold
LIGHT = 0.3  # the weight of those
STRANGE = 6  # questions of another memory that a case is asked, which it cannot answer
AMONG_FEW = 400  # questions of a set that are asked of a memory of few records
LESS_NEAR = slice(3, 30)  # places of records that are near a question and do not answer it
PLAIN, OTHERWISE, NOBODY, REMOVED, FEW = "plain", "otherwise", "nobody", "removed", "few"  # how it is asked
ONLY_NEAR = Recipe(name=VECTOR, dense=1.0, words=0.0, context=1.0)
FAMILIES = {"tmd-ambiguous": "tmd"}  # sets of one origin are left out together
IMPORTANCE = 0.3  # the sets have none to learn from; between equals it decides
# their gold tells little of scores; of changes, every question has a record that was right once
NOISY = ("changes", "own-changes", "prefeval", "realmem", "tmd", "tmd-ambiguous")
IDENTIFIER = NAMES.index("identifier")
SURER = np.array(
    [name.startswith(("fits", "best", "ahead", "chance")) for name in OF_HEAD]
)  # never makes less sure
ALWAYS = np.array([name.startswith("always") for name in OF_HEAD])
WEIGHTS = Path(__file__).parent.parent / "src" / "eidet" / "recall" / "weights"
_ENDS = ".,;:!?\"'()[]"

Floats = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Asked:
    """A question with the features of its candidates."""

    features: Floats
    gold: Floats
    count: int  # records that a full answer has; 0 where nothing answers it
    weight: float = 1.0
    how: str = PLAIN
    arms: Floats = field(default_factory=lambda: np.empty((0, 0)))  # BM25 and cosine, to compare with
    known: tuple[float, ...] = ()  # what the heads read beside logits
    among: int = 0  # candidates, of which the best are here
    by_vector: bool = False


def keep_words(text: str) -> str:
    """The words of a question that are not common ones."""
    words = [word for word in text.split() if word.strip(_ENDS).lower() not in STOP_WORDS["en"]]
    return " ".join(word.strip(_ENDS) for word in words) or text


VARIANTS: tuple[Callable[[str], str], ...] = (
    str.lower,
    lambda text: f"Hi, quick one: {text} Thanks!",
    lambda text: f"Could you please tell me: {text}",
    lambda text: " ".join(word.strip(_ENDS) or word for word in text.split()),
    keep_words,
)


def gather(path: Path, embedder: str | None = None) -> list[Asked]:
    """Every question of a set."""
    draw = random.Random(SEED)
    cases = read_cases(path)
    share = AMONG_FEW / sum(len(case.questions) for case in cases)
    with Memory(embedder=embedder) as memory, Memory(embedder=embedder) as small:
        every = [
            one for at, case in enumerate(cases) for one in gather_case(memory, case, cases[at - 1], draw)
        ]
        every += [one for case in cases for one in gather_few(memory, small, case, share, draw)]
        return every


def gather_case(memory: Memory, case: Case, other: Case, draw: random.Random) -> Iterator[Asked]:
    """The questions of a case, some in other ways; and some that nothing in it answers."""
    memory.remember(list(case.records), scope=case.scope, keep_duplicates=True)
    look, latest = prepare(memory, case.scope)
    for question in (*case.questions, *case.unanswerable):
        at, gold = question.asked or latest, set(question.gold)
        yield from look(question.text, at, gold, needed=question.needed)
        if gold and draw.random() < VARIED:
            yield from look(draw.choice(VARIANTS)(question.text), at, gold, LIGHT, OTHERWISE)
        if gold and draw.random() < VARIED:
            yield from look(question.text, at, gold, by_vector=True)
        if gold and draw.random() < VARIED:
            yield from look(question.text, at, set(), LIGHT, REMOVED, without=question.gold)
    strangers = [] if "@" in case.scope or other is case else [one.text for one in other.questions]
    chosen = draw.sample(strangers, min(STRANGE, len(strangers)))
    for text in (*chosen, babble(draw), babble(draw)):
        yield from look(text, latest, set(), LIGHT, NOBODY)
    for text in chosen:
        yield from look(text, latest, set(), LIGHT, NOBODY, by_vector=True)


def gather_few(
    memory: Memory, small: Memory, case: Case, share: float, draw: random.Random
) -> Iterator[Asked]:
    """Some questions of a case, each asked of a memory that has only 1 to 64 of its records."""
    for at, question in enumerate(case.questions):
        if not question.gold or draw.random() > share:
            continue
        scope = f"{case.scope}/few-{at}"
        small.remember(draw_few(memory, case, question, draw), scope=scope, keep_duplicates=True)
        look, latest = prepare(small, scope)
        gold = {record.id for record in small.find(scope=scope, limit=None)} & set(question.gold)
        for by_vector in (False, True):
            yield from look(question.text, question.asked or latest, gold, how=FEW, by_vector=by_vector)


def draw_few(memory: Memory, case: Case, question: Question, draw: random.Random) -> list[Draft]:
    """Some records of a case: some that answer or none, one or two that are near or none, and any others."""
    others = [record for record in case.records if record.id not in question.gold]
    few = draw.sample(others, min(round(2 ** draw.uniform(0, 6)), len(others)))
    if draw.random() < 0.5:
        less = list_nearest(memory, case.scope, question.text)[LESS_NEAR]
        ids = {*draw.sample(less, min(len(less), draw.randint(1, 2)))}
        near = [record for record in others if record.id in ids]
        few = [*near, *few[len(near) :]]
    if draw.random() < 0.5:
        gold = [record for record in case.records if record.id in question.gold]
        chosen = draw.sample(gold, draw.randint(1, min(len(gold), len(few))))
        few = [*few[len(chosen) :], *chosen]
    return list({record.id: record for record in few}.values())


def list_nearest(memory: Memory, scope: str, text: str) -> list[str]:
    """The ids of a scope's records by cosine, whatever the weights are."""
    records = memory.find(scope=scope, limit=None)
    latest = max(record.occurred for record in records) + DAY
    query = Query(text=text, scope=Scope.of(scope), now=latest, asked=latest, limit=LIMIT)
    ranking = Recall.of(memory.parts).rank(query)
    if ranking is None:
        return []
    ids = {record.seq: record.id for record in records}
    order = (-ranking.found.dense).argsort(kind="stable")
    return [ids[seq] for seq in ranking.found.seq[order].tolist()]


def prepare(memory: Memory, scope: str) -> tuple[Callable[..., Iterator[Asked]], float]:
    """What looks up questions in a scope, and the day after its last record."""
    records = memory.find(scope=scope, limit=None)
    latest = max(record.occurred for record in records) + DAY
    return partial(look_up, Recall.of(memory.parts), scope, {one.seq: one.id for one in records}), latest


def babble(draw: random.Random) -> str:
    """Words that no text has."""
    return " ".join(
        "".join(draw.choices("bcdfghklmnpqrstvwxyz", k=draw.randint(4, 7))) for _ in range(draw.randint(1, 3))
    )


def look_up(
    recall: Recall,
    scope: str,
    ids: dict[int, str],
    text: str,
    at: float,
    gold: set[str],
    weight: float = 1.0,
    how: str = PLAIN,
    needed: int = 0,
    without: Sequence[str] = (),
    by_vector: bool = False,
) -> Iterator[Asked]:
    """What is known of a question's candidates; nothing where an exact rule answers it."""
    query = Query(text=text, scope=Scope.of(scope), now=at, asked=at, limit=LIMIT)
    if by_vector:
        query = replace(query, text="", vector=recall.embed(recall.understand(query).dense))
    if without:
        query = replace(query, where=~Where(ids=tuple(without)))
    ranking = recall.rank(query)
    if ranking is None or not len(ranking.found):
        return
    found, signals = ranking.found, ranking.signals
    rows = choose_rows(found, signals, LIMIT)
    if not ranking.asked.upcoming:
        rows = rows[found.traits.occurred[rows] <= at]
    if not len(rows):
        return
    pool = Pool(found, rows, ranking.asked, signals)
    right = np.array([ids[seq] in gold for seq in found.seq[rows].tolist()], np.float32)
    arms = np.stack([found.words[rows], found.dense[rows]])
    features = np.ascontiguousarray(compute_features(pool), np.float32)
    known = measure_question(pool)
    yield Asked(features, right, needed or len(gold), weight, how, arms, known, len(found), by_vector)


@dataclass
class Table:
    """All questions of some sets in arrays: rows of candidates, and where each question begins."""

    asked: list[Asked]
    sets: list[str]
    features: Floats = field(init=False)
    starts: Floats = field(init=False)
    owner: Floats = field(init=False)
    gold: Floats = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.array([len(one.gold) for one in self.asked])
        self.starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.gold = np.concatenate([one.gold for one in self.asked])
        self.features = np.concatenate([one.features for one in self.asked])


def minimise(cost: Callable[[Floats], tuple[float, Floats]], at: Floats, rounds: int) -> Floats:
    """L-BFGS with ten pairs and halved steps; `cost` gives a value and its gradient."""
    value, slope = cost(at)
    pairs: list[tuple[Floats, Floats]] = []
    for _ in range(rounds):
        step, used = slope.copy(), []
        for moved, turned in reversed(pairs):
            share = (moved @ step) / (turned @ moved)
            used.append(share)
            step -= share * turned
        step *= (
            (pairs[-1][0] @ pairs[-1][1]) / (pairs[-1][1] @ pairs[-1][1])
            if pairs
            else 1 / max(1, abs(slope).sum())
        )
        for (moved, turned), share in zip(pairs, reversed(used), strict=True):
            step += moved * (share - (turned @ step) / (turned @ moved))
        length = 1.0
        while True:
            there = at - length * step
            new, bent = cost(there)
            if new <= value - 1e-4 * length * (slope @ step) or length < 1e-6:
                break
            length /= 2
        if (there - at) @ (bent - slope) > 1e-12:
            pairs = [*pairs[-9:], (there - at, bent - slope)]
        done = abs(value - new) < 1e-5 * max(1.0, abs(value))
        at, value, slope = there, new, bent
        if done:
            break
    return at


def raise_weights(roots: Floats, rises: Floats = RISES) -> Floats:
    """Weights of which those that must not count against a record are squares."""
    return np.where(rises, roots * roots, roots)


class Ranker:
    """Fits the ranking on all sets but some; what all fits share is made once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        spread = table.features.std(axis=0)
        self.scale = np.where(
            spread > LEAST_SPREAD, spread, np.inf
        )  # what hardly ever differs teaches nothing
        self.wide = table.features / self.scale.astype(np.float32)
        many = np.add.reduceat(table.gold, table.starts)
        self.target = table.gold / np.maximum(many, 1)[table.owner]
        self.usable = many > 0

    def fit(self, left_out: Iterable[str] = (), recipe: Recipe = AUTO) -> Floats:
        """A weight for each feature that a recipe looks at."""
        weight = self._weigh_questions(set(left_out), by_vector=recipe is ONLY_NEAR)
        chosen = (weight > 0).nonzero()[0]
        sizes = np.diff(np.append(self.table.starts, len(self.wide)))[chosen]
        inside = (weight > 0)[self.table.owner]
        wide, target, weight = self.wide[inside] * looks_at(recipe), self.target[inside], weight[chosen]
        starts, owner = np.concatenate(([0], np.cumsum(sizes)[:-1])), np.repeat(np.arange(len(sizes)), sizes)

        def cost(roots: Floats) -> tuple[float, Floats]:
            at = raise_weights(roots)
            logits = wide @ at.astype(np.float32)
            logits -= np.maximum.reduceat(logits, starts)[owner]
            odds = np.exp(logits)
            total = np.add.reduceat(odds, starts)
            loss = -float((weight * (np.add.reduceat(target * logits, starts) - np.log(total))).sum())
            odds /= total[owner]
            odds -= target
            odds *= weight[owner]
            slope = (odds @ wide).astype(float) + REST * at
            return loss + REST * float(at @ at) / 2, slope * np.where(RISES, 2 * roots, 1.0)

        found = minimise(cost, np.where(RISES, START, 0.0), ROUNDS)
        weights: Floats = raise_weights(found) / self.scale * looks_at(recipe)
        return weights

    def _weigh_questions(self, hidden: set[str], by_vector: bool) -> Floats:
        """A set counts by the root of its questions, so that no large one decides."""
        sets = np.array(self.table.sets)
        asked = np.array(
            [one.weight * (one.how != FEW and one.by_vector == by_vector) for one in self.table.asked]
        )
        weight = asked.astype(np.float32) * self.usable
        for name in set(self.table.sets):
            own = sets == name
            weight[own] *= 0 if name in hidden else 1 / np.sqrt(max(1, (own & self.usable).sum()))
        return weight / weight.sum()


def looks_at(recipe: Recipe) -> Floats:
    """1 for each feature that a recipe looks at; what smooths and what kind it is need both arms."""
    weights = {signal: getattr(recipe, signal, recipe.dense * recipe.words) for signal in SIGNALS}
    looked = [
        weights[signal] > 0 and (name != "smoothed" or recipe.context > 0)
        for name, signal in zip(NAMES, SIGNALS, strict=True)
    ]
    return np.array(looked, np.float32)


def fit_head(table: Table, ranking: Floats, asked_by: str = WORDS, left_out: Iterable[str] = ()) -> Head:
    """Whether the best hit is right, whether there is an answer, and how the others fall."""
    hidden = {*left_out, *NOISY}
    rows, right, behind, share, answer_share = [], [], [], [], []
    sets = np.array(table.sets)
    for at, one in enumerate(table.asked):
        if table.sets[at] in hidden or one.how == OTHERWISE or one.by_vector != (asked_by == VECTOR):
            continue
        logits, order = rank(one, ranking)
        rows.append(describe_best(logits, one.known, one.among))
        right.append((float(one.gold[order[0]]), float(one.count > 0)))
        behind.append((logits[1:LIMIT] - logits[0], one.gold[order[1:LIMIT]]))
        answer_share.append(one.weight / np.sqrt((sets == table.sets[at]).sum()))
        share.append(0.0 if one.how == REMOVED else answer_share[-1])
    given, label = np.stack(rows), np.array(right)
    weights = fit_logistic(given, label[:, 0], np.array(share))
    answer = fit_logistic(given, label[:, 1], np.array(answer_share))
    sizes = [len(gap) for gap, _ in behind]
    gaps, gold = (np.concatenate([pair[at] for pair in behind]) for at in (0, 1))
    best, shares = np.repeat(given @ weights, sizes), np.repeat(share, sizes)

    def loss_of(slope: float) -> float:
        return float((shares * lose(to_chance(best + slope * gaps), gold)).sum())

    return Head(weights, answer, min(np.arange(0.2, 4.0, 0.05).tolist(), key=loss_of))


def fit_logistic(given: Floats, label: Floats, share: Floats) -> Floats:
    """The weights of each column; those that are always there are not held near 0."""
    spread = given.std(axis=0)
    scale = np.where(spread > LEAST_SPREAD, spread, np.inf)
    scale[ALWAYS] = 1.0
    held = np.full(given.shape[1], REST)
    held[ALWAYS] = 0.0
    scaled, part = given / scale, share / share.sum()

    def cost(roots: Floats) -> tuple[float, Floats]:
        at = raise_weights(roots, SURER)
        chance = to_chance(scaled @ at)
        loss = float((part * lose(chance, label)).sum()) + float(held @ (at * at)) / 2
        slope = ((chance - label) * part) @ scaled + held * at
        return loss, slope * np.where(SURER, 2 * roots, 1.0)

    found = minimise(cost, np.where(SURER & np.isfinite(scale), START, 0.0), ROUNDS)
    return raise_weights(found, SURER) / scale


def to_chance(odds: Floats) -> Floats:
    """Probabilities of log odds."""
    return 1 / (1 + np.exp(-np.clip(odds, -30, 30)))


def lose(chance: Floats, right: Floats) -> Floats:
    """What each chance costs, by whether it was right."""
    return -(right * np.log(chance + 1e-9) + (1 - right) * np.log(1 - chance + 1e-9))


def rank(one: Asked, ranking: Floats) -> tuple[Floats, Floats]:
    """The logits of a question's candidates, best first, and their order."""
    logits = one.features @ ranking + DECIDES * one.features[:, IDENTIFIER]
    order = (-logits).argsort(kind="stable")
    return logits[order], order


DISCOUNT = 1 / np.log2(np.arange(2, LIMIT + 2))
FIGURES = ("hit@1", "hit@3", "R@10", "nDCG@10")


def measure(right: Floats, count: int) -> tuple[float, ...]:
    """hit@1, hit@3, R@10 and nDCG@10 of an order, against `count` records or ten.

    Where more records answer than are needed, those beyond count for nothing.
    """
    most = min(LIMIT, count)
    shown = right[:LIMIT] * (right[:LIMIT].cumsum() <= most)
    return (
        float(shown[0]),
        float(shown[:3].any()),
        shown.sum() / most,
        (shown * DISCOUNT[: len(shown)]).sum() / DISCOUNT[:most].sum(),
    )


def auroc(high: Sequence[float], low: Sequence[float]) -> float:
    if not len(high) or not len(low):
        return float("nan")
    both = np.concatenate((high, low))
    _, place, count = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]
    return float((ranks[: len(high)].sum() - len(high) * (len(high) + 1) / 2) / (len(high) * len(low)))


def calibration(scores: Floats, right: Floats) -> float:
    """The mean distance of scores and shares of right ones, by tenths."""
    tenth = np.minimum((scores * 10).astype(int), 9)
    return sum(
        (tenth == one).mean() * abs(scores[tenth == one].mean() - right[tenth == one].mean())
        for one in range(10)
        if (tenth == one).any()
    )


def report(table: Table, name: str, ranking: Floats, head: Head) -> dict[str, float]:
    """The figures of one set."""
    own = [one for one, of in zip(table.asked, table.sets, strict=True) if of == name and not one.by_vector]
    plain = [one for one in own if one.how == PLAIN]
    told = [measure(one.gold[rank(one, ranking)[1]], one.count) for one in plain if one.count]
    right, scores, answers = judge(plain, ranking, head)
    there = np.array([one.count > 0 for one in plain])
    few_right, few_scores, _ = judge([one for one in own if one.how == FEW], ranking, head)
    return {
        **dict(zip(FIGURES, np.mean(told, axis=0).tolist(), strict=True)),
        "right-AUROC": auroc(scores[right], scores[~right]),
        "AUROC": auroc(answers[there], answers[~there]),
        "calibration": 1.0 - calibration(scores, right),
        "few-AUROC": auroc(few_scores[few_right], few_scores[~few_right]),
        "few-calibration": 1.0 - calibration(few_scores, few_right),
    }


def judge(asked: Sequence[Asked], ranking: Floats, head: Head) -> tuple[Floats, Floats, Floats]:
    """Whether the best hit of each question is right, its score, and the odds of an answer."""
    right, known = [], []
    for one in asked:
        logits, order = rank(one, ranking)
        right.append(one.gold[order[0]] > 0)
        known.append(describe_best(logits, one.known, one.among))
    given = np.stack(known)
    return np.array(right), to_chance(given @ head.right), given @ head.answer


def report_plain(table: Table, name: str) -> dict[str, tuple[float, ...]]:
    """BM25, cosine and reciprocal ranks, over the same candidates."""
    found: dict[str, list[tuple[float, ...]]] = {"BM25": [], "cosine": [], "RRF": []}
    for at, of in enumerate(table.sets):
        one = table.asked[at]
        if of != name or one.how != PLAIN or one.by_vector or not one.count:
            continue
        ranks = [(-arm).argsort(kind="stable").argsort(kind="stable") for arm in one.arms]
        both = sum(1 / (60 + rank) for rank in ranks)
        for way, values in zip(found, (*one.arms, both), strict=True):
            found[way].append(measure(one.gold[(-values).argsort(kind="stable")], one.count))
    return {way: tuple(np.mean(told, axis=0).tolist()) for way, told in found.items()}


def name_set(path: Path) -> str:
    name, dev, _ = path.name.partition("-dev")
    return name if dev else f"own-{path.stem}"


def list_together(names: Sequence[str], name: str) -> list[str]:
    family = FAMILIES.get(name, name)
    return [other for other in names if FAMILIES.get(other, other) == family]


_RANKER: list[Ranker] = []  # of the process, for the fits that leave a set out


def leave_out(names: Sequence[str], name: str) -> tuple[Floats, Head]:
    hidden = list_together(names, name)
    ranking = _RANKER[0].fit(hidden)
    return ranking, fit_head(_RANKER[0].table, ranking, left_out=hidden)


def fit_recipe(recipe: Recipe) -> Floats:
    ranking = np.round(_RANKER[0].fit(recipe=recipe), 4)
    ranking[NAMES.index("importance")] = IMPORTANCE if recipe.importance else 0.0
    return ranking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the development sets")
    parser.add_argument("--also", type=Path, nargs="*", default=(), help="folders of further sets: bench/own")
    parser.add_argument("--day", default=time.strftime("%Y-%m-%d"), help="the version to write")
    parser.add_argument("--embedder", help="fit to the vectors of another one, and write nothing")
    parser.add_argument("--quick", action="store_true", help="without the figures by leave-one-set-out")
    parser.add_argument("--cache", type=Path, help="keeps what was gathered, for experiments")
    parser.add_argument(
        "--check", action="append", default=[], help="everyday.hit@1=.77: least by leave-one-set-out"
    )
    given = parser.parse_args()
    paths = sorted(given.data.glob("*-dev.json*"))
    paths += [path for folder in given.also for path in sorted(folder.glob("*.jsonl"))]
    names = [name_set(path) for path in paths]
    table = gather_all(paths, names, given.cache, given.embedder)
    _RANKER.append(Ranker(table))
    figures: dict[str, dict[str, float]] = {}
    recipes = (*dict.fromkeys(RECIPES.values()), ONLY_NEAR)
    with ProcessPoolExecutor(2) as pool:
        rows = dict(zip([one.name for one in recipes], pool.map(fit_recipe, recipes), strict=True))
        if not given.quick:
            fits = dict(zip(names, pool.map(partial(leave_out, names), names), strict=True))
            figures = {name: report(table, name, *fits[name]) for name in names}
    heads = {WORDS: fit_head(table, rows[AUTO.name]), VECTOR: fit_head(table, rows[VECTOR], VECTOR)}
    for name in names:
        seen = report(table, name, rows[AUTO.name], heads[WORDS])
        tell(name, figures.get(name, {}), seen, report_plain(table, name))
    if given.check:
        sys.exit("\n".join(list_missed(figures, given.check)) or 0)
    if not given.embedder:
        write(given.day, paths, rows, heads)


def gather_all(
    paths: Sequence[Path], names: Sequence[str], cache: Path | None, embedder: str | None
) -> Table:
    if cache is not None and cache.exists():
        import pickle

        return Table(*pickle.loads(cache.read_bytes()))
    with ProcessPoolExecutor(2) as pool:
        every = list(pool.map(partial(gather, embedder=embedder), paths))
    asked = [one for questions in every for one in questions]
    sets = [name for name, questions in zip(names, every, strict=True) for _ in questions]
    if cache is not None:
        import pickle

        cache.write_bytes(pickle.dumps((asked, sets)))
    return Table(asked, sets)


def tell(
    name: str, unseen: dict[str, float], seen: dict[str, float], plain: dict[str, tuple[float, ...]]
) -> None:
    best = [max(way[at] for way in plain.values()) for at in range(len(FIGURES))]
    told = " ".join(f"{value:.3f}" for value in unseen.values())
    print(f"{name:14} unseen {told} | seen {' '.join(f'{value:.3f}' for value in seen.values())}", end="")
    print(f" | best plain {' '.join(f'{value:.3f}' for value in best)}", flush=True)


def list_missed(figures: dict[str, dict[str, float]], wanted: Sequence[str]) -> Iterator[str]:
    for one in wanted:
        where, _, least = one.partition("=")
        name, _, figure = where.partition(".")
        if not figures[name][figure] >= float(least):
            yield f"{name}: {figure} is {figures[name][figure]:.3f}, below {least}"


def write(day: str, paths: Sequence[Path], rows: Mapping[str, Floats], heads: Mapping[str, Head]) -> None:
    """The file of a version, the same for the same data."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    told = {
        "version": day,
        "seed": SEED,
        "data": digest.hexdigest(),
        "ranking": {name: name_weights(row, NAMES) for name, row in rows.items()},
        "heads": {
            name: {
                "right": name_weights(head.right, OF_HEAD),
                "answer": name_weights(head.answer, OF_HEAD),
                "behind": round(head.behind, 4),
            }
            for name, head in heads.items()
        },
    }
    WEIGHTS.mkdir(exist_ok=True)
    (WEIGHTS / f"{day}.json").write_text(
        json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def name_weights(row: Floats, names: Sequence[str]) -> dict[str, float]:
    """Those that are not 0."""
    return {name: weight for name, weight in zip(names, np.round(row, 4).tolist(), strict=True) if weight}


if __name__ == "__main__":
    main()
