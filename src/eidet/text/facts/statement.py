"""What a text states: a subject, a relation, an object, and when that held. Frozen values and their bytes.

A statement is a function of one text, who said it and when. It names people as the text does: who "she"
is, and whether two texts speak of the same Ann, is decided where all statements of a scope are known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from ...core.errors import Corrupt

VALUE: Final = "value"  # the kind of a mention that is no entity: an age, a date, a sentence


class Reference(StrEnum):
    """How a text points at somebody or something."""

    NAME = "name"  # by a name: Ann, Porto, "the billing service"
    SPEAKER = "speaker"  # I, my, we: whoever said it
    HE = "he"
    SHE = "she"
    THEY = "they"
    IT = "it"


class Nature(StrEnum):
    """What a statement is."""

    FACT = "fact"
    PREFERENCE = "preference"  # what somebody likes, prefers, avoids
    INSTRUCTION = "instruction"  # "always answer in metric": its object is the sentence to follow


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Somebody or something as a text names it.

    `role` tells people of one name apart: "brother" (of `owner`) in "my brother Alex", or words such as
    "from work". The owner of a role is the name of an entity, "" for the speaker, or a pronoun ("she" in
    "her brother"). A mention without a name that has a role is "my brother", unnamed.
    """

    name: str = ""  # as written, without an article; "" unless `reference` is NAME
    reference: Reference = Reference.NAME
    kind: str = ""  # person, place, organisation, thing, event, value; "" where the text does not tell
    role: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """That a relation holds (or not) between a subject and an object, and when, as one text says it.

    since, until   seconds since 1970, where the text says so; until is exclusive
    ended          it held before and no longer does ("used to", "no longer", "quit", "sold")
    negated        it does not hold ("is not vegetarian")
    confidence     1 for a plain sentence, less for "maybe" or "thinking of"
    start, end     where the sentence that says it stands in the text
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


def pack_statements(statements: Sequence[Statement]) -> bytes:
    """Compact JSON; what has its default is left out. No statements are no bytes."""
    if not statements:
        return b""
    rows = [_brief(statement) for statement in statements]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


def read_statements(blob: bytes) -> tuple[Statement, ...]:
    """`Corrupt` for bytes that are none."""
    if not blob:
        return ()
    try:
        return tuple(_statement(row) for row in json.loads(blob))
    except (ValueError, TypeError, KeyError) as error:
        raise Corrupt(f"the statements of a text are damaged: {error}") from error


def _brief(statement: Statement) -> dict[str, Any]:
    said = {name: value for name, value in asdict(statement).items() if value != _DEFAULTS.get(name)}
    said["subject"] = _brief_mention(statement.subject)
    said["object"] = _brief_mention(statement.object)
    return said


def _brief_mention(mention: Mention) -> dict[str, str]:
    return {name: value for name, value in asdict(mention).items() if value != _MENTIONED[name]}


def _statement(row: dict[str, Any]) -> Statement:
    said = dict(row)
    said["subject"] = _mention(row["subject"])
    said["object"] = _mention(row["object"])
    if "nature" in said:
        said["nature"] = Nature(said["nature"])
    return Statement(**said)


def _mention(row: dict[str, str]) -> Mention:
    said: dict[str, Any] = dict(row)
    if "reference" in said:
        said["reference"] = Reference(said["reference"])
    return Mention(**said)


_MENTIONED: Final = asdict(Mention())
_DEFAULTS: Final = asdict(Statement(subject=Mention(), relation="", object=Mention()))
