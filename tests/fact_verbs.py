"""Every verb of `memory.facts` as a call that can be made again, and a memory that each can work on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from eidet import Memory
from eidet.core.errors import NotFound
from eidet.graph.fact import Fact
from eidet.models.llm import Answer, Request

PERSON, OTHER, TOWN, FIRM = "Kimberly", "Kimmy", "Oslotown", "Acmeworks"
SOURCE = "told at the fair"


@dataclass
class FindsOne:
    """A language model that finds one fact in each text about Kimberly."""

    name: str = "finds one"

    def ask(self, request: Request) -> Answer:
        found = '{"facts": [{"subject": "Kimberly", "relation": "visited", "object": "Bergenville"}]}'
        return Answer(text=found, model=self.name, tokens_in=10, tokens_out=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactCase:
    """A memory with facts, a contradiction and a decision in one scope."""

    memory: Memory
    scope: str = "default"
    llm: object = field(default_factory=FindsOne)
    kept: dict[str, Any] = field(default_factory=dict)

    def prepare(self) -> None:
        memory, scope = self.memory, self.scope
        said = f"{PERSON} told everybody at the fair in Bergenville about it."
        memory.remember(said, id=SOURCE, scope=scope, occurred="2024-01-05")
        self.kept["fact"] = self._add(PERSON, "lives_in", TOWN, "2024-01-01")
        self._add(OTHER, "works_at", FIRM, "2024-01-01")
        self._add(FIRM, "located_in", TOWN, "2024-01-01")
        memory.remember("Always answer in metric units.", scope=scope, id="wish")
        self.renew()

    def renew(self) -> None:
        """So that there is something to resolve and to undo again."""
        first = self._add(PERSON, "status", "asleep", "2024-02-01", who="ann")
        self._add(PERSON, "status", "awake", "2024-02-01", who="bob")
        self.kept["rival"] = first
        self.kept["merge"] = self.memory.facts.merge(PERSON, OTHER, scope=self.scope)

    def _add(self, subject: str, relation: str, item: str, since: str, **details: Any) -> Fact:
        facts = self.memory.facts
        return facts.add(
            subject, relation, item, since=since, occurred=since, scope=self.scope, again=True, **details
        )


FactVerb = Callable[[FactCase], object]


def _resolve(case: FactCase) -> None:
    with suppress(NotFound):  # it was resolved before
        case.memory.facts.resolve(case.kept["rival"], scope=case.scope)


def _undo(case: FactCase) -> None:
    with suppress(NotFound):  # it was undone before
        case.memory.facts.undo(case.kept["merge"], scope=case.scope)


WRITING: dict[str, FactVerb] = {
    "add": lambda c: c.memory.facts.add(PERSON, "likes", "tea", sources=[SOURCE], scope=c.scope),
    "read": lambda c: c.memory.facts.read(c.llm, [SOURCE], scope=c.scope),
    "retract": lambda c: c.memory.facts.retract(c.kept["fact"], scope=c.scope),
    "merge": lambda c: c.memory.facts.merge(FIRM, TOWN, scope=c.scope),
    "resolve": _resolve,
    "undo": _undo,
}
READING: dict[str, FactVerb] = {
    "about": lambda c: c.memory.facts.about(PERSON, scope=c.scope),
    "match": lambda c: c.memory.facts.match(("?x", "works_at", "?y"), scope=c.scope),
    "neighbours": lambda c: c.memory.facts.neighbours(PERSON, scope=c.scope),
    "paths": lambda c: c.memory.facts.paths(PERSON, FIRM, scope=c.scope),
    "timeline": lambda c: c.memory.facts.timeline(PERSON, scope=c.scope),
    "entities": lambda c: c.memory.facts.entities(scope=c.scope),
    "profile": lambda c: c.memory.facts.profile(PERSON, scope=c.scope),
    "why": lambda c: c.memory.facts.why(c.kept["fact"], scope=c.scope),
    "instructions": lambda c: c.memory.facts.instructions(scope=c.scope),
    "contradictions": lambda c: c.memory.facts.contradictions(scope=c.scope),
    "decisions": lambda c: c.memory.facts.decisions(scope=c.scope),
    "export": lambda c: c.memory.facts.export(scope=c.scope),
    "networkx": lambda c: c.memory.facts.networkx(scope=c.scope),
}
FACT_VERBS: dict[str, FactVerb] = WRITING | READING
