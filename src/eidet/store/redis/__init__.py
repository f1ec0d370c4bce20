"""Redis and Valkey: records in memory on a server, in a cluster, or behind sentinels.

A write is decided here, by the rules that all stores share, and carried out by one script on the server,
which first checks that what was taken for granted is so. All keys of a scope lie in one slot. Seqs come
from the server's clock, so that none is given twice even if the server lost the last writes.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import groupby
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from ...core.errors import Misconfigured
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.settings import Settings
from ...core.validate import Json
from ...core.where import Where
from ...net.retry import RetryPolicy
from ...quality import Survey, Tally
from .. import Changes, Derived, Erased, Erasure, Head, Look, Scrubbed, Uses, Watch
from ..legacy import LegacyStore
from ..model import entry_of
from ..rules import check_epoch, check_order, lease_of, may_lease
from .address import address_of
from .client import Wire
from .codec import record_of
from .connection import absent, script
from .counts import Counts
from .erasure import Erasing
from .keys import Keys
from .operations import alone, burying, noting, putting, recasting
from .reading import Reading
from .scripts import CHANGES, RESERVE
from .transaction import Desk
from .vector_sets import VECTOR_SETS, Shelves
from .vectors import Vectors
from .writing import Work, Writing

LONG: Final = 60
OFFERED: Final = "vectorset://?small=100000"  # up to so many, the index in RAM is several times as fast
P = ParamSpec("P")
T = TypeVar("T")


def _in_time(
    verb: Callable[Concatenate[RedisStore, P], T], times: int = 1
) -> Callable[Concatenate[RedisStore, P], T]:
    """However often the verb asks, one deadline holds for all of it."""

    @wraps(verb)
    def within(self: RedisStore, /, *given: P.args, **named: P.kwargs) -> T:
        with self._wire.deadline(times=times):
            return verb(self, *given, **named)

    return within


def _in_long_time(
    verb: Callable[Concatenate[RedisStore, P], T],
) -> Callable[Concatenate[RedisStore, P], T]:
    """For what may have to look at every record: each question has the deadline, all together many."""
    return _in_time(verb, LONG)


class RedisStore(LegacyStore):
    """Records on `redis://`, `rediss://`, `redis+cluster://` or `redis+sentinel://`.

    In a cluster, what is written to several scopes at once is all or nothing in each of them.
    """

    writable = True

    def __init__(
        self, url: str, *, settings: Settings | None = None, retry_policy: RetryPolicy | None = None
    ) -> None:
        del settings
        self.address = address = address_of(url)
        self._keys = Keys(address.prefix)
        self._wire = Wire(address, retry_policy)
        self.retrier = self._wire.retrier
        try:
            mortal = self._check_server()
            self.identity = self._begin()
        except BaseException:
            self.close()
            raise
        self._cluster = address.cluster
        self._turns, self._doubted = self._wire.servers.turns, 0
        parts = (self._wire, self._keys)
        self._reading = Reading(*parts)
        self._writing = Writing(*parts, address, mortal=mortal)
        self._erasing = Erasing(*parts, self._reading, self._writing)
        self._vectors = Vectors(*parts, self._reading, self._writing)
        self._counts = Counts(*parts, self._reading, self._writing)
        self._shelves = Shelves(*parts)

    def health(self) -> dict[str, Any]:
        """How the line to the server does; asks nobody."""
        return self.retrier.health().as_dict()

    # Writing.

    @_in_time
    def put(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = True,
        expect: int | None = None,
        epoch: int | None = None,
        by: str | None = None,
        watch: Watch | None = None,
    ) -> list[Record]:
        if not records and epoch is not None:
            check_epoch(epoch, self.head().epoch)
        how: dict[str, Any] = {"now": now, "unique": unique, "expect": expect, "epoch": epoch, "by": by}
        if not self._cluster or watch is not None:  # claims of a watch are those of all records
            return self._run(putting(records, **how, watch=watch), records) if records else []
        runs = (list(run) for _, run in groupby(records, key=_scope))
        return [record for run in runs for record in self._run(putting(run, **how, watch=None), run)]

    @_in_time
    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]:
        if not forms and epoch is not None:
            check_epoch(epoch, self.head().epoch)
        runs = [list(forms)] if not self._cluster else _runs(forms, lambda pair: pair[0].scope)
        return [
            answer
            for run in runs
            if run
            for answer in self._run(recasting(run, now=now, epoch=epoch, by=by), [old for old, _ in run])
        ]

    @_in_time
    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]:
        runs = [list(records)] if not self._cluster else _runs(records, _scope)
        return [id for run in runs if run for id in self._run(burying(run, now=now, by=by), run)]

    @_in_time
    def note(self, uses: Uses) -> None:
        rows = sorted(uses.items())
        runs = [rows] if not self._cluster else _runs(rows, lambda row: row[0][0])
        for run in filter(None, runs):
            self._writing.run(noting(run[0][0][0], run))

    def _run(self, work: Work, records: Sequence[Record]) -> Any:
        work.scope = records[0].scope if records else ""
        return self._writing.run(work)

    # Reading.

    @_in_time
    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        return self._reading.get(scope, ids)

    @_in_time
    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        return self._reading.fetch(scope, seqs)

    @_in_time
    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        return self._reading.find(where, *check_order(order), limit, offset, after)

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        return self._reading.scan(where, after, batch)

    @_in_time
    def match(self, where: Where) -> list[int]:
        return [seq for _, seq in self._reading.seqs(where)]

    @_in_time
    def count(self, where: Where) -> int:
        return self._reading.count(where)

    @_in_long_time
    def census(self, where: Where) -> dict[tuple[str, str], int]:
        rows = (row.record for row in self._reading.lights(where))
        return dict(Counter((str(r.kind), str(r.tier)) for r in rows))

    @_in_time
    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]:
        return self._counts.scopes(scope, alive_at)

    @_in_long_time
    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        return self._counts.survey(scope, now, fresh, ripe, stale)

    @_in_time
    def tally(self, rows: Sequence[Tally], *, since: int) -> None:
        self._counts.tally(rows, since)

    @_in_time
    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        return self._counts.tallies(scope, since)

    # Forgetting and history.

    @_in_long_time
    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]:
        return self._erasing.drop(where, now, by)

    @_in_long_time
    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        return self._erasing.erase(plan, now, by)

    @_in_time
    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        return self._writing.entombed(scope, marks)

    @_in_time
    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        def run(desk: Desk) -> int:
            found = self._writing.entombed(scope, marks)
            for mark, since in found.items():
                desk.guard(self._keys.base(scope) + "b", mark, repr(since).encode())
            if found:
                desk.do(scope, "HDEL", "b", *found)
            return len(found)

        lifted: int = self._writing.run(alone(run, scope))
        return lifted

    @_in_time
    def history(self, scope: str, id: str) -> list[Event]:
        return self._erasing.history(scope, id)

    @_in_time
    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        return self._erasing.retell(scope, id, before)

    @_in_long_time
    def prune(self, before: float, *, dead: bool, most: int) -> int:
        return self._erasing.prune(before, dead, most)

    def trim(self, most: int) -> int:
        """The server gives memory back by itself."""
        del most
        return 0

    @_in_time
    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Where the server writes files, it is asked to write them anew, which takes it a while."""
        del said
        self._shelves.clean()
        pending = []
        for told in self._wire.info("persistence"):
            if told.get("aof_enabled") == "1":
                pending.append("the append-only file of the server, until the server rewrites it")
            elif int(told.get("rdb_saves", "0")) or int(told.get("rdb_last_load_keys_loaded", "0")):
                pending.append("the snapshot file of the server, until the server saves it again")
        if pending:
            command = ("BGREWRITEAOF",) if "append" in pending[0] else ("BGSAVE", "SCHEDULE")
            if any(map(absent, self._wire.answers(command))):
                pending.append(f"the user of the address may not call {command[0]}: an operator has to")
        return Scrubbed(pending=tuple(dict.fromkeys(pending)))

    # Following.

    @_in_time
    def head(self) -> Head:
        head = self._head()
        turns = self._wire.servers.turns
        if turns != self._turns:  # what was told before may not be so any more: followers begin anew
            reserve = script(RESERVE, self._keys.store + "h", 1, "", "")
            self._doubted = int(self._wire.write(self._keys.store, reserve)[1])
            self._turns = turns
            head = self._head()
        return head

    def _head(self) -> Head:
        epoch, seq = self._wire.ask(self._keys.store, ("HMGET", self._keys.store + "h", "epoch", "seq"))
        return Head(int(epoch or 0), int(seq or 0))

    @_in_time
    def leap(self, seq: int) -> None:
        """No write gets a seq up to this one any more: for whoever counts over several stores."""
        if (lag := seq - self._head().seq) > 0:
            self._wire.write(self._keys.store, script(RESERVE, self._keys.store + "h", lag, "", ""))

    @_in_time
    def changes(self, scope: str, since: int, limit: int) -> Changes:
        base = self._keys.base(scope)
        key = "" if self._cluster else self._keys.store + "h"
        told = self._head() if self._cluster else ()
        answer = self._wire.ask(base, script(CHANGES, base, key, since, limit, *told))
        epoch, upto, pruned, fresh, gone = answer
        pairs = zip(fresh[::2], fresh[1::2], strict=True)
        entries = [entry_of(record_of(found, scope, int(seq))) for seq, found in pairs]
        missed = max(int(float(pruned)), self._doubted)
        head = Head(int(epoch), int(upto))
        return Changes(head, entries, [int(seq) for seq in gone], missed if missed > since else 0)

    @_in_long_time
    def witness(self, seq: int) -> str | None:
        names = self._reading.scopes(None)
        bases = [self._keys.base(name) for name in names]
        there = self._wire.read((base, ("EXISTS", f"{base}r:{seq}")) for base in bases)
        found = (name for name, is_there in zip(names, there, strict=True) if is_there)
        records = (record for name in found for record in self.fetch(name, [seq]) if record is not None)
        return next((f"{record.id} {record.created}" for record in records), None)

    # Settings and derived bytes.

    @_in_time
    def setting(self, name: str) -> str | None:
        found = self._wire.ask(self._keys.store, ("HGET", self._keys.store + "s", name))
        return None if found is None else found.decode()

    @_in_time
    def settings(self, prefix: str) -> dict[str, str]:
        flat = self._wire.ask(self._keys.store, ("HGETALL", self._keys.store + "s"))
        pairs = sorted((k.decode(), v.decode()) for k, v in zip(flat[::2], flat[1::2], strict=True))
        return {name: value for name, value in pairs if name.startswith(prefix)}

    @_in_time
    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        def run(desk: Desk) -> None:
            for name, value in settings.items():
                desk.do_after("HSETNX" if fresh else "HSET", "s", name, value)

        self._writing.run(Work(run, blind=True))

    @_in_time
    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        def run(desk: Desk) -> bool:
            held = self.setting(f"lease:{name}")
            mine = may_lease(held, owner, now)
            if mine:
                desk.guard(self._keys.store + "s", f"lease:{name}", (held or "").encode())
                desk.do_after("HSET", "s", f"lease:{name}", lease_of(owner, until))
            return mine

        may: bool = self._writing.run(alone(run))
        return may

    @_in_long_time
    def rewrite(self, derived: Iterable[Derived]) -> None:
        self._vectors.rewrite(derived)

    @_in_long_time
    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        self._vectors.stage(name, vectors)

    @_in_time
    def staged(self, name: str) -> int:
        return self._vectors.staged(name)

    @_in_long_time
    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        return self._vectors.adopt(name, settings)

    # Life.

    @_in_time
    def offered_index(self) -> str | None:
        """The index that the servers bring along, if all of them do and this user may use it."""
        return OFFERED if self._wire.may(VECTOR_SETS, self._keys.store + "k") else None

    @_in_time
    def size(self) -> int:
        """Memory that the servers use in all (`used_memory`), whatever else they hold."""
        return sum(int(told.get("used_memory", "0")) for told in self._wire.info("memory"))

    def close(self) -> None:
        self._wire.close()

    def _check_server(self) -> bool:
        """Whether whole scopes may be given an end; refuses servers that would drop records at will."""
        policies = [
            (told.get("maxmemory_policy", "noeviction"), told.get("maxmemory", "0"))
            for told in self._wire.info("memory")
        ]
        for policy, most in policies:
            if policy.startswith("allkeys") and most != "0":
                raise Misconfigured(
                    f"{self.retrier.name} evicts any key when it is full (maxmemory-policy {policy}): "
                    "memories would vanish; set maxmemory-policy to noeviction"
                )
        return all(policy == "noeviction" for policy, _ in policies)

    def _begin(self) -> str:
        key = self._keys.store + "h"
        for name, value in (("identity", uuid.uuid4().hex), ("epoch", 0), ("tombs", 0), ("scopes", 0)):
            self._wire.write(self._keys.store, ("HSETNX", key, name, value), copied=False)
        found: bytes = self._wire.ask(self._keys.store, ("HGET", key, "identity"))
        return found.decode()


def _scope(record: Record) -> str:
    return record.scope


def _runs(things: Iterable[Any], key: Callable[[Any], str]) -> list[list[Any]]:
    return [list(run) for _, run in groupby(things, key=key)]
