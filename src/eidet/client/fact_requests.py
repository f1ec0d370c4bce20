"""`client.facts` as requests: a verb sends its arguments by name, and unpacks what the server answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, TypeVar

from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import clean_json, clean_text, moment
from ..graph.fact import Contradiction, Entity, Explanation, Fact, Neighbour, Quotation
from ..graph.joins import FactMatch
from ..memory.fact_arguments import check_relation, id_of, name_of, part_of
from ..text.facts.statement import Nature
from .packing import pack_field, pack_scope
from .requests_of import Arguments, Steps
from .sending import WireRequest
from .unpacking import Said, unpack_record, unpack_time

T = TypeVar("T")
Body = dict[str, Any]

_TIMES: Final = ("since", "until", "as_of", "known_at")
_ENTITIES: Final = ("entity", "start", "goal")
_TIMES_OF_FACT: Final = ("valid_from", "valid_to", "known_from", "known_to")


def pack_arguments(given: Arguments) -> Body:
    """The arguments of a verb as the body of its request."""
    body: Body = {}
    for name, value in given.items():
        if name != "scope":
            body |= _pack_argument(name, value)
    return body


def _pack_argument(name: str, value: Any) -> Body:
    if value is None and name in (*_TIMES, "because"):
        return {}
    if name in _TIMES:
        return {name: moment(value, name)}
    if name == "because":
        return {name: clean_text(value, name)}
    if name in ("fact", "keep"):
        return {"id": _id_of_fact(value)}
    if name in _ENTITIES:
        return {name: id_of(value)}
    return {name: value}


def _id_of_fact(fact: Fact | str) -> str:
    if isinstance(fact, str):
        return clean_text(fact, "an id")
    return fact.id


def _pack_statement(given: Arguments) -> Body:
    """A fact to state, with the details that its record gets."""
    body = pack_arguments(given) | {
        "subject": name_of(given["subject"]),
        "relation": check_relation(given["relation"]),
        "object": name_of(given["object"]),
        "confidence": clean_json(given["confidence"], "confidence"),
        "sources": list(given["sources"]),
    }
    for name, value in body.pop("details").items():
        body |= pack_field(name, value)
    return body


def _pack_patterns(given: Arguments) -> Body:
    """Patterns, the last of them perhaps given by its parts."""
    body = pack_arguments(given)
    subject, relation, object = (body.pop(name) for name in ("subject", "relation", "object"))
    body["patterns"] = [list(pattern) for pattern in given["patterns"]]
    if subject is not None or relation is not None or object is not None:
        body["patterns"].append([part_of(subject), relation, part_of(object)])
    return body


def _pack_merge(given: Arguments) -> Body:
    return pack_arguments(given) | {"others": [id_of(one) for one in given["others"]]}


def _pack_split(given: Arguments) -> Body:
    return pack_arguments(given) | {"sources": list(given["sources"])}


def unpack_fact(said: Said) -> Fact:
    given: dict[str, Any] = {}
    for one in fields(Fact):
        given[one.name] = said[one.name]
    for name in _TIMES_OF_FACT:
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
        quotations=tuple(_unpack_quotations(side) for side in said.get("quotations", ())),
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


def _each(name: str, unpack: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    """Unpacks a list that an answer has under a name."""

    def unpack_each(answer: Any) -> list[T]:
        return [unpack(one) for one in answer[name]]

    return unpack_each


def _unpack_way(facts: list[Any]) -> tuple[Fact, ...]:
    return tuple(unpack_fact(one) for one in facts)


def _unpack_text(answer: Any) -> str:
    return str(answer["text"])


def _send(
    verb: str,
    unpack: Callable[[Any], T],
    pack: Callable[[Arguments], Body] = pack_arguments,
    *,
    repeatable: bool = True,
) -> Callable[[Arguments], Steps[T]]:
    """Makes the request of a verb; unless `repeatable`, it is sent again only if the server never saw it."""

    def steps(given: Arguments) -> Steps[T]:
        answer = yield _post(verb, given["scope"], pack(given), repeatable=repeatable)
        return unpack(answer)

    return steps


def _post(verb: str, scope: str | Scope, body: Body, *, repeatable: bool) -> WireRequest:
    return WireRequest(
        method="POST",
        path=f"/v1/facts/{verb}",
        params=pack_scope(scope),
        body=body or None,
        repeatable=repeatable,
    )


def undo(given: Arguments) -> Steps[None]:
    """In the scope of the decision, where it is given as a record."""
    decision, scope = given["decision"], given["scope"]
    if isinstance(decision, Record):
        scope, decision = decision.scope, decision.id
    yield _post("undo", scope, {"id": clean_text(decision, "an id")}, repeatable=False)


VERBS: Final[dict[str, Callable[[Arguments], Steps[Any]]]] = {
    "undo": undo,
    "about": _send("about", unpack_facts),
    "match": _send("match", _each("matches", unpack_match), _pack_patterns),
    "neighbours": _send("neighbours", _each("neighbours", unpack_neighbour)),
    "paths": _send("paths", _each("paths", _unpack_way)),
    "timeline": _send("timeline", unpack_facts),
    "entities": _send("entities", _each("entities", unpack_entity)),
    "profile": _send("profile", _unpack_text),
    "why": _send("why", unpack_explanation),
    "instructions": _send("instructions", unpack_facts),
    "contradictions": _send("contradictions", _each("contradictions", unpack_contradiction)),
    "decisions": _send("decisions", _each("decisions", unpack_record)),
    "export": _send("export", _unpack_text),
    "add": _send("add", unpack_fact, _pack_statement, repeatable=False),
    "resolve": _send("resolve", unpack_record, repeatable=False),
    "retract": _send("retract", unpack_record, repeatable=False),
    "merge": _send("merge", unpack_record, _pack_merge, repeatable=False),
    "split": _send("split", unpack_record, _pack_split, repeatable=False),
}
