"""The JSON of answers as facts, entities, matches and explanations."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..graph.fact import Contradiction, Entity, Explanation, Fact, Neighbour, Quotation
from ..graph.joins import FactMatch
from ..text.facts.statement import Nature
from .unpacking import Said, unpack_time

_TIMES = ("valid_from", "valid_to", "known_from", "known_to")


def unpack_fact(said: Said) -> Fact:
    given: dict[str, Any] = {}
    for one in fields(Fact):
        given[one.name] = said[one.name]
    for name in _TIMES:
        given[name] = unpack_time(said[name])
    given["known_from"] = given["known_from"] or 0.0
    given["sources"], given["seqs"] = tuple(said["sources"]), tuple(said["seqs"])
    given["nature"] = Nature(said["nature"])
    return Fact(**given)


def unpack_facts(said: Said) -> list[Fact]:
    return [unpack_fact(one) for one in said["facts"]]


def unpack_entity(said: Said) -> Entity:
    return Entity(**{**said, "aliases": tuple(said["aliases"])})


def unpack_neighbour(said: Said) -> Neighbour:
    return Neighbour(entity=unpack_entity(said["entity"]), fact=unpack_fact(said["fact"]))


def unpack_match(said: Said) -> FactMatch:
    return FactMatch(bindings=said["bindings"], facts=tuple(unpack_facts(said)))


def unpack_contradiction(said: Said) -> Contradiction:
    return Contradiction(
        subject=said["subject"],
        relation=said["relation"],
        facts=tuple(unpack_facts(said)),
        said=tuple(_unpack_quotations(side) for side in said.get("said", ())),
    )


def unpack_explanation(said: Said) -> Explanation:
    return Explanation(
        fact=unpack_fact(said["fact"]),
        quotations=_unpack_quotations(said["quotations"]),
        ended_by=_unpack_quotations(said["ended_by"]),
        rule=said["rule"],
        premises=tuple(unpack_facts({"facts": said["premises"]})),
    )


def _unpack_quotations(said: list[Said]) -> tuple[Quotation, ...]:
    found = []
    for one in said:
        found.append(Quotation(**{**one, "occurred": unpack_time(one["occurred"]) or 0.0}))
    return tuple(found)
