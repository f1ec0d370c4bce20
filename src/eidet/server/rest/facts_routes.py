"""Facts: what held when, who is who, what was decided about it.

Each route is a verb of `memory.facts`, and the fields of its body are the arguments of the verb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from ...graph.fact import Entity, Fact
from ..serving import Decides, Grant, Reads
from .bodies import Label, RequestBody, SourceTrust, Time
from .leaving import LeavableRoute
from .replies import StoredMemory, tell_record
from .respond import answer, errors

TAGS: Final[list[Any]] = ["facts"]
Pattern = Annotated[list[str | None], Field(min_length=3, max_length=3)]
Name = Annotated[str, Field(min_length=1, max_length=1_000)]


class FactTimes(RequestBody):
    """Which time is asked about, if it is not the present."""

    as_of: Time | None = Field(None, description="What was true then.")
    known_at: Time | None = Field(None, description="What the memory knew then.")


class KnownBody(RequestBody):
    """At which time the memory is asked, if not now."""

    known_at: Time | None = Field(None, description="What the memory knew then.")


class EntityBody(FactTimes):
    """Who or what is asked about: a name, or the id of an entity."""

    entity: Name


class TimelineBody(RequestBody):
    """Whose facts are told, and what the memory knew of them at a time."""

    entity: Name
    relation: Name | None = Field(None, description="Only facts of this relation, such as lives_in.")
    known_at: Time | None = Field(None, description="What the memory knew then.")


class EntitiesBody(RequestBody):
    """Which entities are meant: all, unless a name or a kind is given."""

    name: Name | None = None
    kind: Literal["person", "place", "organisation", "thing", "event"] | None = None


class InstructionsBody(FactTimes):
    """Which standing wishes are asked for."""

    preferences: bool = Field(True, description="false: instructions only.")


class PathsBody(FactTimes):
    """Two entities, and how many facts may lie between them."""

    start: Name
    goal: Name
    hops: Annotated[int, Field(ge=1, le=4)] = 4


class MatchBody(FactTimes):
    """Patterns that must hold together. A part that begins with `?` is a variable; null matches anything."""

    patterns: Annotated[list[Pattern], Field(min_length=1, max_length=8)]
    ever: bool = Field(False, description="Of all times.")
    infer: bool = Field(True, description="Add what follows by rules: inverses, parts of parts.")
    limit: Annotated[int, Field(ge=1, le=10_000)] = 100


class NewFact(RequestBody):
    """A fact to state."""

    subject: Name
    relation: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[a-z][a-z0-9_]*$")]
    object: Name
    since: Time | None = None
    until: Time | None = None
    ended: bool = False
    negated: bool = False
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    sources: Annotated[list[str], Field(max_length=1_000)] = Field(
        default_factory=list, description="Ids of the memories that it was read from."
    )
    who: Label | None = None
    session: Label | None = None
    agent: Label | None = None
    occurred: Time | None = Field(None, description="When it was said; now if you give none.")
    trust: SourceTrust | None = None


class FactId(RequestBody):
    """The id of a fact, from an answer."""

    id: Name
    because: Annotated[str, Field(max_length=10_000)] | None = Field(None, description="Why, for later.")


class FactBody(BaseModel):
    """That something held, from when to when, and since when the memory knows it."""

    id: str
    scope: str
    text: str
    subject: str
    relation: str
    object: str
    negated: bool
    valid_from: str | None
    valid_to: str | None
    known_from: str
    known_to: str | None
    confidence: float
    sources: list[str]
    derived: str
    superseded_by: str | None
    nature: str
    trust: str
    subject_id: str
    object_id: str
    seqs: list[int]


class FactList(BaseModel):
    facts: list[FactBody]


class EntityReply(BaseModel):
    """Somebody or something that texts speak of."""

    id: str
    name: str
    kind: str
    aliases: list[str]
    scope: str
    facts: int


class EntityList(BaseModel):
    entities: list[EntityReply]


class MatchReply(BaseModel):
    """What each variable stands for, and the facts that say so."""

    bindings: dict[str, str]
    facts: list[FactBody]


class MatchList(BaseModel):
    matches: list[MatchReply]


class PathList(BaseModel):
    paths: list[list[FactBody]]


class QuotationBody(BaseModel):
    """The sentence of a memory that states a fact."""

    id: str
    text: str
    occurred: str | None
    who: str | None
    trust: str
    source: str | None


class Dispute(BaseModel):
    """Facts that cannot hold together; `quotations` has for each fact the sentences that state it."""

    subject: str
    relation: str
    facts: list[FactBody]
    quotations: list[list[QuotationBody]]


class DisputeList(BaseModel):
    contradictions: list[Dispute]


class ProfileReply(BaseModel):
    text: str


def add_to(router: APIRouter) -> None:
    add_question(router, about, FactList)
    add_question(router, timeline, FactList)
    add_question(router, entities, EntityList)
    add_question(router, profile, ProfileReply)
    add_question(router, match, MatchList)
    add_question(router, paths, PathList)
    add_question(router, contradictions, DisputeList)
    add_question(router, instructions, FactList)
    add_route(router, add, FactBody)
    add_route(router, resolve, StoredMemory)
    add_route(router, retract, StoredMemory)


def add_route(
    router: APIRouter, run: Callable[..., Any], model: type[BaseModel], route: type[APIRoute] = APIRoute
) -> None:
    """A verb of facts: its function says its name."""
    name = run.__name__
    router.add_api_route(
        f"/facts/{name}",
        run,
        methods=["POST"],
        tags=TAGS,
        operation_id=f"facts_{name}",
        response_model=model,
        responses=errors(),
        route_class_override=route,
    )


def add_question(router: APIRouter, run: Callable[..., Any], model: type[BaseModel]) -> None:
    """A verb of facts that only reads: its work ends when the client leaves."""
    add_route(router, run, model, LeavableRoute)


def tell_facts(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    return [fact.to_dict() for fact in facts]


async def answer_facts(grant: Grant, facts: Sequence[Fact]) -> Response:
    return await answer(grant.serving, lambda: {"facts": tell_facts(facts)}, size=len(facts))


def tell_entities(found: Sequence[Entity]) -> list[dict[str, Any]]:
    return [entity.to_dict() for entity in found]


async def about(body: EntityBody, grant: Reads) -> Response:
    """What holds of an entity."""
    return await answer_facts(grant, await grant.memory.facts.about(**dict(body), scope=grant.scope))


async def timeline(body: TimelineBody, grant: Reads) -> Response:
    """All that ever held of an entity, the earliest first."""
    return await answer_facts(grant, await grant.memory.facts.timeline(**dict(body), scope=grant.scope))


async def entities(grant: Reads, body: EntitiesBody | None = None) -> Response:
    """Everybody and everything that is spoken of, most often named first; or those that a name may mean."""
    found = await grant.memory.facts.entities(**dict(body or EntitiesBody()), scope=grant.scope)
    return await answer(grant.serving, lambda: {"entities": tell_entities(found)}, size=len(found))


async def profile(body: EntityBody, grant: Reads) -> Response:
    """What holds of an entity, as a short text."""
    text = await grant.memory.facts.profile(**dict(body), scope=grant.scope)
    return await answer(grant.serving, lambda: {"text": text})


async def match(body: MatchBody, grant: Reads) -> Response:
    """The ways in which all patterns hold together."""
    asked = dict(body)
    found = await grant.memory.facts.match(*asked.pop("patterns"), **asked, scope=grant.scope)

    def tell() -> dict[str, Any]:
        matches = []
        for one in found:
            matches.append({"bindings": dict(one.bindings), "facts": tell_facts(one.facts)})
        return {"matches": matches}

    return await answer(grant.serving, tell, size=len(found))


async def paths(body: PathsBody, grant: Reads) -> Response:
    """The shortest ways between two entities, as the facts along them."""
    found = await grant.memory.facts.paths(**dict(body), scope=grant.scope)
    return await answer(grant.serving, lambda: {"paths": [tell_facts(way) for way in found]}, size=len(found))


async def contradictions(grant: Reads, body: KnownBody | None = None) -> Response:
    """What cannot hold together and is not decided."""
    found = await grant.memory.facts.contradictions(
        **dict(body or KnownBody(known_at=None)), scope=grant.scope
    )
    return await answer(grant.serving, lambda: {"contradictions": [one.to_dict() for one in found]})


async def instructions(body: InstructionsBody, grant: Reads) -> Response:
    """Standing instructions and preferences that hold."""
    return await answer_facts(grant, await grant.memory.facts.instructions(**dict(body), scope=grant.scope))


async def add(body: NewFact, grant: Decides) -> Response:
    """States a fact. The answer tells what the memory makes of it, so this needs the right read as well."""
    fields = dict(body)
    for name in ("who", "session", "agent", "occurred", "trust"):
        if fields[name] is None:
            del fields[name]
    fact = await grant.memory.facts.add(**fields, scope=grant.single)
    return await answer(grant.serving, fact.to_dict)


async def resolve(body: FactId, grant: Decides) -> Response:
    """Decides a contradiction: the fact with this id stays, its rivals never held. `undo` undoes it."""
    stored = await grant.memory.facts.resolve(body.id, scope=grant.single, because=body.because)
    return await answer(grant.serving, lambda: tell_record(stored))


async def retract(body: FactId, grant: Decides) -> Response:
    """Takes a fact back; the texts that say so stay."""
    stored = await grant.memory.facts.retract(body.id, scope=grant.single, because=body.because)
    return await answer(grant.serving, lambda: tell_record(stored))
