"""Arguments and answers of `memory.facts`: checks names, relations and times, and audits facts returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core.errors import BadInput
from ..core.scope import Scopes
from ..core.validate import Moment, clean_text, moment
from ..graph.fact import Entity, Fact
from ..graph.scope_graph import Budget, Moments, View
from ..parts import Parts
from ..trust.audit import Auditing

Named = str | Entity


def id_of(entity: Named | float) -> str:
    if isinstance(entity, Entity):
        return entity.id
    if isinstance(entity, bool) or not isinstance(entity, str | int | float):
        raise BadInput(f"an entity is a name or an Entity, not {type(entity).__name__}")
    return clean_text(str(entity), "a name")


def name_of(entity: Named | float) -> str:
    """Returns the name as a text would write it."""
    return entity.name if isinstance(entity, Entity) else id_of(entity)


def part_of(entity: Named | None) -> str | None:
    return None if entity is None else id_of(entity)


def check_relation(relation: str) -> str:
    """Normalises a relation to the catalogue's form: `lives in` becomes `lives_in`."""
    name = "_".join(clean_text(relation, "a relation").casefold().split())
    if not name or len(name) > 100 or "{" in name or "}" in name:
        raise BadInput(f"a relation is a name such as 'lives_in', not {relation!r:.80}")
    return name


def split_by(facts: Sequence[Fact], entity: Entity, at: float) -> tuple[list[Fact], list[Fact]]:
    """Splits the facts about an entity into those that hold at a time and those that begin later."""
    now: list[Fact] = []
    later: list[Fact] = []
    for fact in facts:
        if entity.id not in (fact.subject_id, fact.object_id) or fact.says_own_name:
            continue
        if fact.holds_at(at):
            now.append(fact)
        elif fact.valid_from is not None and fact.valid_from > at:
            later.append(fact)
    return now, later


def note_facts(auditing: Auditing, verb: str, scope: Scopes, facts: Iterable[Fact]) -> list[Fact]:
    """Notes in the audit log which records an answer comes from. Returns the facts as a list."""
    noted = list(facts)
    auditing.read(verb, scope, [(fact.scope, id) for fact in noted for id in fact.sources])
    return noted


def moments_of(
    parts: Parts,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    *,
    ever: bool = False,
    is_bounded: bool = True,
) -> Moments:
    """Resolves the times of a question. `as_of` defaults to the present, or to `known_at` if given.

    The budget of the question starts now. Unbounded, it ends only when the caller stops waiting.
    """
    budget = Budget(parts.settings.fact_steps, parts.settings.fact_seconds) if is_bounded else Budget()
    view = View(now=parts.clock() if known_at is None else moment(known_at, "known_at"), budget=budget)
    if ever:
        return Moments(view=view, at=None)
    if as_of is None:
        return Moments(view=view, at=view.now)
    return Moments(view=view, at=moment(as_of, "as_of"))
