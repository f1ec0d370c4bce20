"""The MCP tool for present and past facts and their times."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.types import CallToolResult

from ...aio import AsyncMemory
from ...core.errors import BadInput
from .agent_access import AgentAccess
from .tool_answers import FactsAnswer, answer, make_fact, tell_fact
from .tool_arguments import takes


class FactTools:
    """`memory.facts` for callers that `access` admits."""

    def __init__(self, memory: AsyncMemory, access: AgentAccess) -> None:
        self._memory = memory
        self._access = access

    @takes()
    async def facts(
        self,
        about: str | None = None,
        subject: str | None = None,
        relation: str | None = None,
        object: str | None = None,
        as_of: str | None = None,
        known_at: str | None = None,
        ever: bool = False,
        limit: int = 50,
        scope: str | list[str] | None = None,
    ) -> Annotated[CallToolResult, FactsAnswer]:
        """Tells facts with their times: who lives where, works at what, likes what, and since when.

        Ask `about` somebody or something, or give subject, relation or object. It answers what holds now;
        `as_of` asks for another time, `known_at` for what the memory knew then, `ever` for everything that
        held. The memory reads facts out of what it is told; use recall for what was said in other words.
        """
        _check_asked(about, subject, relation, object)
        if ever and as_of is not None:
            raise BadInput("facts takes as_of or ever, not both")
        wanted = relation and "_".join(relation.casefold().split())  # `lives in` is `lives_in`
        with self._access.enter_all(scope) as place:
            facts, asked = self._memory.facts, dict[str, Any](scope=place, known_at=known_at)
            if about is None:
                pattern: dict[str, Any] = {"subject": subject, "relation": wanted, "object": object}
                matches = await facts.match(**pattern, as_of=as_of, ever=ever, limit=limit, **asked)
                stated = {(one.id, one.text): one for match in matches for one in match.facts}
                found = list(stated.values())
            elif ever:
                found = await facts.timeline(about, relation=wanted, **asked)
            else:
                held = await facts.about(about, as_of=as_of, **asked)
                found = [fact for fact in held if wanted in (None, fact.relation)]
        lines = [tell_fact(fact, scopes=not place.is_one) for fact in found[:limit]]
        values = FactsAnswer(facts=[make_fact(fact) for fact in found[:limit]])
        return answer("\n".join(lines) or "no such fact is known", values)


def _check_asked(about: str | None, subject: str | None, relation: str | None, object: str | None) -> None:
    """Refuses a call that names nothing, or names more than `about` can be combined with."""
    if about is None and subject is None and relation is None and object is None:
        raise BadInput("facts needs about, or one of subject, relation and object")
    if about is not None and (subject is not None or object is not None):
        raise BadInput("facts takes about, or subject and object, not both")
