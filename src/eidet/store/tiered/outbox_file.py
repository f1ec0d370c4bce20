"""Where writes wait for a store that is down: a file beside, whose every write is synced to the disk.

Each process has a file of its own and holds its lock while it lives. Whoever is opened next takes over what a
process left that is no more.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from ...core.errors import EidetError, Unavailable
from ...core.private_files import OWNER_FOLDER, append_private
from ...core.record import Record
from ...core.where import Where
from .. import Store, verbs
from ..lives import Carry
from ..sql.sqlite import SqliteStore
from .member import OUTBOX, Member

log: logging.Logger = logging.getLogger("eidet")

ENDS: Final = ("", "-wal", "-shm", ".lock")
BATCH: Final = 500


class Outbox(Member):
    """One file of a folder, locked as long as it is open. Made when first needed."""

    def __init__(self, path: Path, lock: BinaryIO) -> None:
        self.path = path
        self._file_lock = lock
        try:
            store = SqliteStore(path, durability="power")
        except BaseException:
            lock.close()
            raise
        super().__init__("outbox", OUTBOX, store)

    @classmethod
    def new(cls, folder: Path) -> Outbox:
        path = folder / f"outbox-{uuid.uuid4().hex}.db"
        try:
            folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            lock = _lock_or_none(path)
        except OSError as error:
            raise Unavailable(f"{folder} cannot be written ({error.strerror}): nothing was queued") from error
        assert lock is not None, "a name that nobody had"
        return cls(path, lock)

    @classmethod
    def list_abandoned(cls, folder: Path, unreadable: dict[str, str]) -> Iterator[Outbox]:
        """Those whose process is no more; each is ours as soon as it is given.

        Files that cannot be opened are left as they are; `unreadable` is told which, and why.
        """
        for path in sorted(folder.glob("outbox-*.db")) if folder.is_dir() else ():
            if (lock := _lock_or_none(path)) is not None:
                if not path.exists():  # somebody else emptied it meanwhile
                    lock.close()
                    _unlink(path)
                    continue
                try:
                    box = cls(path, lock)
                except EidetError as error:
                    log.warning("cannot deliver what waits in %s: %s", path, error)
                    unreadable[str(path)] = str(error)
                    continue
                yield box

    def take_over(self, other: Outbox, carry: Carry) -> None:
        """All that waits in another one waits here; of what waits in both, what was written last."""
        while waiting := other.store.find(Where(), limit=BATCH):
            last = [r for r in waiting if _read_written(self.store, r) <= _read_written(other.store, r)]
            lives = [(record, ()) for record in last]
            self.store.write(partial(carry, lives=lives, now=waiting[-1].created))
            verbs.delete_unchanged(other.store, waiting, now=waiting[-1].created, follows=True)
        other.remove()

    def close(self) -> None:
        """An empty one is removed."""
        if verbs.count(self.store, Where()):
            super().close()
            self._file_lock.close()
        else:
            self.remove()

    def remove(self) -> None:
        super().close()
        _unlink(self.path)
        self._file_lock.close()


def _read_written(store: Store, record: Record) -> float:
    """When a record was last written there; long ago if it never was."""
    events = store.history(record.scope, record.id)
    return events[-1].at if events and events[-1].what != "forgotten" else 0.0


def _lock_or_none(path: Path) -> BinaryIO | None:
    """The lock of an outbox; None if its process lives."""
    import fcntl

    file = append_private(Path(f"{path}.lock"))  # held as long as the outbox
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    if os.fstat(file.fileno()).st_nlink == 0:  # it was removed between opening and locking
        file.close()
        return None
    return file


def _unlink(path: Path) -> None:
    for end in ENDS:
        Path(f"{path}{end}").unlink(missing_ok=True)
