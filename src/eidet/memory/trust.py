"""`memory.trust`: quarantine and review, and receipts of what was forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from ..core.actor import acting
from ..core.arguments import actor, check_version
from ..core.dict_filters import Filter
from ..core.errors import BadInput, Conflict
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Condition, Where
from ..recall.options import FilterOptions, combine_filter
from ..recall.path import ReadPath
from ..trust.privacy.quarantine import check_approved_trust, is_waiting
from ..trust.privacy.service import LABELLED, Guarding
from .forgetting import Forgetting
from .records import Records, check_unchanged

if TYPE_CHECKING:
    from ..trust.erase import Forgotten, Preview, Receipt
    from ..write.write_path import WritePath


class TrustNamespace:
    """Handles records that may do harm, and receipts of what was forgotten."""

    def __init__(
        self,
        records: Records,
        guarding: Guarding,
        forgetting: Forgetting,
        reads: ReadPath,
        writes: WritePath,
    ) -> None:
        self._records = records
        self._guarding = guarding
        self._forgetting = forgetting
        self._reads = reads
        self._writes = writes

    @property
    def guarding(self) -> Guarding:
        """The guard that texts, records, queries and filters pass on their way in and out."""
        return self._guarding

    def quarantine(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        because: str | None = None,
        by: str | None = None,
    ) -> Record:
        """Keeps a memory from recall, find and context until it is approved; upkeep leaves it alone."""
        who, reason = actor(by), self._guarding.guard_reason(because)
        with acting(why=reason):
            return self._records.change(
                id, scope, lambda old, now: self._guarding.quarantine(old, now, who, reason)
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
        """Ends a quarantine and takes the label off; it is trusted as `trust` says, else as before.

        With `text`, it says that from now on. With `version`, it must still be at the one that was looked
        at, else Conflict.
        """
        check_approved_trust(trust)
        who, expected = actor(by), check_version(version)

        def write(old: Record, now: float) -> Record:
            if text is not None:
                old = self._writes.revise(old, {"text": text}, (), again=False, by=who)
            return self._guarding.approve(old, trust, now, who)

        return self._records.change(id, scope, write, expected)

    def reject(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        version: int | None = None,
        because: str | None = None,
        by: str | None = None,
    ) -> Forgotten:
        """Forgets what waits for review, for good: the same text is refused when it comes back.

        Where a record that does not wait says the same, only the one that waits is deleted. `version` is
        that of `approve`.
        """
        old = self._records.require(id, scope)
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
            gone = self._forgetting.forget(wish, by=who, why=why, key=None)
        if not gone:
            raise Conflict(f"record {id!r} was changed meanwhile: look at it again")
        return gone

    def review(self, *, scope: str | Scope = "default", limit: int = 100) -> list[Record]:
        """Lists what waits for review, quarantined or labelled, newest first."""
        return self._reads.find(LABELLED, scope, limit, {})

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
        """Lists what `forget` would delete and change, copies and derived records too. Changes nothing."""
        chosen = combine_filter("forget", where, options)
        wish = self._forgetting.wish(ids, chosen, everything, scope, for_good)
        return self._forgetting.erasing.preview(wish)

    def verify_receipt(self, receipt: Receipt, *, key: object = None) -> bool:
        """Tells whether this memory issued the receipt and nobody changed it.

        One that was signed by a `key` must be signed by one that this memory has signed with.
        """
        return self._forgetting.erasing.verify_receipt(receipt, key)
