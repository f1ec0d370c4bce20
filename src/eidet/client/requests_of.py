"""The requests of each verb, and what it returns from the answers.

Each function gets a `Send` and the arguments of its verb by name, defaults included: `remote_verbs` binds
them by the signature of the verb.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints
from urllib.parse import quote

from ..core.arguments import check_most, check_offset
from ..core.errors import BadInput, Corrupt, NotFound
from ..core.fact_verb_table import FACTS
from ..core.hit import FoundList, Hit, Hits, RememberedList, Trace
from ..core.read_options import check_options
from ..core.record import Event, Record
from ..core.scope import ALL, Scope, Scopes
from ..core.session_summary import SessionSummary
from ..core.validate import clean_text
from ..core.verb_table import REMEMBER, VERBS
from ..memory.export_import import Progress
from ..memory.facts import FactsNamespace, part_of
from ..memory.records import check_unchanged
from ..recall.pack import Context
from ..write.shape import drafts_of
from .packing import check_left_out, pack_arguments, pack_detail, pack_draft, pack_scope
from .sending import WireRequest
from .unpacking import unpack, unpack_remembered

T = TypeVar("T")
Send = Callable[[WireRequest], Any]  # sends a request, and returns what the server answers
Arguments = Mapping[str, Any]  # of a verb, by name
PAGE: Final = 500  # records that one request asks for


def remember(send: Send, given: Arguments) -> Record | RememberedList:
    """Stores memories under an idempotency key, so that a retry never stores anything twice."""
    details: dict[str, Any] = {name: value for name, value in given["details"].items() if value is not None}
    scope = details.pop("scope", Scope().path)
    body = {name: details.pop(name) for name in REMEMBER if name in details}
    drafts, single = drafts_of(given["what"], details)
    if not drafts:
        return RememberedList()
    body["memories"] = [pack_draft(draft) for draft in drafts]
    answer = send(_post("/v1/memories", scope, body, headers=_make_key()))
    stored = unpack_remembered(answer)
    return stored[0] if single else stored


def _post(path: str, scope: Scopes | None, body: Any, **how: Any) -> WireRequest:
    return WireRequest(method="POST", path=path, params=pack_scope(scope), body=body, **how)


def _make_key() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def get(send: Send, given: Arguments) -> Record | list[Record | None] | None:
    single = isinstance(given["ids"], str)
    wanted = [given["ids"]] if single else list(given["ids"])
    found: list[Record | None] = []
    for start in range(0, len(wanted), PAGE):
        answer = send(_post("/v1/get", given["scope"], {"ids": wanted[start : start + PAGE]}))
        found += unpack(list[Record | None], answer["memories"])
    return found[0] if single else found


def ask(name: str, unpack_answer: Callable[[Any], T], **fixed: Any) -> Callable[[Send, Arguments], T]:
    """Makes a function that sends the arguments of a verb of the table and unpacks the answer."""
    verb = VERBS[name]

    def steps(send: Send, given: Arguments) -> T:
        body = _pack_question(name, given) | fixed
        again = (verb.repeatable or bool(fixed)) and body.get("version") is None
        answer = send(_post(f"/v1/{name}", given["scope"], body, repeatable=again))
        return unpack_answer(answer[verb.answer] if verb.answer else answer)

    return steps


def _pack_question(name: str, given: Arguments) -> dict[str, Any]:
    """Builds the body of a verb; the parts of a filter come from the `options` of the call."""
    if options := given.get("options", {}):
        check_options(name, options)
    asked = {key: value for key, value in (given | options).items() if key not in ("scope", "options")}
    if asked.get("counter") == "estimate":  # the server's default, by name
        del asked["counter"]
    return pack_arguments(VERBS[name], asked)


def feedback(send: Send, given: Arguments) -> None:
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
    send(_post("/v1/feedback", scope, body, headers=_make_key()))


def find(send: Send, given: Arguments) -> FoundList:
    """Finds records, page by page; `more` says whether others are left."""
    fields = _pack_question("find", {**given, "limit": None})
    fields["offset"] = check_offset(fields.get("offset", 0))
    most, cursor = check_most(given["limit"]), None
    found = FoundList()
    while most is None or len(found) < most:
        body = fields | {"limit": PAGE if most is None else min(most - len(found), PAGE), "cursor": cursor}
        answer = send(_post("/v1/find", given["scope"], body))
        cursor = answer["cursor"]
        found += unpack(list[Record], answer["memories"])
        if cursor is None:
            break
    found.more = cursor is not None
    return found


def revise(send: Send, given: Arguments) -> Record:
    """Revises a record; a version or digest given must still be its own. The server notes who acts."""
    check_left_out(by=given["by"])
    headers: dict[str, str] = {}
    if given["version"] is not None or given["digest"] is not None:
        headers["If-Match"] = _find_tag(send, given)
    body: dict[str, Any] = {"clear": list(given["clear"]), "again": given["again"]}
    for name, value in given["changes"].items():
        body |= {name: None} if value is None else pack_detail(name, value)
    answer = send(
        WireRequest(
            method="PATCH",
            path=_path_of_record(given["id"]),
            params=pack_scope(given["scope"]),
            body=body,
            headers=headers,
            repeatable=not headers,
        )
    )
    revised: Record = unpack(Record, answer)
    return revised


def promote(send: Send, given: Arguments) -> Record:
    """Copies or moves a record; doing so twice has no further effect. The server notes who acts."""
    check_left_out(by=given["by"])
    body = {"id": given["id"], "to": str(Scope.of(given["to"])), "move": given["move"]}
    promoted: Record = unpack(Record, send(_post("/v1/promote", given["scope"], body)))
    return promoted


def _find_tag(send: Send, given: Arguments) -> str:
    """Returns the ETag of the record; raises `Conflict` if its version or digest is another."""
    answer = send(_ask_for_record(given))
    check_unchanged(unpack(Record, answer), given["version"], given["digest"])
    tag: str = answer["etag"]
    return tag


def _ask_for_record(given: Arguments, part: str = "") -> WireRequest:
    path = f"{_path_of_record(given['id'])}{part}"
    return WireRequest(method="GET", path=path, params=pack_scope(given["scope"]))


def _path_of_record(id: str) -> str:
    """Returns the path of a record; dots are encoded, as a segment of dots alone means another path."""
    encoded = quote(clean_text(id, "an id"), safe="").replace(".", "%2E")
    return f"/v1/memories/{encoded}"


def history(send: Send, given: Arguments) -> list[Event]:
    """Returns the history of a record; empty if it never existed."""
    try:
        answer = send(_ask_for_record(given, "/history"))
    except NotFound:
        return []
    return unpack(list[Event], answer["events"])  # type: ignore[no-any-return]


def scopes(send: Send, given: Arguments) -> dict[str, int]:
    """Lists the scopes that the key reaches, page by page."""
    counts: dict[str, int] = {}
    params = {} if given["under"] is None else {"under": given["under"]}
    while True:
        answer = send(WireRequest(method="GET", path="/v1/scopes", params=params))
        for one in answer["scopes"]:
            counts[one["scope"]] = one["records"]
        if answer["cursor"] is None:
            return counts
        params = params | {"cursor": answer["cursor"]}


def sessions(send: Send, given: Arguments) -> list[SessionSummary]:
    params = pack_scope(given["scope"]) | {"limit": given["limit"]}
    answer = send(WireRequest(method="GET", path="/v1/sessions", params=params))
    return unpack(list[SessionSummary], answer["sessions"])  # type: ignore[no-any-return]


def export(send: Send, given: Arguments) -> int:
    """Downloads an export to a local file; calls `progress` once, at the end."""
    params, target = _wide(given["scope"]) | {"plain": given["plain"]}, Path(given["path"])
    send(WireRequest(method="GET", path="/v1/export", params=params, download=target))
    return _tell(given["progress"], _count_of(target))


def _tell(progress: Progress | None, count: int) -> int:
    if progress is not None:
        progress(count, count)
    return count


def _count_of(path: Path) -> int:
    """Reads the number of records from the last line of an export."""
    last = b""
    with path.open("rb") as file:
        for line in file:
            last = line
    try:
        return int(json.loads(last)["count"])
    except (ValueError, KeyError, TypeError):
        raise Corrupt(f"{path} is not a whole export; the connection may have broken off") from None


def load(send: Send, given: Arguments) -> int:
    """Uploads an export from a local file; calls `progress` once, at the end."""
    params = _wide(given["scope"])
    answer = send(WireRequest(method="POST", path="/v1/load", params=params, upload=Path(given["path"])))
    return _tell(given["progress"], answer["count"])


def _wide(scope: str | Scope | None) -> dict[str, Any]:
    """Returns the scope parameter of verbs for which None means every scope, as in `Memory`."""
    if scope is None or scope == ALL:
        return {"scope": ALL}
    return {"scope": str(Scope.of(scope))}


def stats(send: Send, given: Arguments) -> dict[str, Any]:
    found: dict[str, Any] = send(WireRequest(method="GET", path="/v1/stats", params=_wide(given["scope"])))
    return found


def health(send: Send, _given: Arguments) -> dict[str, Any]:
    found: dict[str, Any] = send(WireRequest(method="GET", path="/v1/health"))
    return found


def mark(method: str, kind: str) -> Callable[[Send, Arguments], Record]:
    """Makes a function that sets (PUT) or ends (DELETE) a pin or a legal hold; both can be repeated."""

    def steps(send: Send, given: Arguments) -> Record:
        check_left_out(by=given["by"])
        path, params = f"{_path_of_record(given['id'])}/{kind}", pack_scope(given["scope"])
        marked: Record = unpack(Record, send(WireRequest(method=method, path=path, params=params)))
        return marked

    return steps


def ask_facts(name: str) -> Callable[[Send, Arguments], Any]:
    """Makes the function of a verb of `memory.facts`, which unpacks by the return type of the verb."""
    verb = FACTS[name]
    returned = get_type_hints(getattr(FactsNamespace, name))["return"]

    def steps(send: Send, given: Arguments) -> Any:
        asked = {**given, **given.get("details", {})}
        scope = asked.pop("scope")
        if isinstance(decision := asked.get("decision"), Record):
            scope = decision.scope
        asked.pop("details", None)
        if name == "match":
            asked = _join_patterns(asked)
        body = pack_arguments(verb, asked)
        answer = send(_post(f"/v1/facts/{name}", scope, body or None, repeatable=verb.repeatable))
        if returned is not type(None):
            return unpack(returned, answer[verb.answer] if verb.answer else answer)
        return None

    return steps


def _join_patterns(given: dict[str, Any]) -> dict[str, Any]:
    """Appends a pattern that is given by its parts to the list of patterns."""
    subject, relation, object = (given.pop(name) for name in ("subject", "relation", "object"))
    patterns = list(given["patterns"])
    if subject is not None or relation is not None or object is not None:
        patterns.append([part_of(subject), relation, part_of(object)])
    return given | {"patterns": patterns}
