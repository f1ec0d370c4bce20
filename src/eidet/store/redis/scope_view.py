"""What a write knows of a scope before it begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.record import Record
from .codec import record_of


@dataclass(frozen=True, slots=True)
class Need:
    """What a write must know of a scope."""

    ids: frozenset[str] = frozenset()
    digests: frozenset[bytes] = frozenset()


@dataclass(slots=True)
class Sheet:
    """One scope as a write sees it: what is known, and the words for the script so far."""

    base: str
    records: dict[str, Record | None] = field(default_factory=dict)
    seqs: dict[str, bytes] = field(default_factory=dict)  # as they are listed, even if they expired
    told: dict[str, bytes] = field(default_factory=dict)
    said: dict[bytes, tuple[bytes, list[Record]]] = field(default_factory=dict)
    added: dict[int, int] = field(default_factory=dict)  # seqs on the desk -> how many were added before
    registers: bool = False  # the scope's name is to be known
    sweeps: bool = False
    changed: bool = False
    now: float = 0.0


@dataclass(slots=True)
class Seen:
    """What was read for a desk, and can be read again where it did not suffice."""

    epoch: int
    tombs: int
    look: Callable[[str, Need], Sheet]
    entombed: Callable[[str, Sequence[bytes]], dict[bytes, float]]
    sheets: Mapping[str, Sheet] = field(default_factory=dict)


def sheet_of(base: str, scope: str, need: Need, answer: Sequence[Any]) -> Sheet:
    """What the script `look` answered."""
    _, _, ids, said = answer
    sheet = Sheet(base)
    for n, id in enumerate(sorted(need.ids)):
        seq, found, told = ids[3 * n : 3 * n + 3]
        sheet.records[id] = record_of(found, scope, int(seq)) if found else None
        if seq:
            sheet.seqs[id] = seq
        if told:
            sheet.told[id] = told
    for digest, (listed, *found) in zip(sorted(need.digests), said, strict=True):
        seqs = map(int, listed.split())
        records = [record_of(one, scope, seq) for seq, one in zip(seqs, found, strict=True) if one]
        sheet.said[digest] = (listed, records)
    return sheet
