"""Asking: recall, context, find, count, and what was useful."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from ...aio import AsyncMemory
from ...core.arguments import check_filter
from ...core.hit import Hits
from ...core.record import Record
from ...core.where import Where
from ...recall.options import FindOptions, RecallOptions
from ..access import Right
from ..errors import Problem
from ..serving import Grant, Reads, Writes, check_rights
from .bodies import ContextBody, FeedbackBody, Filters, FindBody, RecallBody
from .cursors import PageMark, hash_asked, read_cursor, write_cursor
from .drafts import check_records, read_options, read_where
from .once import IdempotencyKey, begin
from .replies import ContextReply, CountReply, FoundPage, RecallReply, tell_context, tell_hits, tell_records
from .respond import answer, dump, errors, respond

TAGS: Final[list[Any]] = ["search"]


def add_to(router: APIRouter) -> None:
    for path, run, model in (
        ("/recall", recall, RecallReply),
        ("/context", context, ContextReply),
        ("/find", find, FoundPage),
        ("/count", count, CountReply),
    ):
        router.post(path, tags=TAGS, operation_id=path[1:], response_model=model, responses=errors())(run)
    router.post(
        "/feedback",
        tags=TAGS,
        operation_id="feedback",
        status_code=204,
        response_class=Response,
        responses=errors(),
    )(feedback)


async def recall(body: RecallBody, grant: Reads) -> Response:
    """What matters for a query, best first, each hit with its reasons."""
    check_records(grant, body.limit, "limit")
    options = read_options(body, RecallOptions.__annotations__)
    where = read_where(body)
    async with grant.serving.turns.search(grant.memory):
        content = await grant.memory.threads.finish(
            AsyncMemory.recall,
            lambda hits: dump(tell_hits(hits, vectors=body.vectors, reasons=body.reasons)),
            body.query,
            scope=grant.scope,
            limit=body.limit,
            where=where,
            **options,
        )
    return respond(content)


async def context(body: ContextBody, grant: Reads) -> Response:
    """A prompt-ready block of what matters for a query, never over its budget of tokens."""
    check_records(grant, body.limit, "limit")
    if body.reveal:
        check_rights(grant.caller, Right.ADMIN)
        check_reveals(grant)
    most = grant.caller.limits.context_tokens
    if body.budget > most:
        raise Problem(
            422, "too_many_tokens", f"a context has at most {most:,} tokens for this key", field="body.budget"
        )
    async with grant.serving.turns.search(grant.memory):
        content = await grant.memory.threads.finish(
            AsyncMemory.context,
            lambda made: dump(tell_context(made)),
            body.query,
            budget=body.budget,
            limit=body.limit,
            neighbours=body.neighbours,
            headings=body.headings,
            scope=grant.scope,
            where=read_where(body),
            recipe=body.recipe,
            least=body.least,
            fence=body.fence,
            reveal=body.reveal,
            now=body.now,
            as_of=body.as_of,
            known_at=body.known_at,
            **read_options(body),
        )
    return respond(content)


def check_reveals(grant: Grant) -> None:
    """422 where this memory has nothing to turn pseudonyms back with."""
    if grant.memory.core.trust.guarding.pseudonyms.vault is None:
        raise Problem(422, "bad_input", "this memory has no vault to reveal from", field="body.reveal")


async def find(body: FindBody, grant: Reads) -> Response:
    """Memories that match exactly, in order, page by page: send `cursor` again for the next page."""
    check_records(grant, body.limit, "limit")
    mark = _read_mark(body, str(grant.scope))
    options = read_options(body, FindOptions.__annotations__) | {"offset": mark.skip}
    content = await grant.memory.threads.finish(
        AsyncMemory.find,
        lambda found: _write_page(found, mark, body),
        _narrow(body, mark),
        scope=grant.scope,
        limit=body.limit + len(mark.ids) + 1,
        **options,
    )
    return respond(content)


def _write_page(found: list[Record], mark: PageMark, body: FindBody) -> bytes:
    page = _page_of(found, mark, body.limit)
    cursor = None
    if len(found) > body.limit + len(mark.ids) and page:
        cursor = write_cursor(mark.after(page))
    return dump({"memories": tell_records(page, vectors=body.vectors), "cursor": cursor})


def _read_mark(body: FindBody, scope: str) -> PageMark:
    asked = hash_asked(scope, body.model_dump(exclude={"cursor", "limit", "vectors"}))
    if body.cursor is None:
        return PageMark(order=body.order, asked=asked, skip=body.offset)
    return read_cursor(body.cursor, body.order, asked)


def _narrow(body: FindBody, mark: PageMark) -> Where | None:
    where = check_filter(read_where(body))
    if mark.value is None:
        return where
    if where is None:
        return mark.bounds()
    return where & mark.bounds()


def _page_of(found: list[Record], mark: PageMark, limit: int) -> list[Record]:
    """What was not given already."""
    known = frozenset(mark.ids)
    page = [record for record in found if record.id not in known]
    return page[:limit]


async def count(body: Filters, grant: Reads) -> Response:
    """How many memories match."""
    number = await grant.memory.count(read_where(body), scope=grant.scope, **read_options(body))
    return await answer(grant.serving, lambda: {"count": number})


async def feedback(
    request: Request, body: FeedbackBody, grant: Writes, idempotency_key: IdempotencyKey = None
) -> Response:
    """Says whether a memory was useful; without an id, whether the whole answer was. Only counted."""
    if idempotency_key is not None:
        attempt = await begin(grant, idempotency_key, await request.body())
        if not attempt.first:
            return Response(status_code=204, headers={"Idempotent-Replayed": "true"})
    about: Hits | str = body.id or Hits((), scope=grant.single)
    await grant.memory.feedback(about, useful=body.useful, scope=grant.scope, by=body.by)
    return Response(status_code=204)
