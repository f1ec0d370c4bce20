"""mem0's verbs as verbs of a memory, for the class and for the server alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from ...core.errors import BadInput, Conflict, NotFound
from ...core.hit import Hits
from ...core.record import Event, Record, Trust
from ...core.scope import Scope
from ...core.where import Condition, Where
from ...memory import Memory as EidetMemory
from .entities import NAMES, Entities, Home, join
from .mem0_filters import NO_ENTITY, FilterParser, names_entity, take_user, write_time
from .mem0_items import clean_metadata

_EVENTS: Final = {"created": "ADD", "revised": "UPDATE", "forgotten": "DELETE"}

_PAGE: Final = 5000  # records that are read at once to list entities
_TRIES: Final = 100  # at a change that others are always faster with
UNSET: Final[Any] = object()


@dataclass(frozen=True, slots=True)
class Selection:
    """Which memories are meant: a scope, and what must hold of them."""

    scope: Scope
    where: Where | None

    def narrow(self, *parts: Where | None) -> Selection:
        """Adds more conditions."""
        given = [part for part in (self.where, *parts) if part is not None]
        return replace(self, where=join(given))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """A change of a memory; None leaves the text, UNSET the date of expiry."""

    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    expiration_date: Any = UNSET  # a day as YYYY-MM-DD, or None to clear it
    occurred: float | None = None


@dataclass(frozen=True, slots=True)
class Mem0Verbs:
    """mem0's verbs over a memory, under one root scope."""

    memory: EidetMemory
    home: Home

    def get(self, id: str) -> Record:
        """The memory with an id, whosever it is; `NotFound` if there is none."""
        return self.get_many([id])[0]

    def get_many(self, ids: Sequence[str]) -> list[Record]:
        """The memories with these ids, in their order; `NotFound` if one of them is missing."""
        by_scope = _group_by_scope((scope, id) for id, scope in self._locate(ids).items())
        records = (
            record for scope, names in by_scope.items() for record in self.memory.get(names, scope=scope)
        )
        found = {one.id: one for one in records if one is not None and one.trust is not Trust.QUARANTINED}
        for id in ids:
            if id not in found:
                raise NotFound(f"Memory with id {id} not found")
        return [found[id] for id in ids]

    def select(self, filters: Mapping[str, Any] | None, *, show_expired: bool = False) -> Selection:
        """Parses a filter; `BadInput` if it names no user, agent, app or run."""
        if not filters or not names_entity(filters):
            raise BadInput(NO_ENTITY)
        user, rest = take_user(filters)
        today = _today_of(self.memory.parts.clock())
        expired = Where(conditions=(Condition(("meta", "expiration_date"), "<", today),))
        return self._within(user).narrow(
            FilterParser(self.home).parse(rest), None if show_expired else Where(never=(expired,))
        )

    def _within(self, user: str | None) -> Selection:
        """Selects all that is open, or all of one user."""
        if user is None:
            return Selection(*self.home.everything())
        return Selection(self.home.scope_of("user_id", user), None)

    def list_memories(self, selection: Selection, *, limit: int, offset: int = 0) -> list[Record]:
        """Memories, the newest first."""
        if not limit:
            return []
        return self.memory.find(
            selection.where, scope=selection.scope, order="-occurred", limit=limit, offset=offset
        )

    def count(self, selection: Selection) -> int:
        return self.memory.count(selection.where, scope=selection.scope)

    def search(
        self,
        query: str,
        selection: Selection,
        *,
        limit: int,
        least: float,
        now: float | None = None,
    ) -> Hits:
        """Recalls for a query, best first."""
        if not limit:
            return Hits((), scope=selection.scope.path)
        return self.memory.recall(
            query, scope=selection.scope, limit=limit, where=selection.where, least=least, now=now
        )

    def update(self, id: str, change: MemoryChange) -> Record:
        """The next version of a memory; metadata is added to what it has."""
        for _ in range(_TRIES):
            with suppress(Conflict):
                return self._revise(self.get(id), change)
        raise Conflict(f"memory {id!r} kept changing; gave up after {_TRIES} attempts")

    def update_many(self, changes: Sequence[tuple[str, MemoryChange]]) -> None:
        """Changes memories one by one; `NotFound`, and nothing is changed, if one is missing at the start."""
        self.get_many([id for id, _ in changes])
        for id, change in changes:
            self.update(id, change)

    def delete(self, ids: Sequence[str]) -> None:
        """Deletes memories, and what their history says of their content; `NotFound` if one is missing."""
        if not self._forget(self.get_many(ids)):
            raise NotFound(f"Memory with id {ids[0]} not found")

    def judge(self, id: str, useful: bool | None) -> None:
        """Counts whether a memory was useful; None takes no side."""
        record = self.get(id)
        if useful is not None:
            self.memory.feedback(id, useful=useful, scope=record.scope)

    def delete_all(self, entities: Entities) -> int:
        """Deletes what belongs to all these entities; how many memories that were."""
        chosen, where = self._within(entities.user_id), entities.select()
        if where is None:
            return int(self.memory.forget(everything=True, scope=chosen.scope, for_good=False))
        return int(self.memory.forget(where=chosen.narrow(where).where, scope=chosen.scope, for_good=False))

    def delete_everyone(self, names: Sequence[str]) -> None:
        """Deletes what belongs to any user, agent, app or run; to one of each, if several are named."""
        owned = ((record, dict(Entities.of(record, self.home).items())) for record in self._each_record())
        self._forget([record for record, owners in owned if owners.keys() >= set(names)])

    def reset(self) -> None:
        """Deletes everything below the home."""
        self.memory.forget(everything=True, scope=Scope.under(self.home.path), for_good=False)

    def history(self, id: str) -> list[dict[str, Any]]:
        """The history of a memory, oldest first; it is deleted with the memory."""
        record = self.get(id)
        return _tell_history(self.memory.history(id, scope=record.scope), record)

    def list_entities(self) -> list[dict[str, Any]]:
        """Users, then agents, apps and runs, with how many memories each has, and since when."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for record in self._each_record():
            for name, id in Entities.of(record, self.home).items():
                _count_memory(found, name, id, record)
        return sorted(found.values(), key=_entity_order)

    def _locate(self, ids: Sequence[str]) -> dict[str, str]:
        """The scopes of records. The store is asked: an index would have to be there for every user."""
        wanted = self._confine(Where(ids=tuple(ids)))
        found: dict[str, str] = {}
        for record in self.memory.parts.store.find(wanted):
            if found.setdefault(record.id, record.scope) != record.scope:  # ids are unique in a scope only
                raise Conflict(f"several users have a memory with id {record.id}")
        return found

    def _confine(self, where: Where) -> Where:
        """A filter for the store, confined to what is open."""
        scope, parts = self.home.everything()
        return (where if parts is None else where & parts).within(scope)

    def _each_record(self) -> Iterator[Record]:
        """All memories, as the store has them."""
        wanted, after = self._confine(Where(alive_at=self.memory.parts.clock())), 0
        while page := self.memory.parts.store.find(wanted, limit=_PAGE, after=after):
            yield from page
            after = page[-1].seq

    def _forget(self, records: Sequence[Record]) -> int:
        by_scope = _group_by_scope((record.scope, record.id) for record in records)
        return sum(self.memory.forget(ids, scope=scope, for_good=False) for scope, ids in by_scope.items())

    def _revise(self, record: Record, change: MemoryChange) -> Record:
        meta = {**record.meta, **clean_metadata(change.metadata, "update()")}
        if change.expiration_date is None:
            meta.pop("expiration_date", None)
        elif change.expiration_date is not UNSET:
            meta["expiration_date"] = change.expiration_date
        meta["updated_at"] = write_time(self.memory.parts.clock())
        given: dict[str, Any] = {"meta": meta, "text": change.text, "occurred": change.occurred}
        changes = {name: value for name, value in given.items() if value is not None}
        return self.memory.revise(
            record.id, scope=record.scope, version=record.version, again=True, **changes
        )


def _group_by_scope(places: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Ids by their scope."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for scope, id in places:
        grouped[scope].append(id)
    return grouped


def _count_memory(found: dict[tuple[str, str], dict[str, Any]], name: str, id: str, record: Record) -> None:
    made = write_time(record.occurred)
    blank = {
        "id": f"{name.removesuffix('_id')}:{id}",
        "name": id,
        "type": name.removesuffix("_id"),
        "total_memories": 0,
        "created_at": made,
        "updated_at": made,
    }
    counts = found.setdefault((name, id), blank)
    counts["total_memories"] += 1
    counts["created_at"] = min(counts["created_at"], made)
    counts["updated_at"] = max(counts["updated_at"], str(record.meta.get("updated_at", made)))


def _entity_order(counts: Mapping[str, Any]) -> tuple[int, str]:
    return NAMES.index(f"{counts['type']}_id"), counts["name"]


def _today_of(now: float) -> str:
    """The day in UTC; what expires before it has expired."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()


def _tell_history(events: Sequence[Event], record: Record) -> list[dict[str, Any]]:
    """The history of a memory, oldest first, with the text before and after each change."""
    changes = [event for event in events if event.what in _EVENTS]
    texts = _list_texts(changes, record)
    return [
        {
            "id": f"{record.id}-{number + 1}",
            "memory_id": record.id,
            "old_memory": texts[number],
            "new_memory": texts[number + 1],
            "event": _EVENTS[event.what],
            "created_at": write_time(record.occurred),
            "updated_at": write_time(event.at),
            "is_deleted": event.what == "forgotten",
            "actor_id": record.meta.get("actor_id"),
            "role": record.meta.get("role"),
        }
        for number, event in enumerate(changes)
    ]


def _list_texts(changes: Sequence[Event], record: Record) -> list[str | None]:
    """The text before each change and after the last; a change of labels leaves the text."""
    texts: list[str | None] = [record.whole.text]
    for event in reversed(changes):
        if event.what == "created":
            texts.append(None)
            continue
        before = event.before or {}
        text = before.get("text", texts[-1])
        texts.append(text if isinstance(text, str) else None)
    texts.reverse()
    return texts
