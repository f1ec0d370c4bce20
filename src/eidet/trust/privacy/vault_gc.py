"""The vault without the values that no record names any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from ...core.record import Record
from ...core.validate import dump_json
from .placeholders import tokens_in
from .vault import VaultFile

Living = Callable[[], Iterable[Record]]  # all records there are, archives included


def empty_vault(
    vault: VaultFile, records: Iterable[Record] | None, living: Living, names: tuple[str, ...]
) -> int:
    """Forgets the values behind the pseudonyms of what was said, but for those that are still named.

    None where nobody knows what was said: then every value that no record names. How many values went.
    Somebody may have stored a record with one of them meanwhile: its value is put back.
    """
    if records is None:
        asked = vault.tokens()
    else:
        asked = set(chain.from_iterable(tokens_in_record(one, names) for one in records))
    values = {}
    for token in still_unnamed(asked, living(), names):
        if value := vault.get(token):
            values[token] = value
    if not values:
        return 0
    vault.drop(values)
    lost = still_unnamed(values, living(), names)
    vault.keep({token: value for token, value in values.items() if token not in lost})
    return len(lost)


def still_unnamed(tokens: Iterable[str], records: Iterable[Record], names: tuple[str, ...]) -> set[str]:
    """Those that no record names; reads no further than until each is named."""
    left = set(tokens)
    for record in records if left else ():
        left.difference_update(tokens_in_record(record, names))
        if not left:
            break
    return left


def tokens_in_record(record: Record, names: tuple[str, ...]) -> Iterator[str]:
    """The pseudonyms in all that a guard looks at, before its tier showed less of it and after."""
    for one in (record,) if record.original is None else (record, record.whole):
        trees = (one.data, one.meta, one.state.to_json())
        for text in (one.text, one.who, one.source, *map(dump_json, trees)):
            yield from tokens_in(text, names) if text else ()
