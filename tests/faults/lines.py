"""What verbs of a store must have done after a line broke: the right answer, and the write exactly once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.servers.proxy import Proxy

from eidet.core.where import Where
from eidet.store import Store, verbs

ID = "one"  # of the record that all these verbs are about

Effect = tuple[int, int, int, int]  # records, versions of the one, its uses, recalls that were counted
NOTHING: Effect = (0, 0, 0, 0)
EFFECTS: Mapping[str, Effect] = {
    "put": (1, 0, 0, 0),
    "put many": (20, 0, 0, 0),
    "revise": (0, 1, 0, 0),
    "note": (0, 0, 1, 0),
    "tally": (0, 0, 0, 1),
}
NEW = {"put", "put many", "revise"}  # their answers differ each time


def cut(proxy: Proxy) -> None:
    proxy.cut()


def slow(proxy: Proxy) -> None:
    proxy.delay = 0.02


def check_alike(
    verb: str, act: Callable[[], Any], store: Store, proxy: Proxy, fault: Callable[[Proxy], None]
) -> None:
    """Acts without and with a fault: both times the same answer, and each time the effect of one call."""
    wanted = act()
    before = _state(store)
    fault(proxy)
    answer = act()
    proxy.heal()
    if verb == "size":  # of a server that also holds lines and buffers
        assert wanted / 2 < answer < wanted * 2
    elif verb not in NEW:
        assert answer == wanted, verb
    done = tuple(after - was for after, was in zip(_state(store), before, strict=True))
    assert done == EFFECTS.get(verb, NOTHING), verb


def _state(store: Store) -> Effect:
    [one] = store.find(Where(ids=(ID,)))
    counted = sum(row.counts.get("n", 0) for row in verbs.read_counts(store, None, 0))
    return verbs.count(store, Where()), one.version, one.uses, counted
