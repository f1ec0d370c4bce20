"""Where writes wait for a store that is down: a file beside, whose every write is synced to the disk.

Each process has a file of its own and holds its lock while it lives. Whoever is opened next takes over what a
process left that is no more.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ..errors import Unavailable
from ..where import Where
from .sqlite import SqliteStore

ENDS: Final = ("", "-wal", "-shm", ".lock")
BATCH: Final = 500


class Outbox:
    """One file of a folder, locked as long as it is open. Made when first needed."""

    def __init__(self, path: Path, lock: BinaryIO) -> None:
        self.path = path
        self._lock = lock
        self.store = SqliteStore(path, durability="power")

    @classmethod
    def new(cls, folder: Path) -> Outbox:
        path = folder / f"outbox-{uuid.uuid4().hex}.db"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = _locked(path)
        except OSError as error:
            raise Unavailable(f"{folder} cannot be written ({error.strerror}): nothing was queued") from error
        assert lock is not None, "a name that nobody had"
        return _opened(cls, path, lock)

    @classmethod
    def left_behind(cls, folder: Path) -> Iterator[Outbox]:
        """Those whose process is no more; each is ours as soon as it is given."""
        for path in sorted(folder.glob("outbox-*.db")) if folder.is_dir() else ():
            if (lock := _locked(path)) is not None:
                if path.exists():
                    yield _opened(cls, path, lock)
                else:  # somebody else emptied it meanwhile
                    lock.close()
                    _unlink(path)

    def take_over(self, other: Outbox) -> None:
        """All that waits in another one waits here, behind what does already."""
        while waiting := other.store.find(Where(), limit=BATCH):
            self.store.put(waiting, now=waiting[-1].created, unique=False)
            other.store.bury(waiting, now=waiting[-1].created)
        other.remove()

    def close(self) -> None:
        """An empty one is removed."""
        if self.store.count(Where()):
            self.store.close()
            self._lock.close()
        else:
            self.remove()

    def remove(self) -> None:
        self.store.close()
        _unlink(self.path)
        self._lock.close()


def _opened(cls: type[Outbox], path: Path, lock: BinaryIO) -> Outbox:
    try:
        return cls(path, lock)
    except BaseException:
        lock.close()
        raise


def _locked(path: Path) -> BinaryIO | None:
    """The lock of an outbox; None if its process lives."""
    import fcntl

    file = Path(f"{path}.lock").open("ab")  # noqa: SIM115  held as long as the outbox
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
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{end}").unlink()
