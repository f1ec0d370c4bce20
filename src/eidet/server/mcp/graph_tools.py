"""The nine tools of the reference knowledge-graph server, by their names, over records of this memory.

An agent that was written for that server finds the same tools, answers and rules here. What it stores is
part of the memory: types, observations and relations are facts (see `eidet.graph.graph_formats`), so that
`recall` and `facts` find them like everything else. They are pinned: upkeep leaves them alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final, TypeVar

from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field

from ...aio import AsyncMemory
from ...core.errors import NotFound
from ...core.record import Kind, Record, key_id
from ...core.where import Where
from ...graph.graph_formats import OBSERVATION, TYPE, McpFact, make_drafts, parse_mcp_fact
from ..access import Right
from .agent_access import AgentAccess
from .tool_answers import answer

_MOST: Final = 1_000_000  # facts


class GraphEntity(BaseModel):
    name: str = Field(description="The name of the entity")
    entityType: str = Field(description="The type of the entity")
    observations: list[str] = Field(description="An array of observation contents associated with the entity")

    @property
    def facts(self) -> list[McpFact]:
        observed = [McpFact(self.name, OBSERVATION, text) for text in dict.fromkeys(self.observations)]
        return [McpFact(self.name, TYPE, self.entityType), *observed]


class GraphRelation(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(populate_by_name=True, frozen=True)

    start: str = Field(alias="from", description="The name of the entity where the relation starts")
    end: str = Field(alias="to", description="The name of the entity where the relation ends")
    relationType: str = Field(description="The type of the relation")

    @property
    def fact(self) -> McpFact:
        return McpFact(self.start, self.relationType, self.end)


class EntityGraph(BaseModel):
    entities: list[GraphEntity]
    relations: list[GraphRelation]

    def narrow(self, chooses: Callable[[GraphEntity], bool]) -> EntityGraph:
        """Some entities, and every relation that begins or ends at one of them."""
        entities = [entity for entity in self.entities if chooses(entity)]
        names = {entity.name for entity in entities}
        relations = [one for one in self.relations if one.start in names or one.end in names]
        return EntityGraph(entities=entities, relations=relations)


def _build_graph(facts: Iterable[McpFact]) -> EntityGraph:
    """The graph that facts make, in the order in which they were stored."""
    rows = list(dict.fromkeys(facts))
    types = {fact.subject: fact.object for fact in rows if fact.relation == TYPE}
    observed: dict[str, list[str]] = {name: [] for name in types}
    for fact in rows:
        if fact.relation == OBSERVATION and fact.subject in observed:
            observed[fact.subject].append(fact.object)
    return EntityGraph(
        entities=[
            GraphEntity(name=name, entityType=type, observations=observed[name])
            for name, type in types.items()
        ],
        relations=[
            GraphRelation.model_validate(
                {"from": fact.subject, "to": fact.object, "relationType": fact.relation}
            )
            for fact in rows
            if fact.relation not in (TYPE, OBSERVATION)
        ],
    )


class KnowledgeGraph:
    """The graph of one scope. Every method is one or two verbs of the memory."""

    def __init__(self, memory: AsyncMemory, scope: str) -> None:
        self._memory = memory
        self._scope = scope

    async def read(self) -> EntityGraph:
        return _build_graph(fact for _, fact in await self._list_facts())

    async def create_entities(self, entities: Sequence[GraphEntity]) -> list[GraphEntity]:
        """Creates the entities whose names are new, and returns them; the others stay as they are."""
        known = await self._list_names()
        new = {entity.name: entity for entity in reversed(entities) if entity.name not in known}
        created = [entity for entity in entities if new.get(entity.name) is entity]
        await self._store([fact for entity in created for fact in entity.facts])
        return created

    async def create_relations(self, relations: Sequence[GraphRelation]) -> list[GraphRelation]:
        """Creates the relations that are new, and returns them."""
        asked = list(dict.fromkeys(relations))
        new = await self._list_new([relation.fact for relation in asked])
        await self._store(new)
        return [relation for relation in asked if relation.fact in new]

    async def add_observations(self, name: str, contents: Sequence[str]) -> list[str]:
        """Adds the contents that are new for an entity that exists, and returns them."""
        new = await self._list_new([McpFact(name, OBSERVATION, text) for text in dict.fromkeys(contents)])
        await self._store(new)
        return [fact.object for fact in new]

    async def check_entities(self, names: Sequence[str]) -> None:
        known = await self._list_names()
        for name in names:
            if name not in known:
                raise NotFound(f"there is no entity {name!r}; create_entities makes one")

    async def delete_entities(self, names: Sequence[str]) -> None:
        """Deletes entities with their observations and all relations that begin or end there."""
        gone, valued = set(names), (TYPE, OBSERVATION)
        await self._delete(
            lambda fact: fact.subject in gone or (fact.object in gone and fact.relation not in valued)
        )

    async def delete_observations(self, name: str, contents: Sequence[str]) -> None:
        gone = {McpFact(name, OBSERVATION, content) for content in contents}
        await self._delete(gone.__contains__)

    async def delete_relations(self, relations: Sequence[GraphRelation]) -> None:
        """Deletes relations, also those that other verbs stored as facts."""
        gone = {relation.fact for relation in relations}
        await self._delete(gone.__contains__)

    async def _list_facts(self, relation: str | None = None) -> list[tuple[str, McpFact]]:
        """Lists the facts that callers stated, or those of one relation, with their record ids."""
        wanted = {"$exists": True} if relation is None else {"$eq": relation}
        told = {"data.relation": wanted, "kind": Kind.TRIPLE.value}
        records = await self._memory.find(told, scope=self._scope, order="created", limit=_MOST)
        facts = [(record.id, parse_mcp_fact(record)) for record in records if _is_stored(record)]
        return [(id, fact) for id, fact in facts if fact is not None]

    async def _list_names(self) -> set[str]:
        return {fact.subject for _, fact in await self._list_facts(TYPE)}

    async def _list_new(self, facts: Sequence[McpFact]) -> list[McpFact]:
        known = await self._memory.get([key_id(fact.key) for fact in facts], scope=self._scope)
        return [fact for fact, found in zip(facts, known, strict=True) if found is None]

    async def _store(self, facts: Sequence[McpFact]) -> None:
        if facts:
            drafts = [replace(draft, pinned=True) for draft in make_drafts(facts)]
            await self._memory.remember(drafts, scope=self._scope)

    async def _delete(self, chooses: Callable[[McpFact], bool]) -> None:
        """Deletes facts, not for good: they may be created again."""
        ids = tuple(id for id, fact in await self._list_facts() if chooses(fact))
        if ids:
            await self._memory.forget(where=Where(ids=ids), scope=self._scope, for_good=False)


def _is_stored(record: Record) -> bool:
    """Tells whether a fact was stated by a caller; one that rules read is part of its text."""
    return "#" not in record.id


GRAPH_URI: Final = "memory://knowledge-graph"
T = TypeVar("T")


class EntitiesAnswer(BaseModel):
    entities: list[GraphEntity]


class RelationsAnswer(BaseModel):
    relations: list[GraphRelation]


class NewObservations(BaseModel):
    entityName: str = Field(description="The name of the entity to add the observations to")
    contents: list[str] = Field(description="An array of observation contents to add")


class AddedObservations(BaseModel):
    entityName: str
    addedObservations: list[str]


class ObservationsAnswer(BaseModel):
    results: list[AddedObservations]


class OldObservations(BaseModel):
    entityName: str = Field(description="The name of the entity containing the observations")
    observations: list[str] = Field(description="An array of observations to delete")


class DeletedAnswer(BaseModel):
    success: bool
    message: str


EntityNames = Annotated[list[str], Field(description="An array of entity names to delete")]
_SearchText = Annotated[
    str, Field(description="The search query to match against entity names, types, and observation content")
]
_NodeNames = Annotated[list[str], Field(description="An array of entity names to retrieve")]


class GraphTools:
    """The tools over the graph of the caller's usual scope."""

    def __init__(self, memory: AsyncMemory, access: AgentAccess) -> None:
        self._memory = memory
        self._access = access

    async def create_entities(self, entities: list[GraphEntity]) -> Annotated[CallToolResult, EntitiesAnswer]:
        """Create multiple new entities in the knowledge graph"""
        with self._access.enter() as place:
            new = await self._graph(place).create_entities(entities)
        shown = self._tell_new(new, entities)
        return _answer_json(shown, EntitiesAnswer(entities=shown))

    async def create_relations(
        self, relations: list[GraphRelation]
    ) -> Annotated[CallToolResult, RelationsAnswer]:
        """Create multiple new relations between entities in the knowledge graph. Relations should be in
        active voice"""
        with self._access.enter() as place:
            new = await self._graph(place).create_relations(relations)
        shown = self._tell_new(new, relations)
        return _answer_json(shown, RelationsAnswer(relations=shown))

    async def add_observations(
        self, observations: list[NewObservations]
    ) -> Annotated[CallToolResult, ObservationsAnswer]:
        """Add new observations to existing entities in the knowledge graph"""
        results = []
        with self._access.enter() as place:
            graph = self._graph(place)
            await graph.check_entities([one.entityName for one in observations])
            for one in observations:
                new = await graph.add_observations(one.entityName, one.contents)
                added = self._tell_new(new, one.contents)
                results.append(AddedObservations(entityName=one.entityName, addedObservations=added))
        return _answer_json(results, ObservationsAnswer(results=results))

    async def delete_entities(self, entityNames: EntityNames) -> Annotated[CallToolResult, DeletedAnswer]:
        """Delete multiple entities and their associated relations from the knowledge graph"""
        with self._access.enter() as place:
            await self._graph(place).delete_entities(entityNames)
        return _answer_deleted("Entities deleted successfully")

    async def delete_observations(
        self, deletions: list[OldObservations]
    ) -> Annotated[CallToolResult, DeletedAnswer]:
        """Delete specific observations from entities in the knowledge graph"""
        with self._access.enter() as place:
            for one in deletions:
                await self._graph(place).delete_observations(one.entityName, one.observations)
        return _answer_deleted("Observations deleted successfully")

    async def delete_relations(
        self, relations: list[GraphRelation]
    ) -> Annotated[CallToolResult, DeletedAnswer]:
        """Delete multiple relations from the knowledge graph"""
        with self._access.enter() as place:
            await self._graph(place).delete_relations(relations)
        return _answer_deleted("Relations deleted successfully")

    async def read_graph(self) -> Annotated[CallToolResult, EntityGraph]:
        """Read the entire knowledge graph"""
        graph = await self._read()
        return _answer_json(graph, graph)

    async def search_nodes(self, query: _SearchText) -> Annotated[CallToolResult, EntityGraph]:
        """Search for nodes in the knowledge graph based on a query"""
        found = (await self._read()).narrow(lambda entity: _matches(entity, query))
        return _answer_json(found, found)

    async def open_nodes(self, names: _NodeNames) -> Annotated[CallToolResult, EntityGraph]:
        """Open specific nodes in the knowledge graph by their names"""
        found = (await self._read()).narrow(lambda entity: entity.name in names)
        return _answer_json(found, found)

    async def read_resource(self) -> str:
        """The full knowledge graph with all entities and relations"""
        return _to_json(await self._read())

    async def _read(self) -> EntityGraph:
        with self._access.enter() as place:
            return await self._graph(place).read()

    def _tell_new(self, new: list[T], given: list[T]) -> list[T]:
        """Returns what was new; without the right to read, everything the caller gave."""
        return new if self._access.may(Right.READ) else given

    def _graph(self, scope: str) -> KnowledgeGraph:
        return KnowledgeGraph(self._memory, scope)


def _matches(entity: GraphEntity, query: str) -> bool:
    """Tells whether its name, type or an observation contains the text, in any case."""
    wanted = query.lower()
    return any(wanted in text.lower() for text in (entity.name, entity.entityType, *entity.observations))


def _answer_json(shown: Any, values: BaseModel) -> CallToolResult:
    """Answers like the reference server: indented JSON for a model, and the same as values."""
    return answer(_to_json(shown), values)


def _answer_deleted(message: str) -> CallToolResult:
    return answer(message, DeletedAnswer(success=True, message=message))


def _to_json(shown: Any) -> str:
    if isinstance(shown, BaseModel):
        plain: Any = shown.model_dump(mode="json", by_alias=True)
    else:
        plain = [one.model_dump(mode="json", by_alias=True) for one in shown]
    return json.dumps(plain, indent=2, ensure_ascii=False)
