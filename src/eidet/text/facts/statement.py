"""Statements of a text: subject, relation, object and validity. Frozen values and their bytes.

A statement depends only on one text, its speaker and its time. It names people as the text does: the graph
of a scope, which has all statements, decides who "she" is and whether two texts mean the same Ann.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.validate import dump_json

VALUE: Final = "value"  # the kind of a mention that is no entity: an age, a date, a sentence


class Reference(StrEnum):
    """How a text refers to a person or thing."""

    NAME = "name"  # by a name: Ann, Porto, "the billing service"
    SPEAKER = "speaker"  # I, my, we: the speaker of the text
    HE = "he"
    SHE = "she"
    THEY = "they"
    IT = "it"


class Nature(StrEnum):
    """The type of a statement."""

    FACT = "fact"
    PREFERENCE = "preference"  # a like, a preference, an aversion
    INSTRUCTION = "instruction"  # "always answer in metric": its object is the sentence to follow


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A person or thing as a text names it.

    `role` distinguishes people of one name: "brother" (of `owner`) in "my brother Alex", or words such as
    "from work". The owner of a role is the name of an entity, "" for the speaker, or a pronoun ("she" in
    "her brother"). A mention without a name that has a role is "my brother", unnamed.
    """

    name: str = ""  # as written, without an article; "" unless `reference` is NAME
    reference: Reference = Reference.NAME
    kind: str = ""  # person, place, organisation, thing, event, value; "" if the text does not say
    role: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """States that a relation holds (or not) between a subject and an object, and when, as one text says
    it.

    since, until   seconds since 1970, None unless the text says so; until is exclusive
    ended          it held before and no longer does ("used to", "no longer", "quit", "sold")
    negated        it does not hold ("is not vegetarian")
    confidence     1 for a plain sentence, less for "maybe" or "thinking of"
    start, end     the position of its sentence in the text
    """

    subject: Mention
    relation: str
    object: Mention
    since: float | None = None
    until: float | None = None
    ended: bool = False
    negated: bool = False
    confidence: float = 1.0
    nature: Nature = Nature.FACT
    start: int = 0
    end: int = 0


KnownMentions = dict[tuple[object, ...], Mention]  # by the items of their JSON


def pack_statements(statements: Sequence[Statement]) -> bytes:
    """Packs statements as compact JSON without defaults; empty bytes for no statements."""
    return dump_json(list(map(statement_data, statements))).encode() if statements else b""


def statement_data(statement: Statement) -> dict[str, Any]:
    """Returns a statement as JSON, without defaults."""
    mentions = {"subject": mention_data(statement.subject), "object": mention_data(statement.object)}
    return {"relation": statement.relation} | mentions | _list_told(statement, _OPTIONAL)


def mention_data(mention: Mention) -> dict[str, str]:
    return _list_told(mention, _MENTIONED)


def _list_told(value: Mention | Statement, defaults: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Returns the fields of a value that differ from their defaults."""
    told = ((name, getattr(value, name), plain) for name, plain in defaults)
    return {name: held for name, held, plain in told if held != plain}


def parse_statements(blob: bytes, known: KnownMentions | None = None) -> tuple[Statement, ...]:
    """Parses packed statements; raises `Corrupt` for other bytes.

    `known` caches mentions, so that equal ones share one object.
    """
    if not blob:
        return ()
    try:
        mentions = {} if known is None else known
        return tuple(parse_statement(row, mentions) for row in json.loads(blob))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Corrupt(f"the statements of a text are damaged: {error}") from error


def parse_statement(row: dict[str, Any], known: KnownMentions) -> Statement:
    """Parses a row that `statement_data` made; modifies the row."""
    row["subject"] = _parse_mention(row["subject"], known)
    row["object"] = _parse_mention(row["object"], known)
    if "nature" in row:
        row["nature"] = Nature(row["nature"])
    return Statement(**row)


def _parse_mention(row: dict[str, Any], known: KnownMentions) -> Mention:
    key = tuple(row.items())
    mention = known.get(key)
    if mention is None:
        if "reference" in row:
            row["reference"] = Reference(row["reference"])
        mention = known[key] = Mention(**row)
    return mention


_MENTIONED: Final = tuple(asdict(Mention()).items())
_REQUIRED: Final = frozenset(("subject", "relation", "object"))
_OPTIONAL: Final = tuple(
    (part.name, part.default) for part in fields(Statement) if part.name not in _REQUIRED
)
