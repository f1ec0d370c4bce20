"""What callers of `memory.facts` may give: names, entities and relations."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import BadInput
from ..core.validate import clean_text
from ..graph.fact import Entity, Fact

Named = str | Entity


def id_of(entity: Named | float) -> str:
    if isinstance(entity, Entity):
        return entity.id
    if isinstance(entity, bool) or not isinstance(entity, str | int | float):
        raise BadInput(f"an entity is a name or an Entity, not {type(entity).__name__}")
    return clean_text(str(entity), "a name")


def name_of(entity: Named | float) -> str:
    """A name as a text would write it."""
    if isinstance(entity, Entity):
        return entity.name
    return id_of(entity)


def part_of(entity: Named | None) -> str | None:
    if entity is None:
        return None
    return id_of(entity)


def check_relation(relation: str) -> str:
    """In the form of the catalogue: `lives in` is `lives_in`."""
    name = "_".join(clean_text(relation, "a relation").casefold().split())
    if not name or len(name) > 100 or "{" in name or "}" in name:
        raise BadInput(f"a relation is a name such as 'lives_in', not {relation!r:.80}")
    return name


def split_by(facts: Sequence[Fact], entity: Entity, at: float) -> tuple[list[Fact], list[Fact]]:
    """Those that hold of an entity at a time, and those that will."""
    now: list[Fact] = []
    later: list[Fact] = []
    for fact in facts:
        if entity.id not in (fact.subject_id, fact.object_id):
            continue
        if fact.holds_at(at):
            now.append(fact)
        elif fact.valid_from is not None and fact.valid_from > at:
            later.append(fact)
    return now, later
