"""Upkeep of a memory: moves records between tiers, forgets, merges and summarises.

Planners are pure: they take records, the time and the settings, and return changes with their reasons.
Only `run` applies the changes, a batch at a time, each only if its record is unchanged since it was read.

    tier_plan.py     expire, retain, forget, promote, move; what a tier shows and keeps
    consolidate.py   repetitions, episodes, facts               archive.py     archives of deleted records
    model_facts.py   asks a language model for facts and checks its answer
    run.py           walks the store and applies the changes    lifecycle.py   does so in the background
    curve.py, importance.py, summary.py                         measures and summaries for the planners
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..core.arguments import check_texts
from ..core.errors import BadInput
from ..core.record import Record

WORKS: Final = (
    *("expire", "retain", "forget", "merge", "weigh", "promote", "move"),
    *("summarise", "consolidate"),
)

# Phrases for what upkeep would do and what it did.
_SAYS: Final[dict[str, tuple[str, str]]] = {
    "expire": ("expire {}", "expired {}"),
    "retain": ("delete {} by retention", "deleted {} by retention"),
    "stays": ("leave {} alone", "left {} alone"),
    "forget": ("forget {}", "forgot {}"),
    "merge": ("merge {}", "merged {}"),
    "weigh": ("weigh {}", "weighed {}"),
    "promote": ("promote {}", "promoted {}"),
    "move": ("move {}", "moved {}"),
    "summarise": ("summarise {}", "summarised {}"),
    "consolidate": ("consolidate {}", "consolidated {}"),
}

PINNED: Final = "pinned"
HOLD: Final = "hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Write `record`, either in place of `instead` or as a new one.

    With `recast`, the content stays the same and only tier and level change to those of `record`.
    """

    what: str
    record: Record
    because: str
    instead: Record | None = None
    recast: bool = False
    absorbs: tuple[Record, ...] = ()  # deleted after the write; `record` gets their uses


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Delete `record`, after archiving it if that is configured."""

    what: str
    record: Record
    because: str
    archive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Make one record of several `sources`. `record` lacks only its text, by an LLM or else by rules."""

    what: str
    record: Record
    sources: tuple[Record, ...]
    because: str
    rules: str = ""  # the text by the rules, if the planner already knows it


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """Keep `record` although a rule would delete it, and report why."""

    what: str
    record: Record
    because: str


Change = Write | Drop | Ask | Stay


class Noted(NamedTuple):
    """A short description of a change: `move default/0651…: not used for 40 days`."""

    what: str
    scope: str
    id: str
    because: str

    def __str__(self) -> str:
        return f"{self.what} {self.scope}/{self.id}: {self.because}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained:
    """What upkeep did or, with `dry_run`, would do.

    `counts` are by kind of change; `changes` lists each, up to a limit. `skipped` counts records that
    another writer changed meanwhile. `failed` lists changes that failed; the others were still made.
    """

    dry_run: bool = False
    examined: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Noted, ...] = ()
    skipped: int = 0
    failed: tuple[str, ...] = ()
    archived: int = 0
    freed_bytes: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        parts: list[str] = []
        for what, count in self.counts.items():
            would, did = _SAYS.get(what, (f"{what} {{}}", f"{what} {{}}"))
            parts.append((would if self.dry_run else did).format(f"{count:,}"))
        if not parts:
            return f"nothing to do ({self.examined:,} examined)"
        if self.archived:
            parts.append(f"archived {self.archived:,}")
        before = "would " if self.dry_run else ""
        return f"{before}{', '.join(parts)} ({self.examined:,} examined)"


def works_of(only: str | Iterable[str] | None) -> tuple[str, ...]:
    if only is None:
        return WORKS
    if isinstance(only, str):
        only = [only]
    chosen = set(check_texts(only, "only"))
    if unknown := chosen - set(WORKS):
        raise BadInput(f"unknown upkeep steps {sorted(unknown)}; there are {', '.join(WORKS)}")
    return tuple(work for work in WORKS if work in chosen)


def resting_time(record: Record) -> float:
    """Returns the time of a record's last use or, if that is later, of its creation."""
    return record.created if record.last_used is None else max(record.created, record.last_used)
