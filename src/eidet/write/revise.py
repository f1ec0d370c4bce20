"""What a record becomes when some of its fields change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput
from ..core.record import Record
from .ingest import Ingest, analysed
from .shape import shaped

_CHANGEABLE: Final = frozenset(field.name for field in fields(Draft)) - {"id", "key"}
_ANALYSED: Final = ("who", "occurred")  # what the analysis is made from, beside the text


def revised(
    old: Record, changes: Mapping[str, Any], clear: Sequence[str], ingest: Ingest, now: float
) -> Record:
    """The record with its changes checked, and with vector and terms that fit them."""
    if unknown := (changes.keys() | set(clear)) - _CHANGEABLE:
        raise BadInput(f"cannot revise {sorted(unknown)}; there are {', '.join(sorted(_CHANGEABLE))}")
    cleared = {name: old.created if name == "occurred" else getattr(Draft(), name) for name in clear}
    draft = replace(_draft_of(old), **{**cleared, **changes})
    if "data" in changes and "text" not in changes and old.kind != "message":
        draft = replace(draft, text=None if _was_told(old) else draft.text)
    new = shaped(draft, scope=old.scope, now=now, text_chars=ingest.text_chars)
    new = new.but(vector=old.vector, terms=old.terms, level=old.level)
    if draft.vector is not None or new.text != old.text:
        return ingest.derived([new], [draft.vector])[0]
    if any(getattr(new, name) != getattr(old, name) for name in _ANALYSED):
        return new.but(terms=analysed(new, old.vector, ingest.embedder.width, ingest.analyzer))
    return new


def _draft_of(record: Record) -> Draft:
    kept = {name: getattr(record, name) for name in _CHANGEABLE - {"vector"}}
    return Draft(id=record.id, **kept)


def _was_told(record: Record) -> bool:
    from .shape import told

    return record.data is not None and record.text == told(record.data)
