"""Records as a sealed store keeps them, and back.

    sealed     mark (28), then a box of all that the record says: text, data, meta, state, original
    vector, terms    boxes
    agent, session, who, source    tokens, the same for the same label
    text, data, meta, state, original    nothing

The mark stands for the exact key, so that the same is not stored twice. Every box is bound to the mark
and to all readable columns but those that the store itself counts: seq, uses and last_used.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.record import EXACT_KEY_BYTES, Record
from ...core.state import NO_STATE, State
from ...core.validate import Json, dump_json
from ...store import Derived, Entry
from ...store.record_keys import key_of
from .boxes import TAG_BYTES, ScopeKeys, number_of

LABELS: Final = ("agent", "session", "who", "source")
_read_labels: Final = attrgetter(*LABELS)
DAMAGED: Final = b"\xff"  # is no analysis: the index leaves the record out, and says so
_OWNER: Final = slice(4, 4 + TAG_BYTES)  # of a box


def seal_record(record: Record, keys: ScopeKeys, number: int | None = None) -> Record:
    """The record as it is kept, sealed by the newest key or the one with that number."""
    mark = keys.mark(key_of(record))
    labels = _seal_each(record, keys)
    owner = keys.owner(bind_columns(record, labels, mark))
    vector = None if record.vector is None else keys.seal("vector", owner, record.vector, number)
    return record.but(
        **dict(zip(LABELS, labels, strict=True)),
        text="",
        data=None,
        meta={},
        state=NO_STATE,
        original=None,
        vector=vector,
        terms=keys.seal(_terms_field(vector), owner, record.terms, number),
        sealed=mark + keys.seal("content", owner, _dump_content(record), number),
    )


def _seal_each(record: Record, keys: ScopeKeys) -> list[str | None]:
    """The labels of a record as tokens."""
    labels = zip(LABELS, _read_labels(record), strict=True)
    return [None if value is None else keys.label(name, value) for name, value in labels]


def _terms_field(vector: bytes | None) -> str:
    """Terms tell whether there is a vector beside them, so that none can be taken away."""
    return "terms alone" if vector is None else "terms"


def _dump_content(record: Record) -> bytes:
    parts: list[Json] = [record.text, record.data, dict(record.meta), record.state.to_json()]
    if record.original is not None:
        parts.append(b64encode(record.original).decode())
    return dump_json(parts).encode()


def bind_columns(record: Record, labels: Sequence[str | None], mark: bytes) -> bytes:
    """All readable columns that only a writer of the record changes, and its mark; `labels` are tokens."""
    numbers = [record.created, record.occurred, record.importance, *(record.place or ())]
    if record.expires is not None:
        numbers.append(record.expires)
    return repr(
        (
            mark,
            record.id,
            record.version,
            record.kind.value,
            record.tier.value,
            record.trust.value,
            *labels,
            record.step,
            record.level,
            record.expires is None,
            [float(value) + 0.0 for value in numbers],  # no database keeps -0.0
            tuple(record.derived_from),
        )
    ).encode()


def owner_of(form: Record, keys: ScopeKeys) -> bytes:
    """What the boxes of a record as it is kept must be bound to."""
    if form.sealed is None:
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} is not sealed, but its store is")
    if form.text or form.data is not None or form.meta or form.original or form.state != NO_STATE:
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} has content that is not sealed")
    try:
        return keys.owner(bind_columns(form, _read_labels(form), form.sealed[:EXACT_KEY_BYTES]))
    except (TypeError, ValueError):  # a column that held a number holds something else
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} was changed outside of Eidet") from None


def open_record(form: Record, keys: ScopeKeys) -> Record:
    """The record; `Corrupt` if anything of it was changed or belongs elsewhere."""
    owner = owner_of(form, keys)
    vector = None if form.vector is None else keys.open("vector", form.vector, owner)
    terms = keys.open(_terms_field(form.vector), form.terms, owner)
    return form.but(**_read_content(form, keys, owner), vector=vector, terms=terms)


def open_content(form: Record, keys: ScopeKeys) -> Record:
    """The record with its content, but with vector and terms as they are kept: for filters."""
    return form.but(**_read_content(form, keys, owner_of(form, keys)))


def _read_content(form: Record, keys: ScopeKeys, owner: bytes) -> dict[str, Any]:
    box = (form.sealed or b"")[EXACT_KEY_BYTES:]
    text, data, meta, state, *original = json.loads(keys.open("content", box, owner))
    values: dict[str, Any] = {"text": text, "data": data, "meta": meta, "state": State.from_json(state)}
    for name, token in zip(LABELS, _read_labels(form), strict=True):
        values[name] = open_label(keys, name, token)
    return {**values, "original": b64decode(original[0]) if original else None, "sealed": None}


def open_label(keys: ScopeKeys, name: str, token: str | None) -> str | None:
    return None if token is None else keys.read_label(name, token)


def open_bare(form: Record, keys: ScopeKeys) -> Record:
    """The record without what it says; a label that was damaged is left out, so that it can be deleted."""
    labels = {}
    for name in LABELS:
        try:
            labels[name] = open_label(keys, name, getattr(form, name))
        except Corrupt:
            labels[name] = None
    return blank(form).but(**labels)


def blank(form: Record) -> Record:
    """What can be known of a record whose key was destroyed; its agent stays the token."""
    return form.but(session=None, who=None, source=None, vector=None, terms=b"", original=None, sealed=None)


def seal_derived(row: Derived, form: Record, keys: ScopeKeys) -> Derived:
    """Derived bytes for a record as it is kept."""
    owner = owner_of(form, keys)
    vector = None if row.vector is None else keys.seal("vector", owner, row.vector)
    return Derived(row.seq, vector, keys.seal(_terms_field(vector), owner, row.terms))


def numbers_in(form: Record) -> set[int]:
    """Of the keys that sealed any part of a record."""
    boxes = [form.terms, (form.sealed or b"")[EXACT_KEY_BYTES:]]
    if form.vector is not None:
        boxes.append(form.vector)
    return {number_of(box) for box in boxes}


def open_entry(entry: Entry, keys: ScopeKeys) -> Entry:
    """An entry of the index; what cannot be opened is given as damaged, so that the rest is found.

    Vector and terms belong to the same record; to which, the record itself tells when it is read.
    """
    try:
        terms = keys.open(_terms_field(entry.vector), entry.terms)
        vector = None if entry.vector is None else keys.open("vector", entry.vector, entry.terms[_OWNER])
        labels = [open_label(keys, name, token) for name, token in zip(LABELS, entry[4:8], strict=True)]
    except Corrupt:
        return entry._replace(agent=None, session=None, who=None, source=None, vector=None, terms=DAMAGED)
    return Entry._make((*entry[:4], *labels, *entry[8:17], vector, terms))
