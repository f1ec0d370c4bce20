"""What answers hold, field by field, and how values of Eidet become that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from ...core.event import Event
from ...core.hit import Hit, Hits
from ...core.record import Record, iso_time
from ...core.remembered import Rejected
from ...recall.pack import Context

if TYPE_CHECKING:
    from ...trust.erase import Forgotten, Preview


class StoredMemory(BaseModel):
    """A memory as it is kept. Times are ISO 8601 in UTC."""

    id: str
    scope: str
    text: str
    kind: str
    tier: str
    data: Any
    who: str | None
    agent: str | None
    session: str | None
    step: int | None
    place: list[float] | None
    importance: float
    created: str
    occurred: str
    uses: int
    last_used: str | None
    expires: str | None
    source: str | None
    meta: dict[str, Any]
    state: dict[str, Any] = Field(description="What Eidet keeps of it: pins, holds, labels.")
    level: int
    derived_from: list[str]
    trust: str
    version: int
    seq: int
    etag: str = Field(description="For If-Match: changes with every version.")
    vector: list[float] | None = Field(None, description="Only where it is asked for.")


class RejectedItem(BaseModel):
    """An item that was not stored, because it was forgotten for good before."""

    index: int
    since: str


class Remembering(BaseModel):
    """What was stored, in the order given."""

    memories: list[StoredMemory]
    rejected: list[RejectedItem]


class SignalBody(BaseModel):
    """One reason for the place of a hit."""

    name: str
    value: float
    share: float
    rank: int | None


class HitBody(BaseModel):
    """A memory with its score from 0 to 1, and why it has it."""

    score: float
    superseded_by: str | None = Field(None, description="The id of the memory that says what holds instead.")
    why: str
    matched: list[str]
    signals: list[SignalBody]
    record: StoredMemory


class TraceBody(BaseModel):
    """How an answer came about."""

    query: str
    terms: list[str]
    scopes: list[str]
    searched: int
    filtered: int
    arms: dict[str, list[tuple[str, float]]]
    weights: dict[str, float]
    millis: dict[str, float]
    notes: list[str]
    scope: str


class RecallReply(BaseModel):
    """Hits, best first."""

    hits: list[HitBody]
    scope: str
    trace: TraceBody | None = None


class ContextReply(BaseModel):
    """A block for a prompt, never over its budget."""

    text: str
    tokens: int
    budget: int
    scope: str
    sections: dict[str, str]
    hits: list[HitBody] = Field(description="Those that are told, best first.")
    left_out: list[HitBody]
    records: list[StoredMemory] = Field(description="All that is told, in that order.")


class FoundPage(BaseModel):
    """One page of memories; `cursor` asks for the next one, and is null on the last."""

    memories: list[StoredMemory]
    cursor: str | None


class Lookup(BaseModel):
    """One answer per id, in the order asked; null where there is none."""

    memories: list[StoredMemory | None]


class CountReply(BaseModel):
    count: int


class EventBody(BaseModel):
    """What happened to a memory."""

    what: str
    id: str
    scope: str
    at: str
    by: str | None
    version: int
    before: dict[str, Any] | None


class HistoryReply(BaseModel):
    """Oldest first."""

    events: list[EventBody]


class ReceiptBody(BaseModel):
    """A signed receipt of what was forgotten, without a word of it."""

    store: str
    scope: str
    ids: list[str]
    marks: list[str]
    counts: dict[str, int]
    by: str | None
    at: float
    why: str | None
    pending: list[str]
    kept: list[str]
    method: str
    key: str
    signature: str


class PreviewBody(BaseModel):
    """What would go: what is asked for, its copies, and what was made of it."""

    asked: list[StoredMemory]
    copies: list[StoredMemory]
    dropped: list[StoredMemory]
    anew: list[StoredMemory]


class ForgetReply(BaseModel):
    """How many were forgotten, or would be."""

    count: int
    receipt: ReceiptBody | None = None
    preview: PreviewBody | None = None


class ScopeCount(BaseModel):
    scope: str
    records: int


class ScopesReply(BaseModel):
    """Scopes by name; `cursor` asks for the next page, and is null on the last."""

    scopes: list[ScopeCount]
    cursor: str | None


class SessionEntry(BaseModel):
    """One session of a scope."""

    session: str
    scope: str
    count: int = Field(description="How many memories it has.")
    first: str = Field(description="When the first of them happened.")
    last: str = Field(description="When the last of them happened.")
    title: str = Field(description="The first words of the first.")


class SessionsReply(BaseModel):
    """Sessions, those that were active last first."""

    sessions: list[SessionEntry]


def etag_of(record: Record) -> str:
    """Names one version of one record; a record that came back under its old id has another one."""
    return f'"{record.version}-{int(record.created * 1e6):x}"'


def tell_record(record: Record, *, vectors: bool = False) -> dict[str, Any]:
    return record.to_dict(vectors=vectors) | {"etag": etag_of(record)}


def tell_records(records: Iterable[Record], *, vectors: bool = False) -> list[dict[str, Any]]:
    return [tell_record(record, vectors=vectors) for record in records]


def tell_remembered(records: Sequence[Record], rejected: Sequence[Rejected] = ()) -> dict[str, Any]:
    left_out = []
    for one in rejected:
        left_out.append({"index": one.index, "since": iso_time(one.since)})
    return {"memories": tell_records(records), "rejected": left_out}


def tell_hit(hit: Hit, *, vectors: bool = False) -> dict[str, Any]:
    """A hit with its reasons, which are made once: they are dear."""
    reasons = hit.reasons()
    signals = []
    for one in reasons.signals:
        signals.append({"name": one.name, "value": one.value, "share": one.share, "rank": one.rank})
    return {
        "score": hit.score,
        "superseded_by": hit.superseded_by,
        "why": reasons.say(),
        "matched": reasons.matched,
        "signals": signals,
        "record": tell_record(hit.record, vectors=vectors),
    }


def tell_bare_hit(hit: Hit, *, vectors: bool = False) -> dict[str, Any]:
    """A hit without its reasons."""
    record = tell_record(hit.record, vectors=vectors)
    return {
        "score": hit.score,
        "superseded_by": hit.superseded_by,
        "why": "",
        "matched": [],
        "signals": [],
        "record": record,
    }


def tell_hits(hits: Hits, *, vectors: bool = False, reasons: bool = True) -> dict[str, Any]:
    tell = tell_hit if reasons else tell_bare_hit
    result: dict[str, Any] = {"hits": [tell(hit, vectors=vectors) for hit in hits], "scope": hits.scope}
    if hits.trace is not None:
        result["trace"] = asdict(hits.trace)
    return result


def tell_context(context: Context) -> dict[str, Any]:
    return {
        "text": context.text,
        "tokens": context.tokens,
        "budget": context.budget,
        "scope": context.scope,
        "sections": dict(context.sections),
        "hits": [tell_hit(hit) for hit in context.hits],
        "left_out": [tell_hit(hit) for hit in context.left_out],
        "records": tell_records(context.records),
    }


def tell_events(events: Iterable[Event]) -> dict[str, Any]:
    rows = []
    for event in events:
        rows.append(asdict(event) | {"at": iso_time(event.at)})
    return {"events": rows}


def tell_forgotten(gone: Forgotten) -> dict[str, Any]:
    receipt = None
    if gone.receipt is not None:
        receipt = asdict(gone.receipt)
    return {"count": int(gone), "receipt": receipt, "preview": None}


def tell_preview(preview: Preview) -> dict[str, Any]:
    groups = {
        "asked": tell_records(preview.asked),
        "copies": tell_records(preview.copies),
        "dropped": tell_records(preview.dropped),
        "anew": tell_records(preview.anew),
    }
    return {"count": preview.count, "receipt": None, "preview": groups}
