"""Sealed stores of the former form, in which boxes were bound to the id of their record alone.

`raise_form` seals all that such a store holds in the present form, in one write, when it is first
opened. From then on the former form is only read in exports and archives, and in who acted before:
a store cannot change that in its history.

    sealed     mark (16), guard (16), box of text, data, meta and, if it was not in meta, state
    original   a box of what a tier shows, packed as any original is
    note       labels as tokens, other columns as they were, what differed of the content in a box
"""

from __future__ import annotations

import json
import logging
import time
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ...core.errors import Corrupt, Refused
from ...core.event import Event
from ...core.former_meta import Origin, split_meta
from ...core.lossless import read_original
from ...core.record import MARK_BYTES, Record
from ...core.scope import Scope
from ...core.state import NO_STATE, State
from ...core.validate import Json
from ...core.where import Where
from ...store import EPOCH, SETTINGS, STAGED, Store, Transaction, verbs
from ...store.model import STAGED_NAME, STAGED_UP_TO, CarefulJob
from ...store.verbs.writing import epoch_of
from . import KeyService
from .boxes import MAC_BYTES, ScopeKeys, number_of
from .codec import LABELS, lower_content, open_label, open_record
from .history import is_act
from .keyring import ACTORS, FORMAT, JobShelf, Keyring, make_claim, read_master
from .opener import Opener
from .small_values import is_setting_sealed, read_secrets
from .transaction import SealedTransaction
from .unsealed import SEAL

log: logging.Logger = logging.getLogger("eidet.trust.seal")
_BOX: Final = MARK_BYTES + MAC_BYTES


class PutBack(Refused):
    """A store that says it is of the former form holds something of the present one."""

    def __init__(self) -> None:
        super().__init__(
            "this memory says that it is sealed in a former form, but holds records of the present one: its "
            "record of the master key was put back outside of Eidet. Restore a copy (nothing was changed)"
        )


class Content(NamedTuple):
    """What a record says as a whole, and the state that Eidet keeps of it, as JSON."""

    text: str
    data: Json
    meta: Mapping[str, Json]
    state: dict[str, Json]


def open_former(form: Record, keys: ScopeKeys) -> Record:
    """A record of the former form; `Corrupt` if anything that was bound to it was changed."""
    owner = keys.former_owner(form.id)
    content = _content_of(form, keys, owner)
    text, data, original = content.text, content.data, None
    if form.original is not None:
        box = read_original(form.original).vector or b""
        shown = json.loads(keys.open("original", box, owner))
        text, data, original = lower_content(text, data, *shown)
    return form.but(
        **{name: open_label(keys, name, getattr(form, name)) for name in LABELS},
        text=text,
        data=data,
        meta=content.meta,
        state=State.from_json(content.state),
        vector=None if form.vector is None else keys.open("vector", form.vector, owner),
        terms=keys.open("terms", form.terms, owner),
        original=original,
        sealed=None,
    )


def _content_of(form: Record, keys: ScopeKeys, owner: bytes) -> Content:
    sealed = form.sealed
    if sealed is None:
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} is not sealed, but its store is")
    mark, guard, box = sealed[:MARK_BYTES], sealed[MARK_BYTES:_BOX], sealed[_BOX:]
    content = _read_content(json.loads(keys.open("content", box, owner)), keys, form)
    if keys.mac(_guard_columns(form, mark), number_of(box)) != guard:
        raise Corrupt(f"record {form.id!r} of scope {form.scope!r} was changed outside of Eidet")
    return content


def _guard_columns(form: Record, mark: bytes) -> bytes:
    numbers = [*(form.place or ()), form.importance]
    if form.expires is not None:
        numbers.append(form.expires)
    return repr(
        (
            mark,
            form.id,
            *map(str, (form.kind, form.tier, form.trust)),
            *(getattr(form, name) for name in LABELS),
            form.step,
            form.level,
            len(form.place or ()),
            [float(value) + 0.0 for value in numbers],
            tuple(form.derived_from),
        )
    ).encode()


def _read_content(said: Sequence[Any], keys: ScopeKeys, form: Record) -> Content:
    """What a box holds. One of the time before there was a state had it in its meta."""
    if len(said) == len(Content._fields):
        return Content(*said)
    text, data, meta = said
    state = NO_STATE
    if meta:
        origin = Origin(form.created, open_label(keys, "source", form.source), form.derived_from)
        meta, state = split_meta(meta, origin)
    return Content(text, data, meta, state.to_json())


def _open_note(
    note: Mapping[str, Json], newer: Content, keys: ScopeKeys, form: Record
) -> tuple[dict[str, Json], Content]:
    """What a note of the history says in plain words, and what the record said then.

    A box holds what differs from the version after it; one of earlier times, all that was said.
    """
    values = dict(note)
    for name in LABELS:
        if values.get(name) is not None:
            values[name] = keys.read_label(name, values[name])
    sealed = values.pop("sealed", None)
    if sealed is None:
        return values, newer
    opened = json.loads(keys.open("content", b64decode(sealed)[_BOX:], keys.former_owner(form.id)))
    if isinstance(opened, dict):
        return values | opened, newer._replace(**opened)
    older = _read_content(opened, keys, form)
    for name, value in older._asdict().items():
        if value != getattr(newer, name):
            values[name] = value
    return values, older


def raise_form(store: Store, service: KeyService) -> None:
    """Seals all that a store of the former form holds in the present one, in one write."""
    if not store.writable:
        raise Refused(
            "this memory is sealed in a former form, and open read-only: open it once for writing with its "
            "key, which seals it in the present form"
        )
    left = store.write(CarefulJob(RaiseForm(store.identity, service, time.time())))
    for name in left:
        log.warning("%s is damaged and stays as it is", name)
    while verbs.compact(store, 1 << 22):  # the secrets of tombstones and receipts were readable
        pass


@dataclass(frozen=True, slots=True)
class RaiseForm:
    """The job of `raise_form`: gives the names of records that were damaged before."""

    identity: str
    service: KeyService
    now: float

    def __call__(self, transaction: Transaction) -> list[str]:
        shelf = JobShelf(self.identity, transaction)
        if read_master(shelf)["format"] == FORMAT:
            return []  # another process was first
        ring = Keyring(shelf, self.service)
        ring.open_scope(ACTORS, again=False)
        raised = _Raised(transaction, Opener(ring), self.now)
        scopes = {record.scope for record in transaction.find(Where(), bare=True)}
        for scope in sorted(scopes - ring.list_shredded()):
            raised.raise_scope(scope)
        raised.raise_settings(make_claim(self.identity, self.service, raised.latest))
        return raised.left


class _Raised:
    """What is sealed anew. `left` names damaged records; `latest` is the time of the last event."""

    def __init__(self, former: Transaction, opener: Opener, now: float) -> None:
        self._former, self._opener, self._now = former, opener, now
        self._transaction = SealedTransaction(former, opener, _find_none, fixed=True)
        self.left: list[str] = []
        self.latest = now

    def raise_scope(self, scope: str) -> None:
        keys = self._opener.keys(scope)
        for form in list(self._former.find(Where(scope=Scope(scope)))):
            try:
                self._raise_record(form, keys)
            except Corrupt:
                _check_former(form, keys)
                self.left.append(f"record {form.id!r} of scope {scope!r}")

    def _raise_record(self, form: Record, keys: ScopeKeys) -> None:
        record, events = open_former(form, keys), self._former.history(form.scope, form.id)
        notes = _open_notes(form, events, keys)
        self.latest = max([self.latest, *(event.at for event in events)])
        moved = Event(what="moved", id=form.id, scope=form.scope, at=self._now, version=form.version)
        self._transaction.edit_history({(form.scope, form.id): notes})
        self._transaction.remove([record], [moved])
        self._transaction.insert([record])

    def raise_settings(self, claim: str) -> None:
        secrets = read_secrets(self._former)
        if any(map(is_setting_sealed, secrets.values())):
            raise PutBack
        epoch = str(epoch_of(self._former) + 1)  # whoever has it open reads it anew
        ours = {STAGED_NAME: None, STAGED_UP_TO: None, SEAL: claim, EPOCH: epoch}
        self._former.set_values(STAGED, {}, clear=True)
        self._transaction.set_values(SETTINGS, {**secrets, **ours})


def _find_none(seqs: Iterable[int]) -> tuple[Record, ...]:
    """No vector is staged while a store is raised."""
    del seqs
    return ()


def _check_former(form: Record, keys: ScopeKeys) -> None:
    """A record of the present form opens as such."""
    with suppress(Corrupt):
        open_record(form, keys)
        raise PutBack


def _open_notes(form: Record, events: Sequence[Event], keys: ScopeKeys) -> dict[int, Mapping[str, Json]]:
    """What was before, by version. From the newest: each note tells what differs from the one after it."""
    newer = _content_of(form, keys, keys.former_owner(form.id))
    notes: dict[int, Mapping[str, Json]] = {}
    for event in reversed(events):
        if is_act(event.by):
            raise PutBack
        if event.before is not None:
            notes[event.version], newer = _open_note(event.before, newer, keys, form)
    return notes
