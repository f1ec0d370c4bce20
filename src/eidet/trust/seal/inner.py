"""What the inner store of a sealed one is asked, and what it keeps beside records.

It cannot read its records, so it gets the part of a filter that passes every match, and perhaps more. If that
part is exact, its answer is final; otherwise the records that pass are opened and tested by the whole filter.
Names of judges are tokens; staged vectors and secret settings are boxes.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, cast

from ...core.errors import Corrupt
from ...core.record import Record
from ...core.where import Where
from ...store import SETTINGS, STAGED, TALLIES, Table
from ...store.model import K, V
from . import SEAL
from .boxes import ScopeKeys
from .codec import LABELS, owner_of
from .keyring import ACTORS, Keyring

NOTHING: Final = "-"  # a token that no label has
KeysOf = Callable[[str], ScopeKeys | None]  # the keys of a scope; None if it has none


class Asked(NamedTuple):
    where: Where
    exact: bool


def split_filter(where: Where, keys_of: KeysOf) -> Asked:
    """Returns the part of a filter that the inner store can answer, and whether it is exact."""
    return _split(where, _one_scope(where), keys_of)


def _one_scope(where: Where) -> str | None:
    """Returns the one scope that a filter confines all matches to, or None."""
    if where.scope is not None and where.scope.is_one:
        return where.scope.path
    return next(filter(None, map(_one_scope, where.every)), None)


def _split(where: Where, scope: str | None, keys_of: KeysOf) -> Asked:
    """Splits a filter; drops labels if there is no single scope, because tokens differ between scopes."""
    scope = scope or _one_scope(where)
    labels = {name: label for name in LABELS if (label := getattr(where, name)) is not None}
    keys = keys_of(scope) if labels and scope is not None else None
    absent = None if scope is None else NOTHING
    tokens = {name: keys.label(name, label) if keys else absent for name, label in labels.items()}
    every, some, never = (
        [_split(part, scope, keys_of) for part in parts] for parts in (where.every, where.some, where.never)
    )
    of_record = tuple(condition for condition in where.conditions if condition.of_record)
    exact = of_record == where.conditions and (scope is not None or not labels)
    exact = exact and all(part.exact for part in (*every, *some, *never))
    parts: dict[str, Any] = {
        **tokens,
        "every": tuple(part.where for part in every),
        "some": tuple(part.where for part in some),
        "never": tuple(part.where for part in never if part.exact),
    }
    return Asked(replace(where, conditions=of_record, **parts), exact)


# Small values.

SECRETS: Final = "secret:"  # settings of this prefix are sealed
_SEALED: Final = "sealed:"  # prefix of the value of such a setting
Day = tuple[str, int, str]  # the key of a tally: scope, day, what
Forms = Callable[[Iterable[int]], Iterable[Record]]  # the sealed records with some seqs


def seal_keys(table: Table[K, V], keys: Iterable[K] | None, ring: Keyring) -> Iterable[K] | None:
    """Replaces the names of judges in keys by tokens, as the inner store has them."""
    if table.name != TALLIES.name or keys is None:
        return keys
    label = partial(ring.keys(ACTORS).label, "by")
    return cast("list[K]", [_rename(day, label) for day in cast("Iterable[Day]", keys)])


def open_values(table: Table[K, V], found: dict[K, V], ring: Keyring, forms: Forms) -> dict[K, V]:
    """Opens what the inner store returned; asks for keys only if something is sealed."""
    plain: dict[Any, Any] = found
    if table.name == TALLIES.name and found:
        name_actor = partial(ring.keys(ACTORS).open_label, "by")
        plain = dict(sorted((_rename(day, name_actor), counts) for day, counts in plain.items()))
    if table.name == STAGED.name:
        plain = dict(_open_staged(ring, plain, forms))
    if table.name == SETTINGS.name:
        own = (name for name in plain if name != SEAL and not name.startswith(f"{SEAL}:"))
        plain = {name: _open_setting(name, plain[name], ring) for name in own}
    return plain


def seal_values(
    table: Table[K, V], values: Mapping[K, V | None], ring: Keyring, forms: Forms
) -> Mapping[K, V | None]:
    """Seals values for the inner store."""
    kept: Mapping[Any, Any] = values
    if table.name == TALLIES.name:
        label = partial(ring.keys(ACTORS).label, "by")
        kept = {_rename(day, label): counts for day, counts in kept.items()}
    if table.name == STAGED.name:
        kept = dict(_seal_staged(ring, kept, forms))
    if table.name == SETTINGS.name:
        kept = {name: _seal_setting(name, value, ring) for name, value in kept.items()}
    return kept


def _rename(day: Day, rename: Callable[[str], str]) -> Day:
    scope, number, what = day
    thing, slash, name = what.partition("/")
    return (scope, number, f"{thing}/{rename(name)}") if slash else day


def _open_staged(ring: Keyring, staged: Mapping[int, bytes], forms: Forms) -> Iterator[tuple[int, bytes]]:
    """Yields staged vectors, without those that do not open."""
    scopes = {form.seq: form.scope for form in forms(staged)}
    for seq, box in staged.items():
        with suppress(Corrupt):
            yield seq, ring.keys(scopes.get(seq, ACTORS)).open("vector", box)


def _seal_staged(
    ring: Keyring, vectors: Mapping[int, bytes | None], forms: Forms
) -> Iterator[tuple[int, bytes | None]]:
    """Seals each vector under its record's key, so that it can become the record's own."""
    there = {form.seq: form for form in forms(seq for seq, vector in vectors.items() if vector is not None)}
    for seq, vector in vectors.items():
        form = there.get(seq)
        if vector is None:
            yield seq, None
            continue
        keys = ring.keys(ACTORS if form is None else form.scope)
        owner = keys.owner(str(seq).encode()) if form is None else owner_of(form, keys)
        yield seq, keys.seal("vector", owner, vector)


def is_secret(setting: str) -> bool:
    return setting.startswith(SECRETS)


def _seal_setting(name: str, value: str | None, ring: Keyring) -> str | None:
    if value is None or not is_secret(name):
        return value
    actors = ring.keys(ACTORS)
    box = actors.seal("setting", actors.owner(name.encode()), value.encode())
    return _SEALED + b64encode(box).decode()


def _open_setting(name: str, value: str, ring: Keyring) -> str:
    """Opens a setting; raises `Corrupt` if it is not sealed or was changed outside of Eidet."""
    if not is_secret(name):
        return value
    actors = ring.keys(ACTORS)
    try:
        box = b64decode(value.removeprefix(_SEALED), validate=True)
        return actors.open("setting", box, actors.owner(name.encode())).decode()
    except (Corrupt, ValueError):
        raise Corrupt(
            f"the setting {name!r} was changed outside of Eidet: receipts and tombstones of this memory "
            "cannot be trusted; restore a copy"
        ) from None
