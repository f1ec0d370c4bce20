"""Facts, further: why one is believed, what is one step away, who is who, and what was decided."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from ..serving import Decides, Reads
from .bodies import Id, RequestBody
from .facts_routes import (
    EntityBody,
    EntityReply,
    FactBody,
    FactId,
    FactTimes,
    Name,
    QuotationBody,
    add_question,
    add_route,
    tell_facts,
)
from .replies import StoredMemory, tell_record, tell_records
from .respond import answer

Because = Annotated[str, Field(max_length=10_000)]


class MergeBody(RequestBody):
    """Names of one and the same entity."""

    entity: Name
    others: Annotated[list[Name], Field(min_length=1, max_length=100)]
    because: Because | None = None


class SplitBody(RequestBody):
    """Memories that speak of another one of the same name."""

    entity: Name
    sources: Annotated[list[Id], Field(min_length=1, max_length=1_000)]
    name: Name = Field(description="What tells the new one from the old one, such as: from work.")
    because: Because | None = None


class DecisionId(RequestBody):
    """The id of a decision, from an answer."""

    id: Name


class FactsExportBody(FactTimes):
    """In which form facts leave."""

    format: Literal["json-ld", "mcp"] = "json-ld"
    ever: bool = Field(False, description="Of all times.")


class ExplanationReply(BaseModel):
    """Why the memory believes a fact."""

    fact: FactBody
    quotations: list[QuotationBody]
    ended_by: list[QuotationBody]
    rule: str
    premises: list[FactBody]


class NeighbourReply(BaseModel):
    entity: EntityReply
    fact: FactBody


class NeighbourList(BaseModel):
    neighbours: list[NeighbourReply]


class DecisionList(BaseModel):
    decisions: list[StoredMemory]


class FactsText(BaseModel):
    text: str


class UndoneReply(BaseModel):
    """The id of the decision that is taken back."""

    id: str


def add_to(router: APIRouter) -> None:
    add_question(router, why, ExplanationReply)
    add_question(router, neighbours, NeighbourList)
    add_question(router, export, FactsText)
    add_route(router, decisions, DecisionList)
    add_route(router, merge, StoredMemory)
    add_route(router, split, StoredMemory)
    add_route(router, undo, UndoneReply)


async def why(body: FactId, grant: Reads) -> Response:
    """The sentences behind a fact, what ended it, and the rule that inferred it."""
    found = await grant.memory.facts.why(body.id, scope=grant.scope)

    def tell() -> dict[str, Any]:
        return {
            "fact": found.fact.to_dict(),
            "quotations": [one.to_dict() for one in found.quotations],
            "ended_by": [one.to_dict() for one in found.ended_by],
            "rule": found.rule,
            "premises": tell_facts(found.premises),
        }

    return await answer(grant.serving, tell)


async def neighbours(body: EntityBody, grant: Reads) -> Response:
    """Who and what is one fact away."""
    found = await grant.memory.facts.neighbours(**dict(body), scope=grant.scope)

    def tell() -> dict[str, Any]:
        rows = []
        for one in found:
            rows.append({"entity": one.entity.to_dict(), "fact": one.fact.to_dict()})
        return {"neighbours": rows}

    return await answer(grant.serving, tell, size=len(found))


async def export(body: FactsExportBody, grant: Reads) -> Response:
    """The facts that hold, or ever held, as text: JSON-LD, GraphML, Mermaid or MCP."""
    text = await grant.memory.facts.export(**dict(body), scope=grant.scope)
    return await answer(grant.serving, lambda: {"text": text})


async def decisions(grant: Reads) -> Response:
    """What was decided about facts and entities, the oldest first."""
    found = await grant.memory.facts.decisions(scope=grant.scope)
    return await answer(grant.serving, lambda: {"decisions": tell_records(found)}, size=len(found))


async def merge(body: MergeBody, grant: Decides) -> Response:
    """Says that several names mean one entity."""
    stored = await grant.memory.facts.merge(
        body.entity, *body.others, scope=grant.single, because=body.because
    )
    return await answer(grant.serving, lambda: tell_record(stored))


async def split(body: SplitBody, grant: Decides) -> Response:
    """Says that what some memories tell is of another one of the same name."""
    stored = await grant.memory.facts.split(**dict(body), scope=grant.single)
    return await answer(grant.serving, lambda: tell_record(stored))


async def undo(body: DecisionId, grant: Decides) -> Response:
    """Takes a decision back: a merge, a split, a resolution or a retraction."""
    await grant.memory.facts.undo(body.id, scope=grant.single)
    return await answer(grant.serving, lambda: {"id": body.id})
