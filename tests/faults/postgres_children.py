"""What other processes do to a memory on PostgreSQL."""

from __future__ import annotations

import json

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
