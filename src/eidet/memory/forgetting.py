"""Forgetting in an open memory: selects the records, deletes them, and finishes delayed cleaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.actor import acting
from ..core.arguments import check_flag
from ..core.errors import BadInput, Refused, each_item
from ..core.scope import Scope
from ..core.where import Where
from ..parts import Parts
from ..store import verbs
from ..trust.privacy.service import Guarding
from ..upkeep.lifecycle import Life
from .records import check_id_text

if TYPE_CHECKING:
    from ..trust.erase import Eraser, Forgotten, Wish

Ids = str | Sequence[str] | None


class Forgetting:
    """Deletes records, either for good with a receipt, or plainly."""

    def __init__(self, parts: Parts, guarding: Guarding, life: Life) -> None:
        self._parts = parts
        self._guarding = guarding
        self._life = life

    @property
    def erasing(self) -> Eraser:
        """A new `Eraser`, imported only when needed because most programs never forget."""
        from ..trust.erase import Eraser

        return Eraser(self._parts, self._life)

    def forget(self, wish: Wish, *, by: str | None, why: str | None) -> Forgotten:
        """Deletes for good; tombstones keep the content from being stored again."""
        now = self._parts.clock()
        with acting(why=self._guarding.guard_reason(why)) as actor:  # so that the audit log has it too
            gone = self.erasing.forget(wish, now=now, by=by, why=actor.why)
        if gone and not wish.ends:
            self._tally(wish.scope, int(gone), now)
        return gone

    def delete(
        self,
        ids: Ids,
        where: Where | None,
        everything: bool,
        scope: str | Scope | None,
        *,
        by: str | None,
        why: str | None,
    ) -> Forgotten:
        """Deletes only the matching records: derived ones stay, and the content may be stored again."""
        from ..trust.erase import Forgotten

        place = Scope.of("default" if scope is None else scope)
        doomed = self._select(ids, where, everything, scope).within(place)
        self._parts.flush()
        now = self._parts.clock()
        with acting(why=self._guarding.guard_reason(why)):
            gone = len(verbs.delete_where(self._parts.store, doomed, now=now, by=by))
        if gone and not everything:
            self._tally(place, gone, now)
        return Forgotten(gone)

    def wish(
        self,
        ids: Ids,
        where: Where | None,
        everything: bool,
        scope: str | Scope | None,
        for_good: bool | None,
    ) -> Wish:
        """Builds the description of what to forget that the planner takes."""
        from ..trust.erase import Wish

        if for_good is not None and not isinstance(for_good, bool):
            raise BadInput(f"for_good must be True, False or None, not {for_good!r}")
        place = Scope.of("default" if scope is None else scope)
        chosen = self._select(ids, where, everything, scope)
        within, entombs = chosen.within(place), not everything or for_good is True
        return Wish(
            where=within,
            scope=place,
            ids=chosen.ids or (),
            entombs=entombs,
            ends=everything,
            wholesale=not entombs and self.erasing.exceeds(within),
        )

    def _select(self, ids: Ids, where: Where | None, everything: bool, scope: str | Scope | None) -> Where:
        chosen = _select_doomed(ids, self._guarding.guard_filter(where), everything, scope)
        return self._parts.key_ids.resolve(chosen)

    def clean_up(self, *, index: bool = True) -> None:
        """Finishes cleaning up after an erasure that was interrupted or had to wait."""
        store = self._parts.store
        if store.writable and verbs.get_setting(store, "unclean"):
            self.erasing.finish(self._parts.clock(), index=index)

    def _tally(self, scope: Scope, count: int, now: float) -> None:
        self._parts.usage.tally(scope.path, "forget", {"forgotten": count}, now)


def _select_doomed(ids: Ids, where: Where | None, everything: bool, scope: str | Scope | None) -> Where:
    """Builds the filter of the records to forget; raises `Refused` if the request is ambiguous."""
    if check_flag(everything, "everything"):
        if scope is None or ids is not None or where is not None:
            raise Refused("everything=True deletes a whole scope: name the scope, and nothing else")
        return Where()
    if ids is not None and where is None:
        if not isinstance(ids, str | list | tuple | set | frozenset):
            raise BadInput(f"forget takes an id or a list of ids, not {type(ids).__name__}")
        return Where(ids=(ids,) if isinstance(ids, str) else tuple(each_item(check_id_text, list(ids))))
    if where is None or ids is not None:
        raise Refused("say what to forget: ids, or where=…, or a scope with everything=True")
    if not where.narrows:
        raise Refused("the filter is empty and would match everything; use everything=True with a scope")
    return where
