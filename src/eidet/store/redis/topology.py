"""Which server answers for a key: the only one, the one that sentinels name, or a node of a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any, Final

from ...core.errors import EidetError, Unavailable
from ...net.retry import Full
from .address import RedisAddress
from .connection import Command, Node, meaning
from .key_names import slot_of

HOPS: Final = 5  # redirections that are followed at once
TRY_SECONDS: Final = 2.5  # where another server may take over, a silent one is not waited for longer
Asked = tuple[str, Command]  # a key, which says where, and what is asked there


class Alone:
    """One server; or, behind sentinels, whichever of them is the primary now.

    Answers that are errors are raised as ours, here and in a cluster.
    """

    def __init__(self, address: RedisAddress) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._node: Node | None = None
        self._before = ""  # the primary until now
        self._turns = 0
        self._closed = False

    @property
    def turns(self) -> int:
        """How often a server was started anew or another one took over: the last writes may be lost."""
        return self._turns + (0 if self._node is None else self._node.restarts)

    def run(self, key: str, commands: Sequence[Command], left: float, *, writes: bool) -> list[Any]:
        del key
        ends = time.monotonic() + left
        node = self._find_node(left)
        try:
            answers = node.run(commands, self._share(ends), writes=writes)
        except Unavailable:
            self._lose(node)
            raise
        for answer in answers:
            if isinstance(answer, Exception):
                if _read_only(answer):
                    self._lose(node)
                raise meaning(answer, node.name) from answer
        return answers

    def nodes(self, left: float) -> list[Node]:
        """All servers that take writes."""
        return [self._find_node(left)]

    def close(self) -> None:
        self._closed = True
        if self._node is not None:
            self._node.close()

    def _share(self, ends: float) -> float:
        left = max(ends - time.monotonic(), 0.001)
        return min(left, TRY_SECONDS) if self._address.service else left

    def _find_node(self, left: float) -> Node:
        with self._lock:
            if self._node is None:
                host, port = self._primary(left) if self._address.service else self._address.hosts[0]
                self._node = Node(host, port, self._address.database, self._address.login)
                self._turns += self._before not in ("", self._node.name)
                self._before = self._node.name
                if self._closed:
                    self._node.close()
            return self._node

    def _lose(self, node: Node) -> None:
        """The next caller asks the sentinels again."""
        with self._lock:
            if self._address.service and self._node is node:
                self._node = None
                self._turns += 1  # it may come back without what it was told last
        if self._address.service:
            node.close(for_good=False)

    def _primary(self, left: float) -> tuple[str, int]:
        asked = ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._address.service)
        last: EidetError = Unavailable("the address names no sentinel")
        for host, port in self._address.hosts:
            sentinel = Node(host, port, 0, self._address.sentinel_login)
            try:
                (answer,) = sentinel.run([asked], min(left, TRY_SECONDS), writes=False)
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


class Cluster:
    """Nodes of a cluster, each for its slots; the map of slots follows what the nodes say."""

    def __init__(self, address: RedisAddress) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._nodes: dict[tuple[str, int], Node] = {}
        self._slots: list[tuple[int, int, tuple[str, int]]] = []
        self._moved: dict[int, tuple[str, int]] = {}
        self._turns = 0

    @property
    def turns(self) -> int:
        return self._turns + sum(node.restarts for node in list(self._nodes.values()))

    def run(self, key: str, commands: Sequence[Command], left: float, *, writes: bool) -> list[Any]:
        ends = time.monotonic() + left
        slot, asking, place = slot_of(key), False, None
        for _ in range(HOPS):
            place = place or self._place(slot, ends)
            answers = self._try(place, commands, ends, writes, asking)
            wrong = next((answer for answer in answers if isinstance(answer, Exception)), None)
            if wrong is None:
                return answers
            asking, place = self._redirect(slot, wrong, ends, self._node(place).name)
        raise Unavailable(f"slot {slot} keeps moving between nodes", retry_after=0.1)

    def home(self, key: str) -> Node | None:
        """The node that has a key, as far as is known."""
        slot = slot_of(key)
        places = (place for first, last, place in self._slots if first <= slot <= last)
        place = self._moved.get(slot) or next(places, None)
        return None if place is None else self._node(place)

    def nodes(self, left: float) -> list[Node]:
        if not self._slots:
            self._learn(time.monotonic() + left)
        return list(map(self._node, {place: None for _, _, place in self._slots}))

    def close(self) -> None:
        for node in list(self._nodes.values()):
            node.close()

    def _try(
        self, place: tuple[str, int], commands: Sequence[Command], ends: float, writes: bool, asking: bool
    ) -> list[Any]:
        left = min(max(ends - time.monotonic(), 0.001), TRY_SECONDS)
        sent = list(chain(*zip(repeat(("ASKING",)), commands))) if asking else commands
        try:
            answers = self._node(place).run(sent, left, writes=writes)
        except Unavailable:
            self._learn(ends, but=place)
            raise
        return answers[1::2] if asking else answers

    def _redirect(
        self, slot: int, wrong: Exception, ends: float, name: str
    ) -> tuple[bool, tuple[str, int] | None]:
        from redis.exceptions import AskError, MovedError

        if isinstance(wrong, AskError) and not isinstance(wrong, MovedError):
            return True, (wrong.host, wrong.port)
        if isinstance(wrong, MovedError):
            with self._lock:
                self._moved[slot] = (wrong.host, wrong.port)
                self._turns += 1
            return False, None
        error = meaning(wrong, name)
        if isinstance(error, Unavailable) and not isinstance(error, Full):
            self._learn(ends)
        raise error from wrong

    def _place(self, slot: int, ends: float) -> tuple[str, int]:
        if not self._slots:
            self._learn(ends)
        if slot in self._moved:
            return self._moved[slot]
        for first, last, place in self._slots:
            if first <= slot <= last:
                return place
        self._learn(ends)
        raise Unavailable(f"no node of {self._address.shown} serves slot {slot}", retry_after=0.1)

    def _node(self, place: tuple[str, int]) -> Node:
        with self._lock:
            if place not in self._nodes:
                self._nodes[place] = Node(*place, 0, self._address.login)
            return self._nodes[place]

    def _learn(self, ends: float, but: tuple[str, int] | None = None) -> None:
        """Asks the nodes, one after the other, who answers for which slots."""
        known = dict.fromkeys((*(place for _, _, place in self._slots), *self._address.hosts, *self._nodes))
        last: EidetError | None = None
        for place in known:
            left = ends - time.monotonic()
            if place == but or left <= 0:
                continue
            try:
                (answer,) = self._node(place).run([("CLUSTER", "SLOTS")], min(left, 0.5), writes=False)
            except Unavailable as error:
                last = error
                continue
            if isinstance(answer, Exception):
                raise meaning(answer, self._node(place).name) from answer
            if answer:
                slots = [(int(row[0]), int(row[1]), _address(row[2], place)) for row in answer]
                with self._lock:
                    self._turns += bool(self._slots) and sorted(slots) != sorted(self._slots)
                    self._slots, self._moved = slots, {}
                return
        if last is not None and not self._slots:
            raise last


def _address(told: Sequence[Any], asked: tuple[str, int]) -> tuple[str, int]:
    """Of a node, as another one tells it; a node that does not know its own name is the one asked."""
    host = (told[0] or b"").decode()
    return (asked[0] if host in ("", "?") else host), int(told[1])


def _read_only(answer: Exception) -> bool:
    from redis.exceptions import ReadOnlyError

    return isinstance(answer, ReadOnlyError)
