"""Items that the readers of other programs' memories yield, and conversions of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date
from typing import Any, Final, NamedTuple, TypeGuard
from uuid import UUID

from ..core.draft import Draft
from ..core.validate import moment
from ..integrations.extras import quote_label

_ID_CHARS: Final = 200
_TOOLS: Final = ("tool", "function")  # roles whose messages are less trusted than a user's


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """One memory of a source: a draft with an id or a key, and the labels that may name its scope."""

    draft: Draft
    where: str  # its place in the source, for error messages and reports
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of an import. Without a `scope` template, the format's own is used."""

    scope: str | None = None
    trust: str | None = None  # the trust of items that have none of their own
    overwrite: bool = False  # also replace records that differ in the memory
    skip_bad: bool = False  # leave out and report items that cannot be stored
    columns: Mapping[str, str] = field(default_factory=dict)  # of a table: a field of a memory -> its column
    delimiter: str = ","  # of CSV


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item of a source that is not stored: its place, and the reason."""

    where: str
    why: str


class BadItem(LeftOut):
    """An item that cannot be stored. It stops an import, unless the caller wants such items left out."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A field or a part of the source that no memory can hold, and the reason."""

    what: str
    why: str = "Eidet embeds the text itself"
    count: int = 1


Items = Iterator[SourceItem | LeftOut | Dropped]


class SourceFormat(NamedTuple):
    """A format that can be imported.

    `read` reads a source from its start, lazily and always in the same order. Each item has an id or a key
    that is the same whenever the source is read. It raises `BadInput`, with the place of the error, if the
    source is not in this format.
    """

    read: Callable[[str, ImportOptions], Items]
    scope: str  # the template of the scopes, unless the caller names another


def identify(id: str, kind: str) -> dict[str, Any]:
    """Returns the id of a source's item as the id of its record, or as a key if no record may have it."""
    if 1 <= len(id) <= _ID_CHARS and id.isprintable():
        return {"id": id}
    return {"key": f"{kind} {id}"}


def make_labels(**values: object) -> dict[str, str]:
    """Returns labels of scopes, without the values that are missing or empty."""
    return {
        name: quote_label(value) for name, value in values.items() if isinstance(value, str) and value.strip()
    }


def keep_present(**values: Any) -> dict[str, Any]:
    """Returns the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def has_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def parse_time(value: Any, what: str) -> float | None:
    """Returns seconds since 1970 for what `moment` takes, and None for nothing; without a zone, UTC."""
    if value is None or value == "":
        return None
    return moment(value.strip() if isinstance(value, str) else value, what, zone=UTC)


def plain_json(value: Any) -> Any:
    """Converts a value to JSON: times become ISO text, keys become text."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def with_origin(meta: Mapping[str, Any], name: str, own: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the metadata of a source, with its other values under an unused name; None if empty."""
    while own and name in meta:
        name += "_"
    return {**meta, **({name: dict(own)} if own else {})} or None


def make_message(
    where: str,
    key: str,
    text: str,
    *,
    role: str,
    session: str,
    occurred: float | None,
    source: str,
    name: str | None = None,
    agent: str | None = None,
    calls: list[Any] | None = None,
    call_id: str | None = None,
    origin: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
) -> SourceItem:
    """Returns the item of a message; `origin` has what else its program recorded."""
    more = keep_present(name=name, tool_calls=plain_json(calls) or None, tool_call_id=call_id)
    draft = Draft(
        key=key,
        kind="message",
        text=text or None,
        data={"role": role, **more},
        who=name or role,
        agent=agent,
        session=session,
        trust="tool" if role in _TOOLS else None,
        source=source,
        occurred=occurred,
        meta=with_origin({}, key.partition(" ")[0], origin or {}),
    )
    return SourceItem(where=where, labels=labels or {}, draft=draft)
