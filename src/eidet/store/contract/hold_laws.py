"""Legal holds: what no verb of a store changes or deletes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...core.record import Record
from ...core.state import Protection
from ...core.where import Where
from .. import Erasure, Transaction, verbs
from ..rules import Held
from ..verbs.changing import find_held
from .laws import ALL, LATER, NOW, StoreLaws, catch, fact, ids, within


def _hold(record: Record) -> Record:
    return record.but(state=record.state.but(hold=Protection(at=NOW, by="court")))


class HoldLaws(StoreLaws):
    def _refuse(self, verb: Callable[[], object]) -> None:
        """All of the write is refused, and names what is held; the store is as before."""
        before, head = self.store.find(ALL), self.store.head()
        refused = catch(Held, verb)
        assert isinstance(refused, Held)
        assert ("a", "held") in refused.records
        assert (self.store.find(ALL), self.store.head()) == (before, head)

    def _erase(self, wanted: Erasure) -> object:
        return verbs.erase(self.store, lambda _: wanted, now=LATER)

    def test_a_held_record_is_neither_replaced_nor_kept_otherwise(self) -> None:
        held, free = self.put(_hold(fact("held")), fact("free", "b"))
        news = [fact("held").but(text="else"), fact("free", "b").but(text="else")]
        self._refuse(lambda: verbs.put(self.store, news, now=LATER))
        self._refuse(lambda: verbs.put(self.store, [fact("held")], now=LATER))
        forms = [(free, free.but(tier="long")), (held, held.but(tier="long"))]
        self._refuse(lambda: verbs.rewrite_form(self.store, forms, now=LATER))
        self._refuse(partial(self._erase, Erasure(anew=[(held, fact("held").but(text="else"))])))

    def test_a_held_record_is_not_deleted_in_any_way(self) -> None:
        held, free = self.put(_hold(fact("held")), fact("free", "b"))
        for where in (ALL, within("a"), Where(ids=("held", "free"))):
            self._refuse(partial(verbs.delete_where, self.store, where, now=LATER))
            self._refuse(partial(self._erase, Erasure(where=where)))
        self._refuse(partial(self._erase, Erasure(gone=[held])))
        self._refuse(lambda: verbs.delete_unchanged(self.store, [free, held], now=LATER))
        assert verbs.delete_where(self.store, within("b"), now=LATER) == ["free"]

    def test_a_released_record_is_as_any_other(self) -> None:
        self.put(_hold(fact("held")))
        (freed,) = verbs.put(self.store, [fact("held")], now=LATER, releases=True)
        assert freed.state.hold is None
        assert verbs.delete_where(self.store, ALL, now=LATER) == ["held"]

    def test_a_transaction_tells_which_bare_records_are_held(self) -> None:
        self.put(_hold(fact("held")), fact("free"), _hold(fact("x", "b")), fact("y", "b"))

        def look(transaction: Transaction) -> list[str]:
            return sorted(ids(find_held(transaction, list(transaction.find(ALL, bare=True)))))

        assert self.store.write(look) == ["held", "x"]
