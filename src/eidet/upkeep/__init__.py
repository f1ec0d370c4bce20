"""What keeps a memory in order: moving between tiers, forgetting, merging, summing up.

Planners are pure: they take records, the moment and the settings, and say what should change and why.
One place (`run`) makes the changes, a batch at a time, each only if its record is still as it was read.

    tier_plan.py     expire, forget, promote, move; what a tier shows and keeps
    retain.py        policies: keep, archive, delete after days
    consolidate.py   repetitions, episodes, facts               archive.py     where the forgotten are kept
    model_facts.py   facts that a language model reads: how it is asked, and checked
    run.py           walks the store and makes the changes      worker.py      the same in the background
    curve.py, importance.py, summary.py: what they judge by
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

# What upkeep would do and what it did, in the words of a person.
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
    """Write `record`: instead of one that was read, or as a new one.

    With `recast`, what it says stays the same and only tier and level differ (as `record` has them).
    """

    what: str
    record: Record
    because: str
    instead: Record | None = None
    recast: bool = False
    absorbs: tuple[Record, ...] = ()  # deleted once it is written; their uses are added to its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Delete `record`, after archiving it if that is configured."""

    what: str
    record: Record
    because: str
    archive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Make one record of several: an LLM may word it, the rules can. `record` lacks only its text."""

    what: str
    record: Record
    sources: tuple[Record, ...]
    because: str
    rules: str = ""  # the text by the rules, where the planner knows it already


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """Leave `record` alone although a rule wanted it gone, and say why."""

    what: str
    record: Record
    because: str


Change = Write | Drop | Ask | Stay


class Noted(NamedTuple):
    """A change in a few words: `move default/0651…: not used for 40 days`."""

    what: str
    scope: str
    id: str
    because: str

    def __str__(self) -> str:
        return f"{self.what} {self.scope}/{self.id}: {self.because}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained:
    """What upkeep did or, with `dry_run`, would do.

    `counts` are by what was done; `changes` tells each, as many as were to be told. `skipped` were
    changed by somebody else meanwhile. `failed` says what could not be done; the rest went on.
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


def is_protected(record: Record) -> bool:
    """Tells whether upkeep leaves a record alone: it is pinned or under a legal hold."""
    return record.state.is_protected


def resting_time(record: Record) -> float:
    """Since when it lies unused: it was made then, or used last."""
    return record.created if record.last_used is None else max(record.created, record.last_used)
