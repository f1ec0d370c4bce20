"""Routes that store memories, and read, change, mark and delete them by id.

A pin protects a memory from upkeep; a legal hold protects it from every change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Annotated, Any, Final
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import AfterValidator

from ...core.condition import Condition
from ...core.draft import Draft, Message
from ...core.errors import BadInput, Conflict, NotFound
from ...core.hit import Rejected, RememberedList
from ...core.record import Record, iso_time
from ...core.verb_table import DETAILS, NEW_MEMORY, VERBS
from ...core.where import Where
from ...write.shape import drafts_of
from ..access import Right
from ..errors import Problem
from ..serving import Forgets, Grant, ReadsScopes, Writes, needs
from .bodies import ChangesBody, NewMemories, NewMemory, check_records
from .once import IdempotencyKey, KeyedAttempt, begin, find_earlier
from .replies import (
    ForgetReply,
    HistoryReply,
    Lookup,
    Remembering,
    StoredMemory,
    etag_of,
    tell_forgotten,
    tell_record,
    tell_records,
)
from .routing import (
    MANY,
    Handler,
    add_verb,
    answer,
    declare,
    errors,
)

TAGS: Final[list[Any]] = ["memories"]
MemoryId = Annotated[str, Path(alias="id", description="The id of a memory."), AfterValidator(unquote)]
IfMatch = Annotated[
    str | None, Header(alias="If-Match", description="The ETag that the memory must still have; else 412.")
]
Vectors = Annotated[bool, Query(description="Add the vector.")]
CONFLICT: Final = {409: "Somebody else kept changing it."}
_CHANGED: Final = {412: "The memory has changed since the ETag in If-Match.", **CONFLICT}
ONE: Final = "/memories/{id}"
_FIRST: Final = {"parameters": {"id": "$response.body#/memories/0/id"}}
LINKS: Final = {
    name: {"operationId": name, **_FIRST}
    for name in ("get_memory", "revise_memory", "history", "forget_memory")
}
_MARKS: Final = {  # by verb: its method and path, the right it needs, what it does
    "pin": ("PUT", "pin", Right.WRITE, "Upkeep leaves the memory alone until it is unpinned."),
    "unpin": ("DELETE", "pin", Right.WRITE, "Ends a pin; an expiry that the memory had counts again."),
    "hold": ("PUT", "hold", Right.ADMIN, "Nobody can change or forget the memory until it is released."),
    "release": ("DELETE", "hold", Right.ADMIN, "Ends a legal hold; an expiry that it had counts again."),
    "quarantine": ("PUT", "quarantine", Right.WRITE, "No answer has the memory until it is approved."),
}


def add_to(router: APIRouter) -> None:
    gone = {410: "What the idempotency key stood for was forgotten.", **CONFLICT}
    stored = {201: {"model": Remembering, "description": "Stored.", "links": LINKS}}

    def add(method: str, path: str, name: str, run: Handler, **declared: Any) -> None:
        router.add_api_route(
            path,
            run,
            name=name,
            methods=[method],
            operation_id=name,
            tags=TAGS,
            **({"responses": errors()} | declared),
        )

    add_verb(router, "get", VERBS["get"], _get_many, tags=TAGS, response_model=Lookup)
    run = declare(_remember, body=NewMemories)
    add("POST", "/memories", "remember", run, status_code=201, responses={**errors(gone), **stored})
    add("GET", f"{ONE}/history", "history", _history, response_model=HistoryReply)
    add("GET", ONE, "get_memory", _get_one, response_model=StoredMemory)
    revising = declare(_revise, body=ChangesBody)
    add("PATCH", ONE, "revise_memory", revising, response_model=StoredMemory, responses=errors(_CHANGED))
    add("DELETE", ONE, "forget_memory", _forget_one, response_model=ForgetReply, responses=errors(_CHANGED))
    for verb, (method, path, right, about) in _MARKS.items():
        run = declare(_make_marker(verb), grant=Annotated[Grant, Depends(needs(right))])
        described: dict[str, Any] = {"description": about, "responses": errors(CONFLICT)}
        add(method, f"{ONE}/{path}", verb, run, response_model=StoredMemory, **described)


def _make_marker(verb: str) -> Handler:
    async def mark(id: MemoryId, grant: Grant) -> Response:
        namespace: Any = grant.memory.trust if verb == "quarantine" else grant.memory.upkeep
        record = await getattr(namespace, verb)(id, scope=grant.single)
        return await _answer_record(grant, record)

    return mark


async def _remember(
    request: Request, body: Any, grant: Writes, idempotency_key: IdempotencyKey = None
) -> Response:
    """Stores one memory or many: all of them, or none.

    A memory with an `id` or `key` that exists becomes its next version. A fact that the scope has already is
    not stored twice. A key without the right read is told ids and versions only, and stores it again.
    With an `Idempotency-Key`, the same request is done once, however often it is sent.
    """
    count = len(body.memories or [body])
    check_records(grant, count, "memories")
    if count > MANY:
        drafts = await grant.memory.threads.run(lambda: _make_drafts(body))
    else:
        drafts = _make_drafts(body)
    details = {"scope": grant.single, "again": body.again, "version": body.version}
    details["read_speakers"] = body.read_speakers
    if not grant.reads:
        details["keep_duplicates"] = True  # else the answer would reveal what the scope holds already
    elif body.keep_duplicates is not None:
        details["keep_duplicates"] = body.keep_duplicates
    if idempotency_key is None:
        return await _tell_stored(grant, await _store(grant, drafts, details))
    attempt = await begin(grant, idempotency_key, await request.body())
    return await _store_once(grant, attempt.place(drafts), details, attempt)


async def _store(grant: Grant, drafts: list[Draft], details: dict[str, Any]) -> RememberedList:
    if len(drafts) == 1:
        return RememberedList([await grant.memory.remember(drafts[0], **details)])
    return await grant.memory.remember(drafts, **details)


async def _store_once(
    grant: Grant, drafts: list[Draft], details: dict[str, Any], attempt: KeyedAttempt
) -> Response:
    """Stores the drafts that no earlier attempt with this key has stored."""
    earlier = await find_earlier(grant, drafts, attempt)
    if not earlier:
        return await _tell_stored(grant, await _store(grant, drafts, details))
    if len(earlier) == len(drafts) and all(isinstance(one, Rejected) for one in earlier.values()):
        raise Problem(410, "gone", "what this idempotency key stood for was stored, and is forgotten by now")
    rest = [place for place in range(len(drafts)) if place not in earlier]
    if rest:
        earlier |= zip(rest, await _store(grant, [drafts[place] for place in rest], details), strict=False)
    found = [earlier[place] for place in sorted(earlier)]
    records = [one for one in found if isinstance(one, Record)]
    rejected = [one for one in found if isinstance(one, Rejected)]
    return await _tell_stored(grant, RememberedList(records, rejected), replayed=True)


async def _tell_stored(grant: Grant, stored: RememberedList, *, replayed: bool = False) -> Response:
    headers = {}
    seen = [grant.caller.view(record) for record in stored]
    if len(seen) == 1:
        headers["ETag"] = etag_of(seen[0])
    if replayed:
        headers["Idempotent-Replayed"] = "true"
    return await answer(
        grant.serving,
        lambda: _tell_remembered(seen, stored.rejected),
        size=len(seen),
        status=201,
        headers=headers,
    )


async def _get_many(body: Any, grant: Grant) -> Response:
    check_records(grant, len(body.ids), "ids")
    found = await grant.memory.get(body.ids, scope=grant.scope)

    def tell() -> dict[str, Any]:
        rows = [record and tell_record(record, vectors=body.vectors) for record in found]
        return {"memories": rows}

    return await answer(grant.serving, tell, size=len(found))


async def _get_one(id: MemoryId, grant: ReadsScopes, vectors: Vectors = False) -> Response:
    """One memory, with its ETag."""
    record = await _require(grant, id)
    headers = {"ETag": etag_of(record)}
    return await answer(grant.serving, lambda: tell_record(record, vectors=vectors), headers=headers)


async def _history(id: MemoryId, grant: ReadsScopes) -> Response:
    """Lists the events of a memory, oldest first; also after it was forgotten."""
    events = await grant.memory.history(id, scope=grant.scope)
    if not events:
        raise _absence(grant, id)
    told = [asdict(event) | {"at": iso_time(event.at)} for event in events]
    return await answer(grant.serving, lambda: {"events": told}, size=len(told))


async def _revise(id: MemoryId, body: Any, grant: Writes, if_match: IfMatch = None) -> Response:
    """The next version of a memory: the fields given replace those it has, and null resets one.

    With `If-Match`, the memory must still have that ETag; else 412, and nothing changes.
    """
    changes, clear = _split_changes(body)
    version = None
    if if_match is not None:
        version = (await _match(grant, id, if_match)).version
    try:
        record = await grant.memory.revise(
            id, scope=grant.single, version=version, clear=clear, again=body.again, **changes
        )
    except Conflict:
        if version is None:
            raise
        raise _make_changed() from None
    return await _answer_record(grant, record)


async def _answer_record(grant: Grant, record: Record) -> Response:
    seen = grant.caller.view(record)
    return await answer(grant.serving, lambda: tell_record(seen), headers={"ETag": etag_of(seen)})


async def _forget_one(
    id: MemoryId,
    grant: Forgets,
    for_good: Annotated[bool, Query(description="false: delete it, and no more.")] = True,
    why: Annotated[str | None, Query(max_length=1_000, description="For the receipt and the audit.")] = None,
    if_match: IfMatch = None,
) -> Response:
    """Forgets a memory: for good, with a receipt, unless `for_good` is false."""
    where = Where(ids=(id,))
    if if_match is not None:
        where = _select_unchanged(await _match(grant, id, if_match))
    gone = await grant.memory.forget(where=where, scope=grant.single, for_good=for_good, why=why)
    if not gone:
        await _require(grant, id)
        raise _make_changed()
    return await answer(grant.serving, lambda: tell_forgotten(gone))


def _select_unchanged(record: Record) -> Where:
    """Builds a filter that matches the record only while it is unchanged since it was read."""
    return Where(
        ids=(record.id,),
        created_since=record.created,
        created_until=record.created,
        conditions=(Condition("record.version", "=", record.version),),
    )


async def _require(grant: Grant, id: str) -> Record:
    record = await grant.memory.get(id, scope=grant.scope)
    if record is None:
        raise _absence(grant, id)
    return record


def _absence(grant: Grant, id: str) -> NotFound:
    return NotFound(f"there is no memory {id!r} in scope {grant.scope}")


async def _match(grant: Grant, id: str, wanted: str) -> Record:
    """Returns the record if its ETag is among those `wanted`; raises 412 if not."""
    record = await _require(grant, id)
    tags = [one.strip() for one in wanted.split(",")]
    if "*" not in tags and etag_of(record) not in tags:
        raise _make_changed()
    return record


def _make_changed() -> Problem:
    return Problem(
        412,
        "changed",
        "the memory has changed since it was read",
        hint="read it again, and send its new ETag in If-Match",
        field="header.If-Match",
    )


def _tell_remembered(records: Sequence[Record], rejected: Sequence[Rejected] = ()) -> dict[str, Any]:
    left_out = [{"index": one.index, "since": iso_time(one.since)} for one in rejected]
    return {"memories": tell_records(records), "rejected": left_out}


def _make_drafts(body: Any) -> list[Draft]:
    """Makes one draft per memory of a request."""
    if body.memories is None:
        return [_make_draft(body)]
    if alone := sorted(body.model_fields_set & NEW_MEMORY.keys()):
        raise BadInput(f"a request has memories, or is one memory: {', '.join(alone)} belong to one")
    return [_make_draft(one) if isinstance(one, NewMemory) else _draft_message(one) for one in body.memories]


def _make_draft(body: Any) -> Draft:
    return Draft(**_collect_details(body), text=body.text, id=body.id, key=body.key)


def _draft_message(body: Any) -> Draft:
    said = {name: value for name, value in body if value is not None and name not in ("session", "agent")}
    (draft,), _ = drafts_of(Message(**said), {})
    return replace(draft, session=body.session, agent=body.agent)


def _collect_details(body: Any) -> dict[str, Any]:
    """Collects the details of a memory from a body, without those that are null."""
    given = {name: value for name in DETAILS if (value := getattr(body, name)) is not None}
    if (seconds := given.pop("expires_in", None)) is not None:
        if "expires" in given:
            raise BadInput("give expires or expires_in, not both")
        given["expires"] = timedelta(seconds=seconds)
    return given


def _split_changes(body: Any) -> tuple[dict[str, Any], list[str]]:
    """Returns the changes, and the fields to reset: those in `clear` and those that are null."""
    changes, given = _collect_details(body), body.model_fields_set & (DETAILS.keys() - {"expires_in"})
    if body.text is not None:
        changes["text"] = body.text
    return changes, [*body.clear, *sorted(given - changes.keys())]
