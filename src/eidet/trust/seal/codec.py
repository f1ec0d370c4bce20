"""Seals and opens records, index entries and events of a sealed store.

    sealed     mark (28), then a box of the content: text, data, meta, state, original
    vector, terms    boxes
    agent, session, who, source    tokens, the same for the same label
    text, data, meta, state, original    empty

The mark is a keyed hash of the exact key and reveals duplicates. Every box is bound to the mark and to
all readable columns, except those that the store itself counts: seq, uses and last_used.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

from ...core.errors import Corrupt
from ...core.record import EXACT_KEY_BYTES, Event, Record
from ...core.record_table import FIELD_OF, FIELDS, RecordField, Sealing
from ...core.validate import Json, dump_json
from ...store import Derived, Entry
from ...store.rules import key_of
from .boxes import TAG_BYTES, ScopeKeys, number_in

LABELS: Final = tuple(n for n in Entry._fields if n in FIELD_OF and FIELD_OF[n].sealing is Sealing.LABEL)
_CONTENT: Final = tuple(field for field in FIELDS if field.sealing is Sealing.CONTENT)
_COUNTED: Final = frozenset({"scope", "sealed", "seq", "uses", "last_used"})  # bound elsewhere or not at all
_BOUND: Final = tuple(f for f in FIELDS if f.sealing is Sealing.CLEAR and f.name not in _COUNTED)
_EMPTY: Final = {field.name: getattr(Record(id="", scope="", text=""), field.name) for field in _CONTENT}
_labels_of: Final = attrgetter(*LABELS)
DAMAGED: Final = b"\xff"  # no valid analysis: the index leaves the record out and reports it
_OWNER: Final = slice(4, 4 + TAG_BYTES)  # of a box


def seal_record(record: Record, keys: ScopeKeys) -> Record:
    mark = keys.mark(key_of(record))
    form = _seal_labels(record, keys)
    owner = keys.owner(_columns_of_record(form, mark))
    content = dump_json([_encode(field, getattr(record, field.name)) for field in _CONTENT]).encode()
    vector = None if record.vector is None else keys.seal("vector", owner, record.vector)
    return form.but(
        **_EMPTY,
        vector=vector,
        terms=keys.seal(_terms_field(vector), owner, record.terms),
        sealed=mark + keys.seal("content", owner, content),
    )


def _encode(field: RecordField, value: Any) -> Json:
    return value if field.encode is None else field.encode(value)


def _seal_labels(record: Record, keys: ScopeKeys) -> Record:
    """Replaces the labels of a record by their tokens."""
    labels = zip(LABELS, _labels_of(record), strict=True)
    return record.but(**{name: None if said is None else keys.label(name, said) for name, said in labels})


def _terms_field(vector: bytes | None) -> str:
    """Names the field of terms differently without a vector, so that no vector can be removed unnoticed."""
    return "terms alone" if vector is None else "terms"


def _columns_of_record(form: Record, mark: bytes) -> bytes:
    """Joins the mark, the label tokens and the readable columns that only the record's writer changes."""
    columns = [_normal(field, getattr(form, field.name)) for field in _BOUND]
    return repr((mark, *_labels_of(form), *columns)).encode()


def _normal(field: RecordField, value: Any) -> Any:
    """Normalises what databases change: none keeps -0.0, and some return whole numbers for floats."""
    if field.name == "place" and value is not None:
        return [float(axis) + 0.0 for axis in value]
    if field.column == "float8" and value is not None:
        return float(value) + 0.0
    return str(value) if field.encode is str else value


def number_of(form: Record) -> int:
    """Returns the number of the key that sealed a stored record; raises `Corrupt` if it is not sealed."""
    return number_in(_sealed_of(form)[EXACT_KEY_BYTES:])


def _sealed_of(form: Record) -> bytes:
    if form.sealed is None:
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} is not sealed, but its store is")
    return form.sealed


def owner_of(form: Record, keys: ScopeKeys) -> bytes:
    """Returns the owner that the boxes of a stored record must have; raises `Corrupt` if it was changed."""
    mark = _sealed_of(form)[:EXACT_KEY_BYTES]
    if any(getattr(form, name) != value for name, value in _EMPTY.items()):
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} has content that is not sealed")
    try:
        return keys.owner(_columns_of_record(form, mark))
    except (TypeError, ValueError):  # a column that held a number holds something else
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} was changed outside of Eidet") from None


def open_record(form: Record, keys: ScopeKeys) -> Record:
    """Opens a record; raises `Corrupt` if any part of it was changed or belongs elsewhere."""
    owner = owner_of(form, keys)
    vector = None if form.vector is None else keys.open("vector", form.vector, owner)
    terms = keys.open(_terms_field(form.vector), form.terms, owner)
    return form.but(**_open_content(form, keys, owner), vector=vector, terms=terms)


def open_content(form: Record, keys: ScopeKeys) -> Record:
    """Opens the content of a record for filters; vector and terms stay sealed."""
    return form.but(**_open_content(form, keys, owner_of(form, keys)))


def _open_content(form: Record, keys: ScopeKeys, owner: bytes) -> dict[str, Any]:
    said = json.loads(keys.open("content", (form.sealed or b"")[EXACT_KEY_BYTES:], owner))
    values: dict[str, Any] = {"sealed": None}
    for field, value in zip(_CONTENT, said, strict=True):
        values[field.name] = value if field.decode is None else field.decode(value)
    for name, token in zip(LABELS, _labels_of(form), strict=True):
        values[name] = _open_label(keys, name, token)
    return values


def _open_label(keys: ScopeKeys, name: str, token: str | None) -> str | None:
    return None if token is None else keys.open_label(name, token)


def open_bare(form: Record, keys: ScopeKeys) -> Record:
    """Opens only the labels of a record, so that it can be deleted; leaves out damaged ones."""
    labels: dict[str, str | None] = dict.fromkeys(LABELS)
    for name in LABELS:
        with suppress(Corrupt):
            labels[name] = _open_label(keys, name, getattr(form, name))
    return form.but(**labels, vector=None, terms=b"", original=None, sealed=None)


def seal_derived(row: Derived, form: Record, keys: ScopeKeys) -> Derived:
    """Seals derived bytes for the record `form`, which is sealed."""
    owner = owner_of(form, keys)
    vector = None if row.vector is None else keys.seal("vector", owner, row.vector)
    return Derived(row.seq, vector, keys.seal(_terms_field(vector), owner, row.terms))


def open_entry(entry: Entry, keys: ScopeKeys) -> Entry:
    """Opens an index entry, or marks it as damaged, so that the other entries can still be found.

    Checks that vector and terms belong to the same record; only reading the record shows to which.
    """
    try:
        terms = keys.open(_terms_field(entry.vector), entry.terms)
        vector = None if entry.vector is None else keys.open("vector", entry.vector, entry.terms[_OWNER])
        labels = [_open_label(keys, name, token) for name, token in zip(LABELS, entry[4:8], strict=True)]
    except Corrupt:
        return entry._replace(agent=None, session=None, who=None, source=None, vector=None, terms=DAMAGED)
    return Entry._make((*entry[:4], *labels, *entry[8:17], vector, terms))


# Events of a history: the former content and the actor are boxes, bound to all readable columns of the event.

LOST: Final = "(its key was destroyed)"  # the author in a history that outlived the key
_ACT: Final = "act:"  # prefix of a sealed actor


class _ChangedHistory(Corrupt):
    def __init__(self, event: Event) -> None:
        super().__init__(
            f"the history of record {event.id!r} of scope {event.scope!r} was changed outside of Eidet"
        )


def _columns_of(event: Event, born: float) -> bytes:
    """Joins all readable columns of an event. `born` is the creation time of its record."""
    try:
        times = float(event.at) + 0.0, float(born) + 0.0
    except (TypeError, ValueError):  # a column that held a number holds something else
        raise _ChangedHistory(event) from None
    return repr((event.scope, event.id, event.what, event.version, *times)).encode()


def seal_note(before: Mapping[str, Json], event: Event, born: float, keys: ScopeKeys) -> Mapping[str, Json]:
    """Seals the content before an event, under the name `sealed`, which tiered stores know from records."""
    box = keys.seal("note", keys.owner(_columns_of(event, born)), dump_json(before).encode())
    return {"sealed": b64encode(box).decode()}


def _open_note(event: Event, born: float, keys: ScopeKeys | None) -> dict[str, Json]:
    try:
        ((name, text),) = (event.before or {}).items()
        box = b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise _ChangedHistory(event) from None
    if name != "sealed" or keys is None:
        raise _ChangedHistory(event)
    before: dict[str, Json] = json.loads(keys.open("note", box, keys.owner(_columns_of(event, born))))
    return before


def seal_event(event: Event, record: Record, actors: ScopeKeys, keys: ScopeKeys | None) -> Event:
    """Seals an event of `record`, whose agent is a token.

    `keys` are those of its scope; an event without former content needs none.
    """
    before = event.before
    if before is not None:
        assert keys is not None
        before = seal_note(before, event, record.created, keys)
    owner = actors.owner(_columns_of(event, record.created))
    box = actors.seal("act", owner, dump_json([event.by, record.agent]).encode())
    return replace(event, by=_ACT + b64encode(box).decode(), before=before)


def _open_act(event: Event, born: float, actors: ScopeKeys) -> tuple[str | None, str | None]:
    """Returns the actor, and the token of the agent that the record had until then."""
    try:
        box = b64decode((event.by or "").removeprefix(_ACT), validate=True)
    except ValueError:
        raise _ChangedHistory(event) from None
    by, author = json.loads(actors.open("act", box, actors.owner(_columns_of(event, born))))
    return by, author


def open_history(events: Sequence[Event], keys: ScopeKeys | None, actors: ScopeKeys) -> list[Event]:
    """Opens the history of one record. `keys` are those of its scope; None if they were destroyed."""
    plain: list[Event] = []
    born, version = 0.0, 0
    for event in events:
        if event.what == "created":
            born, version = event.at, event.version
            plain.append(replace(event, by=_name_author(event.by, keys)))
            continue
        if event.version < version:
            raise _ChangedHistory(event)
        version, by = event.version, None
        if not _is_stand_in(event):
            by, author = _open_act(event, born, actors)
            if plain and plain[-1].what == "created":
                plain[-1] = replace(plain[-1], by=_name_author(author, keys))
        before = None if event.before is None else _open_note(event, born, keys)
        plain.append(replace(event, by=by, before=before))
    return plain


def _name_author(token: str | None, keys: ScopeKeys | None) -> str | None:
    if token is None:
        return None
    with suppress(Corrupt):
        return LOST if keys is None else keys.open_label("agent", token)
    return LOST


def _is_stand_in(event: Event) -> bool:
    """Returns whether a tiered store made the event up for a version without a known event."""
    return event.at == 0.0 and event.by is None and event.before is None
