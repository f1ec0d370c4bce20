"""What a reader of foreign memories yields, and what it notes about things that have no place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from ..core.draft import Draft
from ..integrations.extras import quote_label

EXAMPLES: Final = 100  # things of which a report names the place
ID_CHARS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """One memory of a source: a draft with an id or a key, and what its scope may be named for."""

    draft: Draft
    where: str  # its place in the source, for errors and reports
    labels: Mapping[str, str] = field(default_factory=dict)  # as they may stand in the name of a scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How a source is to be read; what a format does not know, it leaves."""

    columns: Mapping[str, str] = field(default_factory=dict)  # a field of a memory -> its column
    delimiter: str = ","
    history: Path | None = None  # where mem0 keeps what it changed
    everything: bool = False  # also what is superseded, hidden, or on another branch
    skip_bad: bool = False  # note a line that cannot be read, and go on


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A thing of a source that was not stored: where it stands, and why."""

    where: str
    why: str


class Notes:
    """What had no place: fields that were dropped, and things that were skipped, with the reasons."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.examples: list[LeftOut] = []

    def drop(self, name: str, why: str, count: int = 1) -> None:
        """A field, or a part of the source, that no memory can hold."""
        self.dropped[f"{name}: {why}"] += count

    def skip(self, where: str, why: str) -> None:
        """A thing that is not stored."""
        self.skipped[why] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(LeftOut(where=where, why=why))


class SourceReader(Protocol):
    """Reads a source from its beginning, lazily and always in the same order.

    Each item has an id or a key that is the same whenever the source is read. `BadInput` where the source
    is not of this format, with the place of what is wrong.
    """

    def __call__(self, source: str, options: ReadOptions, notes: Notes, /) -> Iterator[SourceItem]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFormat:
    """A format that can be read."""

    about: str
    read: SourceReader
    scope: str  # the template of the scopes, unless the caller names another


def identify(id: str, kind: str) -> dict[str, Any]:
    """The id of a thing as the id of its record, or as a key where it cannot be one."""
    if 1 <= len(id) <= ID_CHARS and id.isprintable():
        return {"id": id}
    return {"key": f"{kind} {id}"}


def make_labels(**values: object) -> dict[str, str]:
    """Values as labels of scopes; what is missing or empty is left out."""
    labels: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, str) and value.strip():
            labels[name] = quote_label(value)
    return labels


def keep_present(**values: Any) -> dict[str, Any]:
    """Without what is None."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if value is not None:
            kept[name] = value
    return kept
