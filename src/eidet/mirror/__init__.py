"""Mirrors a scope as a folder of Markdown that a person reads and edits, in both directions.

    done = mirror_folder(memory, "notes", scope="ann")
    print(done.remembered, done.revised, done.forgotten, done.conflicts)

For each record, a run compares the last run, the memory and the file. A change of the file alone becomes
`remember`, `revise` or `forget`; then all files are written from the memory. Where both changed, the memory
wins, and the text of the file is kept in `*.conflict.md`.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Event
from typing import Any, Final

from ..client import Client
from ..core.draft import Draft
from ..core.errors import BadInput, Conflict, EidetError, NotFound, Refused, Unavailable
from ..core.private_files import write_private
from ..core.record import Record, Trust
from ..core.scope import Scope
from ..core.settings import Settings
from ..core.validate import dump_json
from ..exchange.front_matter import join_front_matter, make_stem
from ..exchange.record_exports import check_plain
from ..memory import Memory
from ..store.tombstones import secret_of
from ..trust.audit import Auditing
from .folder import Block, Folder, Page, Row, Seen, make_row, render_block, shape_row

__all__ = ["Mirrored", "mirror_folder", "watch_folder"]

MOST_FORGOTTEN: Final = 20  # records that one run forgets without `delete`
_OWN_MATTER: Final = frozenset(("type", "title", "scope", "session", "kind"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """The result of a run, or of a `dry_run`: ids by outcome, and files written."""

    folder: str
    scope: str
    dry_run: bool = False
    remembered: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()  # file, id and reason of each change not made
    unresolved: tuple[str, ...] = ()  # files with texts of conflicts, until they are deleted
    written: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.conflicts and not self.unresolved

    @property
    def has_changes(self) -> bool:
        return bool(self.remembered or self.revised or self.forgotten or self.conflicts or self.written)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A difference between the folder and the last run; `theirs` is None for a deletion."""

    id: str
    file: str
    last: str | None
    ours: Record | None = None
    theirs: Row | None = None


def mirror_folder(
    memory: Memory,
    folder: str | Path,
    *,
    scope: str = "default",
    dry_run: bool = False,
    delete: bool = False,
    plain: bool = False,
) -> Mirrored:
    """Synchronises a folder and a scope; see the module.

    Nothing is written if a file cannot be read, if the folder is not this mirror's, or if more than
    `MOST_FORGOTTEN` records would be forgotten without `delete`. Records are forgotten softly: they may be
    stored again. A sealed memory is mirrored only if you ask for `plain` files.
    """
    place = Scope.exactly(scope).path
    if isinstance(memory, Client):  # the server audits, and shows texts only to those who may read
        return _Run(memory, Folder(Path(folder), str(memory), place), place).start(dry_run, delete)
    check_plain(memory, plain, instead="ask for plain=True, and guard the folder yourself")
    with Auditing(memory.audit).doing("mirror", place, file=str(folder)) as done:
        opened = Folder(Path(folder), memory.parts.store.identity, place)
        mirrored = _Run(memory, opened, place).start(dry_run, delete)
        done(len(mirrored.written))
    return mirrored


def watch_folder(
    memory: Memory,
    folder: str | Path,
    tell: Callable[[Mirrored | EidetError], None],
    stop: Event,
    *,
    seconds: float = 1.0,
    **options: Any,
) -> None:
    """Mirrors whenever the memory or the folder has changed and settled, until `stop` is set.

    Calls `tell` for the first run, each run that changed something, and each refusal or failure.
    """
    last = before = None
    notes, scope = Folder(Path(folder), "", ""), options.get("scope", "default")
    while not stop.is_set():
        try:
            now = (memory.admin.changes(scope=scope).cursor, notes.stat_notes())
            if last is None or (now != last and now == before):  # no file is being written at this moment
                first, last = last is None, now  # later changes are seen by the next run
                done = mirror_folder(memory, folder, **options)
                if first or done.has_changes:
                    tell(done)
            before = now
        except FileNotFoundError:  # deleted after it was listed: check again
            before = None
        except (BadInput, Refused) as error:
            tell(error)
        except Unavailable as error:  # the server may come back
            tell(error)
            last = None
        stop.wait(seconds)


class _Run:
    """One run of a mirror."""

    def __init__(self, memory: Memory, folder: Folder, scope: str) -> None:
        self._memory, self._folder, self._scope = memory, folder, scope
        self._is_local, self._secret = not isinstance(memory, Client), b""

    def start(self, dry_run: bool, delete: bool) -> Mirrored:
        state = self._folder.read_state()
        if state is not None or not dry_run:
            self._secret = secret_of(self._memory.parts.store, "mirror") if self._is_local else _own_secret()
        seen, records = state or {}, self._read_records()
        pages = self._name_new(self._folder.read_pages(), seen)
        changes = list(self._list_changes(pages, records, seen))
        self._check_forgotten(changes, delete)
        if state is None and not dry_run:
            self._folder.write_state({})  # claims the folder, even if this run is killed
        told = self._apply(changes, dry_run)
        written = [] if dry_run else self._write(pages, seen)
        return replace(told, written=tuple(written), unresolved=tuple(self._folder.list_conflicts()))

    def _read_records(self) -> dict[str, Record]:
        found = self._memory.find(scope=self._scope, limit=None)
        return {record.id: record for record in found if record.trust is not Trust.QUARANTINED}

    # Comparing

    def _name_new(self, pages: Mapping[str, Page], seen: Mapping[str, Seen]) -> dict[str, Page]:
        """Gives new blocks ids derived from file and text, so that a run after a kill makes the same."""
        taken = {*seen, *(str(block.id) for page in pages.values() for block in page.blocks)}
        return {
            file: replace(page, blocks=[self._name_block(block, taken) for block in page.blocks])
            for file, page in pages.items()
        }

    def _name_block(self, block: Block, taken: set[str]) -> Block:
        if not block.is_new:
            return block
        names = (self._mark(f"{n}\n{block.file}\n{block.fields['text']}") for n in range(len(taken) + 1))
        id = next(f"m{name}" for name in names if f"m{name}" not in taken)
        taken.add(id)
        return replace(block, fields={"source": block.file, **block.fields, "id": id})

    def _list_changes(
        self, pages: Mapping[str, Page], records: Mapping[str, Record], seen: Mapping[str, Seen]
    ) -> Iterator[_Change]:
        blocks = {str(block.id): block for page in pages.values() for block in page.blocks}
        text_chars = (self._memory.parts.settings if self._is_local else Settings()).text_chars
        for id, block in blocks.items():
            if block.is_new and id in records:
                continue  # a run that was killed has stored it already
            theirs = shape_row(block, self._scope, text_chars)
            ours, last = records.get(id), seen[id].hash if id in seen else None
            if self._hash(theirs) != last and (ours is None or theirs != make_row(ours)):
                yield _Change(id=id, file=block.file, last=last, ours=ours, theirs=theirs)
        for id in seen.keys() & records.keys() - blocks.keys():
            yield _Change(id=id, file=seen[id].file, last=seen[id].hash, ours=records[id])

    def _check_forgotten(self, changes: Iterable[_Change], delete: bool) -> None:
        count = sum(change.theirs is None for change in changes)
        if count > MOST_FORGOTTEN and not delete:
            raise Refused(
                f"{count:,} records are gone from {self._folder.path}; nothing was changed: "
                "restore the files, or say delete=True if these records should be forgotten"
            )

    def _hash(self, row: Row) -> str:
        return self._mark(dump_json(dict(row), sort_keys=True))

    def _mark(self, text: str) -> str:
        """Hashes a text with the store's secret, so that the hash does not reveal it."""
        return hmac.new(self._secret, text.encode(), sha256).hexdigest()[:25]

    # Changing the memory

    def _apply(self, changes: Iterable[_Change], dry_run: bool) -> Mirrored:
        done: dict[str, list[str]] = {"remembered": [], "revised": [], "forgotten": [], "conflicts": []}
        for change in changes:
            outcome, verb = self._choose_verb(change)
            try:
                if not dry_run:
                    verb(change)
                done[outcome].append(change.id if outcome != "conflicts" else f"{change.file}: {change.id}")
            except (BadInput, Conflict, NotFound, Refused) as error:
                self._keep(change, str(error))
                done["conflicts"].append(f"{change.file}: {change.id}: {error}")
        told: dict[str, Any] = {name: tuple(ids) for name, ids in done.items()}
        return Mirrored(folder=str(self._folder.path), scope=self._scope, dry_run=dry_run, **told)

    def _choose_verb(self, change: _Change) -> tuple[str, Callable[[_Change], None]]:
        now = None if change.ours is None else self._hash(make_row(change.ours))
        if now != change.last:
            return "conflicts", self._keep
        if change.theirs is None:
            return "forgotten", self._forget
        return ("remembered", self._remember) if change.ours is None else ("revised", self._revise)

    def _remember(self, change: _Change) -> None:
        draft = Draft(**dict(change.theirs or {}))
        self._memory.remember(draft, scope=self._scope, keep_duplicates=True, version=0)

    def _revise(self, change: _Change) -> None:
        assert change.ours is not None
        old, new = make_row(change.ours), dict(change.theirs or {})
        changes = {name: value for name, value in new.items() if name not in old or old[name] != value}
        clear = [name for name in old if name not in new]
        how: dict[str, Any] = {"version": change.ours.version, **self._sign(change)}
        self._memory.revise(change.id, scope=self._scope, clear=clear, **how, **changes)

    def _forget(self, change: _Change) -> None:
        how: dict[str, Any] = {"why": f"deleted in {change.file}", **self._sign(change)}
        self._memory.forget(change.id, scope=self._scope, for_good=False, **how)

    def _sign(self, change: _Change) -> dict[str, str]:
        """Returns the file as the actor of a change; a server records the caller's key instead."""
        return {"by": f"file:{change.file}"} if self._is_local else {}

    def _keep(self, change: _Change, why: str = "it changed on both sides") -> None:
        if change.theirs is not None:
            head = f"{change.id}: {why}. What the memory says stands in {change.file}; your text was:"
            self._folder.keep_conflict(change.file, head, render_block(change.theirs, {}))

    # Writing the folder

    def _write(self, pages: Mapping[str, Page], seen: Mapping[str, Seen]) -> list[str]:
        """Writes all files from the memory, each record in its present or usual file; lists those changed."""
        records = self._read_records()
        rows = {id: make_row(record) for id, record in records.items()}
        orders = {file: [str(block.id) for block in page.blocks] for file, page in pages.items()}
        homes = {id: file for file, ids in orders.items() for id in ids}
        for record in sorted(records.values(), key=lambda one: (one.occurred, one.seq)):
            if record.id not in homes:
                known = seen.get(record.id)
                homes[record.id] = _choose_file(record) if known is None else known.file
                orders.setdefault(homes[record.id], []).append(record.id)
        written = [
            file
            for file, ids in orders.items()
            if ids and self._folder.write_page(file, self._render(file, pages.get(file), ids, rows, homes))
        ]
        self._folder.write_state({id: Seen(hash=self._hash(rows[id]), file=homes[id]) for id in rows})
        return written

    def _render(
        self,
        file: str,
        page: Page | None,
        ids: Iterable[str],
        rows: Mapping[str, Row],
        homes: Mapping[str, str],
    ) -> str | None:
        """Returns the text of a file; None if no record is left and its front matter is all ours."""
        there = [id for id in ids if id in rows]
        if page is None:
            matter = _make_matter(file, rows[there[0]], self._scope)
            heading = f"# {matter['title']}"
        elif there or not page.matter.keys() <= _OWN_MATTER:
            matter, heading = {"type": "Notes", **page.matter}, page.heading
        else:
            return None
        blocks = [render_block(rows[id], homes) for id in there]
        return join_front_matter(matter, "\n\n".join(filter(None, (heading, *blocks))))


def _own_secret() -> bytes:
    """Reads or creates this user's secret for mirrors of servers, which do not share theirs."""
    file = Path.home() / ".eidet" / "mirror.key"
    if not file.exists():
        file.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(file, token_hex())
    return bytes.fromhex(file.read_text(encoding="utf-8"))


def _choose_file(record: Record) -> str:
    """Returns the file for a record without one: that of its session, or of its kind and month."""
    if record.session:
        return f"sessions/{make_stem(record.session)}.md"
    return f"{record.kind}/{record.when:%Y-%m}.md"


def _make_matter(file: str, first: Row, scope: str) -> dict[str, Any]:
    """Makes the front matter of a new file; `type` makes it a concept of the Open Knowledge Format."""
    if session := first.get("session"):
        return {"type": "Session", "title": session, "scope": scope, "session": session}
    kind = first.get("kind", "fact")
    return {"type": "Memories", "title": f"{kind} {Path(file).stem}", "scope": scope, "kind": kind}
