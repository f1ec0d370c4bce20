"""Each verb as the requests it makes: generators that yield requests, get answers, and return the result."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack
from urllib.parse import quote

from ..core.arguments import check_limit, check_offset
from ..core.dict_filters import Filter
from ..core.draft import Details
from ..core.errors import BadInput, NotFound
from ..core.event import Event
from ..core.hit import Hit, Hits, Trace
from ..core.record import Record
from ..core.remembered import RememberedList
from ..core.scope import Scope
from ..core.session_summary import SessionSummary
from ..core.validate import Json, Moment, clean_json, clean_text, moment
from ..memory.records import check_unchanged
from ..recall import Recipe
from ..recall.options import FilterOptions, FindOptions, RecallOptions
from ..recall.pack import Context
from ..text.tokens import TokenCounter
from ..trust.privacy.quarantine import LABELLED
from ..write.shape import Given, drafts_of
from .packing import check_left_out, pack_draft, pack_field, pack_filter, pack_option, pack_scope
from .sending import WireRequest
from .unpacking import (
    unpack_context,
    unpack_events,
    unpack_forgotten,
    unpack_hits,
    unpack_preview,
    unpack_record,
    unpack_records,
    unpack_remembered,
    unpack_session,
)

if TYPE_CHECKING:
    from ..trust.erase import Forgotten, Preview

T = TypeVar("T")
Steps = Generator[WireRequest, Any, T]
PAGE: Final = 500  # records that one request asks for


def remember(
    what: Given | Sequence[Given] | None = None, **details: Unpack[Details]
) -> Steps[Record | RememberedList]:
    """Stores a text, a message, a dict or a list of those; all of a list or none of it.

    As `Memory.remember`, with the same details.

    Each call has an idempotency key of its own, so that sending it again never stores anything twice.
    """
    said: dict[str, Any] = {name: value for name, value in details.items() if value is not None}
    scope = said.pop("scope", Scope().path)
    body: dict[str, Any] = {}
    for name in ("keep_duplicates", "again"):
        if name in said:
            body[name] = said.pop(name)
    drafts, single = drafts_of(what, said)
    if not drafts:
        return RememberedList()
    body["memories"] = [pack_draft(draft) for draft in drafts]
    answer = yield WireRequest(
        method="POST",
        path="/v1/memories",
        params=pack_scope(scope),
        body=body,
        headers={"Idempotency-Key": uuid.uuid4().hex},
    )
    stored = unpack_remembered(answer)
    if single:
        return stored[0]
    return stored


def get(
    ids: str | Sequence[str], *, scope: str | Scope = "default"
) -> Steps[Record | list[Record | None] | None]:
    """The record with an id, or None; a list gives a list, in the order asked."""
    wanted = [ids] if isinstance(ids, str) else list(ids)
    found: list[Record | None] = []
    for start in range(0, len(wanted), PAGE):
        body = {"ids": wanted[start : start + PAGE]}
        answer = yield WireRequest(method="POST", path="/v1/get", params=pack_scope(scope), body=body)
        for one in answer["memories"]:
            found.append(None if one is None else unpack_record(one))
    if isinstance(ids, str):
        return found[0]
    return found


def recall(
    query: str | Mapping[str, Json] = "",
    *,
    scope: str | Scope = "default",
    limit: int = 10,
    where: Filter | None = None,
    **options: Unpack[RecallOptions],
) -> Steps[Hits]:
    """What matters for a query, best first, each hit with its reasons. See `Memory.recall`."""
    body = {"query": clean_json(query, "a query"), "limit": limit} | pack_filter("recall", where, options)
    answer = yield WireRequest(method="POST", path="/v1/recall", params=pack_scope(scope), body=body)
    return unpack_hits(answer)


def context(
    query: str | Mapping[str, Json],
    *,
    budget: int = 1000,
    counter: TokenCounter | Callable[[str], int] | str | None = None,
    limit: int = 50,
    neighbours: int = 1,
    headings: bool = True,
    scope: str | Scope = "default",
    where: Filter | None = None,
    recipe: Recipe | str | None = None,
    fence: bool = True,
    reveal: bool = False,
    now: Moment | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    **options: Unpack[FilterOptions],
) -> Steps[Context]:
    """A prompt-ready block of what matters, never over `budget` tokens. See `Memory.context`.

    The server counts the tokens.
    """
    if counter != "estimate":  # the server's own, by name
        check_left_out(counter=counter)
    body = {
        "query": clean_json(query, "a query"),
        "budget": budget,
        "limit": limit,
        "neighbours": neighbours,
        "headings": headings,
        "fence": fence,
        "reveal": reveal,
        "recipe": None if recipe is None else pack_option("recipe", recipe),
    } | pack_filter("context", where, options)
    for name, value in (("now", now), ("as_of", as_of), ("known_at", known_at)):
        if value is not None:
            body[name] = moment(value, name)
    answer = yield WireRequest(method="POST", path="/v1/context", params=pack_scope(scope), body=body)
    return unpack_context(answer)


def feedback(
    about: Hit | Hits | Trace | Context | str,
    *,
    useful: bool,
    scope: str | Scope | None = None,
    by: str | None = None,
) -> Steps[None]:
    """Says whether an answer (the Hits, Trace or Context) or one record (a Hit or an id) was useful."""
    body: dict[str, Any] = {"useful": useful, "by": by}
    if isinstance(about, Hit):
        body["id"], scope = about.id, scope or about.record.scope
    elif isinstance(about, str):
        body["id"] = clean_text(about, "an id")
    elif isinstance(about, Hits | Trace | Context):
        scope = scope or about.scope
    else:
        raise BadInput(
            f"feedback is about a Hit, Hits, a Trace, a Context or an id, not {type(about).__name__}"
        )
    yield WireRequest(
        method="POST",
        path="/v1/feedback",
        params=pack_scope(scope),
        body=body,
        headers={"Idempotency-Key": uuid.uuid4().hex},
    )


def find(
    where: Filter | None = None,
    *,
    scope: str | Scope = "default",
    limit: int = 100,
    **options: Unpack[FindOptions],
) -> Steps[list[Record]]:
    """Records that match exactly, ordered by a field; a leading '-' means descending. See `Memory.find`."""
    said = pack_filter("find", where, options)
    said["offset"] = check_offset(said.get("offset", 0))
    left, cursor = check_limit(limit), None
    found: list[Record] = []
    while left:
        body = said | {"limit": min(left, PAGE), "cursor": cursor}
        answer = yield WireRequest(method="POST", path="/v1/find", params=pack_scope(scope), body=body)
        page, cursor = unpack_records(answer["memories"]), answer["cursor"]
        found += page
        left -= len(page)
        if cursor is None:
            break
    return found


def count(
    where: Filter | None = None,
    *,
    scope: str | Scope = "default",
    **options: Unpack[FilterOptions],
) -> Steps[int]:
    """How many records match."""
    body = pack_filter("count", where, options)
    answer = yield WireRequest(method="POST", path="/v1/count", params=pack_scope(scope), body=body)
    number: int = answer["count"]
    return number


def revise(
    id: str,
    *,
    scope: str | Scope = "default",
    version: int | None = None,
    digest: str | None = None,
    by: str | None = None,
    clear: Sequence[str] = (),
    again: bool = False,
    **changes: Any,
) -> Steps[Record]:
    """The next version of a record: the fields given replace those it has. See `Memory.revise`.

    With `version` or `digest` the record must still be that one, else Conflict. The server notes who acts.
    """
    check_left_out(by=by)
    headers: dict[str, str] = {}
    if version is not None or digest is not None:
        headers["If-Match"] = yield from _tag_of(id, scope, version, digest)
    body: dict[str, Any] = {"clear": list(clear), "again": again}
    for name, value in changes.items():
        if value is None:
            body[name] = None
        else:
            body |= pack_field(name, value)
    answer = yield WireRequest(
        method="PATCH",
        path=path_of_record(id),
        params=pack_scope(scope),
        body=body,
        headers=headers,
        repeatable=not headers,
    )
    return unpack_record(answer)


def _tag_of(id: str, scope: str | Scope, version: int | None, digest: str | None) -> Steps[str]:
    """The ETag of the record, if it is still at that version, or says that."""
    answer = yield WireRequest(method="GET", path=path_of_record(id), params=pack_scope(scope))
    check_unchanged(unpack_record(answer), version, digest)
    tag: str = answer["etag"]
    return tag


def path_of_record(id: str) -> str:
    """Dots are encoded, too: a path segment of dots alone would mean another path."""
    encoded = quote(clean_text(id, "an id"), safe="").replace(".", "%2E")
    return f"/v1/memories/{encoded}"


def forget(
    ids: str | Sequence[str] | None = None,
    *,
    where: Filter | None = None,
    everything: bool = False,
    scope: str | Scope | None = None,
    by: str | None = None,
    for_good: bool | None = None,
    why: str | None = None,
    key: object = None,
    **options: Unpack[FilterOptions],
) -> Steps[Forgotten]:
    """Deletes records by id or filter, for good unless `for_good` is False. See `Memory.forget`."""
    check_left_out(by=by, key=key)
    body = _wish(ids, where, everything, for_good, options) | {"why": why}
    asking = WireRequest(
        method="POST", path="/v1/forget", params=pack_scope(scope), body=body, repeatable=False
    )
    return unpack_forgotten((yield asking))


def preview_forget(
    ids: str | Sequence[str] | None = None,
    *,
    where: Filter | None = None,
    everything: bool = False,
    scope: str | Scope | None = None,
    for_good: bool | None = None,
    **options: Unpack[FilterOptions],
) -> Steps[Preview]:
    """What `forget` would delete and make anew, copies and derived records included; changes nothing."""
    body = _wish(ids, where, everything, for_good, options) | {"preview": True}
    return unpack_preview(
        (yield WireRequest(method="POST", path="/v1/forget", params=pack_scope(scope), body=body))
    )


def _wish(
    ids: str | Sequence[str] | None,
    where: Filter | None,
    everything: bool,
    for_good: bool | None,
    options: FilterOptions,
) -> dict[str, Any]:
    body = pack_filter("forget", where, options) | {"everything": everything, "for_good": for_good}
    if isinstance(ids, str):
        body["ids"] = [ids]
    elif ids is not None:
        body["ids"] = list(ids)
    return body


def review(*, scope: str | Scope = "default", limit: int = 100) -> Steps[list[Record]]:
    """What waits for somebody to look at it: in quarantine or labelled, newest first."""
    return (yield from find(LABELLED, scope=scope, limit=limit))


def history(id: str, *, scope: str | Scope = "default") -> Steps[list[Event]]:
    """What happened to a record, oldest first; nothing if it never was."""
    try:
        answer = yield WireRequest(
            method="GET", path=f"{path_of_record(id)}/history", params=pack_scope(scope)
        )
    except NotFound:
        return []
    return unpack_events(answer)


def scopes(under: str | None = None) -> Steps[dict[str, int]]:
    """The scopes that hold records, with how many, as far as the key reaches."""
    counts: dict[str, int] = {}
    params = {} if under is None else {"under": under}
    while True:
        answer = yield WireRequest(method="GET", path="/v1/scopes", params=params)
        for one in answer["scopes"]:
            counts[one["scope"]] = one["records"]
        if answer["cursor"] is None:
            return counts
        params = params | {"cursor": answer["cursor"]}


def sessions(scope: str | Scope = "default", *, limit: int = 100) -> Steps[list[SessionSummary]]:
    """The sessions of a scope, those that were active last first, each with its first words."""
    params = pack_scope(scope) | {"limit": limit}
    answer = yield WireRequest(method="GET", path="/v1/sessions", params=params)
    return [unpack_session(one) for one in answer["sessions"]]
