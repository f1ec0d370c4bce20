"""`memory.trust`: quarantine, review, and receipts of what was forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from ..core.actor import acting
from ..core.arguments import actor, check_version
from ..core.dict_filters import Filter
from ..core.errors import BadInput, Conflict
from ..core.read_options import FilterOptions, combine_filter
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Condition, Where
from ..trust.privacy.quarantine import check_approved_trust, is_waiting
from ..trust.privacy.service import LABELLED, Guarding
from .namespaces import Services
from .records import check_unchanged

if TYPE_CHECKING:
    from ..trust.erase import Forgotten, Preview, Receipt


class TrustNamespace:
    """Quarantines and reviews records that may do harm, and verifies receipts of what was forgotten."""

    def __init__(self, services: Services) -> None:
        self._services, self._forgetting = services, services.forgetting

    @property
    def guarding(self) -> Guarding:
        """The guard that checks texts, records, queries and filters."""
        return self._services.guarding

    def quarantine(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        because: str | None = None,
        by: str | None = None,
    ) -> Record:
        """Hides a record from recall, find and context until it is approved; upkeep leaves it alone."""
        who, reason = actor(by), self.guarding.guard_reason(because)
        with acting(why=reason):
            return self._services.records.change(
                id, scope, lambda old, now: self.guarding.quarantine(old, now, who, reason)
            )

    def approve(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        text: str | None = None,
        trust: str | None = None,
        version: int | None = None,
        by: str | None = None,
    ) -> Record:
        """Ends a quarantine and removes the label; sets the trust to `trust`, by default that of before.

        With `text`, replaces the content. With `version`, the record must still be at that version, the one
        reviewed, else Conflict.
        """
        check_approved_trust(trust)
        who, expected = actor(by), check_version(version)

        def write(old: Record, now: float) -> Record:
            if text is not None:
                old = self._services.writes.revise(old, {"text": text}, (), again=False, by=who)
            return self.guarding.approve(old, trust, now, who)

        return self._services.records.change(id, scope, write, expected)

    def reject(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        version: int | None = None,
        because: str | None = None,
        by: str | None = None,
    ) -> Forgotten:
        """Forgets a record that awaits review, for good: storing the same text again is refused.

        If a record that does not await review says the same, only the waiting one is deleted. `version`
        works as in `approve`.
        """
        old = self._services.records.require(id, scope)
        check_unchanged(old, check_version(version), None)
        seen = Where(ids=(old.id,), conditions=(Condition("record.version", "=", old.version),))
        others = self.preview_forget(where=seen, scope=scope).copies
        if not is_waiting(old):
            raise BadInput(f"record {id!r} does not wait for review: delete it with forget")
        only = any(not is_waiting(other) for other in others)
        why, who = "rejected in review" if because is None else because, actor(by)
        if only:
            gone = self._forgetting.delete(None, seen, False, scope, by=who, why=why)
        else:
            wish = self._forgetting.wish(None, seen, False, scope, None)
            gone = self._forgetting.forget(wish, by=who, why=why)
        if not gone:
            raise Conflict(f"record {id!r} was changed meanwhile: look at it again")
        return gone

    def review(self, *, scope: str | Scope = "default", limit: int = 100) -> list[Record]:
        """Lists the records that await review, quarantined or labelled, newest first."""
        return self._services.reads.find(LABELLED, scope, limit, {})

    def preview_forget(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        where: Filter | None = None,
        everything: bool = False,
        scope: str | Scope | None = None,
        for_good: bool | None = None,
        **options: Unpack[FilterOptions],
    ) -> Preview:
        """Lists what `forget` would delete or change, with copies and derived records. Changes nothing."""
        chosen = combine_filter("forget", where, options)
        wish = self._forgetting.wish(ids, chosen, everything, scope, for_good)
        return self._forgetting.erasing.preview(wish)

    def verify_receipt(self, receipt: Receipt) -> bool:
        """Returns whether this memory issued the receipt and it is unchanged."""
        return self._forgetting.erasing.verify_receipt(receipt)
