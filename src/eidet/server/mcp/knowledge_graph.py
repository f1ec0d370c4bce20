"""The knowledge graph of a scope as the reference server shows it: a view of the facts that were told.

An entity's type, its observations and its relations are facts (see `eidet.graph.mcp_memory`), so that
`recall` and `facts` find them like everything else. They are pinned: upkeep leaves them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field

from ...aio import AsyncMemory
from ...core.errors import NotFound
from ...core.record import Kind, Record, key_id
from ...core.where import Where
from ...graph.mcp_memory import OBSERVATION, TYPE, McpFact, make_drafts, read_mcp_fact

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
        """Those that are new, by name; the others stay as they are."""
        known = await self._list_names()
        new = {entity.name: entity for entity in reversed(entities) if entity.name not in known}
        created = [entity for entity in entities if new.get(entity.name) is entity]
        await self._store([fact for entity in created for fact in entity.facts])
        return created

    async def create_relations(self, relations: Sequence[GraphRelation]) -> list[GraphRelation]:
        """Those that are new."""
        asked = list(dict.fromkeys(relations))
        new = await self._list_new([relation.fact for relation in asked])
        await self._store(new)
        return [relation for relation in asked if relation.fact in new]

    async def add_observations(self, name: str, contents: Sequence[str]) -> list[str]:
        """The contents that are new for an entity that exists."""
        new = await self._list_new([McpFact(name, OBSERVATION, text) for text in dict.fromkeys(contents)])
        await self._store(new)
        return [fact.object for fact in new]

    async def check_entities(self, names: Sequence[str]) -> None:
        known = await self._list_names()
        for name in names:
            if name not in known:
                raise NotFound(f"there is no entity {name!r}; create_entities makes one")

    async def delete_entities(self, names: Sequence[str]) -> None:
        """With their observations and all relations that begin or end there."""
        gone, valued = set(names), (TYPE, OBSERVATION)
        await self._delete(
            lambda fact: fact.subject in gone or (fact.object in gone and fact.relation not in valued)
        )

    async def delete_observations(self, name: str, contents: Sequence[str]) -> None:
        gone = {McpFact(name, OBSERVATION, content) for content in contents}
        await self._delete(gone.__contains__)

    async def delete_relations(self, relations: Sequence[GraphRelation]) -> None:
        """Whoever stored them: also facts that were told in another way."""
        gone = {relation.fact for relation in relations}
        await self._delete(gone.__contains__)

    async def _list_facts(self, relation: str | None = None) -> list[tuple[str, McpFact]]:
        """The facts that were told, or those of one relation, with the ids of their records."""
        wanted = {"$exists": True} if relation is None else {"$eq": relation}
        told = {"data.relation": wanted, "kind": Kind.TRIPLE.value}
        records = await self._memory.find(told, scope=self._scope, order="created", limit=_MOST)
        facts = [(record.id, read_mcp_fact(record)) for record in records if _is_stored(record)]
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
        """Not for good: what is deleted here may be created again."""
        ids = tuple(id for id, fact in await self._list_facts() if chooses(fact))
        if ids:
            await self._memory.forget(where=Where(ids=ids), scope=self._scope, for_good=False)


def _is_stored(record: Record) -> bool:
    """Whether a fact was told; those that rules read out of a text are parts of that text."""
    return "#" not in record.id
