"""Vector sets that an index keeps beside the records of their scope: what is forgotten leaves them, too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from .client import Command, RedisClient, pages
from .key_names import Keys

VECTOR_SETS: Final = ("VADD", "VSIM", "VREM", "VEMB", "VCARD", "VINFO", "VGETATTR")
_REMOVED: Final = 32  # elements at once: others wait meanwhile, a fifth of a millisecond for each


class VectorSetRegistry:
    """Which sets there are, and up to when what went away was taken out of them."""

    def __init__(self, client: RedisClient, keys: Keys) -> None:
        self._client, self._keys = client, keys
        self._key = keys.store + "k"

    def note(self, key: str) -> None:
        """There is a set now, which is empty."""
        seq = self._client.ask(self._keys.store, ("HGET", self._keys.store + "h", "seq"))
        self._client.write_all(self._key, [("HSET", self._key, key, int(seq or 0))])

    def forget(self, key: str) -> None:
        self._client.write_all(self._key, [("HDEL", self._key, key)])

    def clean(self) -> None:
        """Takes out what went away since; whoever fills a set does so as well, but later.

        A user who may not change the sets leaves that to those who fill them.
        """
        sets = self._client.ask(self._key, ("HGETALL", self._key))
        if sets and self._client.may(("VREM",), self._key):
            for key, since in sets.items():
                self._clean(key.decode(), int(since))

    def _clean(self, key: str, since: int) -> None:
        base = key[: key.index("}") + 2]
        command = ("ZRANGEBYSCORE", f"{base}g", f"({since}", "+inf", "WITHSCORES")
        pruned, flat = self._client.read([(base, ("HGET", f"{base}m", "pruned")), (base, command)])
        if int(float(pruned or 0)) > since:  # nobody knows any more what went: it is filled anew
            self._client.write_all(key, [("UNLINK", key), ("UNLINK", f"{key}:u")])
        elif flat:
            take_out(self._client, key, [int(seq) for seq in flat[::2]])
            self._client.write_all(self._key, [("HSET", self._key, key, int(float(flat[-1])))])


def _element_of(seq: int) -> str:
    """The first of a record; its last three digits count the others."""
    return f"{seq:013x}000"


def take_out(client: RedisClient, key: str, seqs: Sequence[int]) -> None:
    """All elements of these records, as far as they are there."""
    further, names = f"{key}:u", [_element_of(seq) for seq in seqs]
    if client.ask(key, ("EXISTS", further)):
        ranges = [(key, ("ZRANGEBYLEX", further, f"[{one[:-3]}001", f"[{one[:-3]}fff")) for one in names]
        found = [name.decode() for name in chain(*client.read(ranges))]
        _send(client, key, [("ZREM", further, name) for name in found])
        names += found
    _send(client, key, [("VREM", key, name) for name in names])


def _send(client: RedisClient, key: str, commands: Sequence[Command]) -> None:
    for page in pages(commands, _REMOVED):
        client.write_all(key, page)
