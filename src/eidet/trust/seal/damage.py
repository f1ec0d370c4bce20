"""Reading everything in a sealed store, to name what was changed outside of Eidet."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.errors import Corrupt, Misconfigured
from ...core.scope import Scope
from ...core.where import Where
from ...store import SETTINGS, Store, verbs
from .exports import find_sealed
from .small_values import read_secrets
from .store import SealedStore


def list_damage(store: Store) -> list[str]:
    """Names each record, history, scope and setting of a sealed store that cannot be opened.

    Finds nothing in a store that is not sealed, and nothing of what is gone: a deletion leaves no trace.
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
    for seq in store.inner.match(Where(scope=Scope(scope))):
        name = f"record with seq {seq}"
        try:
            for form in filter(None, store.inner.read(scope, [seq])):
                name = f"record {form.id!r}"
                store.opener.open(form)
                store.opener.open_history(store.inner.history(scope, form.id))
        except Corrupt as error:
            yield f"scope {scope}, {name}: {error}"
