"""A knowledge graph of entities, observations and relations, kept as records of a scope.

An entity is a triple ("Ann is a person"), a relation another one ("Ann works at Acme"), an observation a
fact with the name of its entity in front. So `recall` finds them like everything else. Each has a key of its
own, so that two agents who store the same thing store it once. They are pinned: upkeep leaves them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field

from ...aio import AsyncMemory
from ...core.draft import Draft
from ...core.errors import NotFound
from ...core.record import Kind, Record, key_id
from ...core.where import Where

IS_A: Final = "is_a"
MOST_NODES: Final = 1_000_000
ENTITY, OBSERVATION, RELATION = "entity", "observation", "relation"


class GraphEntity(BaseModel):
    name: str = Field(description="The name of the entity")
    entityType: str = Field(description="The type of the entity")
    observations: list[str] = Field(description="An array of observation contents associated with the entity")


class GraphRelation(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(populate_by_name=True, frozen=True)

    start: str = Field(alias="from", description="The name of the entity where the relation starts")
    end: str = Field(alias="to", description="The name of the entity where the relation ends")
    relationType: str = Field(description="The type of the relation")


class EntityGraph(BaseModel):
    entities: list[GraphEntity]
    relations: list[GraphRelation]


def entity_draft(entity: GraphEntity) -> Draft:
    data = {
        "subject": {"name": entity.name, "kind": entity.entityType},
        "relation": IS_A,
        "object": entity.entityType,
    }
    return Draft(
        text=f"{entity.name} is a {entity.entityType}",
        data=data,
        kind=Kind.TRIPLE,
        key=key_of(ENTITY, entity.name),
        meta={"graph": ENTITY, "entity": entity.name},
        pinned=True,
    )


def observation_draft(name: str, content: str) -> Draft:
    return Draft(
        text=f"{name}: {content}",
        kind=Kind.FACT,
        key=key_of(OBSERVATION, name, content),
        meta={"graph": OBSERVATION, "entity": name, "content": content},
        pinned=True,
    )


def relation_draft(relation: GraphRelation) -> Draft:
    data = {"subject": relation.start, "relation": relation.relationType, "object": relation.end}
    return Draft(
        text=f"{relation.start} {relation.relationType} {relation.end}",
        data=data,
        kind=Kind.TRIPLE,
        key=relation_key(relation),
        meta={"graph": RELATION},
        pinned=True,
    )


def relation_key(relation: GraphRelation) -> str:
    return key_of(RELATION, relation.start, relation.relationType, relation.end)


def key_of(*parts: str) -> str:
    return "\x1f".join(("graph", *parts))


def read_entity(record: Record) -> GraphEntity:
    """Without its observations, which are records of their own."""
    data, kind = record.whole.data, ""
    if isinstance(data, Mapping):
        kind = str(data.get("object"))
    return GraphEntity(name=str(record.meta.get("entity")), entityType=kind, observations=[])


def read_relation(record: Record) -> GraphRelation | None:
    """The relation that a triple states; None for a triple that says something else."""
    data = record.whole.data
    if not isinstance(data, Mapping) or record.meta.get("graph") == ENTITY:
        return None
    start, kind, end = read_name(data.get("subject")), data.get("relation"), read_name(data.get("object"))
    if start is None or end is None or not isinstance(kind, str):
        return None
    return GraphRelation.model_validate({"from": start, "to": end, "relationType": kind})


def read_name(mention: Any) -> str | None:
    if isinstance(mention, Mapping):
        mention = mention.get("name")
    if isinstance(mention, str) and mention:
        return mention
    return None


def build_graph(records: Iterable[Record]) -> EntityGraph:
    """The graph that records of a scope hold, in the order in which they were stored."""
    entities: dict[str, GraphEntity] = {}
    relations: dict[GraphRelation, None] = {}
    contents: list[tuple[str, str]] = []
    for record in records:
        part, name = record.meta.get("graph"), record.meta.get("entity")
        if part == ENTITY:
            entities[str(name)] = read_entity(record)
        elif part == OBSERVATION:
            contents.append((str(name), str(record.meta["content"])))
        elif record.kind is Kind.TRIPLE and (relation := read_relation(record)) is not None:
            relations[relation] = None
    for name, content in contents:
        if name in entities:
            entities[name].observations.append(content)
    return EntityGraph(entities=list(entities.values()), relations=list(relations))


class KnowledgeGraph:
    """The graph of one scope. Every method is one or two verbs of the memory."""

    def __init__(self, memory: AsyncMemory, scope: str) -> None:
        self._memory = memory
        self._scope = scope

    async def read(self) -> EntityGraph:
        marked = {"$or": [{"kind": Kind.TRIPLE.value}, {"meta.graph": OBSERVATION}]}
        records = await self._memory.find(marked, scope=self._scope, order="created", limit=MOST_NODES)
        return build_graph(records)

    async def create_entities(self, entities: Sequence[GraphEntity]) -> list[GraphEntity]:
        """Those that are new, by name; the others stay as they are."""
        known = await self._find([key_of(ENTITY, one.name) for one in entities])
        new: dict[str, GraphEntity] = {}
        for entity, found in zip(entities, known, strict=True):
            if found is None:
                new.setdefault(entity.name, entity)
        drafts = []
        for entity in new.values():
            drafts.append(entity_draft(entity))
            for content in dict.fromkeys(entity.observations):
                drafts.append(observation_draft(entity.name, content))
        await self._store(drafts)
        return list(new.values())

    async def create_relations(self, relations: Sequence[GraphRelation]) -> list[GraphRelation]:
        known = await self._find([relation_key(one) for one in relations])
        new: dict[GraphRelation, Draft] = {}
        for relation, found in zip(relations, known, strict=True):
            if found is None:
                new[relation] = relation_draft(relation)
        await self._store(list(new.values()))
        return list(new)

    async def add_observations(self, name: str, contents: Sequence[str]) -> list[str]:
        """The contents that are new for an entity that exists."""
        wanted = list(dict.fromkeys(contents))
        known = await self._find([key_of(OBSERVATION, name, content) for content in wanted])
        new = []
        for content, found in zip(wanted, known, strict=True):
            if found is None:
                new.append(content)
        await self._store([observation_draft(name, content) for content in new])
        return new

    async def check_entities(self, names: Sequence[str]) -> None:
        known = await self._find([key_of(ENTITY, name) for name in names])
        for name, found in zip(names, known, strict=True):
            if found is None:
                raise NotFound(f"there is no entity {name!r}; create_entities makes one")

    async def delete_entities(self, names: Sequence[str]) -> None:
        """With their observations and all relations that begin or end there."""
        gone = set(names)
        graph = await self.read()
        keys = []
        for entity in graph.entities:
            if entity.name in gone:
                keys.append(key_of(ENTITY, entity.name))
                keys += [key_of(OBSERVATION, entity.name, content) for content in entity.observations]
        await self._delete([key_id(key) for key in keys])
        await self.delete_relations([one for one in graph.relations if one.start in gone or one.end in gone])

    async def delete_observations(self, name: str, contents: Sequence[str]) -> None:
        await self._delete([key_id(key_of(OBSERVATION, name, content)) for content in contents])

    async def delete_relations(self, relations: Sequence[GraphRelation]) -> None:
        """Whoever stored them: also triples that were stated in another way."""
        wanted = set(relations)
        if not wanted:
            return
        ids = []
        triples = await self._memory.find(kinds=Kind.TRIPLE.value, scope=self._scope, limit=MOST_NODES)
        for record in triples:
            if read_relation(record) in wanted:
                ids.append(record.id)
        await self._delete(ids)

    async def _find(self, keys: Sequence[str]) -> list[Record | None]:
        return await self._memory.get([key_id(key) for key in keys], scope=self._scope)

    async def _store(self, drafts: Sequence[Draft]) -> None:
        if drafts:
            await self._memory.remember(list(drafts), scope=self._scope)

    async def _delete(self, ids: Sequence[str]) -> None:
        """Not for good: what is deleted here may be created again."""
        if ids:
            await self._memory.forget(where=Where(ids=tuple(ids)), scope=self._scope, for_good=False)


def narrow_graph(graph: EntityGraph, chosen: Iterable[GraphEntity]) -> EntityGraph:
    """Some entities, and every relation that begins or ends at one of them."""
    entities = list(chosen)
    names = {entity.name for entity in entities}
    relations = [one for one in graph.relations if one.start in names or one.end in names]
    return EntityGraph(entities=entities, relations=relations)


def matches(entity: GraphEntity, query: str) -> bool:
    """Whether its name, type or an observation has the text, in whatever case."""
    wanted = query.lower()
    return any(wanted in text.lower() for text in (entity.name, entity.entityType, *entity.observations))
