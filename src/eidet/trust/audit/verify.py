"""Verifies a log: finds and names every entry that was altered, removed, inserted or moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ...core.errors import BadInput, NotFound, Unavailable
from ...store import Store
from . import check_key
from .chain import (
    START,
    AuditEntry,
    AuditHead,
    hash_line,
    head_path,
    is_ours,
    parse_entry,
    print_of,
    read_head,
)
from .store import LogMark, read_mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault or note about one line of a log."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The result of a verification. `notes` hold harmless events, such as a line cut off by a crash."""

    path: Path
    entries: int
    head: AuditHead
    faults: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.faults


_GAPS: Final = {  # entries in which the log says what it lacks
    "attach": "the memory was changed before this log began",
    "lost": "entries before this were lost",
    "restarted": "the log was restarted",
    "unaudited": "the memory was opened without this log",
}


@dataclass(slots=True)
class _Walk:
    """The state of a walk along the chain."""

    key: bytes | None
    wanted: set[int]
    n: int = 0
    top: int = 0  # the highest number seen
    before: str = START
    entries: int = 0
    faults: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)
    hashes: dict[int, str] = field(default_factory=dict)
    log: str = ""  # its identity
    gaps: list[tuple[int, AuditEntry]] = field(default_factory=list)

    def fault(self, line: int, what: str) -> None:
        self.faults.append(Fault(line=line, what=what))

    def note(self, line: int, what: str) -> None:
        self.notes.append(Fault(line=line, what=what))

    def follow(self, line: int, raw: bytes) -> None:
        entry = parse_entry(raw)
        if entry is None:
            self.fault(line, "this is not an audit log entry")
            self.n, self.before = self.n + 1, START
            return
        if entry.n != self.n + 1:
            self.fault(line, _out_of_place(entry.n, self.n + 1))
        elif hash_line(raw, self.before, self.key) != entry.hash:
            self.fault(line, f"entry {entry.n} was altered, or the one before it was and its hash recomputed")
        self.n, self.before = entry.n, entry.hash
        self.top = max(self.top, self.n)
        self.entries += 1
        if self.n in self.wanted:
            self.hashes[self.n] = entry.hash
        if entry.verb == "begin" and line == 1:
            self.log = str(entry.details.get("log", ""))
        elif entry.verb == "torn":
            self.note(line, f"a writer was interrupted within a line: {_note_of(entry)}")
        elif entry.verb in _GAPS:
            self.gaps.append((line, entry))


def _note_of(entry: AuditEntry) -> str:
    return str(entry.details.get("note", "the entry has details"))


def verify(
    path: str | Path,
    *,
    key: str | bytes | None = None,
    head: AuditHead | str | Sequence[AuditHead | str] = (),
    store: Store | None = None,
) -> Verified:
    """Verifies the whole log. `key` is the one it was written with; heads were printed by `eidet audit`.

    Without a head, the head file beside the log shows whether the newest entries are missing. `store` is
    the audited one: its mark says which log it had, and its newest entry then. A gap that the log itself
    tells of (it was begun anew, or the memory was changed without it) is a fault, unless a head is of that
    very entry: whoever kept it knew of the gap.
    """
    log = Path(path).expanduser()
    kept = [head] if isinstance(head, str | AuditHead) else head
    outside = [AuditHead.of(one) if isinstance(one, str) else one for one in kept]
    mark = None if store is None else read_mark(store)
    beside = read_head(log)  # read before the log, so that entries added meanwhile only come after it
    known = [one for one in (beside, *outside, mark.head if mark else None) if one is not None]
    walk = _Walk(check_key(key), {one.count for one in known})
    rest = _walk_lines(walk, log, mark)
    if rest:
        walk.note(walk.entries + 1, f"a line of {len(rest)} bytes has no end")
    if not walk.faults or walk.faults[0].line != 1:
        _check_beside(walk, beside, head_path(log).name)
        for one in outside:
            _check_head(walk, one)
        if mark is not None:
            _check_mark(walk, mark)
        elif store is not None and store.head().seq:
            walk.fault(walk.n, "the memory knows of no log: its note was removed, or it never had this one")
    _check_gaps(walk, outside)
    return Verified(
        path=log,
        entries=walk.entries,
        head=AuditHead(count=walk.n, hash=walk.before),
        faults=tuple(sorted(walk.faults, key=lambda fault: fault.line)),
        notes=tuple(walk.notes),
    )


def _walk_lines(walk: _Walk, log: Path, mark: LogMark | None) -> bytes:
    """Follows every whole line. Returns the bytes of a last line without an end, else none."""
    if mark is not None and not log.exists():
        raise NotFound(
            f"the audit log {log} is gone: the memory was logged in {mark.path}, with {mark.head.count} "
            "entries or more; nothing can be verified"
        )
    for number, raw in enumerate(_raw(log), 1):
        if not raw.endswith(b"\n"):
            return raw
        if number == 1 and (what := _not_ours(raw[:-1], walk.key)):
            walk.fault(1, what)
            return b""
        walk.follow(number, raw[:-1])
    if not walk.n:
        walk.fault(1, "the log is empty: it has lost all its entries")
    return b""


def _not_ours(line: bytes, key: bytes | None) -> str:
    begin = parse_entry(line)
    if begin is None or begin.verb != "begin":
        return "the log does not begin with its beginning: its first entries are gone, or it is none"
    if begin.details.get("key") == print_of(key):
        return ""
    if key is None:
        return "the log was written with a key, and cannot be verified without it"
    return "the log was written with another key or with none, or its first entry was altered"


def _check_beside(walk: _Walk, head: AuditHead | None, name: str) -> None:
    """Compares the log with the head file beside it."""
    if head is None:
        walk.fault(walk.n, f"{name} is missing or damaged: whether entries follow is unknown")
    elif not is_ours(head, walk.key):
        walk.fault(walk.n, f"{name} was not written with this key")
    elif head.count < walk.n:
        walk.note(walk.n, f"{name} is {walk.n - head.count} behind: a writer was interrupted")
    _check_head(walk, head)


def _check_head(walk: _Walk, known: AuditHead | None) -> None:
    if known is None:
        return
    if known.count > walk.top:
        gone = f"the newest {known.count - walk.top} entries are missing: there were {known.count}"
        walk.fault(walk.top + 1, gone)
    elif known.count and walk.hashes.get(known.count) != known.hash:
        walk.fault(known.count, f"entry {known.count} is not the one that was there when its head was kept")


def _check_mark(walk: _Walk, mark: LogMark) -> None:
    """Compares the log with the store's mark of it."""
    if mark.log != walk.log:
        gone = f"the memory was logged in another log, {mark.path}, with {mark.head.count} entries or more"
        walk.fault(1, f"{gone}: that one is gone, or this is not its log")
    elif not is_ours(mark.head, walk.key):
        walk.fault(walk.n, "what the memory knows of its log was not written with this key")
    else:
        _check_head(walk, mark.head)


def _check_gaps(walk: _Walk, outside: Sequence[AuditHead]) -> None:
    """Reports the gaps that the log tells of; as notes, if their own heads were kept elsewhere."""
    kept = {(head.count, head.hash) for head in outside}
    for line, entry in walk.gaps:
        told = f"{_GAPS[entry.verb]}: {_note_of(entry)}"
        if (entry.n, entry.hash) in kept:
            walk.note(line, told)
        else:
            walk.fault(line, f"{told}; if you know why, verify it with the head {entry.n}:{entry.hash}")


def _out_of_place(n: int, expected: int) -> str:
    if n > expected:
        gone = f"{expected} is" if n == expected + 1 else f"{expected} to {n - 1} are"
        return f"entry {n} stands where {expected} should: {gone} missing or out of order"
    return f"entry {n} stands where {expected} should: it was inserted, doubled or out of order"


def entries(path: str | Path) -> Iterator[AuditEntry]:
    """Yields a log's entries, oldest first, verified or not; skips invalid lines."""
    for raw in _raw(Path(path).expanduser()):
        if raw.endswith(b"\n") and (entry := parse_entry(raw[:-1])) is not None:
            yield entry


def _raw(log: Path) -> Iterator[bytes]:
    try:
        with log.open("rb") as file:
            yield from file
    except FileNotFoundError:
        raise NotFound(f"there is no audit log {log}: nothing can be verified") from None
    except IsADirectoryError:
        raise BadInput(f"{log} is a folder, not an audit log") from None
    except OSError as error:
        raise Unavailable(f"the audit log {log} cannot be read: {error.strerror}") from error
