"""Forgetting by ids or by a filter, with a preview."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Response

from ...core.scope import Scope
from ..access import Right
from ..serving import Forgets, check_rights
from .bodies import ForgetBody
from .drafts import read_options, read_where
from .replies import ForgetReply, tell_forgotten, tell_preview
from .respond import answer, errors

TAGS: Final[list[Any]] = ["forget"]


def add_to(router: APIRouter) -> None:
    router.post(
        "/forget",
        tags=TAGS,
        operation_id="forget",
        response_model=ForgetReply,
        responses=errors({409: "What was to be forgotten kept changing."}),
    )(forget)


async def forget(body: ForgetBody, grant: Forgets) -> Response:
    """Forgets memories for good, with a signed receipt; `preview` only tells what would go.

    A preview shows texts: it needs the right read as well.
    A whole scope goes only if the request names it and `everything` is true.
    """
    scope: Scope | None = grant.scope
    if body.everything and not grant.named:
        scope = None  # refused: a whole scope has to be named
    options = read_options(body)
    if body.preview:
        check_rights(grant.caller, Right.READ)
        found = await grant.memory.trust.preview_forget(
            body.ids,
            where=read_where(body),
            everything=body.everything,
            scope=scope,
            for_good=body.for_good,
            **options,
        )
        size = len(found.asked) + len(found.copies) + len(found.dropped) + len(found.anew)
        return await answer(grant.serving, lambda: tell_preview(found), size=size)
    gone = await grant.memory.forget(
        body.ids,
        where=read_where(body),
        everything=body.everything,
        scope=scope,
        for_good=body.for_good,
        why=body.why,
        **options,
    )
    return await answer(grant.serving, lambda: tell_forgotten(gone), size=int(gone))
