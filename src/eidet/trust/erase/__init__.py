"""Forgetting for good: deletes records, keeps them from coming back, and proves both.

    erasure_plan.py   plans which records are deleted and how derived records change
    cleaning.py       cleans caches, archives and bytes of files     elsewhere.py   finds content elsewhere
    receipt.py        the signed receipt

Records are deleted and get their tombstones in one write. Cleaning of caches, archives and bytes of
files follows. A journal in the store lists unfinished cleaning, so that a crash only delays it.
"""

from __future__ import annotations

import hmac
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from ...core.errors import BadInput, Corrupt
from ...core.record import Record
from ...core.where import Where
from ...parts import Parts
from ...store import BELOW_MARK, SCOPE_MARK, Erasure, Reader, Tombstone, verbs
from ...store.tombstones import Marker, secret_of
from ...upkeep.lifecycle import Life
from .cleaning import Cleaning, with_entry
from .erasure_plan import WHOLESALE, Doom, Wish, doom_of
from .receipt import Receipt

__all__ = ["Eraser", "Forgotten", "Preview", "Receipt", "Wish"]

log: logging.Logger = logging.getLogger("eidet")


class Forgotten(int):
    """The number of records forgotten, with a `receipt`, which is None for a plain deletion."""

    receipt: Receipt | None

    def __new__(cls, count: int, receipt: Receipt | None = None) -> Self:
        new = super().__new__(cls, count)
        new.receipt = receipt
        return new

    def __getnewargs__(self) -> tuple[int, Receipt | None]:  # type: ignore[override]
        return int(self), self.receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would be forgotten: `asked`, their `copies`, derived records `dropped` or changed (`anew`)."""

    count: int
    asked: Sequence[Record]
    copies: Sequence[Record]
    dropped: Sequence[Record]
    anew: Sequence[Record]

    def __str__(self) -> str:
        more = len(self.copies) + len(self.dropped)
        return f"would forget {self.count:,}, {more:,} more with them, and change {len(self.anew):,}"


class Eraser:
    """Forgets records of an open memory for good."""

    def __init__(self, parts: Parts, life: Life) -> None:
        self._parts = parts
        self._life = life

    def forget(self, wish: Wish, *, now: float, by: str | None, why: str | None) -> Forgotten:
        """Forgets records and signs the receipt.

        If a record is damaged, deletes all of them unread; the tombstones then cover only their ids.
        """
        secret = secret_of(self._parts.store, "receipts")
        self._parts.flush()
        try:
            receipt = self._erase(wish, now=now, by=by, notes=())
        except Corrupt as error:
            log.warning("cannot read a record, deleting it unread: %s", error)
            unread = f"deleted without being read, because a record is damaged ({error})"
            receipt = self._erase(replace(wish, wholesale=True), now=now, by=by, notes=(unread,))
        return Forgotten(receipt.counts["records"], replace(receipt, why=why).sign(secret))

    def _erase(self, wish: Wish, *, now: float, by: str | None, notes: tuple[str, ...]) -> Receipt:
        """Deletes in one write, then cleans. Returns the unsigned receipt."""
        marker = self._marker()
        cleaning = self._cleaning(marker)
        archived, token = cleaning.find_archived(wish), uuid.uuid4().hex
        doom = Doom()

        def plan(look: Reader) -> Erasure:
            nonlocal doom
            doom = doom_of(look, wish, marker, archived)
            settings = with_entry(look, token, wish.scope, doom.gone)
            return doom.erasure(wish)._replace(settings=settings)

        erased = verbs.erase(self._parts.store, plan, now=now, by=by)
        cleaned = cleaning.after(wish, doom, erased.gone, now=now)
        if not cleaned.unfinished:
            cleaning.settle(token)
        asked = len(erased.gone) if wish.wholesale else len(doom.asked)
        return Receipt(
            store=self._parts.store.identity,
            scope=str(wish.scope),
            ids=tuple(dict.fromkeys(id for _, id in erased.gone)),
            marks=tuple(stone.mark.hex() for stone in doom.stones if _is_hash(stone)),
            counts={
                "records": asked,
                "copies": len(doom.copies),
                "derived_dropped": len(doom.dropped),
                "derived_anew": len(doom.anew),
                "history": erased.histories,
                "staged_vectors": erased.staged,
                **cleaned.counts,
            },
            by=by,
            at=now,
            pending=(*notes, *cleaned.notes),
            kept=_name_kept(doom, by),
        )

    def preview(self, wish: Wish) -> Preview:
        """Returns what would be deleted or changed; changes nothing and blocks no writer."""
        store = self._parts.store
        doom = doom_of(verbs.reader_of(store), wish, self._marker(), ())
        if wish.wholesale:
            self._life.check_free(wish.where, "forgotten")
            count = verbs.count(store, wish.where)
        else:
            count = len(doom.asked)
        return Preview(
            count=count,
            asked=doom.asked,
            copies=doom.copies,
            dropped=doom.dropped,
            anew=[new for _, new in doom.anew],
        )

    def finish(self, now: float, *, index: bool = True) -> None:
        """Finishes cleaning that was interrupted or had to wait; does nothing if all is clean.

        Without `index`, cleaning an index on another server waits, because that may be slow or unavailable.
        """
        self._cleaning(self._marker()).finish(now, index=index)

    def _cleaning(self, marker: Marker) -> Cleaning:
        return Cleaning(self._parts, self._life.archives, marker)

    def exceeds(self, where: Where) -> bool:
        """Returns whether a filter matches so many records that they are deleted unread."""
        return verbs.count(self._parts.store, where) > WHOLESALE

    # Proof.

    def verify_receipt(self, receipt: Receipt) -> bool:
        if not isinstance(receipt, Receipt):
            raise BadInput(f"a receipt must be a Receipt, see Receipt.load, not {type(receipt).__name__}")
        signed = receipt.sign(secret_of(self._parts.store, "receipts"))
        return hmac.compare_digest(signed.signature, receipt.signature)

    def _marker(self) -> Marker:
        return Marker(secret_of(self._parts.store, "marks"))


def _name_kept(doom: Doom, by: str | None) -> tuple[str, ...]:
    """Describes what is kept on purpose: history still says who wrote and deleted which ids, and when."""
    agents = {record.agent for record in doom.gone} - {None}
    if not (agents or by):
        return ()
    return (f"history keeps by whom the records were written and forgotten ({len(agents)} agents)",)


def _is_hash(stone: Tombstone) -> bool:
    return stone.mark not in (SCOPE_MARK, BELOW_MARK)
