"""The order of a log: by the time a message was added, then by its place among those of that moment.

The store orders equal times by `seq`, which changes when a record is revised or moved. So if the
edge of a page falls among messages of one moment, these are selected by their own places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.record import Record, Trust, key_id
from ..core.validate import Json
from ..core.where import Condition, Where
from ..memory import Memory
from .messages import MOST, ORDER, noted_place, order_of, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The records of one scope that match a filter, as a log."""

    memory: Memory
    scope: str
    where: Where

    def newest(self, count: int | None = None, offset: int = 0) -> list[Record]:
        """Skips the newest `offset` and lists the newest `count` of the rest, oldest first."""
        need = min(count + offset, MOST) if count is not None else MOST
        found = self._find(self.where, min(need + 1, MOST)) if need else []
        if len(found) > need:
            found = self._cut(found, need)
        ordered = sorted(found, key=order_of)
        return ordered[: max(len(ordered) - offset, 0)]

    def but_newest(self, count: int) -> list[Record]:
        """Returns all but the newest `count`, oldest first. Reads little more than it returns."""
        if count == 0:
            return self.newest()
        found = self._find(self.where, MOST, offset=count - 1)  # the last that stays, then the others
        tied = [record for record in found if record.created == found[0].created]
        older = found[len(tied) :]
        if len(tied) > 1:
            older += self._oldest_of_moment(tied[0].created, len(tied) - 1)
        return sorted(older, key=order_of)

    def _oldest_of_moment(self, created: float, count: int) -> list[Record]:
        then = self.where & Where(created_since=created, created_until=created)
        return sorted(self._find(then, MOST), key=order_of)[:count]

    def _cut(self, found: list[Record], need: int) -> list[Record]:
        """Cuts to the newest `need`, newest first; `found` has one more, which may be tied with the last."""
        edge = found[need - 1].created
        if found[need].created != edge:
            return found[:need]
        tied = [record for record in found if record.created == edge]
        newer = found[: len(found) - len(tied)]
        return newer + self._of_moment(edge, need - len(newer), min(map(place_of, tied)))

    def _of_moment(self, created: float, count: int, floor: str) -> list[Record]:
        """Returns the last `count` records of one moment; at least that many have a place from `floor` on.

        Reads all records without a noted place, because no filter can select them by it.
        """
        then = self.where & Where(created_since=created, created_until=created)
        noted = self._find(then & Where(conditions=(Condition(ORDER, ">=", floor),)), MOST)
        others = self._find(then & Where(conditions=(Condition(ORDER, "exists", False),)), MOST)
        return sorted([*noted, *others], key=order_of)[-count:]

    def _find(self, where: Where, limit: int, offset: int = 0) -> list[Record]:
        return self.memory.find(where, scope=self.scope, order="-created", limit=limit, offset=offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of a log up to a moment. `by` names its author: rules, llm or caller.

    Of the messages created at that moment, it includes those up to a place, and those with these ids.
    """

    text: str
    by: str
    created: float = 0.0
    place: str | None = None
    ids: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, records: Sequence[Record], text: str, before: Summary | None, *, by: str) -> Summary:
        """Builds a summary of these records and of what the previous summary was made of."""
        last = records[-1].created
        same = [record for record in records if record.created == last]
        places = [place for record in same if (place := noted_place(record)) is not None]
        ids = tuple(record.id for record in same if noted_place(record) is None)
        if before is not None and before.created == last:
            places += [] if before.place is None else [before.place]
            ids = (*before.ids, *ids)
        sources = (*(before.sources if before else ()), *(record.id for record in records))
        return cls(text=text, by=by, created=last, place=max(places, default=None), ids=ids, sources=sources)

    @classmethod
    def read(cls, record: Record) -> Summary | None:
        """Parses a summary; None if the record under this id is no summary. A quarantined one is empty."""
        data: Any = record.whole.data
        if not isinstance(data, Mapping) or not isinstance(data.get("edge"), Mapping):
            return None
        edge = data["edge"]
        return cls(
            text="" if record.trust is Trust.QUARANTINED else record.whole.text,
            by=data["by"],
            created=float(edge["created"]),
            place=edge["place"],
            ids=tuple(edge["ids"]),
            sources=record.derived_from,
        )

    def as_json(self) -> dict[str, Json]:
        edge: dict[str, Json] = {"created": self.created, "place": self.place, "ids": list(self.ids)}
        return {"edge": edge, "by": self.by, "messages": len(self.sources)}

    def after(self) -> Where:
        """Returns the filter for messages that it does not include."""
        parts = [Where(ids=self.ids)] if self.ids else []
        if self.place is not None:
            upto = Condition(ORDER, "<=", self.place)
            parts.append(Where(created_until=self.created, conditions=(upto,)))
        return Where(created_since=self.created, never=tuple(parts))


def summary_id(session: str) -> str:
    return key_id(f"conversation summary\0{session}")
