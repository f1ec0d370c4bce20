"""Documents of a folder in a memory: each file is one step, and the stored records show what is left.

A sync therefore keeps no state: run it again if it was stopped, or if the folder has changed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ..core.arguments import one
from ..core.draft import Draft
from ..core.errors import BadInput, EidetError, MissingExtra, NotFound, Refused
from ..core.record import Kind, Record, Trust, key_id
from ..core.scope import Scope
from ..integrations.extras import join_key
from ..memory import Memory
from .document_files import READERS, Passage, read_passages
from .source_items import LeftOut

_ENTOMBED: Final = "passages were forgotten for good in this memory, and stay so"
_SYNCED: Final = {"meta.passage.place": {"$exists": True}}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The numbers of passages of a file that were added, updated and removed."""

    file: str
    added: int = 0
    updated: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """The result of a sync, or with `dry_run` what it would do."""

    path: str
    dry_run: bool = False
    files: int = 0  # files that were read
    passages: int = 0  # passages in these files
    changes: tuple[FileChange, ...] = ()  # files whose passages changed, in order
    skipped: tuple[LeftOut, ...] = ()  # files that could not be read or stored; their passages stay
    unread: Mapping[str, int] = field(default_factory=dict)  # number of files without a reader, by suffix

    def count(self, what: str) -> int:
        """Counts the passages "added", "updated" or "removed"."""
        return sum(getattr(change, what) for change in self.changes)


def sync_files(
    memory: Memory,
    path: str | Path,
    *,
    scope: str | Scope = "default",
    name: str | None = None,
    trust: str | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Synced:
    """Stores a file, or all files in and below a folder, as documents: one for each passage.

    Reads Markdown, HTML, plain text and, with the pdf extra, PDF. Called again, it adds, updates and
    removes what changed, but only records that it made itself. A file that cannot be read is named in
    `skipped`, and its passages stay. Files of other kinds are counted in `unread`. Hidden files and
    symbolic links are left out.

    `name` replaces the path in the `source` of the records. Give one if the folder may move, or is synced
    from several machines. `trust` is the origin of the texts, such as `web` for texts of strangers.
    """
    root = _resolve(path)
    files = _SyncedFiles(root, name)
    found = dict(files.walk())
    sync = _Sync(memory, one(scope), trust, dry_run)
    known = sync.find_known(files.holds)
    gone = [source for source in known if source not in found and not files.was_skipped(source)]
    total = len(found) + len(gone)
    for done, source in enumerate((*found, *sorted(gone)), 1):
        try:
            sync.sync_file(source, found.get(source), known.get(source, ()))
        except (OSError, BadInput, Refused, MissingExtra) as error:
            if root.is_file():
                raise _name_file(root, error) from error
            files.skip(source, _describe(error))
        if progress is not None:
            progress(done, total)
    return Synced(
        path=str(path),
        dry_run=dry_run,
        files=sync.files,
        passages=sync.passages,
        changes=tuple(sync.changes),
        skipped=(*files.skipped, *sync.skipped),
        unread=dict(files.unread.most_common()),
    )


def _resolve(path: str | Path) -> Path:
    root = Path(path).expanduser()
    if not root.exists():
        raise NotFound(f"there is no file or folder {root}")
    root = root.resolve()
    if root.is_file() and root.suffix.lower() not in READERS:
        raise BadInput(f"{root.name}: files that can be read end in {', '.join(READERS)}")
    return root


def _name_file(file: Path, error: Exception) -> EidetError:
    if isinstance(error, MissingExtra):
        return error
    kind = Refused if isinstance(error, Refused) else BadInput
    return kind(f"{file.name}: {_describe(error)}")


def _describe(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


class _SyncedFiles:
    """The files that a sync reads, by the `source` of their records."""

    def __init__(self, root: Path, name: str | None) -> None:
        self._root = root
        self._base = (root.as_posix() if name is None else name).rstrip("/")
        self.skipped: list[LeftOut] = []
        self.unread: Counter[str] = Counter()

    def walk(self) -> Iterator[tuple[str, Path]]:
        """Yields source and path of each file, in order."""
        if self._root.is_file():
            yield self._base, self._root
            return
        for folder, below, names in os.walk(self._root, onerror=self._skip_folder):
            below[:] = sorted(name for name in below if self._is_wanted(Path(folder, name)))
            for path in (Path(folder, name) for name in sorted(names)):
                if path.suffix.lower() in READERS and self._is_wanted(path):
                    yield self._name(path), path
                elif path.suffix.lower() not in READERS and not path.name.startswith("."):
                    self.unread[path.suffix.lower()] += 1

    def holds(self, source: str) -> bool:
        """Returns whether a source is, or was, a file of this folder."""
        return source == self._base or source.startswith(f"{self._base}/")

    def was_skipped(self, source: str) -> bool:
        return any(source == left.where or source.startswith(f"{left.where}/") for left in self.skipped)

    def skip(self, source: str, why: str) -> None:
        self.skipped.append(LeftOut(source, why))

    def _name(self, path: Path) -> str:
        return f"{self._base}/{path.relative_to(self._root).as_posix()}"

    def _is_wanted(self, path: Path) -> bool:
        if path.name.startswith("."):
            return False
        if not path.name.isprintable():
            self.skip(self._name(path), "its name cannot be printed")
        elif path.is_symlink():
            self.skip(self._name(path), "it is a symbolic link")
        elif not (path.is_file() or path.is_dir()):
            self.skip(self._name(path), "it is no regular file")
        else:
            return True
        return False

    def _skip_folder(self, error: OSError) -> None:
        self.skip(self._name(Path(error.filename)), _describe(error))


class _Sync:
    """Syncs the passages of one file after another with a scope, and counts the changes."""

    def __init__(self, memory: Memory, scope: str, trust: str | None, dry_run: bool) -> None:
        self._memory, self._scope, self._trust, self._dry_run = memory, scope, trust, dry_run
        self.files = self.passages = 0
        self.changes: list[FileChange] = []
        self.skipped: list[LeftOut] = []

    def find_known(self, holds: Callable[[str], bool]) -> dict[str, list[str]]:
        """Returns the ids of passages that were stored before, by source."""
        known: dict[str, list[str]] = {}
        kinds, trust = (Kind.DOCUMENT,), tuple(Trust)
        for record in self._memory.find(_SYNCED, scope=self._scope, kinds=kinds, trust=trust, limit=None):
            if record.source is not None and holds(record.source):
                known.setdefault(record.source, []).append(record.id)
        return known

    def sync_file(self, source: str, path: Path | None, known: Sequence[str]) -> None:
        """Syncs one file; without a path, the file was deleted."""
        drafts = [] if path is None else self._read_drafts(source, path)
        there = self._get([key_id(draft.key or "") for draft in drafts])
        pairs = list(zip(drafts, there, strict=True))
        wanted = [(draft, old) for draft, old in pairs if old is None or old.whole.text != draft.text]
        kept = {old.id for old in there if old is not None}
        stale = [id for id in known if id not in kept]
        added, updated = self._store(source, wanted)
        if stale and not self._dry_run:
            self._memory.forget(stale, scope=self._scope, for_good=False)
        if added or updated or stale:
            self.changes.append(FileChange(file=source, added=added, updated=updated, removed=len(stale)))
        self.files += path is not None
        self.passages += len(drafts)

    def _get(self, ids: list[str]) -> list[Record | None]:
        return self._memory.get(ids, scope=self._scope) if ids else []

    def _store(self, source: str, wanted: Sequence[tuple[Draft, Record | None]]) -> tuple[int, int]:
        """Stores passages and returns how many are new, and how many were changed."""
        new = sum(old is None for _, old in wanted)
        if self._dry_run or not wanted:
            return new, len(wanted) - new
        drafts = [draft for draft, _ in wanted]
        stored = self._memory.remember(drafts, scope=self._scope, keep_duplicates=True)
        refused = {item.index for item in stored.rejected}
        if refused:
            self.skipped.append(LeftOut(source, f"{len(refused):,} {_ENTOMBED}"))
        before = [old for at, (_, old) in enumerate(wanted) if at not in refused]
        added = before.count(None)
        pairs = zip(before, stored, strict=True)
        return added, sum(old is not None and old.version < new.version for old, new in pairs)

    def _read_drafts(self, source: str, path: Path) -> list[Draft]:
        occurred, passages = path.stat().st_mtime, read_passages(path)
        drafts = [_make_draft(passage, source, path.name) for passage in passages]
        return [replace(draft, occurred=occurred, trust=self._trust) for draft in drafts]


def _make_draft(passage: Passage, source: str, file: str) -> Draft:
    """Makes a draft whose text includes the place, so that it is searched and shown with the passage."""
    place, page = passage.describe_place(file), passage.page
    where = {"place": place, "heading": list(passage.heading), **({} if page is None else {"page": page})}
    return Draft(
        key=join_key("passage", source, str(page or ""), *passage.heading, str(passage.part)),
        text=f"{place}:\n{passage.text}",
        kind=Kind.DOCUMENT,
        source=source,
        meta={"passage": where},
    )
