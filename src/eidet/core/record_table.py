"""The table of a record's fields: one row for each, from which every form of a record is made.

SQL rows, Redis values, export files, REST answers, the client and the sealing codec read it, so that a
field is described once. A `RecordField` says

    parse      makes the field's value from untrusted JSON, or raises `BadInput`
    encode     makes JSON that restores the value exactly; None: it is JSON already
    decode     makes the value from JSON that only Eidet could write; None: as it is
    column     the type of its SQL column in PostgreSQL; `place` has the three columns of `AXES` instead
    in_json    whether its column holds JSON as text
    is_time    seconds since 1970, which people and other programs see as ISO 8601
    sealing    how a sealed store treats it

Rows stand in the order of `Record`'s fields.
"""

from __future__ import annotations

from base64 import b64encode
from binascii import a2b_base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from .errors import BadInput
from .record import HIDDEN, TIMES, Kind, Record, Tier, Trust, kind_of, tier_of, trust_of
from .scope import check_scope
from .state import State
from .validate import EARLIEST, LATEST, check_whole, clean_json, clean_text
from .where import check_place

LABEL_CHARS: Final = 1000
TOKEN_CHARS: Final = 8000  # of a label that is sealed: up to four bytes a character, in base64
LARGEST: Final = 2**53
DEEPEST: Final = 500  # levels of a state: the `meta` of merged parts is inside
AXES: Final = ("x", "y", "z")  # the columns of a place

Convert = Callable[[Any], Any]


class Sealing(StrEnum):
    """The treatment of a field by a sealed store."""

    CLEAR = "clear"  # kept readable, and bound to the record
    LABEL = "label"  # replaced by a token, the same for the same label
    CONTENT = "content"  # part of the one box that holds what the record says
    BOX = "box"  # a box of its own


@dataclass(frozen=True, slots=True)
class RecordField:
    """One row of the table of fields; see the module."""

    name: str
    column: str
    parse: Convert
    encode: Convert | None = None
    decode: Convert | None = None
    optional: bool = False  # may be None
    in_json: bool = False
    sealing: Sealing = Sealing.CLEAR

    @property
    def is_time(self) -> bool:
        return self.name in TIMES

    @property
    def is_bytes(self) -> bool:
        return self.column == "bytea"

    @property
    def shown(self) -> bool:
        """Returns whether `Record.to_dict` includes it; internal bytes are left out."""
        return self.name not in HIDDEN


# Parsers: each accepts one shape, and raises BadInput for any other.


def _text(value: Any) -> str:
    return clean_text(value, "it")


def _short_text(low: int, high: int) -> Convert:
    def parse(value: Any) -> str:
        if not low <= len(_text(value)) <= high:
            raise BadInput(f"it has {len(value):,} characters, from {low} to {high:,} are allowed")
        return str(value)

    return parse


def _scope(value: Any) -> str:
    check_scope(value)
    return str(value)


def _whole(low: int, high: int) -> Convert:
    return lambda value: check_whole(value, low, high, "it")


def _number(low: float, high: float, what: str) -> Convert:
    def parse(value: Any) -> float:
        if type(value) not in (int, float) or not low <= value <= high:
            raise BadInput(f"{value!r:.80} is not a {what}")
        return float(value)

    return parse


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise BadInput(f"{value!r:.80} is not base64 text")
    return a2b_base64(value, strict_mode=True)


def _ids(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise BadInput(f"{value!r:.80} is not a list of ids")
    return tuple(map(_text, value))


def _place(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or any(type(number) not in (int, float) for number in value):
        raise BadInput(f"{value!r:.80} is not a list of two or three numbers")
    return check_place(value)


def _data(value: Any) -> Any:
    return clean_json(value, "it")


def _meta(value: Any) -> Any:
    if not isinstance(value, dict):
        raise BadInput(f"{value!r:.80} is not an object")
    return clean_json(value, "it")


def _state(value: Any) -> State:
    layer, depth = [value], 0
    while layer:
        if depth > DEEPEST:
            raise BadInput(f"it is nested more than {DEEPEST} levels deep")
        below: list[Any] = []
        for item in layer:
            below.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
        layer, depth = below, depth + 1
    return State.from_json(value)


def _or_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


# The rows.


def _encode_bytes(value: bytes) -> str:
    return b64encode(value).decode()


def _bytes_field(name: str, sealing: Sealing, *, optional: bool = True) -> RecordField:
    wrap: Convert = _or_none if optional else lambda convert: convert
    return RecordField(
        name,
        "bytea",
        wrap(_bytes),
        encode=wrap(_encode_bytes),
        decode=wrap(a2b_base64),
        optional=optional,
        sealing=sealing,
    )


def _label_field(name: str) -> RecordField:
    parse = _or_none(_short_text(0, LABEL_CHARS))
    return RecordField(name, "text", parse, optional=True, sealing=Sealing.LABEL)


def _enum_field(name: str, find: Callable[[str], Any], values: type[StrEnum]) -> RecordField:
    by_value = {str(value): value for value in values}
    return RecordField(
        name, "text", lambda value: find(_text(value)), encode=str, decode=by_value.__getitem__
    )


def _time_field(name: str, *, optional: bool = False) -> RecordField:
    parse = _number(EARLIEST, LATEST, "time in seconds since 1970, in the years 1 to 9999")
    if optional:
        parse = _or_none(parse)
    return RecordField(name, "float8", parse, optional=optional)


FIELDS: Final = (
    RecordField("id", "text", _short_text(1, LABEL_CHARS)),
    RecordField("scope", "text", _scope),
    RecordField("text", "text", _text, sealing=Sealing.CONTENT),
    _enum_field("kind", kind_of, Kind),
    _enum_field("tier", tier_of, Tier),
    RecordField("data", "text", _data, optional=True, in_json=True, sealing=Sealing.CONTENT),
    _label_field("who"),
    _label_field("agent"),
    _label_field("session"),
    RecordField("step", "int8", _or_none(_whole(-LARGEST, LARGEST)), optional=True),
    RecordField("place", "", _or_none(_place), decode=_or_none(tuple), optional=True),
    RecordField("importance", "float8", _number(0, 1, "number from 0 to 1")),
    _time_field("created"),
    _time_field("occurred"),
    RecordField("uses", "int4", _whole(0, LARGEST)),
    _time_field("last_used", optional=True),
    _time_field("expires", optional=True),
    _label_field("source"),
    RecordField("meta", "text", _meta, in_json=True, sealing=Sealing.CONTENT),
    RecordField(
        "state",
        "text",
        _state,
        encode=State.to_json,
        decode=State.from_json,
        in_json=True,
        sealing=Sealing.CONTENT,
    ),
    _bytes_field("vector", Sealing.BOX),
    _bytes_field("terms", Sealing.BOX, optional=False),
    RecordField("level", "int4", _whole(0, 2)),
    _bytes_field("original", Sealing.CONTENT),
    RecordField("derived_from", "text", _ids, decode=tuple, in_json=True),
    _enum_field("trust", trust_of, Trust),
    _bytes_field("sealed", Sealing.CLEAR),
    RecordField("version", "int4", _whole(1, LARGEST)),
    RecordField("seq", "int8", _whole(0, LARGEST)),
)
FIELD_OF: Final = {field.name: field for field in FIELDS}
EXPORTED: Final = tuple(field for field in FIELDS if field.name != "seq")
_parse_token: Final = _or_none(_short_text(0, TOKEN_CHARS))


def parse_fields(said: Mapping[str, Any]) -> dict[str, Any]:
    """Parses the values of a record's fields; `BadInput` names the first that is invalid."""
    is_sealed = said.get("sealed") is not None
    parsed = {}
    for name, value in said.items():
        field = FIELD_OF[name]
        parse = _parse_token if is_sealed and field.sealing is Sealing.LABEL else field.parse
        try:
            parsed[name] = parse(value)
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from error
    return parsed


def encode_fields(record: Record) -> dict[str, Any]:
    """Encodes a record as JSON values that restore it exactly; leaves out fields with their default."""
    values = {}
    for field in EXPORTED:
        value = getattr(record, field.name)
        if value != getattr(_BLANK, field.name) or field.name in NEEDED:
            values[field.name] = value if field.encode is None else field.encode(value)
    return values


def decode_fields(said: Mapping[str, Any]) -> Record:
    """Decodes what `encode_fields` encoded, from JSON that was checked before."""
    return Record(**decode_values(said))


def decode_values(said: Mapping[str, Any]) -> dict[str, Any]:
    """Decodes values of some fields from JSON that Eidet wrote, such as that of an event."""
    values = dict(said)
    for name, decode in _DECODED:
        if name in values:
            values[name] = decode(values[name])
    return values


NEEDED: Final = ("id", "scope", "text")
_BLANK: Final = Record(id="", scope="", text="")
_DECODED: Final = tuple((field.name, field.decode) for field in FIELDS if field.decode is not None)
