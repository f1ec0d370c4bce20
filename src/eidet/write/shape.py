"""Checks the arguments of `remember` and turns them into drafts and records, before anything is written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from pathlib import PurePath
from typing import Any, Final

from ..core.actor import acts
from ..core.arguments import check_flag, check_share, make_unknown
from ..core.draft import Draft, Message
from ..core.errors import BadInput, each_item
from ..core.procedure import check_procedure, tell_data
from ..core.record import Kind, Record, Tier, Trust, key_id, kind_of, new_id, tier_of, trust_of
from ..core.state import NO_STATE, Protection, State
from ..core.validate import (
    DERIVED_FROM,
    Json,
    Moment,
    check_count,
    check_whole,
    clean_json,
    clean_text,
    moment,
    plain_value,
)
from ..core.where import check_place
from ..text.sentences import units_of

Given = str | Message | Draft | Mapping[str, Json]

LABEL_CHARS: Final = 1000
STEP_LIMIT: Final = 2**53  # beyond, a float column could not tell neighbours apart
_UNUSED: Final = (0, None)  # uses, last_used
_NOT_DERIVED: Final = (None, b"", 0, None)  # vector, terms, level, original
_NOT_STORED: Final = (None, 1, 0)  # sealed, version, seq
_SAYABLE: Final = frozenset(field.name for field in fields(Draft))
_MESSAGE: Final = {"role", "content", "timestamp", "metadata", "tool_calls", "tool_call_id", "name"}


def drafts_of(what: Given | Sequence[Given] | None, said: Mapping[str, Any]) -> tuple[list[Draft], bool]:
    """Builds one draft per item, completed from `said`. Also returns whether it was a single item."""
    if not said and type(what) is str:  # the usual case
        return [Draft(text=what)], True
    if unknown := said.keys() - _SAYABLE:
        raise make_unknown("remember", unknown, _SAYABLE)
    if what is None:
        return [Draft(**said)], True
    single = not isinstance(what, list | tuple)
    things: Sequence[object] = [what] if single else what  # type: ignore[assignment]
    if not single and not said.keys().isdisjoint(("id", "key", "vector")):
        raise BadInput("id, key and vector belong to one record; give a list of Draft(id=…) for many")
    drafts = each_item(_draft, things)
    if said:
        drafts = [_fill_gaps(draft, said) for draft in drafts]
    return drafts, single


def units_said(text: object, data: Json, kind: str | None) -> list[str]:
    """Returns the units to embed of a text or, without one, of the text generated from the data."""
    if text is None and data is not None:
        text = tell_data(clean_json(data, "data"), kind)
    return units_of(text) if isinstance(text, str) else []


def _draft(thing: object) -> Draft:
    match thing:
        case str():
            return Draft(text=thing)
        case Draft():
            return thing
        case Message():
            return _from_message(thing)
        case Mapping() if "role" in thing and not thing.keys().isdisjoint(("content", "tool_calls")):
            return _from_dict(thing)
        case Mapping() if isinstance(thing.get("role"), str) and isinstance(thing.get("text"), str):
            rest = {name: value for name, value in thing.items() if name != "text"}
            return _from_dict({**rest, "content": thing["text"]})
        case Mapping() if "role" in thing and thing.keys() <= _MESSAGE:
            raise BadInput(f"a message needs content or tool_calls; this one has only {sorted(thing)}")
        case Mapping():
            return Draft(data=thing, kind=Kind.STATE)
        case PurePath():
            raise BadInput(
                f"to remember what a file or folder says: eidet.exchange.sync_files(memory, {str(thing)!r}); "
                "to remember a path as a text, give it as a str"
            )
    raise BadInput(f"a memory must be a text, a message or a dict, not {type(thing).__name__}")


def _fill_gaps(draft: Draft, said: Mapping[str, Any]) -> Draft:
    """Completes a draft from the details of the whole call; the kind of the call wins."""
    gaps = {
        name: value for name, value in said.items() if name == "kind" or getattr(draft, name) in (None, ())
    }
    if draft.meta and said.get("meta"):
        gaps["meta"] = {**said["meta"], **draft.meta}
    return replace(draft, **gaps)


def _from_dict(given: Mapping[str, Any]) -> Draft:
    """Builds a draft from a provider's message; keeps lists of content parts and unknown keys in its data."""
    known = {name: value for name, value in given.items() if name in _MESSAGE}
    kept = {name: value for name, value in given.items() if name not in _MESSAGE}
    content = given.get("content")
    if isinstance(content, list | tuple):
        kept["content"] = content
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        known["content"] = "\n".join(text for text in texts if isinstance(text, str))
    draft = _from_message(Message(**known))
    return replace(draft, data={**draft.data, **kept}) if kept else draft


def _from_message(message: Message) -> Draft:
    data: dict[str, Json] = {"role": clean_text(message.role, "role")}
    if message.tool_calls is not None and not isinstance(message.tool_calls, list | tuple):
        raise BadInput(f"tool_calls must be a list, not {type(message.tool_calls).__name__}")
    if message.tool_calls:
        data["tool_calls"] = list(message.tool_calls)
    if message.tool_call_id is not None:
        data["tool_call_id"] = message.tool_call_id
    if message.name is not None:
        data["name"] = message.name
    return Draft(
        text=message.content,
        data=data,
        kind=Kind.MESSAGE,
        who=message.name or message.role,
        trust=Trust.TOOL if message.role == "tool" else None,
        occurred=message.timestamp,
        meta=message.metadata or None,
    )


def shape_record(draft: Draft, *, scope: str, now: float, text_chars: int) -> Record:
    """Builds the record of a draft, without vector and terms; raises `BadInput` if the draft is invalid."""
    data = None if draft.data is None else clean_json(draft.data, "data")
    kind = Kind.FACT if draft.kind is None else kind_of(draft.kind)
    if kind is Kind.PROCEDURE:
        check_procedure(data)
    occurred = now if draft.occurred is None else moment(draft.occurred, "occurred")
    ttl = None if draft.ttl is None else _check_ttl(draft.ttl)
    expires = None if draft.expires is None else _expires(draft.expires, now)
    if expires is None and ttl is not None:
        expires = moment(now + min(ttl, 1e300), "ttl")  # larger ones are no floats
    state = NO_STATE if ttl is None else State(ttl=ttl)
    if draft.pinned is not None and check_flag(draft.pinned, "pinned"):
        pin = Protection(at=now, by=acts().by)
        state, expires = state.but(pinned=pin).protect_from(expires), None
    return Record.of(
        (  # in the order of the fields; `Record(…)` takes ten times as long
            _id(draft, now),
            scope,
            _text(draft.text, data, kind, text_chars),
            kind,
            Tier.SHORT if draft.tier is None else tier_of(draft.tier),
            data,
            None if draft.who is None else _label(draft.who, "who"),
            None if draft.agent is None else _label(draft.agent, "agent"),
            None if draft.session is None else _label(draft.session, "session"),
            None if draft.step is None else check_whole(draft.step, -STEP_LIMIT, STEP_LIMIT, "step"),
            None if draft.place is None else check_place(draft.place),
            0.5 if draft.importance is None else check_share(draft.importance, "importance"),
            now,
            occurred,
            *_UNUSED,
            expires,
            None if draft.source is None else _label(draft.source, "source"),
            {} if draft.meta is None else _meta(draft.meta),
            state,
            *_NOT_DERIVED,
            _ids(draft.derived_from, "derived_from") if draft.derived_from else (),
            Trust.USER if draft.trust is None else trust_of(draft.trust),
            *_NOT_STORED,
        )
    )


def _id(draft: Draft, now: float) -> str:
    if draft.key is None:
        return new_id(now) if draft.id is None else _check_id(draft.id)
    if draft.id is not None:
        raise BadInput("give an id or a key, not both")
    return key_id(clean_text(draft.key, "key"))


def _check_id(id: str) -> str:
    if not isinstance(id, str) or not 1 <= len(id) <= 200 or not id.isprintable():
        raise BadInput(
            f"an id must have 1 to 200 printable characters, not {id!r:.80}; any text can be a `key`"
        )
    return id


def _text(text: str | None, data: Json, kind: Kind, text_chars: int) -> str:
    if text is None and data is not None:
        text = tell_data(data, kind)
    if text is None or (not clean_text(text, "text").strip() and data is None):
        raise BadInput("there is nothing to remember: the text is empty, and there is no data")
    if len(text) > text_chars:
        raise BadInput(
            f"the text has {len(text):,} characters, the limit is {text_chars:,}; split it into parts "
            "(the setting text_chars raises the limit)"
        )
    return text


def _ids(ids: Sequence[str], what: str) -> tuple[str, ...]:
    if not isinstance(ids, list | tuple):
        raise BadInput(f"{what} must be a list of ids, not {type(ids).__name__}")
    check_count(len(ids), DERIVED_FROM, f"ids in {what}")
    return tuple(each_item(partial(clean_text, what=what), ids))


def _label(value: str, what: str) -> str:
    if not clean_text(value, what) or len(value) > LABEL_CHARS:
        raise BadInput(f"{what} must have 1 to {LABEL_CHARS:,} characters, not {len(value):,}")
    return value


def _check_ttl(ttl: float | timedelta) -> float:
    """Returns a time to live in seconds; raises `BadInput` if it is not above 0."""
    seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else plain_value(ttl)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise BadInput(f"ttl is a number of seconds above 0, or a timedelta, not {ttl!r:.80}")
    return seconds


def give_state(record: Record, state: State, expires: float | None) -> Record:
    """Gives a record a state and an expiry, which waits until its pins and holds end."""
    if state.is_protected:
        return record.but(state=state.protect_from(expires), expires=None)
    return record.but(state=state, expires=expires)


def _expires(expires: Moment | timedelta, now: float) -> float:
    if isinstance(expires, timedelta):
        end = now + expires.total_seconds()
    else:
        end = moment(expires, "expires")
    if end <= now:
        raise BadInput("expires is in the past: the memory would be gone at once")
    return moment(end, "expires")


def _meta(meta: Mapping[str, Json]) -> dict[str, Json]:
    if not isinstance(meta, Mapping):
        raise BadInput(f"meta must be a dict, not {type(meta).__name__}")
    cleaned: dict[str, Json] = clean_json(meta, "meta")
    return cleaned
