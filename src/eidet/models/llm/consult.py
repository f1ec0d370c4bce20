"""Asks models: `consult` returns a usable answer or raises, `consult_or_fall_back` uses rules instead.

The JSON object of a schema is found in the model's text whether it stands alone, in a fence or amid prose.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal, TypeVar

from ...core.errors import BadInput, EidetError, Misconfigured, Refused, Unavailable, translate_errors
from ...core.validate import Json, clean_json, clean_text, dump_json
from ...net.http import TooSlow
from . import LLM, Answer, BadAnswer, Declined, Request, Turn, instruction

T = TypeVar("T")
_ECHOED = 4_000  # characters of a bad answer that are sent back to the model
_CAUSES: tuple[tuple[type[EidetError], str], ...] = (
    (TooSlow, "slow"),
    (Unavailable, "unavailable"),
    (Refused, "refused"),
    (BadInput, "rejected"),
    (Misconfigured, "misconfigured"),
)
_UNREADABLE = (
    EidetError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
)  # fmt: skip
_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)  # some servers send them first
_PLACES: Final = 64  # opening braces at which an object is tried
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_log = logging.getLogger("eidet.llm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """A value and its origin; `cause` and `why` say why it is not the model's, "" if it is."""

    value: T
    by: Literal["llm", "rules"]
    cause: str = ""
    why: str = ""
    answer: Answer | None = None


def consult_or_fall_back(
    llm: LLM | None, request: Request, *, read: Callable[[Answer], T], otherwise: Callable[[], T]
) -> Outcome[T]:
    """Parses the model's answer with `read`; falls back to `otherwise` if none is usable.

    No failure of the model is raised; each is logged as a warning of `eidet.llm`. `read` may
    reject the answer by raising ValueError, LookupError, TypeError …; errors of `otherwise` are raised.
    """
    if llm is None:
        return Outcome(value=otherwise(), by="rules", cause="none", why="no LLM is set")
    answer = None
    try:
        answer = consult(llm, request)
        return Outcome(value=read(answer), by="llm", answer=answer)
    except _UNREADABLE as error:
        if answer is None and isinstance(error, EidetError):
            known = (cause for kind, cause in _CAUSES if isinstance(error, kind))
            cause, why = error.cause if isinstance(error, BadAnswer) else next(known, "error"), str(error)
        else:
            cause, why = "unusable", f"the answer could not be used: {type(error).__name__}: {error}"
    _log.warning("%s: the rules decided, because the model failed (%s): %s", request.purpose, cause, why)
    return Outcome(value=otherwise(), by="rules", cause=cause, why=why, answer=answer)


def consult(llm: LLM, request: Request) -> Answer:
    """Returns a usable answer, with its `value` if a schema was given; asks once more if it does not fit.

    Raises `Declined`, `BadAnswer`, and what `LLM.ask` raises.
    """
    answer = _ask_model(llm, request)
    if request.schema is None:
        return answer
    try:
        return replace(answer, value=find_fitting(answer.text, request.schema))
    except BadAnswer as bad:
        again = _ask_model(llm, _repair(request, answer, str(bad)))
    return replace(
        again,
        value=find_fitting(again.text, request.schema),
        tokens_in=_sum(answer.tokens_in, again.tokens_in),
        tokens_out=_sum(answer.tokens_out, again.tokens_out),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _repair(request: Request, answer: Answer, wrong: str) -> Request:
    reply = answer.text[:_ECHOED].encode(errors="replace").decode().strip()
    reply = reply or "(nothing)"  # some endpoints refuse an empty turn
    complaint = f"That answer cannot be used: {wrong}. {instruction(request.schema or {})}"
    return replace(request, before=(*request.turns, Turn("assistant", reply)), prompt=complaint)


def _ask_model(llm: LLM, request: Request) -> Answer:
    """Returns the answer without the model's thoughts; raises if it was declined, cut off or empty."""
    with translate_errors(llm.name):
        answer = llm.ask(request)
    text = _THOUGHTS.sub("", answer.text)
    if answer.stop == "refusal":
        raise Declined(f"{answer.model} declined to answer: {text[:200].strip() or 'no reason given'}")
    if answer.stop == "length":
        raise BadAnswer(
            f"{answer.model} was cut off after {request.max_tokens} tokens; ask for less or raise max_tokens",
            cause="truncated",
        )
    if request.schema is None and not text.strip():
        raise BadAnswer(f"{answer.model} answered nothing", cause="empty")
    try:
        clean = text if request.schema else clean_text(text, "the answer")
    except BadInput as bad:
        raise BadAnswer(str(bad), cause="malformed") from bad
    return replace(answer, text=clean)


def find_fitting(text: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the first object in the text that fits the schema; raises `BadAnswer` with the first misfit."""
    first = ""
    for value in _objects(text):
        wrong = find_misfit(value, schema)
        if not wrong:
            return value
        first = first or wrong
    if first:
        raise BadAnswer(f"its JSON does not fit the schema: {first}", cause="misfit")
    if not text.strip():
        raise BadAnswer("it is empty", cause="empty")
    raise BadAnswer("it holds no complete JSON object", cause="malformed")


def find_misfit(value: Json, schema: Mapping[str, Json], path: str = "$") -> str:
    """Returns the first misfit with its path (`$.facts[2].text`); "" if all fits.

    Checks type, properties, required, additionalProperties (true or false), items, enum, minimum, maximum and
    maxItems. Other keywords are sent to the model but not checked.
    """
    return next(_misfits(value, schema, path), "")


def _misfits(value: Json, schema: Mapping[str, Json], path: str) -> Iterator[str]:
    types = _types(schema)
    if types and not any(_is(value, name) for name in types):
        yield f"{path} has to be {' or '.join(types)}, not {_shorten(value)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{path} has to be one of {_shorten(list(schema['enum']))}, not {_shorten(value)}"
    elif isinstance(value, dict):
        yield from _object_misfits(value, schema, path)
    elif isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            yield f"{path} has to be at most {schema['maxItems']} items, not {len(value)}"
        for at, item in enumerate(value):
            yield from _misfits(item, schema.get("items", {}), f"{path}[{at}]")
    elif isinstance(value, int | float):
        least, most = schema.get("minimum", value), schema.get("maximum", value)
        if not least <= value <= most:
            yield f"{path} has to be from {least} to {most}, not {value}"


def _object_misfits(value: dict[str, Json], schema: Mapping[str, Json], path: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{path} lacks {name!r}" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in known:
            yield from _misfits(item, known[name], f"{path}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{path} has {name[:60]!r}, which is not wanted"


def is_closed(schema: Any) -> bool:
    """Returns whether every object lists and requires all its fields, as strict modes of providers demand."""
    if not isinstance(schema, Mapping):
        return True
    parts = schema.get("properties", {})
    closed = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(parts)
    inner = (*parts.values(), schema.get("items"))
    return (closed or "object" not in _types(schema)) and all(map(is_closed, inner))


def _types(schema: Mapping[str, Json]) -> list[str]:
    given = schema.get("type", [])
    return [given] if isinstance(given, str) else list(given)


def _is(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES.get(name, object))


def _shorten(value: Json) -> str:
    text = dump_json(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _objects(text: str) -> Iterator[dict[str, Json]]:
    """Yields the outermost JSON objects in the text, from left to right."""
    end = 0
    for _ in range(_PLACES):
        if (at := text.find("{", end)) < 0:
            return
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
            yield clean_json(value, "answer")
        except (ValueError, RecursionError):  # BadInput is a ValueError: a number or text JSON cannot carry
            if text[at + 1 : at + 100].lstrip().startswith('"'):
                return  # a broken object: objects inside it are not the answer
            end = at + 1
