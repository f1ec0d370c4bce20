"""Which server answers for a key: the only one, the one that sentinels name, or a node of a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any, Final

from ...core.errors import EidetError, Unavailable
from ...net.retry import Full
from .address import Host, RedisAddress
from .connection import Command, Node, driver, explain
from .key_names import SLOTS, slot_of

HOPS: Final = 5  # redirections that are followed at once
TRY_SECONDS: Final = 2.5  # where another server may take over, a silent one is not waited for longer
LEARN_SECONDS: Final = 0.5  # that a node has to tell the map of slots, before the next one is asked


class Servers:
    """Servers, each for its slots; the map of slots follows what they say.

    One server has all slots, and so has the primary that sentinels name. Answers that are errors are raised
    as ours.
    """

    def __init__(self, address: RedisAddress) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._nodes: dict[Host, Node] = {}
        self._slots: list[tuple[int, int, Host]] = []
        self._moved: dict[int, Host] = {}
        self._turns = 0
        self._closed = False

    @property
    def turns(self) -> int:
        """How often a server was started anew or another one took over: the last writes may be lost."""
        return self._turns + sum(node.restarts for node in list(self._nodes.values()))

    def run(self, key: str, commands: Sequence[Command], left: float, *, writes: bool) -> list[Any]:
        ends = time.monotonic() + left
        slot, asking, host = self._slot_of(key), False, None
        for _ in range(HOPS):
            host = host or self._find(slot, ends)
            answers = self._try(host, commands, ends, writes, asking)
            wrong = next((answer for answer in answers if isinstance(answer, Exception)), None)
            if wrong is None:
                return answers
            asking, host = self._redirect(slot, host, wrong, ends)
        raise Unavailable(f"slot {slot} keeps moving between nodes", retry_after=0.1)

    def home(self, key: str) -> Node | None:
        """The node that has a key, as far as is known."""
        host = self._look_up(self._slot_of(key))
        return None if host is None else self._node(host)

    def nodes(self, left: float) -> list[Node]:
        """All servers that take writes."""
        if not self._slots:
            self._learn(time.monotonic() + left)
        return list(map(self._node, {host: None for _, _, host in self._slots}))

    def close(self) -> None:
        self._closed = True
        for node in list(self._nodes.values()):
            node.close()

    def _slot_of(self, key: str) -> int:
        return slot_of(key) if self._address.cluster else 0

    def _try(
        self, host: Host, commands: Sequence[Command], ends: float, writes: bool, asking: bool
    ) -> list[Any]:
        left = max(ends - time.monotonic(), 0.001)
        if self._address.fails_over:
            left = min(left, TRY_SECONDS)
        sent = list(chain(*zip(repeat(("ASKING",)), commands))) if asking else commands
        try:
            answers = self._node(host).run(sent, left, writes=writes)
        except Unavailable:
            self._lose(host, ends)
            raise
        return answers[1::2] if asking else answers

    def _lose(self, host: Host, ends: float) -> None:
        """Behind sentinels, the next caller asks them again, and a lost primary may lack its last writes."""
        if self._address.cluster:
            self._learn(ends, but=host)
        elif self._address.service:
            with self._lock:
                if (0, SLOTS - 1, host) in self._slots:
                    self._slots, self._turns = [], self._turns + 1
            self._node(host).close(for_good=False)

    def _redirect(self, slot: int, host: Host, wrong: Exception, ends: float) -> tuple[bool, Host | None]:
        answers = driver().exceptions
        if isinstance(wrong, answers.MovedError):
            with self._lock:
                self._moved[slot] = (wrong.host, wrong.port)
                self._turns += 1
            return False, None
        if isinstance(wrong, answers.AskError):
            return True, (wrong.host, wrong.port)
        error = explain(wrong, self._node(host).name)
        if isinstance(wrong, answers.ReadOnlyError):
            self._lose(host, ends)
        elif self._address.cluster and isinstance(error, Unavailable) and not isinstance(error, Full):
            self._learn(ends)
        raise error from wrong

    def _find(self, slot: int, ends: float) -> Host:
        if not self._slots:
            self._learn(ends)
        host = self._look_up(slot)
        if host is None:
            self._learn(ends)
            raise Unavailable(f"no node of {self._address.shown} serves slot {slot}", retry_after=0.1)
        return host

    def _look_up(self, slot: int) -> Host | None:
        if slot in self._moved:
            return self._moved[slot]
        return next((host for first, last, host in self._slots if first <= slot <= last), None)

    def _node(self, host: Host) -> Node:
        with self._lock:
            if host not in self._nodes:
                self._nodes[host] = Node(*host, self._address.database, self._address.login)
                if self._closed:
                    self._nodes[host].close()
            return self._nodes[host]

    def _learn(self, ends: float, but: Host | None = None) -> None:
        """Who answers for which slots. What is known stays where nobody tells."""
        if self._address.cluster:
            slots = self._ask_nodes(ends, but)
        elif self._address.service:
            slots = [(0, SLOTS - 1, self._ask_sentinels(ends - time.monotonic()))]
        else:
            slots = [(0, SLOTS - 1, self._address.hosts[0])]
        if slots:
            with self._lock:
                self._turns += bool(self._slots) and sorted(slots) != sorted(self._slots)
                self._slots, self._moved = slots, {}

    def _ask_nodes(self, ends: float, but: Host | None) -> list[tuple[int, int, Host]]:
        """Asks the nodes of a cluster, one after the other."""
        last: EidetError | None = None
        for host in dict.fromkeys((*(host for *_, host in self._slots), *self._address.hosts, *self._nodes)):
            left = min(ends - time.monotonic(), LEARN_SECONDS)
            if host == but or left <= 0:
                continue
            try:
                (answer,) = self._node(host).run([("CLUSTER", "SLOTS")], left, writes=False)
            except Unavailable as error:
                last = error
                continue
            if isinstance(answer, Exception):
                raise explain(answer, self._node(host).name) from answer
            if answer:
                return [(int(first), int(end), _host(node, host)) for first, end, node, *_ in answer]
        if last is not None and not self._slots:
            raise last
        return []

    def _ask_sentinels(self, left: float) -> Host:
        asked = ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._address.service)
        last: EidetError = Unavailable("the address names no sentinel")
        for host in self._address.hosts:
            sentinel = Node(*host, 0, self._address.sentinel_login)
            try:
                (answer,) = sentinel.run([asked], min(max(left, 0.001), TRY_SECONDS), writes=False)
                if isinstance(answer, list) and len(answer) == 2:
                    return answer[0].decode(), int(answer[1])
                last = Unavailable(
                    f"the sentinel {sentinel.name} knows no primary of {self._address.service!r}"
                )
            except Unavailable as error:
                last = error
            finally:
                sentinel.close()
        raise last


def _host(told: Sequence[Any], asked: Host) -> Host:
    """Of a node, as another one tells it; a node that does not know its own name is the one asked."""
    name = (told[0] or b"").decode()
    return (asked[0] if name in ("", "?") else name), int(told[1])
