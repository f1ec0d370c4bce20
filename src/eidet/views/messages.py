"""Messages as records of a log, and back without loss; the order of a log, and the summary of its beginning.

The order is by the time a message was added, then by its place among those of that moment. The store orders
equal times by `seq`, which changes when a record is revised or moved. So if the edge of a page falls among
messages of one moment, these are selected by their own places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from ..core.draft import Draft, Message
from ..core.errors import BadInput
from ..core.record import Record, Trust, key_id, new_id
from ..core.validate import Json, clean_text, describe_data, dump_json
from ..core.where import Condition, Where
from ..memory import Memory
from ..text.tokens import TokenCounter
from ..write.shape import drafts_of

_M = TypeVar("_M", bound=Any)
Said = Message | Mapping[str, Json] | str
_TIMED: Final = re.compile(r"[0-9a-f]{26}")  # a generated id, which begins with its time
_OURS: Final = (
    "eidet"  # the key in a message's data for the log's notes: an `order`, and an `id` of the caller
)
ORDER: Final = f"data.{_OURS}.order"
MOST: Final = 1_000_000  # records that `find` returns at most


def draft_of(said: Said, role: str | None = None) -> Draft:
    """Builds the draft of a message; `role` is the default if the message has none."""
    match said:
        case str():
            said = Message(role=role or "user", content=said)
        case Mapping():
            said = {"content": None, **({} if role is None else {"role": role}), **said}
            if "role" not in said:
                raise BadInput("a message needs a role: {'role': 'user', 'content': '…'}, or role='user'")
        case Message():
            pass
        case _:
            raise BadInput(f"a message must be a Message, a dict or a text, not {type(said).__name__}")
    [draft], _ = drafts_of(said, {})
    return _empty(draft) if draft.text is None or draft.text == "" else draft


def _empty(draft: Draft) -> Draft:
    """Marks empty content, so that None and the empty text differ when they are read back."""
    fields = {"content": ""} if draft.text == "" and "content" not in draft.data else {}
    return replace(draft, text="", data={**draft.data, **fields})


def add_key(draft: Draft, session: str, id: str) -> Draft:
    """Gives the message an id made from the caller's, which is unique in this log."""
    name = clean_text(id, "id")
    return _add_notes(replace(draft, id=log_id(session, name)), {"id": name, "order": new_id(0.0)})


def add_place(draft: Draft) -> Draft:
    """Notes the place of the message among those added at the same moment, unless it has notes."""
    return draft if _notes(draft.data) else _add_notes(draft, {"order": new_id(0.0)})


def _add_notes(draft: Draft, notes: Mapping[str, str]) -> Draft:
    return replace(draft, data={**draft.data, _OURS: notes})


def _notes(data: Json) -> Mapping[str, str]:
    notes = data.get(_OURS) if isinstance(data, Mapping) else None
    return notes if isinstance(notes, Mapping) else {}


def log_id(session: str, id: str) -> str:
    return key_id(f"conversation\0{session}\0{id}")


def order_of(record: Record) -> tuple[float, str, int, str]:
    """Returns the sort key of a record in the log. Unlike `seq`, revisions and moves do not change it."""
    place = place_of(record)
    return record.created, place, 0 if place else record.seq, record.id


def place_of(record: Record) -> str:
    """Returns the place among messages of one moment: the noted order, else a generated id, else empty."""
    return noted_place(record) or (record.id if _TIMED.fullmatch(record.id) else "")


def noted_place(record: Record) -> str | None:
    return _notes(record.data).get("order")


def message_of(record: Record) -> Message:
    """Returns the message of a record in full, whatever its tier hides."""
    whole = record.whole
    data: Mapping[str, Any] = whole.data if isinstance(whole.data, Mapping) else {}
    return Message(
        role=data.get("role") or whole.who or "user",
        content=_content(whole, data),
        timestamp=whole.when,
        metadata=whole.meta,
        tool_calls=tuple(data.get("tool_calls") or ()),
        tool_call_id=data.get("tool_call_id"),
        name=data.get("name"),
    )


def _content(record: Record, data: Mapping[str, Any]) -> str | None:
    if data.get("content") == "":
        return ""
    silent = not record.text or (bool(data.get("tool_calls")) and record.text == describe_data(data))
    return None if silent else record.text


def put_away(
    memory: Memory, ids: Sequence[str] | None = None, *, where: Where | None = None, scope: str
) -> int:
    """Deletes records. Returns how many there were. Their content may be stored again."""
    return int(memory.forget(None if ids is None else list(ids), where=where, scope=scope, for_good=False))


def tokens_of(message: Any, counter: TokenCounter) -> int:
    """Counts the tokens of a message: its content, and its tool calls as JSON; at least 1."""
    calls = counter.count(dump_json(list(message.tool_calls))) if message.tool_calls else 0
    return max(1, counter.count(message.content or "") + calls)


def fit_messages(messages: Sequence[_M], max_tokens: int, counter: TokenCounter) -> list[_M]:
    """Returns the newest messages that fit, oldest first; always includes the newest."""
    left, first = max_tokens, len(messages)
    for message in reversed(messages):
        left -= tokens_of(message, counter)
        if left < 0 and first < len(messages):
            break
        first -= 1
    return list(messages[first:])


def drop_results(messages: Sequence[_M]) -> list[_M]:
    """Drops leading tool results, whose calls are missing, as models refuse them; keeps the last message."""
    first = 0
    while first < len(messages) - 1 and messages[first].tool_call_id is not None:
        first += 1
    return list(messages[first:])


# The order of a log.


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
