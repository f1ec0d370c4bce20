"""The requests of each verb, and what it returns from the answers.

Each function gets the sender and the arguments of its verb by name, defaults included.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, get_type_hints
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
from ..memory.facts import FactsNamespace, part_of
from ..memory.feed import ChangePage
from ..memory.records import check_unchanged
from ..recall.pack import Context
from ..write.shape import drafts_of
from .packing import check_left_out, pack_arguments, pack_detail, pack_draft, pack_scope
from .sending import Sender
from .unpacking import (
    unpack,
    unpack_all_hits,
    unpack_forgotten,
    unpack_hits,
    unpack_preview,
    unpack_remembered,
)

Arguments = Mapping[str, Any]  # of a verb, by name
Requests = Callable[[Sender, Arguments], Any]
PAGE: Final = 500  # records that one request asks for


def _post(sender: Sender, path: str, scope: Scopes | None, body: Any, **how: Any) -> Any:
    return sender.send("POST", f"/v1/{path}", params=pack_scope(scope), body=body, **how)


def _make_key() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _remember(sender: Sender, given: Arguments) -> Record | RememberedList:
    """Stores memories under an idempotency key, so that a retry never stores anything twice."""
    details: dict[str, Any] = {name: value for name, value in given["details"].items() if value is not None}
    scope = details.pop("scope", Scope().path)
    body = {name: details.pop(name) for name in REMEMBER if name in details}
    drafts, single = drafts_of(given["what"], details)
    if not drafts:
        return RememberedList()
    body["memories"] = [pack_draft(draft) for draft in drafts]
    stored = unpack_remembered(_post(sender, "memories", scope, body, headers=_make_key()))
    return stored[0] if single else stored


def _get(sender: Sender, given: Arguments) -> Record | list[Record | None] | None:
    single = isinstance(given["ids"], str)
    wanted = [given["ids"]] if single else list(given["ids"])
    found: list[Record | None] = []
    for start in range(0, len(wanted), PAGE):
        answer = _post(sender, "get", given["scope"], {"ids": wanted[start : start + PAGE]})
        found += unpack(list[Record | None], answer["memories"])
    return found[0] if single else found


def _ask(name: str, unpack_answer: Callable[[Any], Any], **fixed: Any) -> Requests:
    """Makes a function that sends the arguments of a verb of the table and unpacks the answer."""
    verb = VERBS[name]

    def ask(sender: Sender, given: Arguments) -> Any:
        body = _pack_question(name, given) | fixed
        again = (verb.repeatable or bool(fixed)) and body.get("version") is None
        answer = _post(sender, name, given["scope"], body, repeatable=again)
        return unpack_answer(answer[verb.answer] if verb.answer else answer)

    return ask


def _pack_question(name: str, given: Arguments) -> dict[str, Any]:
    """Builds the body of a verb; the parts of a filter come from the `options` of the call."""
    if options := given.get("options", {}):
        check_options(name, options)
    asked = {key: value for key, value in (given | options).items() if key not in ("scope", "options")}
    if asked.get("counter") == "estimate":  # the server's default, by name
        del asked["counter"]
    return pack_arguments(VERBS[name], asked)


def _feedback(sender: Sender, given: Arguments) -> None:
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
    _post(sender, "feedback", scope, body, headers=_make_key())


def _find(sender: Sender, given: Arguments) -> FoundList:
    """Finds records, page by page; `more` says whether others are left."""
    fields = _pack_question("find", {**given, "limit": None})
    fields["offset"] = check_offset(fields.get("offset", 0))
    most, cursor = check_most(given["limit"]), None
    found = FoundList()
    while most is None or len(found) < most:
        body = fields | {"limit": PAGE if most is None else min(most - len(found), PAGE), "cursor": cursor}
        answer = _post(sender, "find", given["scope"], body)
        cursor = answer["cursor"]
        found += unpack(list[Record], answer["memories"])
        if cursor is None:
            break
    found.more = cursor is not None
    return found


def _send_for(sender: Sender, given: Arguments, method: str, part: str = "", **what: Any) -> Any:
    """Sends a request about one record. Dots of an id are encoded, as `..` would mean another path."""
    encoded = quote(clean_text(given["id"], "an id"), safe="").replace(".", "%2E")
    return sender.send(method, f"/v1/memories/{encoded}{part}", params=pack_scope(given["scope"]), **what)


def _revise(sender: Sender, given: Arguments) -> Record:
    """Revises a record; a version or digest given must still be its own. The server notes who acts."""
    check_left_out(by=given["by"])
    headers: dict[str, str] = {}
    if given["version"] is not None or given["digest"] is not None:
        present = _send_for(sender, given, "GET")
        check_unchanged(unpack(Record, present), given["version"], given["digest"])
        headers["If-Match"] = present["etag"]
    body: dict[str, Any] = {"clear": list(given["clear"]), "again": given["again"]}
    for name, value in given["changes"].items():
        body |= {name: None} if value is None else pack_detail(name, value)
    answer = _send_for(sender, given, "PATCH", body=body, headers=headers, repeatable=not headers)
    revised: Record = unpack(Record, answer)
    return revised


def _history(sender: Sender, given: Arguments) -> list[Event]:
    """Returns the history of a record; empty if it never existed."""
    try:
        answer = _send_for(sender, given, "GET", "/history")
    except NotFound:
        return []
    return unpack(list[Event], answer["events"])  # type: ignore[no-any-return]


def _mark(method: str, kind: str) -> Requests:
    """Makes a function that sets (PUT) or ends (DELETE) a pin or a legal hold; both can be repeated."""

    def mark(sender: Sender, given: Arguments) -> Any:
        check_left_out(by=given["by"])
        return unpack(Record, _send_for(sender, given, method, kind))

    return mark


def _scopes(sender: Sender, given: Arguments) -> dict[str, int]:
    """Lists the scopes that the key reaches, page by page."""
    counts: dict[str, int] = {}
    params = {} if given["under"] is None else {"under": given["under"]}
    while True:
        answer = sender.send("GET", "/v1/scopes", params=params)
        for one in answer["scopes"]:
            counts[one["scope"]] = one["records"]
        if answer["cursor"] is None:
            return counts
        params = params | {"cursor": answer["cursor"]}


def _sessions(sender: Sender, given: Arguments) -> list[SessionSummary]:
    params = pack_scope(given["scope"]) | {"limit": given["limit"]}
    answer = sender.send("GET", "/v1/sessions", params=params)
    return unpack(list[SessionSummary], answer["sessions"])  # type: ignore[no-any-return]


def _export(sender: Sender, given: Arguments) -> int:
    """Downloads an export to a local file; calls `progress` once, at the end."""
    params, target = _wide(given["scope"]) | {"plain": given["plain"]}, Path(given["path"])
    sender.send("GET", "/v1/export", params=params, download=target)
    return _tell_progress(given, _count_of(target))


def _tell_progress(given: Arguments, count: int) -> int:
    if given["progress"] is not None:
        given["progress"](count, count)
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


def _load(sender: Sender, given: Arguments) -> int:
    """Uploads an export from a local file; calls `progress` once, at the end."""
    answer = sender.send("POST", "/v1/load", params=_wide(given["scope"]), upload=Path(given["path"]))
    return _tell_progress(given, answer["count"])


def _wide(scope: str | Scope | None) -> dict[str, Any]:
    """Returns the scope parameter of verbs for which None means every scope, as in `Memory`."""
    if scope is None or scope == ALL:
        return {"scope": ALL}
    return {"scope": str(Scope.of(scope))}


def _ask_facts(name: str) -> Requests:
    """Makes the function of a verb of `memory.facts`, which unpacks by the return type of the verb."""
    verb = FACTS[name]
    returned = get_type_hints(getattr(FactsNamespace, name))["return"]

    def ask(sender: Sender, given: Arguments) -> Any:
        asked = {**given, **given.get("details", {})}
        scope = asked.pop("scope")
        if isinstance(decision := asked.get("decision"), Record):
            scope = decision.scope
        asked.pop("details", None)
        if name == "match":
            asked = _join_patterns(asked)
        body = pack_arguments(verb, asked)
        answer = _post(sender, f"facts/{name}", scope, body or None, repeatable=verb.repeatable)
        if returned is not type(None):
            return unpack(returned, answer[verb.answer] if verb.answer else answer)
        return None

    return ask


def _join_patterns(given: dict[str, Any]) -> dict[str, Any]:
    """Appends a pattern that is given by its parts to the list of patterns."""
    subject, relation, object = (given.pop(name) for name in ("subject", "relation", "object"))
    patterns = list(given["patterns"])
    if subject is not None or relation is not None or object is not None:
        patterns.append([part_of(subject), relation, part_of(object)])
    return given | {"patterns": patterns}


MEMORY: Final[Mapping[str, Requests]] = {
    "remember": _remember,
    "get": _get,
    "recall": _ask("recall", unpack_hits),
    "recall_all": _ask("recall_all", unpack_all_hits),
    "context": _ask("context", partial(unpack, Context)),
    "feedback": _feedback,
    "find": _find,
    "count": _ask("count", int),
    "revise": _revise,
    "promote": _ask("promote", partial(unpack, Record)),
    "forget": _ask("forget", unpack_forgotten),
    "history": _history,
    "scopes": _scopes,
    "export": _export,
    "load": _load,
}
FACT_VERBS: Final[Mapping[str, Requests]] = {name: _ask_facts(name) for name in FACTS}
UPKEEP: Final[Mapping[str, Requests]] = {
    "pin": _mark("PUT", "/pin"),
    "unpin": _mark("DELETE", "/pin"),
    "hold": _mark("PUT", "/hold"),
    "release": _mark("DELETE", "/hold"),
}
TRUST: Final[Mapping[str, Requests]] = {
    "preview_forget": _ask("forget", unpack_preview, preview=True),
    "review": _ask("review", partial(unpack, list[Record])),
    "approve": _ask("approve", partial(unpack, Record)),
    "reject": _ask("reject", unpack_forgotten),
}
ADMIN: Final[Mapping[str, Requests]] = {
    "stats": lambda sender, given: sender.send("GET", "/v1/stats", params=_wide(given["scope"])),
    "health": lambda sender, _: sender.send("GET", "/v1/health"),
    "sessions": _sessions,
    "changes": _ask("changes", partial(unpack, ChangePage)),
}
