"""The analysis of a text that a record keeps for search: the terms of each unit, flags, and days.

A short text is one unit; a long one is cut into several, and its best unit counts. The layout of the
bytes: flags, number of days, number of units; the number of terms of each unit; the units as
`eidet.text.pack` writes them; then first and last day of each time that the text mentions. If the text
states facts, the highest bit of the number of days is set, and the bytes end with the facts: their length,
and their bytes as `eidet.text.facts.pack_statements` writes them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from ..core.errors import Corrupt

if TYPE_CHECKING:
    from .facts.statement import Statement

QUESTION: Final = 1  # it is a question
TIMED: Final = 2  # it mentions a time
NUMBERED: Final = 4  # it has a number
NAMED: Final = 8  # it names a person or thing
ACTOR: Final = 16  # a sentence in it begins with a person who acts

DAYS_KEPT: Final = 16
_HEAD: Final = struct.Struct("<BBH")
_LENGTH: Final = struct.Struct("<I")
_STATED: Final = 0x80  # in the number of days: the facts that the text states follow
_ONE_UNIT: Final = b"\1\0"
_PLAIN: Final = b"\0" + _ONE_UNIT  # no days and one unit, as most texts have

Days = tuple[int, int]  # the first and the last, as ordinals


class Analysis(NamedTuple):
    """The data of a record's text that search uses."""

    flags: int = 0
    days: tuple[Days, ...] = ()
    units: tuple[bytes, ...] = ()
    facts: bytes = b""  # the packed statements, unpacked on demand

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The facts that rules found in the text."""
        from .facts.statement import parse_statements

        return parse_statements(self.facts)


NOTHING: Final = Analysis()


def pack_analysis(
    units: Sequence[bytes], flags: int = 0, days: Sequence[Days] = (), facts: bytes = b""
) -> bytes:
    kept = days[:DAYS_KEPT]
    dated, tail = len(kept), b""
    if facts:
        dated, tail = dated | _STATED, _LENGTH.pack(len(facts)) + facts
    head = _HEAD.pack(flags, dated, len(units))
    if len(units) == 1 and not kept:  # as for nearly all texts
        return head + _LENGTH.pack(len(units[0]) // 5) + units[0] + tail
    sizes = struct.pack(f"<{len(units)}I", *[len(unit) // 5 for unit in units])
    return head + sizes + b"".join(units) + b"".join(struct.pack("<ii", *pair) for pair in kept) + tail


def decode_analysis(blob: bytes) -> Analysis:
    """Decodes an analysis; raises `Corrupt` for invalid bytes. Empty bytes mean not analysed."""
    if not blob:
        return NOTHING
    if blob[1:4] == _PLAIN and len(blob) == 8 + 5 * int.from_bytes(blob[4:8], "little"):
        return Analysis(blob[0], (), (blob[8:],))
    try:
        flags, dated, count = _HEAD.unpack_from(blob)
        sizes = struct.unpack_from(f"<{count}I", blob, _HEAD.size)
        start = _HEAD.size + 4 * count
        end = start + 5 * sum(sizes) + 8 * (dated & ~_STATED)
        length = _LENGTH.unpack_from(blob, end)[0] + _LENGTH.size if dated & _STATED else 0
    except struct.error as error:
        raise Corrupt(f"the analysis of a text is damaged: {error}") from error
    if len(blob) != end + length:
        raise Corrupt(f"the analysis of a text has {len(blob):,} bytes, which is not what it says")
    units = []
    for size in sizes:
        units.append(blob[start : start + 5 * size])
        start += 5 * size
    pairs = struct.unpack_from(f"<{2 * (dated & ~_STATED)}i", blob, start)
    days = tuple(zip(pairs[::2], pairs[1::2], strict=True))
    return Analysis(flags, days, tuple(units), blob[end + _LENGTH.size :])


def is_question(blob: bytes) -> bool:
    """Returns whether a text is a question; reads one byte."""
    return bool(blob) and bool(blob[0] & QUESTION)


def has_statements(blob: bytes) -> bool:
    """Returns whether a text states facts; reads one byte."""
    return len(blob) > 1 and bool(blob[1] & _STATED)


def facts_in(blob: bytes) -> bytes:
    """Returns the packed statements of a text that has some; empty if its bytes are damaged."""
    if blob[2:4] == _ONE_UNIT:  # as nearly all texts have
        start = 12 + 5 * int.from_bytes(blob[4:8], "little") + 8 * (blob[1] & ~_STATED)
        if len(blob) == start + int.from_bytes(blob[start - 4 : start], "little"):
            return blob[start:]
    try:
        return decode_analysis(blob).facts
    except Corrupt:
        return b""


def terms_in(blob: bytes) -> set[int]:
    """Returns the ids of all terms of a text."""
    units = decode_analysis(blob).units
    return set(chain.from_iterable(struct.unpack_from(f"<{len(unit) // 5}I", unit) for unit in units))
