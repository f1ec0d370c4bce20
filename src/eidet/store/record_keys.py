"""The exact key of a record, by which a store finds who said the same before.

    content    16 bytes: a hash of text and data; of a sealed record, a keyed one
    details    12 bytes: in which scope, of whom, when, where and how it is said

Records that differ in the smallest detail have different keys, so that a text which thousands share is
looked up as fast as any other. A store writes a key only as `hide_key` makes it, in the record's own row:
whoever sees it without the secret of the store cannot try whether a text is there.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from ..core.record import EXACT_KEY_BYTES, MARK_BYTES, Record, Trust, record_digest
from ..core.validate import dump_json

_DETAIL_BYTES: Final = EXACT_KEY_BYTES - MARK_BYTES


def key_of(record: Record) -> bytes:
    """The key under which a stored record is found."""
    if record.sealed is not None:
        return record.sealed[:EXACT_KEY_BYTES]
    time = None if record.occurred == record.created else record.occurred
    return record_digest(record) + _hash_details((*_details_of(record), time, _weight_of(record)))


def list_repeated(record: Record) -> list[bytes]:
    """The keys of all stored records that a new one may repeat: without a time, or weighed by Eidet."""
    content, details = record_digest(record), _details_of(record)
    times = (None,) if record.occurred == record.created else (record.occurred, None)
    weights = dict.fromkeys((_weight_of(record), None))
    return [content + _hash_details((*details, time, weight)) for time in times for weight in weights]


def hide_key(key: bytes, secret: bytes) -> bytes:
    """An exact key, or its content part alone, as a store writes it: each part hashed with its secret."""
    content, details = key[:MARK_BYTES], key[MARK_BYTES:]
    hidden = blake2b(content, key=secret, digest_size=MARK_BYTES).digest()
    if not details:
        return hidden
    return hidden + blake2b(details, key=secret, digest_size=_DETAIL_BYTES).digest()


def _details_of(record: Record) -> tuple[Any, ...]:
    """What callers say beside the content, but for time and weight; what Eidet itself changes is left out.

    A tier is Eidet's to choose, and so are links that upkeep added.
    """
    state, place, sources = record.state, record.place, record.derived_from
    if sources and state.merged:
        added = {part.id for part in state.merged}
        sources = tuple([id for id in sources if id not in added])
    return (
        record.scope,
        str(record.kind),
        record.who,
        record.agent,
        record.session,
        record.step,
        None if place is None else tuple([axis + 0.0 for axis in place]),  # no database keeps -0.0
        record.source,
        _trust_said(record),
        sources,
        None if state.ttl is None else float(state.ttl),
        state.pii,
        dump_json(record.meta, sort_keys=True) if record.meta else "",
    )


def _trust_said(record: Record) -> str:
    """How far a record was trusted before it was set aside."""
    mark = record.state.quarantine
    if record.trust is Trust.QUARANTINED and mark is not None:
        return mark.was
    return str(record.trust)


def _weight_of(record: Record) -> float | None:
    """The importance that was said; None if it is Eidet's: weighed by it, or that of merged records."""
    if record.state.weighed or record.state.merged:
        return None
    return float(record.importance) * (1 if record.state.echo_of is None else 2)  # an echo counts for half


@lru_cache(maxsize=4096)
def _hash_details(details: tuple[Any, ...]) -> bytes:
    """Most records of a scope have the same ones."""
    return blake2b(repr(details).encode("utf-8", "surrogatepass"), digest_size=_DETAIL_BYTES).digest()
