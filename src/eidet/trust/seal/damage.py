"""Looking for what was changed outside of Eidet in a sealed store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...core.errors import Corrupt, Misconfigured
from ...core.record import Record, record_digest
from ...core.scope import Scope
from ...core.where import Where
from ...store import SETTINGS, Store, verbs
from ...store.rules import UNIQUE_KINDS
from .exports import find_sealed
from .small_values import read_secrets
from .store import SealedStore

BATCH: Final = 200


def list_damage(store: Store) -> list[str]:
    """In words, each record, history, scope and setting of a sealed store that does not open as it should.

    Nothing of a store that is not sealed, or of what is gone: what was deleted leaves no trace.
    """
    sealed = find_sealed(store)
    if sealed is None:
        return []
    sealed.fresh()
    faults = list(_check_settings(sealed))
    for scope in verbs.count_scopes(sealed):
        faults += _check_scope(sealed, scope)
    return faults


def _check_settings(store: SealedStore) -> Iterator[str]:
    for name in read_secrets(store.inner):
        try:
            store.values(SETTINGS, (name,))
        except Corrupt as error:
            yield str(error)


def _check_scope(store: SealedStore, scope: str) -> Iterator[str]:
    try:
        store.keys(scope)
    except (Corrupt, Misconfigured) as error:
        yield f"scope {scope}: {error}"
        return
    seqs = store.inner.match(Where(scope=Scope(scope)))
    for start in range(0, len(seqs), BATCH):
        forms = []
        for seq in seqs[start : start + BATCH]:
            try:
                forms += store.inner.read(scope, [seq])
            except Corrupt as error:
                yield f"scope {scope}: {error}"
        yield from _check_records(store, scope, [form for form in forms if form is not None])


def _check_records(store: SealedStore, scope: str, forms: Sequence[Record]) -> Iterator[str]:
    unique = [form for form in forms if form.kind in UNIQUE_KINDS]
    digests = [record_digest(form) for form in unique]
    known = {form.seq for form in verbs.find_same(store.inner, scope, digests)}
    for form in forms:
        fault = _find_fault(store, form)
        if fault is None and form.kind in UNIQUE_KINDS and form.seq not in known:
            fault = "the store does not find it by what it says: its digest was changed outside of Eidet"
        if fault is not None:
            yield f"scope {scope}, record {form.id!r}: {fault}"


def _find_fault(store: SealedStore, form: Record) -> str | None:
    try:
        store.opener.open(form)
        store.opener.open_history(store.inner.history(form.scope, form.id))
    except Corrupt as error:
        return str(error)
    return None
