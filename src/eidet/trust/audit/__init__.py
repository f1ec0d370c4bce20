"""The audit trail: who did what, when, from where and why, in a separate, tamper-evident file.

    chain.py    entries, the hash that chains each to the one before it, and the end of a log
    log.py      the file, to which many threads and processes append
    events.py   builds entries about records
    store.py    logs the changes of a store; the store's mark of its log, which reveals a missing log
    verify.py   detects entries that were altered, removed, inserted or reordered

`eidet.trust.audit.store` logs what happens to a store; `Memory` logs what a store cannot see.
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
from ...core.private_files import load_secret
from ...core.record import Record
from ...core.scope import Scope, Scopes
from ...core.settings import Settings

if TYPE_CHECKING:
    from .chain import AuditEntry, AuditHead
    from .log import AuditLog

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {"chain": ("AuditEntry", "AuditHead")})

__all__ = ["Audit", "AuditEntry", "AuditHead", "Check", "audit_of", "audit_set"]

Check = Callable[[Record], Sequence[str] | None]
SHORTEST_KEY: Final = 16
_KEY: Final = "the key of the audit log"
OFF: Final = "off"  # the setting that opens an audited memory without its log


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The options of an audit log.

    `key`: only its holder can forge the chain (HMAC-SHA256); keep it away from the log. It is bytes,
    a text, or `file:PATH` or `env:NAME` of one.
    `check`: gets each record before it is written and returns flags for its entry, or raises `Refused`.
    """

    path: str | Path
    key: str | bytes | None = field(default=None, repr=False)
    recalls: bool = False  # log reads too: recall, get, find, history
    sync: bool = False  # entries survive a power loss; otherwise only kill -9
    check: Check | None = None

    def __post_init__(self) -> None:
        if self.check is not None and not callable(self.check):
            raise Misconfigured(
                f"check must be a function that takes a record, not {type(self.check).__name__}"
            )
        object.__setattr__(self, "path", check_path(self.path, "an audit log").expanduser())
        object.__setattr__(self, "key", check_key(self.key))


def check_key(key: object) -> bytes | None:
    """Returns a key, also of `file:PATH` or `env:NAME`, as bytes. Rejects short keys, as easy to guess."""
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


def audit_set(settings: Settings) -> Audit | None:
    """Builds the audit options from the settings; None if they name no log, or say `off`."""
    if settings.audit in (None, OFF):
        return None
    return Audit(
        path=settings.audit,
        key=None if settings.audit_key_file is None else f"file:{settings.audit_key_file}",
        recalls=settings.audit_recalls,
        sync=settings.audit_sync,
    )


def audit_of(
    thing: str | Path | Audit | AuditLog | None, clock: Callable[[], float] = time.time
) -> AuditLog | None:
    """Opens the log at a path or of an `Audit`, creating a new one; returns an open log or None as it is."""
    from .log import AuditLog

    if thing is None or isinstance(thing, AuditLog):
        return thing
    if isinstance(thing, str | Path):
        thing = Audit(path=thing)
    if not isinstance(thing, Audit):
        raise Misconfigured(f"audit must be a path, an Audit(…) or an AuditLog, not {type(thing).__name__}")
    return AuditLog(thing, clock=clock)


# Entries of the verbs themselves: reads, exports and loads.

Done = Callable[[int], int]


class Auditing:
    """Writes to the audit log, if there is one."""

    def __init__(self, log: AuditLog | None) -> None:
        self._log = log

    def read(self, verb: str, scope: Scopes, found: Sequence[tuple[str, str]]) -> None:
        """Logs an answer before it is returned, so that an answer that cannot be logged is never returned.

        `found` holds the scopes and ids of its records. Each scope that was asked gets its own entry.
        """
        log = self._log
        if log is not None and log.audit.recalls:
            for one in Scope.among(scope).members:
                ids = list(dict.fromkeys(id for path, id in found if one.holds(path)))
                log.note(verb, scope=str(one), ids=ids, count=len(ids))

    def promote(self, scope: str, to: str, id: str, *, moved: bool, by: str | None) -> None:
        """Logs the promotion of a record into another scope before it is done."""
        if self._log is not None:
            self._log.note("promote", by=by, scope=scope, ids=[id], count=1, to=to, moved=moved)

    @contextmanager
    def doing(self, verb: str, scope: str | Scope | None = None, *, file: str) -> Iterator[Done]:
        """Logs an action before it starts and, after it, the number of its records or its failure."""
        log, counts = self._log, list[int]()

        def add_count(count: int) -> int:
            counts.append(count)
            return count

        if log is None:
            yield add_count
            return
        place = None if scope is None else str(Scope.of(scope))
        with log.about([log.describe(verb, scope=place, file=file)]) as numbers:
            yield add_count
        log.afterwards("done", of=numbers, count=sum(counts))
