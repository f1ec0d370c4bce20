"""The audit trail: who did what, when, from where and why, in a file of its own that tells if it was changed.

    chain.py    entries, the hash that ties each to the one before it, and where a log ends
    log.py      the file: appended to by many threads and processes
    events.py   what entries say of records, filters and jobs
    store.py    notes what is done to a store; what a store knows of its log: one that is gone is noticed
    verify.py   whether anything was altered, removed, inserted or reordered

`eidet.trust.audit.store` notes what happens to a store; `Memory` notes what a store cannot see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...core.arguments import check_path
from ...core.errors import Misconfigured
from ...core.lazy_names import lazy_names
from ...core.private_files import load_secret, read_key_file
from ...core.record import Record
from ...core.scope import Scope, Scopes
from ...core.settings import Settings

if TYPE_CHECKING:
    from .chain import AuditEntry, AuditHead
    from .log import AuditLog

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {"chain": ("AuditEntry", "AuditHead")})

__all__ = ["Audit", "AuditEntry", "AuditHead", "Check", "audit_of", "audit_set", "key_in"]

Check = Callable[[Record], Sequence[str] | None]
SHORTEST_KEY: Final = 16
_KEY: Final = "the key of the audit log"
OFF: Final = "off"  # the setting that opens an audited memory without its log


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What to audit, and where.

    `key`: without it nobody can make the chain anew (HMAC-SHA256); keep it away from the log. It is bytes,
    a text, or `file:PATH` or `env:NAME` of one.
    `check`: sees each record before it is written and answers flags for its entry, or raises `Refused`.
    """

    path: str | Path
    key: str | bytes | None = field(default=None, repr=False)
    recalls: bool = False  # also what is read: recall, get, find, history
    sync: bool = False  # survives the loss of power; else kill -9
    check: Check | None = None

    def __post_init__(self) -> None:
        if self.check is not None and not callable(self.check):
            raise Misconfigured(
                f"check must be a function that takes a record, not {type(self.check).__name__}"
            )
        object.__setattr__(self, "path", check_path(self.path, "an audit log").expanduser())
        object.__setattr__(self, "key", check_key(self.key))


def check_key(key: object) -> bytes | None:
    """The key as bytes, also of `file:PATH` or `env:NAME`; a short one could be guessed from the log."""
    if key is None:
        return None
    if not isinstance(key, str | bytes):
        raise Misconfigured(f"the key of an audit log must be text or bytes, not {type(key).__name__}")
    found = load_secret(key, _KEY)
    if isinstance(key, str):
        found = found.strip(b"\r\n")
    if len(found) < SHORTEST_KEY:
        raise Misconfigured(f"the key of an audit log needs {SHORTEST_KEY} bytes or more, not {len(found)}")
    return found


def key_in(file: str | Path) -> bytes:
    """The key that a file holds; line ends around it do not count."""
    return read_key_file(file, _KEY).strip(b"\r\n")


def audit_set(settings: Settings) -> Audit | None:
    """Reads the audit from the settings; None if they set none, or say `off`."""
    if settings.audit in (None, OFF):
        return None
    return Audit(
        path=settings.audit,
        key=None if settings.audit_key_file is None else key_in(settings.audit_key_file),
        recalls=settings.audit_recalls,
        sync=settings.audit_sync,
    )


def audit_of(
    thing: str | Path | Audit | AuditLog | None, clock: Callable[[], float] = time.time
) -> AuditLog | None:
    """An open log is itself; a path or an `Audit` is opened, and made if it is new."""
    from .log import AuditLog

    if thing is None or isinstance(thing, AuditLog):
        return thing
    if isinstance(thing, str | Path):
        thing = Audit(path=thing)
    if not isinstance(thing, Audit):
        raise Misconfigured(f"audit must be a path, an Audit(…) or an AuditLog, not {type(thing).__name__}")
    return AuditLog(thing, clock=clock)


# What the verbs themselves note: what is read, exported and loaded.

Done = Callable[[int], int]


class Auditing:
    """Writes to the audit log, if there is one."""

    def __init__(self, log: AuditLog | None) -> None:
        self._log = log

    def read(self, verb: str, scope: Scopes, found: Sequence[tuple[str, str]]) -> None:
        """Notes an answer before it is given: what cannot be noted is not answered.

        `found` are the scopes and ids of its records. Each scope that was asked gets a note of its own.
        """
        log = self._log
        if log is not None and log.audit.recalls:
            for one in Scope.among(scope).members:
                ids = list(dict.fromkeys(id for path, id in found if one.holds(path)))
                log.note(verb, scope=str(one), ids=ids, count=len(ids))

    def promote(self, scope: str, to: str, id: str, *, moved: bool, by: str | None) -> None:
        """Notes before it is done that a record goes into another scope."""
        if self._log is not None:
            self._log.note("promote", by=by, scope=scope, ids=[id], count=1, to=to, moved=moved)

    @contextmanager
    def doing(self, verb: str, scope: str | Scope | None = None, *, file: str) -> Iterator[Done]:
        """Notes an action before it starts and, after it, how many records it concerned or that it failed."""
        log = self._log
        if log is None:
            yield _same
            return
        place = None if scope is None else str(Scope.of(scope))
        counts: list[int] = []

        def add_count(count: int) -> int:
            counts.append(count)
            return count

        with log.about([log.describe(verb, scope=place, file=file)]) as numbers:
            yield add_count
        log.afterwards("done", of=numbers, count=sum(counts))


def _same(count: int) -> int:
    return count
