"""The nine tools of the reference knowledge-graph server, by their names, over records of this memory.

An agent that was written for that server finds the same tools, answers and rules here. What it stores is
part of the memory: `recall` finds it, history keeps it, keys confine it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeVar

from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from ...aio import AsyncMemory
from ..access import Right
from .agent_access import AgentAccess
from .knowledge_graph import EntityGraph, GraphEntity, GraphRelation, KnowledgeGraph
from .tool_answers import answer

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
SearchText = Annotated[
    str, Field(description="The search query to match against entity names, types, and observation content")
]
NodeNames = Annotated[list[str], Field(description="An array of entity names to retrieve")]


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

    async def search_nodes(self, query: SearchText) -> Annotated[CallToolResult, EntityGraph]:
        """Search for nodes in the knowledge graph based on a query"""
        found = (await self._read()).narrow(lambda entity: _matches(entity, query))
        return _answer_json(found, found)

    async def open_nodes(self, names: NodeNames) -> Annotated[CallToolResult, EntityGraph]:
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
        """What was new; whoever may not read is not told what was there already."""
        return new if self._access.may(Right.READ) else given

    def _graph(self, scope: str) -> KnowledgeGraph:
        return KnowledgeGraph(self._memory, scope)


def _matches(entity: GraphEntity, query: str) -> bool:
    """Whether its name, type or an observation has the text, in whatever case."""
    wanted = query.lower()
    return any(wanted in text.lower() for text in (entity.name, entity.entityType, *entity.observations))


def _answer_json(shown: Any, values: BaseModel) -> CallToolResult:
    """As the reference server answers: indented JSON for a model, and the same as values."""
    return answer(_to_json(shown), values)


def _answer_deleted(message: str) -> CallToolResult:
    return answer(message, DeletedAnswer(success=True, message=message))


def _to_json(shown: Any) -> str:
    if isinstance(shown, BaseModel):
        plain: Any = shown.model_dump(mode="json", by_alias=True)
    else:
        plain = [one.model_dump(mode="json", by_alias=True) for one in shown]
    return json.dumps(plain, indent=2, ensure_ascii=False)
