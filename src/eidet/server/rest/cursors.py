"""Pages that stay in step while others write: a cursor says where the last page ended.

The next page begins at the value the last one ended with, so that records that came before it meanwhile
shift nothing. Of those that share that value, the cursor names the ones that were given already. Where
very many share one value, it counts them instead.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from ...core.condition import Condition
from ...core.errors import BadInput
from ...core.record import Record
from ...core.validate import dump_json
from ...core.where import Where

MOST_NAMED: Final = 500  # ids in one cursor
_SPANS: Final[dict[str, tuple[str, str]]] = {
    "occurred": ("since", "until"),
    "created": ("created_since", "created_until"),
    "importance": ("importance_min", "importance_max"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMark:
    """Where a page ended: the value of its last record, the ids with that value, and how many are passed."""

    order: str
    asked: str  # the hash of what was asked
    value: float | None = None
    ids: tuple[str, ...] = ()
    skip: int = 0

    def bounds(self) -> Where:
        """Records from the last value on."""
        if self.value is None:
            return Where()
        name, down = self.order.removeprefix("-"), self.order.startswith("-")
        if name == "uses":
            return Where(conditions=(Condition("record.uses", "<=" if down else ">=", self.value),))
        since, until = _SPANS[name]
        bound: dict[str, Any] = {until if down else since: self.value}
        return Where(**bound)

    def after(self, page: Sequence[Record]) -> PageMark:
        """The mark for what follows a page."""
        name = self.order.removeprefix("-")
        if name not in (*_SPANS, "uses"):  # values may be absent: pages go by number
            return replace(self, skip=self.skip + len(page))
        last = getattr(page[-1], name)
        same = [record.id for record in page if getattr(record, name) == last]
        if last == self.value:
            same = [*self.ids, *same]
        skip = self.skip if last == self.value else 0
        if len(same) > MOST_NAMED:
            return replace(self, value=last, ids=(), skip=skip + len(same))
        return replace(self, value=last, ids=tuple(same), skip=skip)


def hash_asked(*asked: Any) -> str:
    """Of everything that must not change between two pages."""
    return blake2b(dump_json(asked, sort_keys=True).encode(), digest_size=8).hexdigest()


def write_cursor(mark: PageMark) -> str:
    fields = [mark.order, mark.asked, mark.value, list(mark.ids), mark.skip]
    return base64.urlsafe_b64encode(dump_json(fields).encode()).decode()


def read_cursor(cursor: str, order: str, asked: str) -> PageMark:
    """`BadInput` if it is none of ours, or is for another question."""
    try:
        fields = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        mark = _read_mark(*fields)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise BadInput("this cursor is not one that a page gave") from None
    if (mark.order, mark.asked) != (order, asked):
        raise BadInput("this cursor belongs to another question: only the cursor changes from page to page")
    return mark


def _read_mark(order: str, asked: str, value: float | None, ids: list[str], skip: int) -> PageMark:
    if not isinstance(skip, int) or skip < 0 or not all(isinstance(one, str) for one in ids):
        raise ValueError
    if value is not None:
        value = float(value)
    return PageMark(order=order, asked=asked, value=value, ids=tuple(ids), skip=skip)
