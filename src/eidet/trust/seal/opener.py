"""Opens the contents of a sealed store with the keys of one keyring, and splits filters for it.

The inner store cannot read its records, so it gets the part of a filter that passes every match, and
perhaps more. If that part is exact, its answer is final; otherwise the records that pass are opened and
tested by the whole filter.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, cast

from ...core.errors import Corrupt
from ...core.record import Event, Record
from ...core.where import Where
from ...store import SETTINGS, STAGED, TALLIES, Store, Table, Transaction
from ...store.model import K, V
from . import SEAL, Shredded
from .boxes import OtherKey, ScopeKeys
from .codec import LABELS, blank, open_content, open_history, open_record, owner_of
from .keyring import ACTORS, Keyring

Token = Callable[[str, str, str], str]  # scope, field, label -> its token in the store
NOTHING: Final = "-"  # a token that no label has


class Asked(NamedTuple):
    where: Where
    exact: bool


class Opener:
    def __init__(self, ring: Keyring) -> None:
        self.ring = ring

    def keys(self, scope: str) -> ScopeKeys:
        """Returns the keys of a scope with records; raises `Corrupt` if it has none."""
        keys = self.ring.of(scope)
        if keys is None:
            raise Corrupt(f"scope {scope!r} holds records but has no key: restore a copy or an export")
        return keys

    def find_keys(self, scope: str) -> ScopeKeys | None:
        """Returns a scope's keys, or None if it has none yet or they were destroyed."""
        try:
            return self.ring.of(scope)
        except Shredded:
            return None

    def open(self, form: Record, how: Callable[[Record, ScopeKeys], Record] = open_record) -> Record:
        try:
            return how(form, self.keys(form.scope))
        except OtherKey:  # made by another process after ours were read
            self.ring.renew()
            return how(form, self.keys(form.scope))

    def open_or_blank(
        self, form: Record, how: Callable[[Record, ScopeKeys], Record] = open_content
    ) -> Record:
        """Opens a record, or returns it blank if its key was destroyed."""
        try:
            return self.open(form, how)
        except Shredded:
            return blank(form)

    def open_same(self, forms: Iterable[Record], marks: Sequence[bytes]) -> list[Record]:
        """Opens records that a store found by their marks; raises `Corrupt` if a mark does not match."""
        found = []
        for form in forms:
            if not (form.sealed or b"").startswith(tuple(marks)):
                raise Corrupt(
                    f"the store found record {form.id!r} of scope {form.scope!r} by a key that is not its "
                    "own: it was changed outside of Eidet"
                )
            found.append(self.open(form))
        return found

    def split_filter(self, where: Where) -> Asked:
        """Splits a filter into what the inner store can answer and the rest."""
        return split_filter(where, self._token)

    def _token(self, scope: str, name: str, label: str) -> str:
        keys = self.find_keys(scope)
        return NOTHING if keys is None else keys.label(name, label)

    def open_history(self, events: Sequence[Event]) -> list[Event]:
        """Opens the events of one record."""
        if not events:
            return []
        return open_history(events, self.keys(events[0].scope), self.keys(ACTORS))

    def name_actor(self, token: str) -> str:
        """Returns the name of the judge behind a token."""
        return self.keys(ACTORS).open_label("by", token)


def split_filter(where: Where, token: Token) -> Asked:
    """Returns the part of a filter that the inner store can answer, and whether it is exact."""
    return _split(where, _one_scope(where), token)


def _one_scope(where: Where) -> str | None:
    """Returns the one scope that a filter confines all matches to, or None."""
    if where.scope is not None and where.scope.is_one:
        return where.scope.path
    return next(filter(None, map(_one_scope, where.every)), None)


def _split(where: Where, scope: str | None, token: Token) -> Asked:
    """Splits a filter; drops labels if there is no single scope, because tokens differ between scopes."""
    scope = scope or _one_scope(where)
    labels = {name: label for name in LABELS if (label := getattr(where, name)) is not None}
    tokens = {name: None if scope is None else token(scope, name, label) for name, label in labels.items()}
    every = [_split(part, scope, token) for part in where.every]
    some = [_split(part, scope, token) for part in where.some]
    never = [_split(part, scope, token) for part in where.never]
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


# Small values: names of judges are tokens; staged vectors and secret settings are boxes.

SECRETS: Final = "secret:"  # settings of this prefix are sealed …
RECEIPT_KEYS: Final = "receipt_keys"  # … and this one
_SEALED: Final = "sealed:"  # prefix of the value of such a setting
Day = tuple[str, int, str]  # the key of a tally: scope, day, what
AskOpener = Callable[[], Opener]  # with up-to-date keys; called only if a value is sealed
Forms = Callable[[Iterable[int]], Iterable[Record]]  # the sealed records with some seqs


def seal_keys(table: Table[K, V], keys: Iterable[K] | None, opener: AskOpener) -> Iterable[K] | None:
    """Replaces the names of judges in keys by tokens, as the inner store has them."""
    if table.name != TALLIES.name or keys is None:
        return keys
    label = partial(opener().keys(ACTORS).label, "by")
    return cast("list[K]", [_rename(day, label) for day in cast("Iterable[Day]", keys)])


def open_values(table: Table[K, V], found: dict[K, V], opener: AskOpener, forms: Forms) -> dict[K, V]:
    """Opens what the inner store returned; asks for keys only if something is sealed."""
    plain: dict[Any, Any] = found
    if table.name == TALLIES.name and found:
        name_actor = opener().name_actor
        plain = dict(sorted((_rename(day, name_actor), counts) for day, counts in plain.items()))
    if table.name == STAGED.name:
        plain = dict(_open_staged(opener(), plain, forms))
    if table.name == SETTINGS.name:
        plain = _open_settings(plain, opener)
    return plain


def _rename(day: Day, rename: Callable[[str], str]) -> Day:
    scope, number, what = day
    thing, slash, name = what.partition("/")
    return (scope, number, f"{thing}/{rename(name)}") if slash else day


def _open_staged(opener: Opener, staged: Mapping[int, bytes], forms: Forms) -> Iterator[tuple[int, bytes]]:
    """Yields staged vectors, without those that do not open; that of a deleted record may be empty."""
    scopes = {form.seq: form.scope for form in forms(staged)}
    for seq, box in staged.items():
        keys = opener.find_keys(scopes.get(seq, ACTORS))
        vector = None if seq in scopes else b""
        if keys is not None:
            with suppress(Corrupt):
                vector = keys.open("vector", box)
        if vector is not None:
            yield seq, vector


def seal_values(
    table: Table[K, V], values: Mapping[K, V | None], opener: AskOpener, forms: Forms
) -> Mapping[K, V | None]:
    """Seals values for the inner store."""
    kept: Mapping[Any, Any] = values
    if table.name == TALLIES.name:
        label = partial(opener().keys(ACTORS).label, "by")
        kept = {_rename(day, label): counts for day, counts in kept.items()}
    if table.name == STAGED.name:
        kept = _seal_staged(opener(), kept, forms)
    if table.name == SETTINGS.name:
        kept = {
            name: _seal_setting(name, value, opener()) if _is_secret(name) and value is not None else value
            for name, value in kept.items()
        }
    return kept


def _seal_staged(
    opener: Opener, vectors: Mapping[int, bytes | None], forms: Forms
) -> dict[int, bytes | None]:
    """Seals each vector under its record's key, so that it can become the record's own."""
    there = {form.seq: form for form in forms(seq for seq, vector in vectors.items() if vector is not None)}
    sealed: dict[int, bytes | None] = {}
    for seq, vector in vectors.items():
        form = there.get(seq)
        keys = opener.find_keys(ACTORS if form is None else form.scope)
        if vector is None:
            sealed[seq] = None
        elif keys is not None:  # else the record is unreadable and needs no vector
            owner = keys.owner(str(seq).encode()) if form is None else owner_of(form, keys)
            sealed[seq] = keys.seal("vector", owner, vector)
    return sealed


def read_secrets(source: Store | Transaction) -> dict[str, str]:
    """Reads the secret settings of the inner store, still sealed."""
    return {name: value for name, value in source.values(SETTINGS).items() if _is_secret(name)}


def _is_secret(setting: str) -> bool:
    return setting.startswith(SECRETS) or setting == RECEIPT_KEYS


def _seal_setting(name: str, value: str, opener: Opener) -> str:
    actors = opener.keys(ACTORS)
    box = actors.seal("setting", actors.owner(name.encode()), value.encode())
    return _SEALED + b64encode(box).decode()


def _open_setting(name: str, value: str, actors: ScopeKeys) -> str:
    """Opens a setting; raises `Corrupt` if it is not sealed or was changed outside of Eidet."""
    try:
        box = b64decode(value.removeprefix(_SEALED), validate=True)
        return actors.open("setting", box, actors.owner(name.encode())).decode()
    except (Corrupt, ValueError):
        raise Corrupt(
            f"the setting {name!r} was changed outside of Eidet: receipts and tombstones of this memory "
            "cannot be trusted; restore a copy"
        ) from None


def _open_settings(settings: dict[str, str], opener: AskOpener) -> dict[str, str]:
    """Opens the secret settings and leaves out those that hold the keys themselves."""
    plain = {
        name: value for name, value in settings.items() if name != SEAL and not name.startswith(f"{SEAL}:")
    }
    secret = [name for name in plain if _is_secret(name)]
    if not secret:
        return plain
    actors = opener().keys(ACTORS)
    return {**plain, **{name: _open_setting(name, plain[name], actors) for name in secret}}
