"""A primary, its replica, and a sentinel that watches them."""

from __future__ import annotations

from pathlib import Path

from tests.timing import until

from . import Child, free_port
from .valkey import Valkey

SERVICE = "main"


class Watched:
    """Starts all three. `of` is what the two servers are; the sentinel is of Valkey in any case."""

    def __init__(self, folder: Path, of: type[Valkey] = Valkey) -> None:
        self.primary = of(folder / "first").start()
        self.replica = of(folder / "second", "--replicaof", "127.0.0.1", str(self.primary.port)).start()
        until(lambda: self.primary.ask("WAIT", "1", "100") == b":1")
        self.port = free_port()
        config = folder / "sentinel.conf"
        config.write_text(
            f"port {self.port}\nbind 127.0.0.1\ndir {folder}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.primary.port} 1\n"
            f"sentinel down-after-milliseconds {SERVICE} 500\nsentinel failover-timeout {SERVICE} 2000\n"
        )
        known = Valkey(folder)
        known.port = self.port
        self._sentinel = Child([known.binary(), config, "--sentinel"], folder / "sentinel.log")
        self._sentinel.start()
        self._sentinel.await_ready(lambda: known.ask("SENTINEL", "REPLICAS", SERVICE) == b"*1")

    @property
    def url(self) -> str:
        return f"redis+sentinel://127.0.0.1:{self.port}/{SERVICE}"

    def await_replica(self, key: str, seconds: float = 15.0) -> None:
        """Until the replica has a key; the sentinel has heard of the replica when it was started."""
        until(lambda: self.replica.ask("EXISTS", key) == b":1", seconds)

    def stop(self) -> None:
        for one in (self._sentinel, self.primary, self.replica):
            one.stop()
