"""An import: all items are checked before any is written, then stored in batches, each all or nothing.

Records that exist already are found by their id and left as they are, so that repeating an import
continues where it stopped and adds what is new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Record
from ..core.scope import Scope, check_scope
from ..core.settings import Settings
from ..core.validate import EARLIEST, moment
from ..memory import Memory
from ..write.ingest import Progress, batches
from ..write.shape import shape_record
from ..write.write_path import is_entombed
from .from_chats import read_chatgpt, read_claude
from .from_mem0 import read_mem0
from .from_stores import read_chroma, read_langgraph, read_letta, read_mcp
from .from_tables import read_csv, read_jsonl
from .markdown import read_markdown, read_okf
from .source_items import BadItem, Dropped, ImportOptions, LeftOut, SourceFormat

BATCH: Final = 500
CONFLICT: Final = "its id is taken by a memory that says something else; it was left as it is"
ENTOMBED: Final = "it was forgotten for good in this memory"
HELD: Final = "it is under a legal hold in this memory"
EXAMPLES: Final = 100  # the most left-out items that a report names
FORMATS: Final[dict[str, SourceFormat]] = {
    "mem0": SourceFormat(read_mem0, "mem0/{owner}"),
    "langgraph": SourceFormat(read_langgraph, "langgraph/{namespace}"),
    "chroma": SourceFormat(read_chroma, "{collection}"),
    "letta": SourceFormat(read_letta, "{agent}"),
    "chatgpt": SourceFormat(read_chatgpt, "default"),
    "claude": SourceFormat(read_claude, "default"),
    "mcp": SourceFormat(read_mcp, "default"),
    "markdown": SourceFormat(read_markdown, "default"),
    "okf": SourceFormat(read_okf, "{scope}"),
    "jsonl": SourceFormat(read_jsonl, "{scope}"),
    "csv": SourceFormat(read_csv, "{scope}"),
}
_GAPS: Final = ("user", "owner", "agent", "session", "collection", "namespace", "scope")
_GAP: Final = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of an import, or of a `dry_run`, and what was left out."""

    format: str
    source: str
    dry_run: bool = False
    found: int = 0  # items of the source that can be stored
    created: int = 0
    changed: int = 0  # became the next version of an existing record
    same: int = 0  # existed already
    conflicts: int = 0  # differ from the existing record with their id, and were left out
    entombed: int = 0  # were forgotten for good in the memory, and stay so
    held: int = 0  # differ, but are under a legal hold in the memory
    scopes: dict[str, int] = field(default_factory=dict)  # items by the scope they belong to
    skipped: dict[str, int] = field(default_factory=dict)  # things that were not stored, by reason
    dropped: dict[str, int] = field(default_factory=dict)  # fields that a memory cannot hold, with the reason
    examples: tuple[LeftOut, ...] = ()  # the first hundred things that were not stored

    @property
    def ok(self) -> bool:
        """Whether the memory now has all that it can hold of the source, with the content of the source."""
        return not self.conflicts and not self.held


class _Notes:
    """Counts what is not stored, and keeps the first of the items."""

    def __init__(self, *, skip_bad: bool = False) -> None:
        self._skips_bad = skip_bad
        self.skipped: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.examples: list[LeftOut] = []

    def add(self, left: LeftOut | Dropped) -> None:
        if isinstance(left, Dropped):
            self.dropped[f"{left.what}: {left.why}"] += left.count
            return
        if isinstance(left, BadItem) and not self._skips_bad:
            raise BadInput(f"{left.where}: {left.why}; nothing was imported. --skip-bad leaves it out")
        self.skipped[left.why] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(left)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadyItem:
    """An item that can be stored: its scope and the record it becomes."""

    draft: Draft
    scope: str
    record: Record
    where: str


class Importer:
    """An import that has not begun: `check` it without a memory, then `run` it."""

    def __init__(self, format: str, source: str | Path, options: ImportOptions) -> None:
        if format not in FORMATS:
            raise BadInput(f"memories are imported from {', '.join(FORMATS)}, not {format!r}")
        self._name, self._source, self._options = format, str(source), options
        self._form = FORMATS[format]
        self._template = self._form.scope if options.scope is None else options.scope
        for gap in _GAP.findall(self._template):
            if gap not in _GAPS:
                known = ", ".join(f"{{{name}}}" for name in _GAPS)
                raise BadInput(f"scope {self._template!r}: there is no {{{gap}}}; there are {known}")
        check_scope(_GAP.sub("x", self._template))

    def check(self, settings: Settings, now: float) -> Imported:
        """Reads the whole source; raises `BadInput` for the first item that cannot be stored."""
        notes = _Notes(skip_bad=self._options.skip_bad)
        scopes = Counter(item.scope for item in self._read(settings, now, notes))
        return Imported(
            format=self._name,
            source=self._source,
            dry_run=True,
            found=scopes.total(),
            created=scopes.total(),
            scopes=dict(sorted(scopes.items())),
            skipped=dict(notes.skipped),
            dropped=dict(notes.dropped),
            examples=tuple(notes.examples),
        )

    def run(self, memory: Memory, checked: Imported, *, dry_run: bool, progress: Progress | None) -> Imported:
        """Stores what was checked; with `dry_run`, only compares it with the memory."""
        writer = _BatchWriter(memory, self._options.overwrite, dry_run)
        parts, done = memory.parts, 0
        notes = _Notes(skip_bad=self._options.skip_bad)
        items = self._read(parts.settings, parts.clock(), notes)
        for batch in batches(items, BATCH):
            writer.write(batch)
            done += len(batch)
            if progress is not None:
                progress(done, max(done, checked.found))
        examples = (*checked.examples, *writer.notes.examples)[:EXAMPLES]
        counts: dict[str, Any] = {"created": 0, **writer.counts}
        return replace(checked, dry_run=dry_run, examples=examples, **counts)

    def _read(self, settings: Settings, now: float, notes: _Notes) -> Iterator[_ReadyItem]:
        seen: dict[tuple[str, str], str] = {}
        for item in self._form.read(self._source, self._options):
            if isinstance(item, LeftOut | Dropped):
                notes.add(item)
                continue
            expires = item.draft.expires
            if isinstance(expires, int | float) and moment(expires, "expires") <= now:
                notes.add(LeftOut(item.where, "has expired"))
                continue
            scope = _fill_scope(self._template, item.labels)
            try:
                ready = self._make_ready(item.draft, scope, item.where, settings, now)
                _check_new(ready, seen)
            except BadInput as error:
                notes.add(BadItem(item.where, str(error)))
            else:
                yield ready

    def _make_ready(self, draft: Draft, scope: str, where: str, settings: Settings, now: float) -> _ReadyItem:
        Scope.exactly(scope)
        if draft.trust is None and self._options.trust is not None:
            draft = replace(draft, trust=self._options.trust)
        record = shape_record(draft, scope=scope, now=now, text_chars=settings.text_chars)
        return _ReadyItem(draft=draft, scope=scope, record=record, where=where)


def _check_new(item: _ReadyItem, seen: dict[tuple[str, str], str]) -> None:
    """Refuses a second item with the same id, which would replace the first."""
    place = (item.scope, item.record.id)
    if place in seen:
        raise BadInput(f"{seen[place]} has the same id in scope {item.scope!r}")
    seen[place] = item.where


def _as_it_was(item: _ReadyItem) -> Record:
    """Dates the record as the source does, so that what was forgotten later does not return."""
    if item.draft.occurred is None:
        return item.record.but(created=EARLIEST)
    return item.record.but(created=item.record.occurred)


class _BatchWriter:
    """Stores batches in a memory and counts the outcomes."""

    def __init__(self, memory: Memory, overwrites: bool, dry_run: bool) -> None:
        self._memory, self._overwrites, self._dry_run = memory, overwrites, dry_run
        self._guards = memory.trust.guarding.guards  # a guard changes texts as they are stored
        self.counts: Counter[str] = Counter()
        self.notes: _Notes = _Notes()

    def write(self, batch: Iterable[_ReadyItem]) -> None:
        by_scope: dict[str, list[_ReadyItem]] = {}
        for item in batch:
            by_scope.setdefault(item.scope, []).append(item)
        for scope, items in by_scope.items():
            self._write_scope(scope, items)

    def _write_scope(self, scope: str, items: Sequence[_ReadyItem]) -> None:
        there = self._memory.parts.key_ids.read(scope, [item.record.id for item in items])
        decided = [(item, self._compare(item, old)) for item, old in zip(items, there, strict=True)]
        writes = () if self._dry_run else ("created", "changed")
        self.counts.update(kind for _, kind in decided if kind not in writes)
        if wanted := [one for one in decided if one[1] in writes]:
            self._store(scope, wanted)

    def _compare(self, item: _ReadyItem, old: Record | None) -> str:
        """Decides how an item counts; "created" and "changed" are written."""
        if old is None and self._is_entombed(_as_it_was(item)):
            self.notes.add(LeftOut(item.where, ENTOMBED))
            return "entombed"
        if old is None:
            return "created"
        if self._guards or old.digest == item.record.digest:
            return "same"
        if old.state.hold is not None:
            self.notes.add(LeftOut(item.where, HELD))
            return "held"
        if self._overwrites:
            return "changed"
        self.notes.add(LeftOut(item.where, CONFLICT))
        return "conflicts"

    def _is_entombed(self, record: Record) -> bool:
        ids = self._memory.parts.key_ids.list_ids(record.id)
        return any(is_entombed(self._memory.parts, record.but(id=id)) for id in ids)

    def _store(self, scope: str, wanted: Sequence[tuple[_ReadyItem, str]]) -> None:
        drafts = [item.draft for item, _ in wanted]
        remembered = self._memory.remember(drafts, scope=scope, keep_duplicates=True, read_speakers=True)
        rejected = {one.index for one in remembered.rejected}
        for number, (item, kind) in enumerate(wanted):
            if number in rejected:
                self.notes.add(LeftOut(item.where, ENTOMBED))
                self.counts["entombed"] += 1
            else:
                self.counts[kind] += 1


def _fill_scope(template: str, labels: Mapping[str, str]) -> str:
    """Returns the scope of an item: `acme/{user}` with its labels; parts that stay empty are left out."""
    filled = (_GAP.sub(lambda gap: labels.get(gap[1], ""), part) for part in template.split("/"))
    return "/".join(filter(None, filled)) or Scope().path
