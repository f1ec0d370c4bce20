"""What a record becomes when some of its fields change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from ..core.arguments import check_texts
from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Record
from .ingest import Ingest
from .shape import pin_state, shape_record

_CHANGEABLE: Final = frozenset(field.name for field in fields(Draft)) - {"id", "key"}
_OF_STATE: Final = ("ttl", "pinned")  # what a caller may say of the state of a record
_OF_RECORD: Final = _CHANGEABLE - {"vector", *_OF_STATE}
_ANALYSED: Final = ("who", "occurred", "kind")  # what the analysis is made from, beside the text


def revise_record(
    old: Record, changes: Mapping[str, Any], clear: Sequence[str], ingest: Ingest, now: float
) -> Record:
    """The record with its changes checked, and with vector and terms that fit them."""
    if unknown := (changes.keys() | set(check_texts(clear, "clear"))) - _CHANGEABLE:
        raise BadInput(f"cannot revise {sorted(unknown)}; there are {', '.join(sorted(_CHANGEABLE))}")
    cleared = {name: old.created if name == "occurred" else getattr(Draft(), name) for name in clear}
    given = {**cleared, **changes}
    draft = replace(_draft_of(old, given), **given)
    if "data" in changes and "text" not in changes and old.kind != "message":
        draft = replace(draft, text=None if _was_told(old) else draft.text)
    new = shape_record(draft, scope=old.scope, now=now, text_chars=ingest.text_chars)
    new = _with_state(new, old, given, now).but(vector=old.vector, terms=old.terms, level=old.level)
    if draft.vector is not None or new.text != old.text:
        return ingest.derive([new], [draft.vector])[0]
    if any(getattr(new, name) != getattr(old, name) for name in _ANALYSED):
        return new.but(terms=ingest.analyse([new], [old.vector])[0])
    return new


def _draft_of(record: Record, said: Mapping[str, Any]) -> Draft:
    """What a record says today. A new time to live begins now, whenever the old one would have ended."""
    kept = {name: getattr(record, name) for name in _OF_RECORD}
    if said.get("ttl") is not None:
        kept["expires"] = None
    return Draft(id=record.id, **kept)


def _with_state(new: Record, old: Record, said: Mapping[str, Any], now: float) -> Record:
    """What Eidet kept of the record stays, but for what was said anew; a pin keeps its expiry waiting."""
    state, expires = old.state, new.expires
    if "ttl" in said:
        state = state.but(ttl=new.state.ttl)
    if new.state.pinned is not None and expires is None:
        expires = new.state.pinned.expires
    if said.get("pinned") and state.pinned is None:
        return new.but(state=pin_state(state, expires, now), expires=None)
    if "pinned" in said and not said["pinned"] and state.pinned is not None:
        waiting = state.pinned.expires if expires is None else expires
        return new.but(state=state.but(pinned=None), expires=waiting)
    if state.is_protected:
        return new.but(state=state.protect_from(expires), expires=None)
    if state is new.state and expires == new.expires:
        return new
    return new.but(state=state, expires=expires)


def _was_told(record: Record) -> bool:
    from ..core.describe import describe_data

    return record.data is not None and record.text == describe_data(record.data)
