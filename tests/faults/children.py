"""Programs that the fault tests start as processes, watch and kill.

Each tells what it did on stdout, one JSON value a line, in one system call, after it was done.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

from eidet.core.errors import Conflict
from eidet.core.settings import Settings, Upkeep
from eidet.memory import Memory
from eidet.models.embed import Vectors
from eidet.models.embed.hashing import Hashing
from eidet.upkeep.service import UpkeepTask

EMBEDDER = "hashing:64"
SETTINGS = Settings(sidecar_from=100)
BULK = 400


def tell(said: Any) -> None:
    os.write(1, json.dumps(said).encode() + b"\n")


def opened(path: str) -> Memory:
    return Memory(path, embedder=EMBEDDER, settings=SETTINGS)


class Slow:
    """Hashing that takes its time and notes how many texts it was given."""

    def __init__(self, width: int, seconds: float = 0.0) -> None:
        self._inner = Hashing(width)
        self._seconds = seconds
        self.name, self.width = self._inner.name, width
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        time.sleep(self._seconds)
        self.asked += len(texts)
        return self._inner.embed(texts)


def slowly(done: int, total: int) -> None:
    tell(done)
    time.sleep(0.05)


def write(path: str, turn: str) -> None:
    memory = opened(path)
    for i in count():
        record = memory.remember(f"turn{turn} note{i} of a process that is going to be killed")
        tell([record.id, record.text])
        if i % 20 == 0:
            memory.recall(f"note{i}")


def warm_up() -> None:
    """Makes a file elsewhere, so that everything is imported when it counts."""
    with TemporaryDirectory() as folder, opened(f"{folder}/m.db") as memory:
        memory.remember([f"something {n}" for n in range(200)])
        memory.recall("something")
        memory.revise(memory.find(limit=1)[0].id, text="else")
        memory.recall("else", session="none")
        memory.forget(memory.find(limit=1)[0].id)
        memory.recall("something")
        memory.admin.check()


def create(folder: str) -> None:
    warm_up()
    for i in count():
        path = f"{folder}/{i}.db"
        opened(path).remember("the first record")
        tell(path)


def write_bulk(path: str, turn: str) -> None:
    memory = opened(path)
    for i in count():
        memory.remember([f"bulk {turn}-{i} item {n}" for n in range(BULK)], session=f"{turn}-{i}")
        tell(f"{turn}-{i}")


def reembed(path: str, width: str) -> None:
    opened(path).admin.reembed(Slow(int(width), 0.02), progress=lambda done, _: tell(done))


def export(path: str, target: str) -> None:
    opened(path).export(target, progress=slowly)


def load(path: str, source: str) -> None:
    opened(path).load(source, progress=slowly)


def told(work: str) -> bool:
    tell(work)
    return False


def maintain(path: str, folder: str) -> None:
    """Moves everything to the long tier and forgets half of it into an archive, telling each batch."""
    settings = Upkeep(short_age_days=0, middle_age_days=0, forget_below=1.0, batch=20)
    memory = opened(path)
    for work in ("move", "forget"):
        stops = partial(told, work)
        task = UpkeepTask(only=work, settings=settings, archive=folder)
        done = memory.upkeep.keeping.maintain(task, now=memory.parts.clock(), stops=stops)
        tell([dict(done.counts), done.skipped, list(done.failed)])
    memory.close()


class Sharer:
    """One of several processes on one file: its threads write, and recall what others acknowledged."""

    def __init__(self, path: str, name: str, seconds: str) -> None:
        self._memory = opened(path)
        self._name = name
        self._seconds = float(seconds)
        self._questions: deque[tuple[str, str]] = deque()

    def live(self) -> None:
        tell(["ready"])
        heard = (json.loads(line) for line in sys.stdin)
        assert next(heard) == ["go"]
        deadline = time.monotonic() + self._seconds
        threads = [threading.Thread(target=self._work, args=(n, deadline)) for n in range(4)]
        for thread in threads:
            thread.start()
        threading.Thread(target=self._end, args=(threads,)).start()
        for kind, *said in heard:  # always listening: nobody may wait for us to read
            if kind == "finals":
                break
            self._questions.append((said[0], said[1]))
        missed = [word for id, word in said[0] if not self._finds(id, word)]
        tell(["missed", missed, self._memory.admin.check()])
        self._memory.close()

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        for thread in threads:
            thread.join()
        tell(["stopped"])

    def _work(self, number: int, deadline: float) -> None:
        try:
            for i in count():
                if time.monotonic() > deadline:
                    return
                self._write(f"w{self._name}x{number}x{i}")
                self._answer()
                if i % 20 == 0:
                    self._raise_counter()
        except BaseException as error:
            tell(["error", repr(error)])
            raise

    def _write(self, word: str) -> None:
        began = time.perf_counter()
        record = self._memory.remember(f"the {word} seen by many processes")
        tell(["wrote", record.id, word, time.perf_counter() - began])

    def _answer(self) -> None:
        if self._questions:
            id, word = self._questions.popleft()
            began = time.perf_counter()
            tell(["looked", word, self._finds(id, word), time.perf_counter() - began])

    def _finds(self, id: str, word: str) -> bool:
        return id in [hit.id for hit in self._memory.recall(word, limit=5)]

    def _raise_counter(self) -> None:
        """Reads, adds one and writes, only if nobody else did meanwhile."""
        while True:
            record = self._memory.get("counter", scope="counters")
            assert record is not None
            assert isinstance(record.data, dict)
            raised = {"n": int(record.data["n"]) + 1}
            try:
                self._memory.revise("counter", scope="counters", version=record.version, data=raised)
            except Conflict:
                continue
            tell(["raised"])
            return


def share(path: str, name: str, seconds: str) -> None:
    Sharer(path, name, seconds).live()
