"""`memory.trust`: quarantine and review, pseudonyms, and proof that something was forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack, overload

from ..core.actor import acting
from ..core.arguments import actor, check_version
from ..core.dict_filters import Filter
from ..core.errors import BadInput, Conflict
from ..core.hit import Hit, Hits
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import clean_text
from ..core.where import Condition, Where
from ..recall.options import FilterOptions, combine_filter
from ..recall.path import ReadPath
from ..trust.privacy.quarantine import check_approved_trust, is_waiting
from ..trust.privacy.service import LABELLED, Guarding
from .forgetting import Forgetting
from .records import Records, check_unchanged

if TYPE_CHECKING:
    from ..trust.erase import Forgotten, Preview, Receipt
    from ..trust.erase.absence import Absence
    from ..write.write_path import WritePath


class TrustNamespace:
    """Handles records that may do harm, personal values, and proof of absence."""

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

    @overload
    def reveal(self, about: str, *, key: object = ...) -> str: ...
    @overload
    def reveal(self, about: Record, *, key: object = ...) -> Record: ...
    @overload
    def reveal(self, about: Hit, *, key: object = ...) -> Hit: ...
    @overload
    def reveal(self, about: Hits, *, key: object = ...) -> Hits: ...
    def reveal(self, about: str | Record | Hit | Hits, *, key: object = None) -> str | Record | Hit | Hits:
        """Replaces pseudonyms by the values in the vault; unknown ones stay.

        With the setting `reveal` False only whoever has the guard's key and gives it may see values.
        """
        return self._guarding.pseudonyms.reveal(about, key)

    def forget_value(self, value: str) -> int:
        """Removes the values in a text (or behind its pseudonyms) from the vault. Returns how many.

        Records keep their pseudonyms, which nobody can turn back any more.
        """
        return self._guarding.pseudonyms.forget_value(clean_text(value, "a value"))

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
        """Lists what `forget` would delete and rebuild, copies and derived records too. Changes nothing."""
        chosen = combine_filter("forget", where, options)
        wish = self._forgetting.wish(ids, chosen, everything, scope, for_good)
        return self._forgetting.erasing.preview(wish)

    def verify_forgotten(self, what: object, *, scope: str | Scope = "default") -> Absence:
        """Looks for something everywhere it could be: by receipt, id, text or value. True if it is nowhere.

        Reads every record of the scope and the bytes of every file of the memory.
        """
        return self._forgetting.erasing.absence(what, Scope.of(scope))

    def verify_receipt(self, receipt: Receipt, *, key: object = None) -> bool:
        """Tells whether this memory issued the receipt and nobody changed it.

        One that was signed by a `key` must be signed by one that this memory has signed with.
        """
        return self._forgetting.erasing.verify_receipt(receipt, key)
