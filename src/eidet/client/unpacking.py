"""The JSON of answers as records, hits, contexts, events and receipts."""

from __future__ import annotations

from array import array
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..core.event import Event
from ..core.hit import Hit, Hits, Reasons, Signal, Trace
from ..core.record import Kind, Record, Tier, Trust
from ..core.remembered import Rejected, RememberedList
from ..core.session_summary import SessionSummary
from ..core.state import State
from ..recall.pack import Context

if TYPE_CHECKING:
    from ..trust.erase import Forgotten, Preview

Said = dict[str, Any]


def unpack_time(text: str | None) -> float | None:
    if text is None:
        return None
    return datetime.fromisoformat(text).timestamp()


def unpack_session(said: Said) -> SessionSummary:
    times = {name: unpack_time(said[name]) or 0.0 for name in ("first", "last")}
    return SessionSummary(**{**said, **times})


def unpack_record(said: Said) -> Record:
    vector = said.get("vector")
    return Record(
        id=said["id"],
        scope=said["scope"],
        text=said["text"],
        kind=Kind(said["kind"]),
        tier=Tier(said["tier"]),
        data=said["data"],
        who=said["who"],
        agent=said["agent"],
        session=said["session"],
        step=said["step"],
        place=None if said["place"] is None else tuple(said["place"]),
        importance=said["importance"],
        created=unpack_time(said["created"]) or 0.0,
        occurred=unpack_time(said["occurred"]) or 0.0,
        uses=said["uses"],
        last_used=unpack_time(said["last_used"]),
        expires=unpack_time(said["expires"]),
        source=said["source"],
        meta=said["meta"],
        state=State.from_json(said["state"]),
        vector=None if vector is None else array("f", vector).tobytes(),
        level=said["level"],
        derived_from=tuple(said["derived_from"]),
        trust=Trust(said["trust"]),
        version=said["version"],
        seq=said["seq"],
    )


def unpack_records(said: list[Said]) -> list[Record]:
    return [unpack_record(one) for one in said]


def unpack_remembered(said: Said) -> RememberedList:
    rejected = []
    for one in said["rejected"]:
        rejected.append(Rejected(one["index"], unpack_time(one["since"]) or 0.0))
    return RememberedList(unpack_records(said["memories"]), rejected)


def unpack_hit(said: Said) -> Hit:
    signals = tuple(Signal(**one) for one in said["signals"])
    reasons = Reasons(signals=signals, matched=tuple(said["matched"]), words=(said["why"],))
    return Hit(
        record=unpack_record(said["record"]),
        score=said["score"],
        reasons=lambda: reasons,
        superseded_by=said.get("superseded_by"),
    )


def unpack_hits(said: Said) -> Hits:
    trace = None
    if said.get("trace") is not None:
        trace = unpack_trace(said["trace"])
    return Hits([unpack_hit(one) for one in said["hits"]], trace, said["scope"])


def unpack_trace(said: Said) -> Trace:
    arms = {}
    for name, found in said["arms"].items():
        arms[name] = tuple((id, score) for id, score in found)
    lists = {name: tuple(said[name]) for name in ("terms", "scopes", "notes")}
    return Trace(**{**said, **lists, "arms": arms})


def unpack_context(said: Said) -> Context:
    return Context(
        text=said["text"],
        tokens=said["tokens"],
        budget=said["budget"],
        hits=tuple(unpack_hit(one) for one in said["hits"]),
        left_out=tuple(unpack_hit(one) for one in said["left_out"]),
        scope=said["scope"],
        records=tuple(unpack_records(said["records"])),
        sections=said["sections"],
    )


def unpack_events(said: Said) -> list[Event]:
    return [Event(**{**one, "at": unpack_time(one["at"]) or 0.0}) for one in said["events"]]


def unpack_forgotten(said: Said) -> Forgotten:
    from ..trust.erase import Forgotten, Receipt

    receipt = said["receipt"]
    if receipt is None:
        return Forgotten(said["count"])
    lists = {name: tuple(receipt[name]) for name in ("ids", "marks", "pending", "kept")}
    return Forgotten(said["count"], Receipt(**{**receipt, **lists}))


def unpack_preview(said: Said) -> Preview:
    from ..trust.erase import Preview

    parts = said["preview"]
    return Preview(
        count=said["count"],
        asked=unpack_records(parts["asked"]),
        copies=unpack_records(parts["copies"]),
        dropped=unpack_records(parts["dropped"]),
        anew=unpack_records(parts["anew"]),
    )
