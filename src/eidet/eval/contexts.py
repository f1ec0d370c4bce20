"""The gold in a context, and in plain lists of hits, measured with the same token counter.

context@500        whether any gold, or another record of the same text, is in a context of 500 tokens
context-all@500    the share of the gold in it
context-gold@500   the share of its tokens that are gold
listed, plain      the first two for lines of recall's own hits, and of reciprocal ranks of BM25 and cosine
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import Memory, Recipe
from ..core.record import Record
from ..core.scope import Scope
from ..recall import Query, Recall
from ..recall.prompt_lines import line_of
from ..text.tokens import counter_of
from .cases import Question
from .ranking_metrics import Values

if TYPE_CHECKING:
    from .runner import QuestionAnswer

BUDGETS: Final = (200, 500, 1000)
FIGURES: Final = ("context", "context-all", "context-gold", "listed", "listed-all", "plain", "plain-all")
_LISTED: Final = 50  # hits that are listed
_FLAT: Final = 60  # the constant of reciprocal rank fusion
_COUNTER: Final = counter_of()


def measure_contexts(
    memory: Memory, answers: Sequence[QuestionAnswer], recipe: Recipe, budgets: Sequence[int]
) -> dict[str, Values]:
    """Returns one number per answer for each figure."""
    rows = [dict(_measure_one(memory, answer, recipe, budgets)) for answer in answers if budgets]
    return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}


def _measure_one(
    memory: Memory, answer: QuestionAnswer, recipe: Recipe, budgets: Sequence[int]
) -> Iterator[tuple[str, float]]:
    question, scope = answer.question, answer.scope
    hits = memory.recall(
        question.text, scope=scope, limit=_LISTED, recipe=recipe, now=question.asked, least=0
    )
    listed, plain = [hit.record for hit in hits], _rank_plainly(memory, question, scope)
    gold = [record for id in question.gold if (record := memory.get(id, scope=scope)) is not None]
    for budget in budgets:
        context = memory.context(question.text, scope=scope, budget=budget, recipe=recipe, now=question.asked)
        for name, told in (
            ("context", context.records),
            ("listed", list(_list_fitting(listed, budget))),
            ("plain", list(_list_fitting(plain, budget))),
        ):
            texts = {record.text for record in told if record.scope == scope}
            found = sum(record.text in texts for record in gold)
            yield f"{name}@{budget}", float(found > 0)
            yield f"{name}-all@{budget}", min(1.0, found / (question.needed or len(question.gold)))
        yield f"context-gold@{budget}", _share_gold(context.records, question)


def _rank_plainly(memory: Memory, question: Question, scope: str) -> list[Record]:
    """Ranks records by the sum of their reciprocal ranks by BM25 and by cosine."""
    recall, now = Recall.of(memory.parts), question.asked or time.time()
    asked = Query(text=question.text, scope=Scope.of(scope), now=now, asked=now, understand=False)
    if (ranking := recall.rank(asked)) is None:
        return []
    found = ranking.found
    sums = 1.0 / (_FLAT + _rank(found.words)) + 1.0 / (_FLAT + _rank(found.dense))
    best = (-sums).argsort(kind="stable")[:_LISTED]
    return [record for record in recall.read(scope, found.seq[best].tolist()) if record is not None]


def _rank(values: NDArray[Any]) -> Values:
    return (-values).argsort(kind="stable").argsort(kind="stable").astype(np.float64)


def _list_fitting(records: Iterable[Record], budget: int) -> Iterator[Record]:
    """Yields the records whose lines fit the budget, in order; skips those that do not fit."""
    for record in records:
        cost = _COUNTER.count(line_of(record) + "\n")
        if cost <= budget:
            budget -= cost
            yield record


def _share_gold(records: Sequence[Record], question: Question) -> float:
    costs = {record.id: _COUNTER.count(line_of(record)) for record in records}
    gold: float = sum(cost for id, cost in costs.items() if id in question.gold)
    return gold / sum(costs.values()) if costs else 0.0
