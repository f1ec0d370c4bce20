"""Pseudonyms turned back, and the pseudonyms that a value has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...core.hit import Hit, Hits
from ...core.record import Record
from ...core.state import State
from ...core.validate import Json
from ...recall.nearby import Beside
from . import Action, guard_text, restore_text
from .fields import Guard
from .pending import Pending
from .placeholders import tokens_in

Told = str | Record | Hit | Hits


def reveal_text(text: str, guard: Guard) -> str:
    assert guard.vault is not None
    names = tuple(pattern.name for pattern in guard.policy.patterns)
    return restore_text(text, guard.vault, _spelt, names)


def _spelt(value: bytes) -> str:
    return value.decode("utf-8", "surrogatepass")


def reveal_record(record: Record, guard: Guard) -> Record:
    """Text, data, meta, state, who and source; what it was lowered from stays behind its pseudonyms."""
    kept: dict[str, Any] = {
        name: None if (value := getattr(record, name)) is None else reveal_text(value, guard)
        for name in ("text", "who", "source")
    }
    trees = {name: reveal_tree(getattr(record, name), guard) for name in ("data", "meta")}
    state = State.from_json(reveal_tree(record.state.to_json(), guard))
    return record.but(**kept, **trees, state=state)


def reveal_tree(value: Json, guard: Guard) -> Json:
    if isinstance(value, str):
        return reveal_text(value, guard)
    if isinstance(value, dict):
        return {reveal_text(key, guard): reveal_tree(item, guard) for key, item in value.items()}
    if isinstance(value, list):
        return [reveal_tree(item, guard) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Telling:
    """Records as they are told to whoever asked: without a guard, as they are kept."""

    guard: Guard | None

    def records(self, records: Sequence[Record]) -> Sequence[Record]:
        if self.guard is None:
            return records
        return [reveal_record(one, self.guard) for one in records]

    def hits(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        if self.guard is None:
            return hits
        return [replace(hit, record=reveal_record(hit.record, self.guard)) for hit in hits]

    def turns(self, turns: Beside) -> Beside:
        if self.guard is None:
            return turns
        return {key: self.records(near) for key, near in turns.items()}


def describe_revealed(about: Told) -> dict[str, Any]:
    """What is revealed, as an audit log may know it: pseudonyms of a text, or ids and scope of records."""
    if isinstance(about, str):
        return {"pseudonyms": tokens_in(about)}
    if isinstance(about, Record):
        records = [about]
    else:
        records = [hit.record for hit in _hits(about)]
    scopes = {record.scope for record in records}
    return {"ids": [r.id for r in records], "scope": scopes.pop() if len(scopes) == 1 else None}


def _hits(about: Hit | Hits) -> Sequence[Hit]:
    if isinstance(about, Hit):
        return [about]
    return about


def tokens_of_value(value: str, guard: Guard) -> list[str]:
    """The pseudonyms in a text, and those that its values have."""
    pending = Pending()
    found = guard_text(value, guard.policy, guard.keys(pending))
    has = any(one.action is Action.PSEUDONYM for one in found.findings)
    names = tuple(pattern.name for pattern in guard.policy.patterns)
    return list(dict.fromkeys((*(pending.values if has else ()), *tokens_in(found.text, names))))
