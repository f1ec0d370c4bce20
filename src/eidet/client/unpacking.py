"""Converts JSON to records, hits, contexts, facts and receipts, each by the types of its fields."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin, get_type_hints

from ..core.hit import AllHits, Hit, Hits, Reasons, Rejected, RememberedList, Signal, Trace
from ..core.record import Record
from ..core.state import State

if TYPE_CHECKING:
    from ..trust.erase import Forgotten, Preview

Said = dict[str, Any]
Unpack = Callable[[Any], Any]


def unpack(kind: Any, said: Any) -> Any:
    """Converts JSON to a value of a type."""
    return _unpacker_of(kind)(said)


@cache
def _unpacker_of(kind: Any) -> Unpack:
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    origin, inside = get_origin(kind), [one for one in get_args(kind) if one not in (..., type(None))]
    if origin is tuple and len(inside) > 1:
        return tuple
    if origin in (Union, UnionType) and len(inside) == 1:
        inner = _unpacker_of(inside[0])
        return lambda said: None if said is None else inner(said)
    if origin in (tuple, list, Sequence):
        inner, collect = _unpacker_of(inside[0]), tuple if origin is tuple else list
        return lambda said: collect(map(inner, said))
    if origin is Mapping and get_origin(inside[1]) is tuple:
        inner = _unpacker_of(inside[1])
        return lambda said: {name: inner(value) for name, value in said.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        return _unpack_fields(kind)
    return kind if isinstance(kind, type) and issubclass(kind, Enum) else lambda said: said


def _unpack_fields(kind: type) -> Unpack:
    """Makes a function that unpacks a dataclass; a field left out of the answer gets its default."""
    hints = get_type_hints(kind)
    inner = {one.name: _unpacker_of(hints[one.name]) for one in fields(kind)}
    return lambda said: kind(**{name: read(said[name]) for name, read in inner.items() if name in said})


def _unpack_number(said: float | str) -> float:
    """Returns a number, or a time in seconds, which JSON holds as ISO 8601."""
    return datetime.fromisoformat(said).timestamp() if isinstance(said, str) else said


def _unpack_hit(said: Said) -> Hit:
    reasons = Reasons(
        signals=unpack(tuple[Signal, ...], said["signals"]),
        matched=tuple(said["matched"]),
        words=(said["why"],),
    )
    return Hit(
        record=unpack(Record, said["record"]),
        score=said["score"],
        reasons=lambda: reasons,
        superseded_by=said.get("superseded_by"),
    )


_BY_TYPE: Final[dict[Any, Unpack]] = {
    float: _unpack_number,
    bytes: lambda vector: array("f", vector).tobytes(),
    State: State.from_json,
    Hit: _unpack_hit,
}


def unpack_hits(said: Said) -> Hits:
    hits, trace = unpack(list[Hit], said["hits"]), unpack(Trace | None, said.get("trace"))
    return Hits(hits, trace, said["scope"], said["wants_all"], said["answered"])


def unpack_all_hits(said: Said) -> AllHits:
    hits, maybe = (tuple(unpack(list[Hit], said[name])) for name in ("hits", "maybe"))
    return AllHits(hits=hits, maybe=maybe, reason=said["reason"], scope=said["scope"])


def unpack_remembered(said: Said) -> RememberedList:
    return RememberedList(unpack(list[Record], said["memories"]), unpack(list[Rejected], said["rejected"]))


def unpack_forgotten(said: Said) -> Forgotten:
    from ..trust.erase import Forgotten, Receipt

    return Forgotten(said["count"], unpack(Receipt | None, said["receipt"]))


def unpack_preview(said: Said) -> Preview:
    from ..trust.erase import Preview

    found: Preview = unpack(Preview, said["preview"])
    return found
