"""Trains the table of `eidet-multi` from what the teacher said, and writes it.

    python train/vectors/train.py WORK --seed 1 --out src/eidet/models/embed/multi.npz

1. English words begin with the teacher's vectors: the main 256 axes, partly whitened, common words short.
2. The similarities of texts within a batch are matched to the teacher's; most batches are of texts that are
   alike. The table is the mean of what was learnt and the beginning, without the first axes of long texts.
3. Words of the other languages begin as the mean of their translations, then learn from pairs of sentences to
   give the vector that the English table gives the translation. English rows stay as they are.
4. Four bits a number and a scale a row.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import simplemma
from numpy.typing import NDArray

from corpus import LONG
from eidet.models.embed.multi import WIDTH, find_words

WHITENING = 0.6
SIF = 1e-3
BATCH = 512
ALIKE = 0.6  # of the batches are drawn from clusters
CLUSTERS = 150
AXES = 2  # of long texts that are removed
HELD = 500  # pairs of each language that nothing is learnt from
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Bags:
    """Texts as the places of their words in the table, each once; words that are not in it are left out."""

    def __init__(self, texts: Sequence[str], places: dict[str, int]) -> None:
        bags = [Counter(places[word] for word in find_words(text) if word in places) for text in texts]
        self.sizes: Ints = np.array([len(bag) for bag in bags])
        self.starts: Ints = np.concatenate(([0], np.cumsum(self.sizes)))
        self.ids: Ints = np.array([place for bag in bags for place in bag], np.int64)
        self.weights: Floats = np.sqrt([n for bag in bags for n in bag.values()]).astype(np.float32)

    def take(self, chosen: Ints) -> tuple[Ints, Floats, Ints]:
        """The places and weights of all words of the chosen texts (none empty), and where texts begin."""
        sizes = self.sizes[chosen]
        firsts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        steps = np.arange(sizes.sum()) - np.repeat(firsts, sizes)
        at = np.repeat(self.starts[chosen], sizes) + steps
        return self.ids[at], self.weights[at][:, None], firsts

    def embed(self, table: Floats, chosen: Ints) -> Floats:
        ids, weights, firsts = self.take(chosen)
        return normalise(np.add.reduceat(table[ids] * weights, firsts))


class Learner:
    """Adam for those rows of a table that a batch touches."""

    def __init__(self, table: Floats, rate: float, steps: int, frozen: int = 0) -> None:
        self.table, self.rate, self.steps, self.frozen, self.step = table, rate, steps, frozen, 0
        self.mean, self.square = np.zeros_like(table), np.zeros_like(table)

    def learn(self, bags: Bags, chosen: Ints, slope: Callable[[Floats], Floats]) -> None:
        """One step; `slope` tells the gradient of the loss at the normalised vectors of the texts."""
        ids, weights, firsts = bags.take(chosen)
        sums = np.add.reduceat(self.table[ids] * weights, firsts)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6
        unit = sums / lengths
        pull = slope(unit)
        pull = (pull - unit * (pull * unit).sum(axis=1, keepdims=True)) / lengths
        order = np.argsort(ids, kind="stable")
        rows, begins = np.unique(ids[order], return_index=True)
        owners = np.repeat(np.arange(len(chosen)), bags.sizes[chosen])
        gradient = np.add.reduceat(pull[owners[order]] * weights[order], begins)
        kept = rows >= self.frozen
        self._move(rows[kept], gradient[kept])

    def _move(self, rows: Ints, gradient: Floats) -> None:
        self.step += 1
        rate = self.rate * max(0.05, 1 - self.step / self.steps)
        self.mean[rows] = mean = 0.9 * self.mean[rows] + 0.1 * gradient
        self.square[rows] = square = 0.99 * self.square[rows] + 0.01 * gradient**2
        self.table[rows] -= rate * mean / (np.sqrt(square) + 1e-8)


def normalise(rows: Floats) -> Floats:
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)


def begin(words: Floats, weights: Floats) -> Floats:
    """The teacher's vectors of words on their main axes."""
    centred = words - words.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    main = np.argsort(-values)[:WIDTH]
    return normalise(centred @ axes[:, main] / values[main] ** (WHITENING / 2)) * weights[:, None]


def match(table: Floats, bags: Bags, teacher: Floats, draw: np.random.Generator, steps: int) -> Floats:
    """The table after the similarities of texts were matched to the teacher's."""
    usable = np.flatnonzero(bags.sizes > 0)
    clusters = cluster(teacher, draw)
    learner = Learner(table.copy(), 4e-3, steps)
    for _ in range(steps):
        if draw.random() < ALIKE:
            near = np.isin(clusters, draw.choice(CLUSTERS, 5, replace=False))
            pool = usable[near[usable]]
        else:
            pool = usable
        chosen = draw.choice(pool, min(BATCH, len(pool)), replace=False)
        wanted = teacher[chosen] @ teacher[chosen].T

        def slope(unit: Floats, wanted: Floats = wanted) -> Floats:
            return (unit @ unit.T - wanted) @ unit * (4 / len(unit))

        learner.learn(bags, chosen, slope)
    return learner.table


def cluster(rows: Floats, draw: np.random.Generator) -> Ints:
    """The nearest of some centres, after a few rounds of k-means."""
    centres = rows[draw.choice(len(rows), CLUSTERS, replace=False)]
    for _ in range(5):
        nearest = np.argmax(rows @ centres.T, axis=1)
        sums = np.stack([rows[nearest == at].sum(axis=0) for at in range(CLUSTERS)])
        centres = normalise(sums + 1e-6 * centres)
    return np.argmax(rows @ centres.T, axis=1)


def remove_axes(table: Floats, bags: Bags, texts: Ints) -> Floats:
    """The table without the main directions of the texts given."""
    rows = bags.embed(table, texts)
    axes = np.linalg.svd(rows, full_matrices=False)[2][:AXES]
    return table - table @ axes.T @ axes


def begin_others(
    english: Floats, words: Sequence[str], weights: Floats, dictionary: dict[str, dict[str, list[str]]]
) -> tuple[Floats, float]:
    """The mean of a word's translations, or of its base form's; and the share of words that have any."""
    count = len(english)
    places = {word: at for at, word in enumerate(words[:count])}
    table = np.zeros((len(words), WIDTH), np.float32)
    table[:count] = english
    unit, found = normalise(english), 0
    for at in range(count, len(words)):
        parts = [
            unit[[places[part] for part in find_words(sense) if part in places]].sum(axis=0)
            for language, senses in dictionary.items()
            for sense in _find_senses(words[at], language, senses)
        ]
        if parts and (length := np.linalg.norm(np.sum(parts, axis=0))):
            table[at] = np.sum(parts, axis=0) / length * weights[at]
            found += 1
    return table, found / (len(words) - count)


def _find_senses(word: str, language: str, senses: dict[str, list[str]]) -> list[str]:
    if word in senses:
        return senses[word][:8]
    return senses.get("".join(find_words(simplemma.lemmatize(word, lang=language))), [])[:8]


def learn_others(
    table: Floats,
    english: int,
    pairs: dict[str, list[tuple[str, str]]],
    places: dict[str, int],
    draw: np.random.Generator,
    steps: int,
) -> Floats:
    """The table after words of other languages learnt from translations."""
    ours = {name: Bags([pair[0] for pair in pairs[name][HELD:]], places) for name in pairs}
    theirs = {name: Bags([pair[1] for pair in pairs[name][HELD:]], places) for name in pairs}
    usable = {name: np.flatnonzero((ours[name].sizes > 0) & (theirs[name].sizes > 0)) for name in pairs}
    fixed = table.copy()
    fixed[english:] = 0  # words of the translation that only another language has say nothing
    learner = Learner(table.copy(), 6e-3, steps, frozen=english)
    names = list(pairs)
    for step in range(steps):
        name = names[step % len(names)]
        chosen = draw.choice(usable[name], BATCH, replace=False)
        wanted = ours[name].embed(fixed, chosen)

        def slope(unit: Floats, wanted: Floats = wanted) -> Floats:
            return (unit @ wanted.T - wanted @ wanted.T) @ wanted * (2 / len(unit)) - 0.5 * wanted

        learner.learn(theirs[name], chosen, slope)
    return learner.table


def count_nearest(
    table: Floats, pairs: dict[str, list[tuple[str, str]]], places: dict[str, int]
) -> dict[str, float]:
    """How often the nearest English sentence of those held back is the translation."""
    found = {}
    for name, known in pairs.items():
        ours, theirs = (Bags([pair[side] for pair in known[:HELD]], places) for side in (0, 1))
        usable = np.flatnonzero((ours.sizes > 2) & (theirs.sizes > 2))
        near = np.argmax(theirs.embed(table, usable) @ ours.embed(table, usable).T, axis=1)
        found[name] = round(float((near == np.arange(len(usable))).mean()), 3)
    return found


def pack(table: Floats) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Four bits a number, by the scale that errs least."""
    best, error = np.zeros(len(table), np.float32), np.full(len(table), np.inf)
    most = np.abs(table).max(axis=1) + 1e-9
    for part in (0.55, 0.65, 0.75, 0.85, 1.0):
        scale = np.float16(most * part / 7).astype(np.float32)
        scale[scale == 0] = 1e-7
        steps = np.rint(table / scale[:, None]).clip(-7, 7)
        wrong = ((steps * scale[:, None] - table) ** 2).sum(axis=1)
        best, error = np.where(wrong < error, scale, best), np.minimum(wrong, error)
    steps = (np.rint(table / best[:, None]).clip(-7, 7) + 8).astype(np.uint8)
    half = WIDTH // 2
    return steps[:, :half] | (steps[:, half:] << 4), best.astype(np.float16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--pair-steps", type=int, default=3_000)
    given = parser.parse_args()
    work, draw, began = given.work, np.random.default_rng(given.seed), time.monotonic()

    def load(name: str) -> object:
        return json.loads((work / f"{name}.json").read_text())

    def say(what: object) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {what}", flush=True)

    words, known = load("vocabulary"), load("frequencies")
    count, frequency = known["english"], known["frequency"]
    places = {word: at for at, word in enumerate(words)}
    weights = np.array([SIF / (SIF + frequency[word]) for word in words], np.float32)
    start = begin(np.load(work / "words.npy").astype(np.float32), weights[:count])
    teacher = np.concatenate([np.load(path) for path in sorted(work.glob("texts-*.npy"))]).astype(np.float32)
    texts = load("english")[: len(teacher)]
    bags = Bags(texts, {word: places[word] for word in words[:count]})
    say(f"{len(texts)} texts, {len(words)} words")
    english = match(start, bags, teacher, draw, given.steps) if given.steps else start
    english = (english + start) / 2
    long = np.array([at for at, text in enumerate(texts) if len(text.split()) >= LONG[0] and bags.sizes[at]])
    english = remove_axes(english, bags, long)
    say("English matched")
    pairs = load("pairs")
    table, share = begin_others(english, words, weights, load("dictionary"))
    say(f"{share:.2f} of the other words have translations; nearest {count_nearest(table, pairs, places)}")
    table = learn_others(table, count, pairs, places, draw, given.pair_steps)
    say(f"nearest {count_nearest(table, pairs, places)}")
    table = table[sorted(range(len(words)), key=lambda at: -frequency[words[at]])]
    listed = "\n".join(sorted(words, key=lambda word: -frequency[word])).encode()
    rows, scales = pack(table)
    np.savez(given.out, words=np.frombuffer(listed, np.uint8), rows=rows, scales=scales)
    say(f"{given.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
