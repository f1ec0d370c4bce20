"""What other processes do to a memory on PostgreSQL."""

from __future__ import annotations

import json
import os
import sys

from eidet import Memory
from eidet.core.record import Record
from eidet.store import verbs
from eidet.store.sql.postgres import PostgresStore

NOW = 1_700_000_000.0


def remember(url: str, scope: str, text: str) -> None:
    """Tells what it found before it wrote."""
    with Memory(url, embedder="hashing:64") as memory:
        found = [record.text for record in memory.find(scope=scope)]
        memory.remember(text, scope=scope)
    print(json.dumps(found))


def write_many(url: str, name: str, count: str) -> None:
    """Tells the seqs it got."""
    store = PostgresStore(url)
    seqs = []
    for number in range(int(count)):
        id = f"{name}-{number}"
        record = Record(id=id, scope="a", text=f"says {id}", created=NOW, occurred=NOW)
        seqs += [stored.seq for stored in verbs.put(store, [record], now=NOW)]
    store.close()
    print(json.dumps(seqs))


def leave_open(url: str) -> None:
    """Forks a child that writes, too; both end without closing. Tells the retries that the parent needed."""
    store = PostgresStore(url)

    def put(id: str) -> None:
        verbs.put(store, [Record(id=id, scope="a", text=id, created=NOW, occurred=NOW)], now=NOW)

    put("before")
    child = os.fork()
    if child == 0:
        put("of the child")
        sys.exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    put("after")
    print(json.dumps([code, store.health()["retries"]]))
