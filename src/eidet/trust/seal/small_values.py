"""Small values as a sealed store keeps them.

Who judged is a token. Staged vectors are sealed, and so are the settings that nobody may read or forge:
the secrets of tombstones and receipts, and the public keys that receipts were signed with.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
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
from .codec import owner_of
from .keyring import ACTORS
from .opener import Opener

TABLES: Final = (TALLIES.name, STAGED.name)  # those of which something is sealed
SECRETS: Final = "secret:"  # settings of this prefix are sealed …
RECEIPT_KEYS: Final = "receipt_keys"  # … and this one
_SEALED: Final = "sealed:"  # begins the value of such a setting
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
        days = None if keys is None else _read_days(opener, cast("Iterable[Day]", keys))
        found = source.values(TALLIES, days, within=within)
        plain = {_rename(day, opener.name_actor): counts for day, counts in found.items()}
        return cast("dict[K, V]", dict(islice(sorted(plain.items()), limit)))
    staged = source.values(STAGED, cast("Iterable[int] | None", keys), limit=limit)
    return cast("dict[K, V]", dict(_open_staged(opener, staged, forms)))


def _rename(day: Day, rename: Callable[[str], str]) -> Day:
    scope, number, what = day
    thing, slash, name = what.partition("/")
    return (scope, number, f"{thing}/{rename(name)}") if slash else day


def _read_days(opener: Opener, days: Iterable[Day]) -> list[Day]:
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
            keys = keys_for(ACTORS)
            sealed[seq] = keys.seal("vector", keys.owner(str(seq).encode()), vector)
        else:
            with suppress(Shredded):  # nobody can read the record, or needs its vector
                keys = keys_for(form.scope)
                sealed[seq] = keys.seal("vector", owner_of(form, keys), vector)
    return sealed


def is_secret(setting: str) -> bool:
    return setting.startswith(SECRETS) or setting == RECEIPT_KEYS


def is_setting_sealed(value: str) -> bool:
    return value.startswith(_SEALED)


def seal_setting(name: str, value: str, actors: ScopeKeys) -> str:
    box = actors.seal("setting", actors.owner(name.encode()), value.encode())
    return _SEALED + b64encode(box).decode()


def open_setting(name: str, value: str, actors: ScopeKeys) -> str:
    """`Corrupt` for one that is not sealed: somebody else wrote it."""
    try:
        box = b64decode(value.removeprefix(_SEALED), validate=True)
        return actors.open("setting", box, actors.owner(name.encode())).decode()
    except (Corrupt, ValueError):
        raise Corrupt(
            f"the setting {name!r} was changed outside of Eidet: receipts and tombstones of this memory "
            "cannot be trusted; restore a copy"
        ) from None


def open_settings(settings: dict[K, V], opener: Callable[[], Opener]) -> dict[K, V]:
    """Settings in plain words; asks for keys only where one is sealed."""
    plain = cast("dict[str, str]", settings)
    secret = [name for name in plain if is_secret(name)]
    if not secret:
        return settings
    actors = opener().keys(ACTORS)
    opened = {name: open_setting(name, plain[name], actors) for name in secret}
    return cast("dict[K, V]", {**plain, **opened})
