"""A store of your own: memories in any place that keeps objects by name, such as a bucket.

    python examples/programs/custom_store.py

Eidet answers from RAM, and each transaction becomes one object, written before the call returns. Opening
the store replays them. That is all a store needs if its records fit into RAM: everything else is Eidet's.
`scrub` rewrites the objects without what was forgotten, so that `forget` keeps its promise here, too.

For your own use: give `Bucket` the four calls of your object storage (one writer at a time: a second one is
refused). `examples/plugin` is a store for several processes, found by its URL;
`eidet.store.contract.StoreContract` tests both.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from eidet import Memory, Unavailable
from eidet.store import Scrubbed, Table, Transaction
from eidet.store.model import T
from eidet.store.ram import RamStore
from eidet.store.redo_log import LoggedTransaction, Step, drop_past, replay_steps

IDENTITY: Table[str, str] = Table("identity")


class Bucket:
    """Objects by name. This one is a folder; a real one makes calls to a server."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def put(self, name: str, content: bytes) -> None:
        """Durably, whole or not at all, and only if there is no such object yet (S3: `If-None-Match: *`)."""
        with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".new") as draft:
            draft.write(content)
            draft.flush()
            os.fsync(draft.fileno())
            try:
                os.link(draft.name, self._folder / name)
            except FileExistsError:
                raise Unavailable("another process writes to this bucket; open the store again") from None

    def list(self) -> list[str]:
        return sorted(path.name for path in self._folder.glob("*.gz"))

    def get(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def delete(self, name: str) -> None:
        (self._folder / name).unlink()


class BucketStore:
    """Reads from RAM; what it writes goes to the bucket first. Objects have a generation and a number."""

    writable = True

    def __init__(self, bucket: Bucket) -> None:
        self._bucket, self._ram, self._lock = bucket, RamStore(), threading.RLock()
        ram = self._ram
        self.read, self.find, self.match, self.count_by = ram.read, ram.find, ram.match, ram.count_by
        self.head, self.changes, self.history, self.values = ram.head, ram.changes, ram.history, ram.values
        self._generation, self._number = 0, 0
        for name in self._list_current():
            ram.write(partial(replay_steps, _unpack(bucket.get(name))))
        if not ram.values(IDENTITY):
            self.write(lambda job: job.set_values(IDENTITY, {"": ram.identity}))
        self.identity = self.values(IDENTITY)[""]

    def write(self, job: Callable[[Transaction], T]) -> T:
        """If the bucket cannot be written, the store in RAM undoes the job."""
        with self._lock:
            return self._ram.write(partial(self._run, job))

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Begins a generation without what is past. It counts once its first object is there."""
        del said
        with self._lock:
            names, before = self._list_current(), self.size()
            steps = chain.from_iterable(_unpack(self._bucket.get(name)) for name in names)
            kept = _pack(list(drop_past(steps, self)))
            self._bucket.put(f"{self._generation + 1:06}-{1:09}.gz", kept)
            self._list_current()
            return Scrubbed(freed=max(0, before - self.size()))

    def size(self) -> int:
        return sum(len(self._bucket.get(name)) for name in self._bucket.list())

    def close(self) -> None:
        """Nothing is open."""

    def _run(self, job: Callable[[Transaction], T], transaction: Transaction) -> T:
        logged = LoggedTransaction(transaction)
        answer = job(logged)
        if logged.steps:
            self._bucket.put(f"{self._generation:06}-{self._number + 1:09}.gz", _pack(logged.steps))
            self._number += 1
        return answer

    def _list_current(self) -> list[str]:
        """The objects of the newest generation, in order; those of older ones are deleted."""
        names = self._bucket.list()
        newest = names[-1].partition("-")[0] if names else f"{0:06}"
        current = [name for name in names if name.startswith(newest)]
        for name in names[: len(names) - len(current)]:
            self._bucket.delete(name)
        self._generation, self._number = int(newest), len(current)
        return current


def _pack(steps: Sequence[Step]) -> bytes:
    return gzip.compress(json.dumps(steps).encode(), mtime=0)


def _unpack(content: bytes) -> list[Step]:
    steps: list[Step] = json.loads(gzip.decompress(content))
    return steps


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bucket = Bucket(Path(folder))
        with Memory(BucketStore(bucket)) as memory:
            memory.remember(["Ann lives in Lisbon.", "The oak table is due on 12 June."], scope="ann")
            secret = memory.remember("The safe opens with 4711-0815.", scope="ann")
            print(f"{memory.count(scope='ann')} records in {len(bucket.list())} objects")
        with Memory(BucketStore(bucket)) as memory:  # a new process replays the bucket
            for hit in memory.recall("When is the table due?", scope="ann", limit=1):
                print(f"after a restart: {hit.text} ({hit.score:.2f})")
            memory.forget(secret.id, scope="ann")
        left = b"".join(gzip.decompress(bucket.get(name)) for name in bucket.list())
        print(f"forgotten: {len(bucket.list())} objects, the code is in them: {b'4711-0815' in left}")


if __name__ == "__main__":
    main()
