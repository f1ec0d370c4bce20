"""Records as a sealed store keeps them, and back.

    sealed     mark (16), guard (16), box of what the whole record says: text, data, meta, state
    original   what a tier shows of that instead, and the vector it had; packed as any original is
    vector, terms    boxes
    agent, session, who, source    tokens, the same for the same label
    text, data, meta, state    nothing

The mark stands for the content, so that the same is not stored twice. The guard authenticates the
columns that stay readable. What the store itself counts or carries over (uses, times, versions,
seqs) is not guarded.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt
from ...core.former_meta import Origin, split_meta
from ...core.lossless import Original, pack_original, read_original
from ...core.record import MARK_BYTES, Record, content_digest
from ...core.state import NO_STATE, State
from ...core.validate import Json, dump_json
from ...store import Derived, Entry
from .boxes import MAC_BYTES, ScopeKeys, number_of

LABELS: Final = ("agent", "session", "who", "source")
PACKED: Final = "sealed"  # where an original's embedder is named
DAMAGED: Final = b"\xff"  # is no analysis: the index leaves the record out, and says so
_BOX: Final = MARK_BYTES + MAC_BYTES


class Content(NamedTuple):
    """What a record says as a whole, and the state that Eidet keeps of it, as JSON."""

    text: str
    data: Json
    meta: Mapping[str, Json]
    state: dict[str, Json]


def seal_record(record: Record, keys: ScopeKeys, number: int | None = None) -> Record:
    """The record as it is kept, sealed by the newest key or the one with that number."""
    number = keys.newest if number is None else number
    owner, whole = keys.owner(record.id), record.whole
    content = dump_json(Content(whole.text, whole.data, whole.meta, whole.state.to_json())).encode()
    labels = {name: _label(keys, name, getattr(record, name)) for name in LABELS}
    form = record.but(
        **labels,
        text="",
        data=None,
        meta={},
        state=NO_STATE,
        vector=None if record.vector is None else keys.seal("vector", owner, record.vector, number),
        terms=keys.seal("terms", owner, record.terms, number),
        original=_shown(record, keys, owner, number),
    )
    mark = keys.mark(content_digest(whole.text, whole.data))
    box = keys.seal("content", owner, content, number)
    return form.but(sealed=mark + keys.mac(guarded(form, mark), number) + box)


def _label(keys: ScopeKeys, name: str, value: str | None) -> str | None:
    return None if value is None else keys.label(name, value)


def _shown(record: Record, keys: ScopeKeys, owner: bytes, number: int) -> bytes | None:
    """The whole is in `sealed`: beside it, what is shown instead, and the vector there was."""
    if record.original is None:
        return None
    kept = read_original(record.original)
    told = [record.text, record.data, kept.text is not None, kept.data is not None, kept.embedder]
    vector = None if kept.vector is None else b64encode(kept.vector).decode()
    box = keys.seal("original", owner, dump_json([*told, vector]).encode(), number)
    return pack_original(Original(vector=box, embedder=PACKED))


def guarded(form: Record, mark: bytes) -> bytes:
    """The readable columns that only a writer of the record changes, and its mark."""
    numbers = [*(form.place or ()), form.importance, *(() if form.expires is None else (form.expires,))]
    return repr(
        (
            mark,
            form.id,
            *map(str, (form.kind, form.tier, form.trust)),
            *(getattr(form, name) for name in LABELS),
            form.step,
            form.level,
            len(form.place or ()),
            [float(value) + 0.0 for value in numbers],  # no database keeps -0.0
            tuple(form.derived_from),
        )
    ).encode()


def open_record(form: Record, keys: ScopeKeys) -> Record:
    """The record; `Corrupt` if anything of it was changed or belongs elsewhere."""
    owner = keys.owner(form.id)
    vector = None if form.vector is None else keys.open("vector", form.vector, owner)
    return form.but(
        **_readable(form, keys, owner), vector=vector, terms=keys.open("terms", form.terms, owner)
    )


def open_content(form: Record, keys: ScopeKeys) -> Record:
    """The record with its content, but with vector and terms as they are kept: for filters."""
    return form.but(**_readable(form, keys, keys.owner(form.id)))


def _readable(form: Record, keys: ScopeKeys, owner: bytes) -> dict[str, Any]:
    content = content_of(form, keys, owner)
    text, data, original = content.text, content.data, None
    if form.original is not None:
        text, data, original = _lowered(form, content, keys, owner)
    labels = {name: _labelled(keys, name, getattr(form, name)) for name in LABELS}
    said = {"text": text, "data": data, "meta": content.meta, "state": State.from_json(content.state)}
    return {**labels, **said, "original": original, "sealed": None}


def open_bare(form: Record, keys: ScopeKeys) -> Record:
    """The record without what it says; a label that was damaged is left out, so that it can be deleted."""
    labels = {}
    for name in LABELS:
        try:
            labels[name] = _labelled(keys, name, getattr(form, name))
        except Corrupt:
            labels[name] = None
    return blank(form).but(**labels)


def blank(form: Record) -> Record:
    """What can be known of a record whose key was destroyed; its agent stays the token."""
    return form.but(session=None, who=None, source=None, vector=None, terms=b"", original=None, sealed=None)


def seal_derived(row: Derived, id: str, keys: ScopeKeys) -> Derived:
    owner = keys.owner(id)
    vector = None if row.vector is None else keys.seal("vector", owner, row.vector)
    return Derived(row.seq, vector, keys.seal("terms", owner, row.terms))


def content_of(form: Record, keys: ScopeKeys, owner: bytes) -> Content:
    sealed = form.sealed
    if sealed is None:
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} is not sealed, but its store is")
    mark, guard, box = sealed[:MARK_BYTES], sealed[MARK_BYTES:_BOX], sealed[_BOX:]
    content = _content_of(json.loads(keys.open("content", box, owner)), keys, form)
    if keys.mac(guarded(form, mark), number_of(box)) != guard:
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} was changed outside of Eidet")
    return content


def _content_of(said: Sequence[Any], keys: ScopeKeys, form: Record | None) -> Content:
    """What a box holds. One of the time before there was a state had it in its meta: `form` is of whom."""
    if len(said) == len(Content._fields):
        return Content(*said)
    text, data, meta = said
    meta, state = split_meta(meta, _origin(form, keys)) if meta else (meta, NO_STATE)
    return Content(text, data, meta, state.to_json())


def _origin(form: Record | None, keys: ScopeKeys) -> Origin:
    if form is None:
        return Origin(0.0, None, ())
    return Origin(form.created, _labelled(keys, "source", form.source), form.derived_from)


def _labelled(keys: ScopeKeys, name: str, token: str | None) -> str | None:
    return None if token is None else keys.labelled(name, token)


def _lowered(form: Record, whole: Content, keys: ScopeKeys, owner: bytes) -> tuple[str, Json, bytes | None]:
    box = read_original(form.original).vector or b""
    text, data, had_text, had_data, embedder, vector = json.loads(keys.open("original", box, owner))
    kept = Original(
        text=whole.text if had_text else None,
        data=(whole.data,) if had_data else None,
        vector=None if vector is None else b64decode(vector),
        embedder=embedder,
    )
    return text, data, pack_original(kept)


def numbers_in(form: Record) -> set[int]:
    """Of the keys that sealed any part of a record."""
    boxes = [form.terms, (form.sealed or b"")[_BOX:]]
    boxes += [form.vector] if form.vector is not None else []
    boxes += [read_original(form.original).vector or b""] if form.original is not None else []
    return {number_of(box) for box in boxes}


def open_entry(entry: Entry, keys: ScopeKeys) -> Entry:
    """An entry of the index; what cannot be opened is given as damaged, so that the rest is found.

    Vector and terms belong to the same record; to which, the record itself tells when it is read.
    """
    try:
        terms = keys.open("terms", entry.terms)
        whose = entry.terms[4:16]
        vector = None if entry.vector is None else keys.open("vector", entry.vector, whose)
        labels = [_labelled(keys, name, token) for name, token in zip(LABELS, entry[4:8], strict=True)]
    except Corrupt:
        return entry._replace(agent=None, session=None, who=None, source=None, vector=None, terms=DAMAGED)
    return Entry._make((*entry[:4], *labels, *entry[8:17], vector, terms))


def seal_note(before: Mapping[str, Json], keys: ScopeKeys, owner: bytes) -> dict[str, Json]:
    """A note of the history as it is kept: labels as tokens, what differs of the content in one box."""
    note = {name: value for name, value in before.items() if name not in Content._fields}
    for name in LABELS:
        if note.get(name) is not None:
            note[name] = keys.label(name, note[name])
    said = {name: before[name] for name in Content._fields if name in before}
    if said:
        box = keys.seal("content", owner, dump_json(said).encode())
        note["sealed"] = b64encode(bytes(_BOX) + box).decode()
    return note


def open_note(
    note: Mapping[str, Json], newer: Content, keys: ScopeKeys, owner: bytes, form: Record | None
) -> tuple[dict[str, Json], Content]:
    """What a note of the history says in plain words, and what the record said then.

    A box holds what differs from the version after it; one of earlier times, all that was said.
    """
    told = dict(note)
    for name in LABELS:
        if told.get(name) is not None:
            told[name] = keys.labelled(name, told[name])
    sealed = told.pop("sealed", None)
    if sealed is None:
        return told, newer
    said = json.loads(keys.open("content", b64decode(sealed)[_BOX:], owner))
    if isinstance(said, dict):
        return told | said, newer._replace(**said)
    older = _content_of(said, keys, form)
    told |= {k: v for k, v in older._asdict().items() if v != getattr(newer, k)}
    return told, older


def sealed_anew(before: Mapping[str, Json], keys: ScopeKeys, owner: bytes) -> dict[str, Json] | None:
    """A note of the history under the newest key; None if it is already, or has nothing sealed."""
    sealed = before.get("sealed")
    if sealed is None or number_of(b64decode(sealed)[_BOX:]) == keys.newest:
        return None
    old = b64decode(sealed)
    fresh = old[:_BOX] + keys.seal("content", owner, keys.open("content", old[_BOX:], owner))
    return {**before, "sealed": b64encode(fresh).decode()}
