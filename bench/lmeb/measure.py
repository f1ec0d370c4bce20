"""nDCG@10 and R@10 of Eidet on rebuilt sets of LMEB: by category, then the mean of the categories."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from statistics import fmean

from originals import Haystack, Turn

from eidet import Draft, Memory

TOP = 10
ASKED = timedelta(hours=1)  # after the last turn: the same day, in a talk of its own
Figures = dict[str, tuple[float, float, int]]  # by category: nDCG@10, R@10, questions


def measure_set(haystacks: Iterable[Haystack], *, way: str, embedder: str) -> Figures:
    """`way` is one of `WAYS`: how speaker, session and time of a turn are told."""
    scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for haystack in haystacks:
        with Memory(embedder=embedder) as memory:
            drafts = list(map(WAYS[way], haystack.turns))
            memory.remember(drafts, keep_duplicates=True, read_speakers=way == "read")
            last = max((turn.occurred for turn in haystack.turns if turn.occurred), default=None)
            now = last and last + ASKED
            for asked in haystack.asked:
                hits = memory.recall(asked.text, limit=TOP, least=0, now=now)
                found = [hit.id in asked.gold for hit in hits]
                scores[asked.category].append(
                    (_ndcg(found, len(asked.gold)), _recall(found, len(asked.gold)))
                )
    return {
        category: (fmean(n for n, _ in each), fmean(r for _, r in each), len(each))
        for category, each in sorted(scores.items())
    }


def mean_of(figures: Figures) -> tuple[float, float]:
    """The mean of the categories, each counting alike."""
    return fmean(one[0] for one in figures.values()), fmean(one[1] for one in figures.values())


def _make_record(turn: Turn) -> Draft:
    kind = "message" if turn.who else "fact"
    return Draft(
        id=turn.id, text=turn.text, kind=kind, who=turn.who, session=turn.session, occurred=turn.occurred
    )


def _make_text(turn: Turn) -> Draft:
    return Draft(id=turn.id, text=turn.as_text())


def _make_dated(turn: Turn) -> Draft:
    """One text again, with a time that `read_speakers` knows."""
    told = turn if turn.occurred is None else replace(turn, when=f"{turn.occurred:%Y-%m-%d %H:%M:%S}")
    return Draft(id=turn.id, text=told.as_text())


# one text as models get it; one text whose time and speaker Eidet reads itself; fields of a record
WAYS = {"text": _make_text, "read": _make_dated, "fields": _make_record}


def _ndcg(found: Sequence[bool], gold: int) -> float:
    best = sum(1 / math.log2(rank + 2) for rank in range(min(gold, TOP)))
    return sum(1 / math.log2(rank + 2) for rank, right in enumerate(found) if right) / best


def _recall(found: Sequence[bool], gold: int) -> float:
    """Of at most ten: more than ten cannot be found among ten."""
    return sum(found) / min(gold, TOP)
