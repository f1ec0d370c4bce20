"""Asks models: `consult` returns a usable answer or raises, `consult_or_fall_back` uses rules instead.

The JSON object of a schema is found in the model's text whether it stands alone, in a fence or amid prose.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Generic, Literal, TypeVar

from ...core.errors import BadInput, EidetError, Misconfigured, Refused, Unavailable, translate_errors
from ...core.validate import Json, clean_json, clean_text
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
_log = logging.getLogger("eidet.llm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """A value and its origin; `cause` and `why` say why it is not the model's, "" if it is."""

    value: T
    by: Literal["llm", "rules"]
    cause: str = ""
    why: str = ""


def consult_or_fall_back(
    llm: LLM | None, request: Request, *, read: Callable[[Answer], T], otherwise: Callable[[], T]
) -> Outcome[T]:
    """Parses the model's answer with `read`; falls back to `otherwise` if none is usable.

    No failure of the model is raised; each is logged as a warning of `eidet.llm`. Errors of `otherwise` are
    raised.
    """
    if llm is None:
        return Outcome(value=otherwise(), by="rules", cause="none", why="no LLM is set")
    try:
        return Outcome(value=consult(llm, request, read), by="llm")
    except EidetError as error:
        known = (cause for kind, cause in _CAUSES if isinstance(error, kind))
        cause, why = error.cause if isinstance(error, BadAnswer) else next(known, "error"), str(error)
    _log.warning("%s: the rules decided, because the model failed (%s): %s", request.purpose, cause, why)
    return Outcome(value=otherwise(), by="rules", cause=cause, why=why)


def consult(llm: LLM, request: Request, read: Callable[[Answer], T]) -> T:
    """Returns what `read` makes of the answer; asks once more for JSON that it cannot use.

    With a schema, the answer has a `value`. `read` rejects an answer by raising ValueError, LookupError,
    TypeError … Raises `Declined`, `BadAnswer`, and what `LLM.ask` raises.
    """
    answer = _ask_model(llm, request)
    if request.schema is None:
        return _read_answer(answer, read)
    try:
        return read_object(answer, read)
    except BadAnswer as bad:
        again = _ask_model(llm, _repair(request, answer, str(bad)))
    return read_object(again, read)


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


def read_object(answer: Answer, read: Callable[[Answer], T]) -> T:
    """Reads the first JSON object in the text that `read` can use; raises `BadAnswer` if there is none."""
    first: BadAnswer | None = None
    for value in _objects(answer.text):
        try:
            return _read_answer(replace(answer, value=value), read)
        except BadAnswer as bad:
            first = first or bad
    if first is not None:
        raise first
    if not answer.text.strip():
        raise BadAnswer("it is empty", cause="empty")
    raise BadAnswer("it holds no complete JSON object", cause="malformed")


def _read_answer(answer: Answer, read: Callable[[Answer], T]) -> T:
    try:
        return read(answer)
    except _UNREADABLE as error:
        why = f"it could not be read ({type(error).__name__}: {error})"
        raise BadAnswer(why, cause="unusable") from error


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
