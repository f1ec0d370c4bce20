"""Turns of conversations as passages: what stands side by side in a session is told together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Final

from ..core.record import Record
from .prompt_lines import GAP, one_line

LABEL_CHARS: Final = 32  # of a session's name: longer ones are made by machines

Key = tuple[str, str]


def key_of(record: Record) -> Key:
    return record.scope, record.id


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurns:
    """Which turn of its session a record is, and who stands beside it, nearest first."""

    turn: Mapping[Key, int] = field(default_factory=dict)
    beside: Mapping[Key, Sequence[Record]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Told:
    """A record with its line."""

    record: Record
    line: str


def passages_of(told: Sequence[Told], turns: SessionTurns) -> list[list[Told]]:
    """Runs of turns that follow one another, each in order of time, the earliest first."""
    threads: dict[Key, list[Told]] = {}
    for one in sorted(told, key=_when):
        threads.setdefault(_thread(one.record), []).append(one)
    runs: list[list[Told]] = []
    for thread in threads.values():
        runs.extend(_runs(thread, turns))
    return sorted(runs, key=lambda run: _when(run[0]))


def lines_of(passages: Sequence[Sequence[Told]], *, headings: bool) -> list[str]:
    """Every line, under the name of its session where that changes; a mark where turns are passed over."""
    if not headings:
        return [one.line for one in chain.from_iterable(passages)]
    lines: list[str] = []
    for before, passage in pairwise([None, *passages]):
        assert passage is not None
        lines += _opening(None if before is None else before[0].record, passage[0].record)
        lines += [one.line for one in passage]
    return lines


def header_of(record: Record) -> str:
    """`## session_3`; a mark for what was said in none."""
    label = one_line(record.session or "")
    if not label:
        return GAP
    return f"## {label}" if len(label) <= LABEL_CHARS else f"## {label[: LABEL_CHARS // 2].strip()}{GAP}"


def _when(one: Told) -> tuple[float, int]:
    return one.record.occurred, one.record.seq


def _thread(record: Record) -> Key:
    """Where it was said; what belongs to no session stands by itself."""
    if record.session:
        return record.scope, record.session
    return f"{record.scope}/", record.id


def _runs(thread: Sequence[Told], turns: SessionTurns) -> Iterator[list[Told]]:
    """Turns whose numbers are not known are taken to follow one another."""
    run: list[Told] = []
    for one in thread:
        last, now = (turns.turn.get(key_of(each.record)) for each in (run[-1] if run else one, one))
        if run and last is not None and now is not None and now != last + 1:
            yield run
            run = []
        run.append(one)
    yield run


def _opening(before: Record | None, first: Record) -> list[str]:
    """What stands between two passages, or before the first."""
    if before is not None and (before.scope, before.session) == (first.scope, first.session):
        if first.session:
            return [GAP]
        return []
    if before is None and not first.session:
        return []
    return [header_of(first)]
