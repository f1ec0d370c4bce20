"""Small values as a sealed store keeps them: who judged is a token, staged vectors are sealed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final, cast

from ...core.errors import Corrupt
from ...core.record import Record
from ...core.scope import Scope
from ...store import STAGED, TALLIES, Store, Table, Transaction
from ...store.model import K, V
from . import Shredded
from .boxes import ScopeKeys
from .keyring import ACTORS
from .opener import Opener

TABLES: Final = (TALLIES.name, STAGED.name)  # those of which something is sealed
Day = tuple[str, int, str]  # the key of a tally: scope, day, what
Forms = Callable[[Iterable[int]], Iterable[Record]]  # the records with some seqs, as they are kept


def open_values(
    opener: Opener,
    source: Store | Transaction,
    forms: Forms,
    table: Table[K, V],
    keys: Iterable[K] | None,
    within: Scope | None,
    limit: int | None,
) -> dict[K, V]:
    """As `Store.values` of one of these tables, in plain words."""
    if table.name == TALLIES.name:
        days = None if keys is None else _kept_days(opener, cast("Iterable[Day]", keys))
        found = source.values(TALLIES, days, within=within)
        plain = {_rename(day, opener.name_actor): counts for day, counts in found.items()}
        return cast("dict[K, V]", dict(islice(sorted(plain.items()), limit)))
    staged = source.values(STAGED, cast("Iterable[int] | None", keys), limit=limit)
    return cast("dict[K, V]", dict(_open_staged(opener, staged, forms)))


def _rename(day: Day, rename: Callable[[str], str]) -> Day:
    scope, number, what = day
    thing, slash, name = what.partition("/")
    return (scope, number, f"{thing}/{rename(name)}") if slash else day


def _kept_days(opener: Opener, days: Iterable[Day]) -> list[Day]:
    """Where nobody has acted yet, no tally has a name."""
    if not opener.has_keys(ACTORS):
        return [day for day in days if "/" not in day[2]]
    label = partial(opener.keys(ACTORS).label, "by")
    return [_rename(day, label) for day in days]


def _open_staged(opener: Opener, staged: Mapping[int, bytes], forms: Forms) -> Iterator[tuple[int, bytes]]:
    """Without those of records that are gone or shredded: nobody can read them, or needs to."""
    scopes = {form.seq: form.scope for form in forms(staged)}
    for seq, box in staged.items():
        scope = scopes.get(seq, ACTORS)
        if opener.has_keys(scope):
            with suppress(Corrupt):
                yield seq, opener.keys(scope).open("vector", box)


def seal_tallies(values: Mapping[Any, Any], label: Callable[[str], str]) -> dict[Day, Any]:
    return {_rename(day, label): counts for day, counts in values.items()}


def seal_staged(
    vectors: Mapping[Any, Any], forms: Forms, keys_for: Callable[[str], ScopeKeys]
) -> dict[int, bytes | None]:
    """Each under the key of its record, so that it can become the record's own as it is."""
    there = {form.seq: form for form in forms(vectors)}
    sealed: dict[int, bytes | None] = {}
    for seq, vector in vectors.items():
        form = there.get(seq)
        if vector is None:
            sealed[seq] = None
        elif form is None:
            sealed[seq] = _seal_vector(vector, str(seq), keys_for(ACTORS))
        else:
            with suppress(Shredded):  # nobody can read the record, or needs its vector
                sealed[seq] = _seal_vector(vector, form.id, keys_for(form.scope))
    return sealed


def _seal_vector(vector: bytes, id: str, keys: ScopeKeys) -> bytes:
    return keys.seal("vector", keys.owner(id), vector)
