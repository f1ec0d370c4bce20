"""Redis and Valkey: records in memory on a server, in a cluster, or behind sentinels.

address.py, client.py                                 how servers are reached
codec.py, lua/                                       how things are kept
record_reader.py                                     how records are found
transaction.py, values.py, commit_plan.py             what jobs read and write, and how it is committed

A write is decided here, by the rules that all stores share, and carried out by one script on the server,
which first checks that what was read is still so. In a cluster, all keys of a memory lie in one slot. Seqs
come from the server's clock, so that none is given twice even if the server lost the last writes.
"""

from __future__ import annotations

import secrets
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from ...core.errors import Misconfigured
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.settings import Settings
from ...core.where import Where
from ...net.retry import RetryPolicy
from ...quality import Survey
from .. import Transaction
from ..model import Changes, Head, K, NewRecord, Scrubbed, Table, V, entry_of
from ..rules import UNIQUE_KINDS
from ..traits import StoreTraits
from ..verbs.reading import survey_of
from .address import address_of
from .client import RedisClient, is_absent, script
from .codec import CHANGES, RESERVE, Keys, record_of
from .record_reader import Reading
from .transaction import RedisTransaction, Writing

_WRITE_DEADLINES: Final = 5  # a write, with its reads and retries, takes at most so many
T = TypeVar("T")


class RedisStore:
    """A store on `redis://`, `rediss://`, `redis+cluster://` or `redis+sentinel://`."""

    writable = True

    def __init__(
        self, url: str, *, settings: Settings | None = None, retry_policy: RetryPolicy | None = None
    ) -> None:
        del settings
        self.address = address = address_of(url)
        self._keys = Keys(address.prefix, cluster=address.cluster)
        self.client: RedisClient = RedisClient(address, retry_policy, self._keys.store)
        self.retrier = self.client.retrier
        try:
            mortal = _check_eviction(self.client)
            self.identity, secret = _begin(self.client, self._keys)
        except BaseException:
            self.close()
            raise
        home = f"{address.shown} {address.prefix}"
        self._traits = StoreTraits(home=lambda: home)
        self._generation, self._doubted = self.client.generation, 0
        self._reading = reading = Reading(self.client, self._keys, secret)
        self.read, self.find, self.scan = reading.read, reading.find, reading.scan
        self.match, self.count_by = reading.match, reading.count_by
        self._writing = Writing(reading, mortal=mortal)
        self.write: Final = self._writing.run

    # Reading.

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        rows = list(self._reading.lights(Where(scope=scope, alive_at=now)))
        said = Counter((row.record.scope, row.key) for row in rows if row.record.kind in UNIQUE_KINDS)
        return survey_of([row.record for row in rows], said, fresh=fresh, ripe=ripe, stale=stale)

    def history(self, scope: str, id: str) -> list[Event]:
        return self._peek().history(scope, id)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        return self._peek().values(table, keys, within=within, prefix=prefix, limit=limit)

    def _peek(self) -> RedisTransaction:
        """Returns a transaction for reading, which is never committed."""
        return RedisTransaction(self._reading)

    # Writing.

    def put_new(self, new: NewRecord, job: Callable[[Transaction], list[Record]]) -> list[Record]:
        def put(transaction: RedisTransaction) -> list[Record]:
            transaction.expect(new)
            return job(transaction)

        return self._writing.run(put)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        pruned = 0
        for scope in self._reading.scopes(None):
            if pruned < most:
                left = most - pruned
                prune = partial(RedisTransaction.prune, scope=scope, before=before, dead=dead, most=left)
                pruned += self._writing.run(prune)
        return pruned

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Asks a server that writes files to rewrite them, which takes a while."""
        del said
        info, pending = self.client.info("persistence"), []
        command: tuple[str, ...] = ()
        if info.get("aof_enabled"):
            command = ("BGREWRITEAOF",)
            pending.append("the append-only file of the server, until the server rewrites it")
        elif info.get("rdb_saves") or info.get("rdb_last_load_keys_loaded"):
            command = ("BGSAVE", "SCHEDULE")
            pending.append("the snapshot file of the server, until the server saves it again")
        if command and is_absent(self.client.try_command(*command)):
            pending.append(f"the user of the address may not call {command[0]}: an operator has to")
        return Scrubbed(pending=tuple(pending))

    # Following.

    def head(self) -> Head:
        head = self._reading.head()
        generation = self.client.generation
        if generation != self._generation:  # earlier answers may no longer hold
            self._doubted = self._reserve(1)  # followers start over
            self._generation = generation
            head = self._reading.head()
        return head

    def latest_seq(self) -> int:
        """Adds a few deadlines to the server's clock, from which seqs come: no write outlasts them."""
        reached = self._reserve(0, copied=False)
        return reached + int(_WRITE_DEADLINES * self.client.retrier.policy.deadline_seconds * 1_000_000)

    def leap(self, seq: int) -> None:
        if (lag := seq - self._reading.head().seq) > 0:
            self._reserve(lag)

    def _reserve(self, seqs: int, *, copied: bool = True) -> int:
        """Reserves a range of seqs. Returns the seq before its first."""
        return int(self.client.write(script(RESERVE, self._keys.store + "h", seqs), copied=copied))

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        base = self._keys.base(scope)
        answer = self.client.ask(script(CHANGES, base, self._keys.store + "h", since, limit))
        epoch, upto, pruned, fresh, gone = answer
        pairs = zip(fresh[::2], fresh[1::2], strict=True)
        entries = [entry_of(record_of(found, scope, int(seq))) for seq, found in pairs]
        missed = max(int(float(pruned)), self._doubted)
        head = Head(int(epoch), int(upto))
        return Changes(head, entries, [int(seq) for seq in gone], missed if missed > since else 0)

    # The servers.

    def describe(self) -> StoreTraits:
        return self._traits

    def health(self) -> dict[str, Any]:
        """Returns the state of the connection without using it."""
        return self.retrier.health()

    def size(self) -> int:
        """Returns the memory that the server uses (`used_memory`), other data included."""
        return int(self.client.info("memory").get("used_memory", 0))

    def close(self) -> None:
        self.client.close()


def _check_eviction(client: RedisClient) -> bool:
    """Returns whether whole scopes may expire; refuses servers that would evict records at will."""
    info = client.info("memory")
    policy = info.get("maxmemory_policy", "noeviction")
    if info.get("maxmemory") and policy.startswith("allkeys"):
        raise Misconfigured(
            f"{client.retrier.name} evicts any key when it is full (maxmemory-policy {policy}): "
            "memories would vanish; set maxmemory-policy to noeviction"
        )
    return bool(policy == "noeviction")


def _begin(client: RedisClient, keys: Keys) -> tuple[str, bytes]:
    """Returns the store's identity and the secret of its exact keys; creates both if absent."""
    key = keys.store + "h"
    first: dict[str, Any] = {"identity": uuid.uuid4().hex, "secret": secrets.token_bytes(32)}
    first |= dict.fromkeys(("epoch", "tombs", "scopes"), 0)
    made = [("HSETNX", key, name, value) for name, value in first.items()]
    identity, secret = client.write_all([*made, ("HMGET", key, "identity", "secret")])[-1]
    return identity.decode(), secret
