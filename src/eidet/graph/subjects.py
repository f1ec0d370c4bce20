"""Which relations only people have: where a text does not tell what a name is, its relation may."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from ..text.facts import RELATIONS
from ..text.facts.statement import Mention, Reference
from .names import PERSON

_ALSO: Final = """
lives_in from born_in visited works_at works_as works_on job_status teaches studies_at studies graduated_from
learns volunteers_at nickname age birthday phone email time_zone height weight nationality religion pronouns
relationship_status doctor contact likes dislikes prefers fan_of afraid_of hobby speaks skill collects reads
watches allergic_to does_not_eat diet condition medication blood_type smokes drives rents wants goal plan
appointment meeting trip instruction
"""


def _list_personal() -> frozenset[str]:
    """Those above, and those that people have with people by the catalogue."""
    names = set(_ALSO.split())
    for relation in RELATIONS.values():
        inverse = RELATIONS.get(relation.inverse)
        if relation.symmetric and relation.object == PERSON:
            names.add(relation.name)
        if inverse is not None and inverse.object == PERSON:
            names.add(relation.name)
    return frozenset(names)


PERSONAL: Final = _list_personal()


def name_person(mention: Mention, relation: str) -> Mention:
    """The subject of a personal relation is a person, unless its text says what else it is."""
    if mention.kind or mention.reference is not Reference.NAME or relation not in PERSONAL:
        return mention
    return _as_person(mention)


@lru_cache(maxsize=65_536)
def _as_person(mention: Mention) -> Mention:
    return replace(mention, kind=PERSON)
