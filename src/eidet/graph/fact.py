"""What the graph answers with: facts, entities, contradictions and reasons. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..core.record import iso_time
from ..text.facts.statement import Nature
from ..text.facts.vocabulary import phrase_relation
from .assertion import name_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A person or thing that texts of a scope mention."""

    id: str  # stable as long as no text separates it from another one
    name: str  # the name used most often; unique within its scope
    kind: str = ""  # person, place, organisation, thing, event; "" if no text tells
    aliases: tuple[str, ...] = ()  # all its names as texts write them
    scope: str = "default"
    facts: int = 0  # how many statements name it

    def to_dict(self) -> dict[str, Any]:
        """Returns the entity as plain values for JSON."""
        return _list_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """That something held, from when to when, and since when the memory knows it.

    `valid_from` None means that no text says since when; `valid_to` None means that it still holds.
    `known_to` is when the memory learnt that it had ended. `id` is that of its first statement,
    `sources` are the ids of the records that say so.
    """

    id: str
    scope: str
    subject: str
    relation: str
    object: str
    negated: bool = False
    valid_from: float | None = None
    valid_to: float | None = None
    known_from: float = 0.0
    known_to: float | None = None
    confidence: float = 1.0
    sources: tuple[str, ...] = ()
    derived: str = ""  # the rule that inferred it; "" if it was stated
    superseded_by: str | None = None  # the id of the fact that replaced it
    nature: Nature = Nature.FACT
    trust: str = "user"  # of its most trusted source
    subject_id: str = ""
    object_id: str = ""

    @property
    def text(self) -> str:
        """Says the fact in a short sentence."""
        phrase = phrase_relation(self.relation, self.object)
        sentence = phrase.format(subject=self.subject, object=self.object)
        return f"not: {sentence}" if self.negated else sentence

    @property
    def says_own_name(self) -> bool:
        """Whether the fact only repeats its subject's name: Ann's name is Ann."""
        return self.relation == "name" and name_key(self.object) == name_key(self.subject)

    def holds_at(self, at: float) -> bool:
        """Returns whether it was true in the world at a time."""
        begun = self.valid_from is None or self.valid_from <= at
        return begun and (self.valid_to is None or at < self.valid_to)

    def to_dict(self) -> dict[str, Any]:
        """Returns the fact as plain values for JSON: times are ISO 8601 in UTC."""
        return {"text": self.text} | _list_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An entity that a fact leads to."""

    entity: Entity
    fact: Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """The sentence of a record that states a fact."""

    id: str  # of the record
    text: str
    occurred: float
    who: str | None = None
    trust: str = "user"
    source: str | None = None  # the origin of the record

    @property
    def origin(self) -> str:
        """Speaker and source, or else the trust, and the day: `Ann, 2026-05-08`."""
        named = ", ".join(part for part in (self.who, self.source) if part)
        return f"{named or self.trust}, {day_of(self.occurred)}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the quotation as plain values for JSON."""
        return _list_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Facts that cannot hold together, and nothing that Eidet knows decides between them.

    `quotations` has for each fact, in the same order, the sentences that state it: who said them, and when.
    """

    subject: str
    relation: str
    facts: tuple[Fact, ...]
    quotations: tuple[tuple[Quotation, ...], ...] = ()

    @property
    def sides(self) -> list[tuple[Fact, tuple[Quotation, ...]]]:
        """Pairs each fact with the sentences that state it."""
        nothing: tuple[Quotation, ...] = ()
        quoted = self.quotations or (nothing,) * len(self.facts)
        return list(zip(self.facts, quoted, strict=True))

    def __str__(self) -> str:
        return " / ".join(_describe_side(fact, quoted) for fact, quoted in self.sides)

    def to_dict(self) -> dict[str, Any]:
        """Returns the contradiction as plain values for JSON."""
        return {
            "subject": self.subject,
            "relation": self.relation,
            "facts": [fact.to_dict() for fact in self.facts],
            "quotations": [list(map(Quotation.to_dict, side)) for side in self.quotations],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Explains a fact: the sentences behind it, what ended it, the rule that inferred it."""

    fact: Fact
    quotations: tuple[Quotation, ...] = ()
    ended_by: tuple[Quotation, ...] = ()
    rule: str = ""
    premises: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        lines = [self.fact.text]
        if self.rule:
            lines.append(f"  by the rule: {self.rule}")
        lines += [f"  because {premise.text}" for premise in self.premises]
        said = [("  ", one) for one in self.quotations] + [("  ended ", one) for one in self.ended_by]
        lines += [f"{how}{day_of(one.occurred)} {one.who or 'user'}: {one.text}" for how, one in said]
        return "\n".join(lines)


_TIMES: Final = ("valid_from", "valid_to", "known_from", "known_to", "occurred")


def _list_fields(value: Entity | Fact | Quotation) -> dict[str, Any]:
    """Returns the fields of a value for JSON: times in ISO 8601, and lists."""
    fields = {name: getattr(value, name) for name in value.__slots__}
    times = {name: iso_time(fields[name]) for name in _TIMES if name in fields}
    return fields | times | {name: list(held) for name, held in fields.items() if isinstance(held, tuple)}


def _describe_side(fact: Fact, quotations: tuple[Quotation, ...]) -> str:
    origins = "; ".join(one.origin for one in quotations)
    return f"{fact.text} ({origins})" if origins else fact.text


def day_of(at: float | None) -> str:
    """Returns the day of a time in UTC; "" for None."""
    return (iso_time(at) or "")[:10]
