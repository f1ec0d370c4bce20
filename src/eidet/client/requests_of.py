"""Each verb as the requests it makes: generators that yield requests, get answers, and return the result.

A generator gets the arguments of its verb by name, defaults included: `remote_verbs.bind_arguments` reads
them from the signature of the verb.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from ..core.arguments import check_most, check_offset
from ..core.errors import BadInput, Corrupt, NotFound
from ..core.event import Event
from ..core.hit import Hit, Hits, Trace
from ..core.record import Record
from ..core.remembered import FoundList, RememberedList
from ..core.scope import ALL, Scope
from ..core.session_summary import SessionSummary
from ..core.validate import clean_json, clean_text, moment
from ..memory.export_import import Progress
from ..memory.records import check_unchanged
from ..recall.pack import Context
from ..trust.privacy.quarantine import LABELLED
from ..write.shape import drafts_of
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
Arguments = Mapping[str, Any]  # of a verb, by name
PAGE: Final = 500  # records that one request asks for


def remember(given: Arguments) -> Steps[Record | RememberedList]:
    """Each call has an idempotency key of its own, so that sending it again never stores anything twice."""
    details: dict[str, Any] = {name: value for name, value in given["details"].items() if value is not None}
    scope = details.pop("scope", Scope().path)
    body: dict[str, Any] = {}
    for name in ("keep_duplicates", "again", "version"):
        if name in details:
            body[name] = details.pop(name)
    drafts, single = drafts_of(given["what"], details)
    if not drafts:
        return RememberedList()
    body["memories"] = [pack_draft(draft) for draft in drafts]
    answer = yield _post("/v1/memories", scope, body, headers=_make_key())
    stored = unpack_remembered(answer)
    if single:
        return stored[0]
    return stored


def _post(path: str, scope: str | Scope | None, body: Any, **how: Any) -> WireRequest:
    return WireRequest(method="POST", path=path, params=pack_scope(scope), body=body, **how)


def _make_key() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def get(given: Arguments) -> Steps[Record | list[Record | None] | None]:
    single = isinstance(given["ids"], str)
    wanted = [given["ids"]] if single else list(given["ids"])
    found: list[Record | None] = []
    for start in range(0, len(wanted), PAGE):
        answer = yield _post("/v1/get", given["scope"], {"ids": wanted[start : start + PAGE]})
        for one in answer["memories"]:
            found.append(None if one is None else unpack_record(one))
    if single:
        return found[0]
    return found


def recall(given: Arguments) -> Steps[Hits]:
    body = {"query": clean_json(given["query"], "a query"), "limit": given["limit"]}
    body |= pack_filter("recall", given["where"], given["options"])
    return unpack_hits((yield _post("/v1/recall", given["scope"], body)))


def context(given: Arguments) -> Steps[Context]:
    """The server counts the tokens."""
    if given["counter"] != "estimate":  # the server's own, by name
        check_left_out(counter=given["counter"])
    recipe = given["recipe"]
    body: dict[str, Any] = {
        "query": clean_json(given["query"], "a query"),
        "recipe": None if recipe is None else pack_option("recipe", recipe),
    }
    for name in ("budget", "limit", "neighbours", "headings", "fence", "reveal", "least"):
        body[name] = given[name]
    body |= pack_filter("context", given["where"], given["options"])
    for name in ("now", "as_of", "known_at"):
        if given[name] is not None:
            body[name] = moment(given[name], name)
    return unpack_context((yield _post("/v1/context", given["scope"], body)))


def feedback(given: Arguments) -> Steps[None]:
    about, scope = given["about"], given["scope"]
    body: dict[str, Any] = {"useful": given["useful"], "by": given["by"]}
    if isinstance(about, Hit):
        body["id"], scope = about.id, about.record.scope if scope is None else scope
    elif isinstance(about, str):
        body["id"] = clean_text(about, "an id")
    elif isinstance(about, Hits | Trace | Context):
        scope = about.scope if scope is None else scope
    else:
        raise BadInput(
            f"feedback is about a Hit, Hits, a Trace, a Context or an id, not {type(about).__name__}"
        )
    yield _post("/v1/feedback", scope, body, headers=_make_key())


def find(given: Arguments) -> Steps[FoundList]:
    """Page by page."""
    fields = pack_filter("find", given["where"], given["options"])
    fields["offset"] = check_offset(fields.get("offset", 0))
    most, cursor = check_most(given["limit"]), None
    found = FoundList()
    while most is None or len(found) < most:
        body = fields | {"limit": PAGE if most is None else min(most - len(found), PAGE), "cursor": cursor}
        answer = yield _post("/v1/find", given["scope"], body)
        cursor = answer["cursor"]
        found += unpack_records(answer["memories"])
        if cursor is None:
            break
    found.more = cursor is not None
    return found


def count(given: Arguments) -> Steps[int]:
    body = pack_filter("count", given["where"], given["options"])
    answer = yield _post("/v1/count", given["scope"], body)
    number: int = answer["count"]
    return number


def revise(given: Arguments) -> Steps[Record]:
    """With a version or a digest, the record must still have it. The server notes who acts."""
    check_left_out(by=given["by"])
    headers: dict[str, str] = {}
    if given["version"] is not None or given["digest"] is not None:
        headers["If-Match"] = yield from _find_tag(given)
    body: dict[str, Any] = {"clear": list(given["clear"]), "again": given["again"]}
    for name, value in given["changes"].items():
        if value is None:
            body[name] = None
        else:
            body |= pack_field(name, value)
    answer = yield WireRequest(
        method="PATCH",
        path=path_of_record(given["id"]),
        params=pack_scope(given["scope"]),
        body=body,
        headers=headers,
        repeatable=not headers,
    )
    return unpack_record(answer)


def _find_tag(given: Arguments) -> Steps[str]:
    """The ETag of the record, if it is still at that version, or says that."""
    answer = yield _read_record(given)
    check_unchanged(unpack_record(answer), given["version"], given["digest"])
    tag: str = answer["etag"]
    return tag


def _read_record(given: Arguments, part: str = "") -> WireRequest:
    path = f"{path_of_record(given['id'])}{part}"
    return WireRequest(method="GET", path=path, params=pack_scope(given["scope"]))


def path_of_record(id: str) -> str:
    """Dots are encoded, too: a path segment of dots alone would mean another path."""
    encoded = quote(clean_text(id, "an id"), safe="").replace(".", "%2E")
    return f"/v1/memories/{encoded}"


def forget(given: Arguments) -> Steps[Forgotten]:
    check_left_out(by=given["by"], key=given["key"])
    body = _pack_wish(given) | {"why": given["why"]}
    return unpack_forgotten((yield _post("/v1/forget", given["scope"], body, repeatable=False)))


def preview_forget(given: Arguments) -> Steps[Preview]:
    body = _pack_wish(given) | {"preview": True}
    return unpack_preview((yield _post("/v1/forget", given["scope"], body)))


def _pack_wish(given: Arguments) -> dict[str, Any]:
    """What is to be forgotten."""
    body = pack_filter("forget", given["where"], given["options"])
    for name in ("everything", "for_good"):
        body[name] = given[name]
    if isinstance(given["ids"], str):
        body["ids"] = [given["ids"]]
    elif given["ids"] is not None:
        body["ids"] = list(given["ids"])
    return body


def review(given: Arguments) -> Steps[list[Record]]:
    return (yield from find({**given, "where": LABELLED, "options": {}}))


def history(given: Arguments) -> Steps[list[Event]]:
    """Nothing of a record that never was."""
    try:
        answer = yield _read_record(given, "/history")
    except NotFound:
        return []
    return unpack_events(answer)


def scopes(given: Arguments) -> Steps[dict[str, int]]:
    """As far as the key reaches, page by page."""
    counts: dict[str, int] = {}
    params = {} if given["under"] is None else {"under": given["under"]}
    while True:
        answer = yield WireRequest(method="GET", path="/v1/scopes", params=params)
        for one in answer["scopes"]:
            counts[one["scope"]] = one["records"]
        if answer["cursor"] is None:
            return counts
        params = params | {"cursor": answer["cursor"]}


def sessions(given: Arguments) -> Steps[list[SessionSummary]]:
    params = pack_scope(given["scope"]) | {"limit": given["limit"]}
    answer = yield WireRequest(method="GET", path="/v1/sessions", params=params)
    return [unpack_session(one) for one in answer["sessions"]]


def export(given: Arguments) -> Steps[int]:
    """Writes a file here; `progress` is told once, at the end."""
    params, target = _wide(given["scope"]) | {"plain": given["plain"]}, Path(given["path"])
    yield WireRequest(method="GET", path="/v1/export", params=params, download=target)
    return _tell(given["progress"], _count_of(target))


def _tell(progress: Progress | None, count: int) -> int:
    if progress is not None:
        progress(count, count)
    return count


def _count_of(path: Path) -> int:
    """What the last line of an export says."""
    last = b""
    with path.open("rb") as file:
        for line in file:
            last = line
    try:
        return int(json.loads(last)["count"])
    except (ValueError, KeyError, TypeError):
        raise Corrupt(f"{path} is not a whole export; the connection may have broken off") from None


def load(given: Arguments) -> Steps[int]:
    """Reads a file that is here; `progress` is told once, at the end."""
    params = _wide(given["scope"]) | {"unverified": given["unverified"]}
    answer = yield WireRequest(method="POST", path="/v1/load", params=params, upload=Path(given["path"]))
    return _tell(given["progress"], answer["count"])


def _wide(scope: str | Scope | None) -> dict[str, Any]:
    """None means every scope here, as it does for a memory of one's own."""
    if scope is None or scope == ALL:
        return {"scope": ALL}
    return {"scope": str(Scope.of(scope))}


def stats(given: Arguments) -> Steps[dict[str, Any]]:
    found: dict[str, Any] = yield WireRequest(method="GET", path="/v1/stats", params=_wide(given["scope"]))
    return found


def health(_given: Arguments) -> Steps[dict[str, Any]]:
    found: dict[str, Any] = yield WireRequest(method="GET", path="/v1/health")
    return found


def mark(method: str, kind: str) -> Callable[[Arguments], Steps[Record]]:
    """Sets (PUT) or ends (DELETE) a pin or a legal hold. Twice is the same as once."""

    def steps(given: Arguments) -> Steps[Record]:
        check_left_out(by=given["by"])
        path, params = f"{path_of_record(given['id'])}/{kind}", pack_scope(given["scope"])
        return unpack_record((yield WireRequest(method=method, path=path, params=params)))

    return steps
