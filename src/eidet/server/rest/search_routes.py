"""Routes that ask and forget: recall, context, find, count, forget, review and feedback.

Pages of `find` stay consistent while others write: the next page begins at the value the last one ended with.
Of the records with that value, the cursor lists those already returned by scope and id, or only counts them
if very many.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any, ClassVar, Final

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from ...aio import AsyncMemory
from ...core.arguments import check_filter
from ...core.condition import Condition
from ...core.errors import BadInput
from ...core.hit import AllHits, Hit, Hits
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import dump_json
from ...core.verb_table import VERBS
from ...core.where import Where
from ...memory import Memory
from ...memory.trust import TrustNamespace
from ...recall.pack import Context
from ..access import Right
from ..errors import Problem
from ..serving import Grant, check_reach, check_rights
from .bodies import check_records, to_arguments
from .once import IdempotencyKey, begin
from .replies import (
    ContextReply,
    ForgetReply,
    FoundPage,
    RecallAllReply,
    RecallReply,
    StoredMemory,
    tell_forgotten,
    tell_record,
    tell_records,
    to_wire,
)
from .routing import Handler, add_plain_verb, add_verb, answer, dump, errors, respond


def add_to(router: APIRouter) -> None:
    kept_changing = errors({409: "What was to be forgotten kept changing."})
    changed = errors({409: "The memory is not at that version any more."})
    routes: Final[dict[str, tuple[Handler, dict[str, Any]]]] = {
        "recall": (_search(AsyncMemory.recall, _tell_hits), {"response_model": RecallReply}),
        "recall_all": (
            _search(AsyncMemory.recall_all, _tell_all_hits),
            {"response_model": RecallAllReply},
        ),
        "context": (_search(AsyncMemory.context, _tell_context), {"response_model": ContextReply}),
        "find": (_find, {"response_model": FoundPage}),
        "forget": (_forget, {"response_model": ForgetReply, "responses": kept_changing, "tags": ["forget"]}),
        "promote": (_promote, {"response_model": StoredMemory, "tags": ["memories"]}),
        "feedback": (_feedback, {"status_code": 204, "response_class": Response}),
    }
    for name, (run, declared) in routes.items():
        add_verb(router, name, VERBS[name], run, **({"tags": ["search"]} | declared))
    add_plain_verb(router, "count", VERBS["count"], Memory, None, tags=["search"])
    add_plain_verb(router, "review", VERBS["review"], TrustNamespace, "trust", tags=["search"])
    for name, reply in (("approve", StoredMemory), ("reject", ForgetReply)):
        deciding: dict[str, Any] = {"tags": ["search"], "responses": changed, "reply": reply}
        add_plain_verb(router, name, VERBS[name], TrustNamespace, "trust", **deciding)


def _search(verb: Any, tell: Callable[..., dict[str, Any]]) -> Handler:
    """Builds the handler of a verb that answers with hits, or with a block made of them."""

    async def run(body: Any, grant: Grant) -> Response:
        check_records(grant, body.limit, "limit")
        most = grant.caller.limits.context_tokens
        if getattr(body, "budget", 0) > most:
            message = f"a context has at most {most:,} tokens for this key"
            raise Problem(422, "too_many_tokens", message, field="body.budget")
        given = to_arguments(body)
        how = {name: getattr(body, name) for name in ("vectors", "reasons") if hasattr(body, name)}
        for name in how:
            given.pop(name, None)
        async with grant.serving.turns.search(grant.memory):
            content = await grant.memory.threads.finish(
                verb, lambda found: dump(tell(found, **how)), scope=grant.scope, **given
            )
        return respond(content)

    return run


async def _promote(body: Any, grant: Grant) -> Response:
    if body.move:
        check_rights(grant.caller, Right.FORGET)
    check_reach(grant.caller, Scope.of(body.to))
    record = await grant.memory.promote(body.id, scope=grant.single, to=body.to, move=body.move)
    return await answer(grant.serving, lambda: tell_record(record))


async def _find(body: Any, grant: Grant) -> Response:
    check_records(grant, body.limit, "limit")
    mark, given = _mark_of_page(body, list(map(str, grant.scope.members))), to_arguments(body)
    for name in ("cursor", "vectors", "where"):
        given.pop(name, None)
    given |= {"offset": mark.skip, "limit": body.limit + len(mark.given) + 1}
    content = await grant.memory.threads.finish(
        AsyncMemory.find,
        lambda found: _write_page(found, mark, body),
        _narrow(body, mark),
        scope=grant.scope,
        **given,
    )
    return respond(content)


def _write_page(found: list[Record], mark: _PageMark, body: Any) -> bytes:
    known = frozenset(mark.given)
    page = [record for record in found if (record.scope, record.id) not in known][: body.limit]
    more = len(found) > body.limit + len(mark.given) and page
    cursor = _write_cursor(mark.after(page)) if more else None
    return dump({"memories": tell_records(page, vectors=body.vectors), "cursor": cursor})


def _mark_of_page(body: Any, scopes: list[str]) -> _PageMark:
    asked = _hash_asked(scopes, body.model_dump(exclude={"cursor", "limit", "vectors"}))
    if body.cursor is None:
        return _PageMark(order=body.order, asked=asked, skip=body.offset)
    return _parse_cursor(body.cursor, body.order, asked)


def _narrow(body: Any, mark: _PageMark) -> Where | None:
    where = check_filter(to_arguments(body).get("where"))
    if mark.value is None:
        return where
    if where is None:
        return mark.bounds()
    return where & mark.bounds()


async def _forget(body: Any, grant: Grant) -> Response:
    given = to_arguments(body)
    scope: Scope | None = grant.scope
    if body.everything and not grant.named:
        scope = None  # refused: a whole scope has to be named
    given.pop("preview", None)
    if body.preview:
        check_rights(grant.caller, Right.READ)
        given.pop("why", None)
        found = await grant.memory.trust.preview_forget(scope=scope, **given)
        return await answer(
            grant.serving, lambda: {"count": found.count, "receipt": None, "preview": to_wire(found)}
        )
    gone = await grant.memory.forget(scope=scope, **given)
    return await answer(grant.serving, lambda: tell_forgotten(gone), size=int(gone))


async def _feedback(
    request: Request, body: Any, grant: Grant, idempotency_key: IdempotencyKey = None
) -> Response:
    if idempotency_key is not None:
        attempt = await begin(grant, idempotency_key, await request.body())
        if not attempt.first:
            return Response(status_code=204, headers={"Idempotent-Replayed": "true"})
    about: Hits | str = body.id or Hits((), scope=grant.single)
    await grant.memory.feedback(about, useful=body.useful, scope=grant.scope, by=body.by)
    return Response(status_code=204)


_MOST_NAMED: Final = 500  # records in one cursor
_SPANS: Final[dict[str, tuple[str, str]]] = {
    "occurred": ("since", "until"),
    "created": ("created_since", "created_until"),
    "importance": ("importance_min", "importance_max"),
}


class _PageMark(BaseModel):
    """The end of a page: the value of its last record, those with that value, and how many to skip."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    order: str
    asked: str  # the hash of the question
    value: float | None = None
    given: tuple[tuple[str, str], ...] = ()  # scope and id of each already returned
    skip: int = Field(0, ge=0)

    def bounds(self) -> Where:
        """Returns a filter for records from the last value on."""
        if self.value is None:
            return Where()
        name, down = self.order.removeprefix("-"), self.order.startswith("-")
        if name == "uses":
            return Where(conditions=(Condition("record.uses", "<=" if down else ">=", self.value),))
        since, until = _SPANS[name]
        bound: dict[str, Any] = {until if down else since: self.value}
        return Where(**bound)

    def after(self, page: Sequence[Record]) -> _PageMark:
        """Returns the mark of the page that follows."""
        name = self.order.removeprefix("-")
        if name not in (*_SPANS, "uses"):  # values may be absent, so pages go by offset
            return self.model_copy(update={"skip": self.skip + len(page)})
        last = getattr(page[-1], name)
        same = [(record.scope, record.id) for record in page if getattr(record, name) == last]
        if last == self.value:
            same = [*self.given, *same]
        skip = self.skip if last == self.value else 0
        if len(same) > _MOST_NAMED:
            skip, same = skip + len(same), []
        return self.model_copy(update={"value": last, "given": tuple(same), "skip": skip})


def _hash_asked(*asked: Any) -> str:
    """Hashes the parts of a question that must not change between two pages."""
    return blake2b(dump_json(asked, sort_keys=True).encode(), digest_size=8).hexdigest()


def _write_cursor(mark: _PageMark) -> str:
    return base64.urlsafe_b64encode(mark.model_dump_json().encode()).decode()


def _parse_cursor(cursor: str, order: str, asked: str) -> _PageMark:
    """Parses a cursor; raises `BadInput` if no page returned it, or if it is of another question."""
    try:
        mark = _PageMark.model_validate_json(base64.urlsafe_b64decode(cursor))
    except ValueError:
        raise BadInput("this cursor is not one that a page gave") from None
    if (mark.order, mark.asked) != (order, asked):
        raise BadInput("this cursor belongs to another question: only the cursor changes from page to page")
    return mark


def tell_hit(hit: Hit, *, vectors: bool = False, reasons: bool = True) -> dict[str, Any]:
    """Converts a hit to JSON. Reasons are expensive: they are computed once, and only if asked for."""
    why = hit.reasons() if reasons else None
    return {
        "score": hit.score,
        "superseded_by": hit.superseded_by,
        "why": why.say() if why else "",
        "matched": why.matched if why else [],
        "signals": [asdict(one) for one in why.signals] if why else [],
        "record": tell_record(hit.record, vectors=vectors),
    }


def _tell_all_hits(answer: AllHits, **how: bool) -> dict[str, Any]:
    told = {name: [tell_hit(hit, **how) for hit in getattr(answer, name)] for name in ("hits", "maybe")}
    rest = {"count": answer.count, "complete": answer.complete, "reason": answer.reason}
    return {**told, **rest, "scope": answer.scope}


def _tell_hits(hits: Hits, *, vectors: bool = False, reasons: bool = True) -> dict[str, Any]:
    told = [tell_hit(hit, vectors=vectors, reasons=reasons) for hit in hits]
    result: dict[str, Any] = {"hits": told, "scope": hits.scope, "wants_all": hits.wants_all}
    result["answered"] = hits.answered
    if hits.trace is not None:
        result["trace"] = asdict(hits.trace)
    return result


def _tell_context(context: Context) -> dict[str, Any]:
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
