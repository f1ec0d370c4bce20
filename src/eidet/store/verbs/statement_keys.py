"""Statements: a short key of all that a fact or document says, so that a store finds who said it before.

Records of one content may be many: the same sentence by each of a thousand agents. A store that keeps them
by content alone reads all of them at each new one; by statement it reads those that may be the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

from ...core.record import Record
from ...core.validate import dump_json
from .record_details import details_of, visible_details_of

STATEMENT_BYTES: Final = 12
FEW: Final = 16  # records of one content that a store may keep without their statements

_MERGED: Final = "merged"  # its importance is at least that of each part
_WEIGHED: Final = "weighed"  # by Eidet, which weighs the same content the same way


def statement_of(record: Record) -> bytes:
    """The key under which a stored record is found."""
    if record.sealed is not None:
        return _hash(visible_details_of(record))
    return _hash((*details_of(record), _weight_of(record)))


def list_statements(record: Record) -> list[bytes]:
    """The keys of all stored records that a new one may repeat."""
    keys: dict[bytes, None] = {}
    for timed in (True, False):
        if timed and record.occurred == record.created:
            continue  # it has no time of its own
        if record.sealed is not None:
            keys[_hash(visible_details_of(record, timed=timed))] = None
            continue
        details = details_of(record, timed=timed)
        for weight in _list_weights(record):
            keys[_hash((*details, weight))] = None
    return list(keys)


def _weight_of(record: Record) -> str | float:
    if record.state.merged:
        return _MERGED
    if record.state.weighed:
        return _WEIGHED
    return float(record.importance)


def _list_weights(record: Record) -> Iterator[str | float]:
    yield _MERGED
    yield _WEIGHED
    yield float(record.importance)
    if record.state.echo_of is not None:
        yield float(2 * record.importance)  # an echo counts for half


def _hash(said: tuple[Any, ...]) -> bytes:
    return blake2b(dump_json(_even(said)).encode(), digest_size=STATEMENT_BYTES).digest()


def _even(value: Any) -> Any:
    """Equal numbers in the same form, whatever a database makes of them."""
    if isinstance(value, tuple):
        return [_even(one) for one in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value + 0.0
    return value
