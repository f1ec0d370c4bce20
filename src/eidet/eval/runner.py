"""Runs a variant: stores all cases in one memory, asks every question once, and times the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from .. import Hit, Hits, Memory, Recipe, Refused
from ..recall import recipe_of
from .cases import Case, Question
from .contexts import measure_contexts
from .ranking_metrics import Values

_IN_RAM: Final = ":memory:"
_TOLD: Final = 10  # hits of each question that keep their reasons

Progress = Callable[[int, int], None]  # done, of how many


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The settings to measure: an embedder (as `Memory` takes it), a recipe, a place, a language."""

    embedder: object = "wordllama"
    recipe: str | Recipe = "auto"
    place: str | Path = _IN_RAM
    language: str | None = None

    def describe(self) -> dict[str, str]:
        """Returns its parts by name, as text."""
        embedder = getattr(self.embedder, "name", self.embedder)
        parts = {"embedder": str(embedder), "recipe": self._recipe(), "place": str(self.place)}
        if self.language:
            parts["language"] = self.language
        return parts

    def _recipe(self) -> str:
        """Returns the recipe's name, or the fields that a custom recipe changes."""
        if isinstance(self.recipe, str):
            return self.recipe
        usual = Recipe()
        changed = (f.name for f in fields(usual) if getattr(usual, f.name) != getattr(self.recipe, f.name))
        return "Recipe(" + ", ".join(f"{name}={getattr(self.recipe, name)!r}" for name in changed) + ")"

    def open_memory(self) -> Memory:
        place = None if self.place == _IN_RAM else self.place
        return Memory(place, embedder=self.embedder, language=self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedHit:
    """A hit with what the figures need. `leaked` marks a hit from a scope that was not searched."""

    id: str
    scope: str
    session: str | None
    score: float
    gold: bool
    leaked: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswer:
    """The answer to a question, best hits first."""

    question: Question
    scope: str
    found: tuple[RankedHit, ...]
    sessions: tuple[str | None, ...]  # ranked by a recall of sessions instead of records
    millis: float
    answered: float = 0.0  # the probability that there is an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswers:
    """All answers of a variant, and the time to load its records."""

    answers: tuple[QuestionAnswer, ...]
    unanswerable: tuple[float, ...] = ()  # the best score of each question that nothing answers
    unanswered: tuple[float, ...] = ()  # for each of those, the probability that there is an answer
    contexts: Mapping[str, Values]  # by figure, one number per answer
    records: int
    load_seconds: float


def ask(
    cases: Sequence[Case],
    variant: Variant,
    *,
    depth: int,
    budgets: Sequence[int],
    tell: Callable[[int], None],
) -> RunAnswers:
    """Stores every case in one memory and asks every question. Empties a place again afterwards."""
    recipe = recipe_of(variant.recipe)
    with variant.open_memory() as memory:
        if memory.scopes():
            raise Refused(
                f"{variant.place} already has records, which would be among the answers: name a new file"
            )
        try:
            began = time.perf_counter()
            for case in cases:
                if case.records:
                    memory.remember(list(case.records), scope=case.scope, keep_duplicates=True)
                tell(len(case.records))
            loaded = time.perf_counter() - began
            answers = tuple(_answers(memory, cases, recipe, depth, tell))
            nothing = tuple(_ask_unanswerable(memory, cases, recipe))
            contexts = measure_contexts(memory, answers, recipe, budgets)
        finally:
            if variant.place != _IN_RAM:
                _empty_scopes(memory, cases)
    count = sum(len(case.records) for case in cases)
    return RunAnswers(
        answers=answers,
        unanswerable=tuple(max((hit.score for hit in hits), default=0.0) for hits in nothing),
        unanswered=tuple(hits.answered for hits in nothing),
        contexts=contexts,
        records=count,
        load_seconds=loaded,
    )


def _answers(
    memory: Memory, cases: Sequence[Case], recipe: Recipe, depth: int, tell: Callable[[int], None]
) -> Iterator[QuestionAnswer]:
    for case in cases:
        for at, question in enumerate(case.questions):
            if not at:
                memory.recall(question.text, scope=case.scope, recipe=recipe)  # loads the scope, unmeasured
            yield _answer(memory, case.scope, question, recipe, depth)
            tell(1)


def _answer(memory: Memory, scope: str, question: Question, recipe: Recipe, depth: int) -> QuestionAnswer:
    began = time.perf_counter()
    hits = memory.recall(question.text, scope=scope, limit=depth, recipe=recipe, now=question.asked)
    millis = (time.perf_counter() - began) * 1000
    gold = frozenset(question.gold)
    found = tuple(rank_hit(hit, scope, gold, told=at < _TOLD) for at, hit in enumerate(hits))
    sessions = _sessions(memory, scope, question, recipe, depth) if question.sessions else ()
    return QuestionAnswer(
        question=question, scope=scope, found=found, sessions=sessions, millis=millis, answered=hits.answered
    )


def _ask_unanswerable(memory: Memory, cases: Sequence[Case], recipe: Recipe) -> Iterator[Hits]:
    for case in cases:
        for one in case.unanswerable:
            yield memory.recall(one.text, scope=case.scope, limit=1, recipe=recipe, now=one.asked)


def _sessions(
    memory: Memory, scope: str, question: Question, recipe: Recipe, depth: int
) -> tuple[str | None, ...]:
    hits = memory.recall(
        question.text, scope=scope, limit=depth, recipe=recipe, unit="session", now=question.asked
    )
    return tuple(hit.record.session if hit.record.scope == scope else None for hit in hits)


def rank_hit(hit: Hit, scope: str, gold: frozenset[str], *, told: bool) -> RankedHit:
    leaked = hit.record.scope != scope
    return RankedHit(
        id=hit.id,
        scope=hit.record.scope,
        session=None if leaked else hit.record.session,
        score=hit.score,
        gold=not leaked and hit.id in gold,
        leaked=leaked,
        why=hit.why() if told else "",
    )


def _empty_scopes(memory: Memory, cases: Sequence[Case]) -> None:
    for case in cases:
        memory.forget(scope=case.scope, everything=True, for_good=False)
