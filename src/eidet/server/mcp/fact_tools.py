"""The tool for facts: what holds, what held, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from mcp.types import CallToolResult

from ...aio import AsyncMemory
from ...core.errors import BadInput
from ...core.scope import Scope
from ...graph.fact import Fact
from .agent_access import AgentAccess
from .tool_answers import FactsAnswer, answer, make_fact, tell_fact
from .tool_arguments import About, AsOf, EverHeld, KnownAt, Limit, Object, Relation, ScopeNames, Subject


class FactTools:
    """`memory.facts` for callers that `access` admits."""

    def __init__(self, memory: AsyncMemory, access: AgentAccess) -> None:
        self._memory = memory
        self._access = access

    async def facts(
        self,
        about: About = None,
        subject: Subject = None,
        relation: Relation = None,
        object: Object = None,
        as_of: AsOf = None,
        known_at: KnownAt = None,
        ever: EverHeld = False,
        limit: Limit = 50,
        scope: ScopeNames = None,
    ) -> Annotated[CallToolResult, FactsAnswer]:
        """Tells facts with their times: who lives where, works at what, likes what, and since when.

        Ask `about` somebody or something, or give subject, relation or object. It answers what holds now;
        `as_of` asks for another time, `known_at` for what the memory knew then, `ever` for everything that
        held. The memory reads facts out of what it is told; use recall for what was said in other words.
        """
        _check_asked(about, subject, relation, object)
        times = _FactsAskedAt(as_of, known_at, ever)
        times.check()
        with self._access.enter_all(scope) as place:
            if about is not None:
                found = await self._list_about(about, relation, times, place)
            else:
                found = await self._match(subject, relation, object, times, limit, place)
        lines = [tell_fact(fact) for fact in found[:limit]]
        values = FactsAnswer(facts=[make_fact(fact) for fact in found[:limit]])
        return answer("\n".join(lines) or "no such fact is known", values)

    async def _list_about(
        self, about: str, relation: str | None, times: _FactsAskedAt, place: Scope
    ) -> list[Fact]:
        wanted, known_at = _name_relation(relation), times.known_at
        if times.ever:
            return await self._memory.facts.timeline(about, relation=wanted, scope=place, known_at=known_at)
        facts = await self._memory.facts.about(about, scope=place, as_of=times.as_of, known_at=known_at)
        if wanted is None:
            return facts
        return [fact for fact in facts if fact.relation == wanted]

    async def _match(
        self,
        subject: str | None,
        relation: str | None,
        object: str | None,
        times: _FactsAskedAt,
        limit: int,
        place: Scope,
    ) -> list[Fact]:
        matches = await self._memory.facts.match(
            subject=subject,
            relation=_name_relation(relation),
            object=object,
            scope=place,
            as_of=times.as_of,
            known_at=times.known_at,
            ever=times.ever,
            limit=limit,
        )
        found: dict[str, Fact] = {}
        for match in matches:
            for fact in match.facts:
                found.setdefault(f"{fact.id} {fact.text}", fact)
        return list(found.values())


@dataclass(frozen=True, slots=True)
class _FactsAskedAt:
    """The time that a question about facts means; the present by default."""

    as_of: str | None
    known_at: str | None
    ever: bool

    def check(self) -> None:
        if self.ever and self.as_of is not None:
            raise BadInput("facts takes as_of or ever, not both")


def _check_asked(about: str | None, subject: str | None, relation: str | None, object: str | None) -> None:
    """A call must name something, and every part of it must count."""
    if about is None and subject is None and relation is None and object is None:
        raise BadInput("facts needs about, or one of subject, relation and object")
    if about is not None and (subject is not None or object is not None):
        raise BadInput("facts takes about, or subject and object, not both")


def _name_relation(relation: str | None) -> str | None:
    """`lives in` is `lives_in`."""
    return None if relation is None else "_".join(relation.casefold().split())
