"""What the tests of the verbs share."""

from __future__ import annotations

from typing import Any

from eidet import Memory, Where
from eidet.core.record import Record
from eidet.store import verbs

HASHING = "hashing:64"


def head(memory: Memory) -> Any:
    return memory.parts.store.head()


def everything(memory: Memory) -> list[Record]:
    memory.admin.flush()
    return list(verbs.scan(memory.parts.store, Where()))
