"""Real servers for the tests, started from Python wheels on loopback and stopped by their own handle."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

READY_SECONDS = 120.0
FIRST_PORT, PORTS_OF_A_WORKER = 16_000, 800  # below the ports that systems give to outgoing connections
_numbers = itertools.count(os.getpid())


def folder_of(package: str, install: str) -> Path:
    """Where a wheel keeps its files, found without importing it; the test is skipped without it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"needs {package}: pip install '{install}'")
    return Path(found.origin).parent


def free_port() -> int:
    """A port that stays free until its server starts.

    A port of the system's own choice may be the other end of somebody's connection a moment later. These
    are never given to connections, each test worker has a range of its own, and each port comes once.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 20
    for number in itertools.islice(_numbers, PORTS_OF_A_WORKER):
        port = FIRST_PORT + PORTS_OF_A_WORKER * worker + number % PORTS_OF_A_WORKER
        if _is_free(port):
            return port
    raise RuntimeError("no port is free for a test server")


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Child:
    """A server process that does not outlive the tests, however they end."""

    def __init__(
        self, command: Sequence[str | Path], log: Path, *, as_user: bool = False, stop: int = 15
    ) -> None:
        self.command = [*_mapped(as_user), *_dies_with_parent(), *map(str, command)]
        self.log = log
        self._stop = stop
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was not started"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self, signal: int | None = None) -> None:
        """Asks it to end, and waits; kills it when it does not."""
        if self._process is None:
            return
        if self.running:
            os.killpg(self._process.pid, self._stop if signal is None else signal)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, 9)
            self._process.wait(60)
        self._process = None

    def kill(self) -> None:
        self.stop(9)

    def await_ready(self, ready: Callable[[], bool]) -> None:
        """Until a real client says so; an error with the log's end when that takes too long."""
        deadline = time.monotonic() + READY_SECONDS
        while not ready():
            if not self.running or time.monotonic() > deadline:
                raise RuntimeError(f"{self.command[-1]} is not ready: {self._told()}")
            time.sleep(0.02)

    def _told(self) -> str:
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else "no log"


def _mapped(as_user: bool) -> list[str]:
    """Some servers refuse to run as root: in a user namespace they are somebody else."""
    if not as_user or os.geteuid() != 0:
        return []
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000"]


def _dies_with_parent() -> list[str]:
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
