"""Asking and judging: `consult` gives a usable answer or says why not; `consult_or_fall_back` never fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from ...core.errors import BadInput, EidetError, Misconfigured, Refused, Unavailable
from ...core.validate import clean_text
from ...net.http import TooSlow
from . import LLM, Answer, BadAnswer, Declined, Request, Turn, instruction
from .answer_json import find_fitting, without_thoughts

T = TypeVar("T")
ECHOED = 4_000  # characters of a bad answer that are shown to the model again
CAUSES: tuple[tuple[type[EidetError], str], ...] = (
    (TooSlow, "slow"),
    (Unavailable, "unavailable"),
    (Refused, "refused"),
    (BadInput, "rejected"),
    (Misconfigured, "misconfigured"),
)
UNREADABLE = (
    EidetError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
)  # fmt: skip
log = logging.getLogger("eidet.llm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """A value and who gave it. `cause` and `why` say what kept the model from it, "" if nothing did."""

    value: T
    by: Literal["llm", "rules"]
    cause: str = ""
    why: str = ""
    answer: Answer | None = None


def consult_or_fall_back(
    llm: LLM | None, request: Request, *, read: Callable[[Answer], T], otherwise: Callable[[], T]
) -> Outcome[T]:
    """What `read` makes of the model's answer; what `otherwise` gives if there is none that can be used.

    No failure of a model gets out of here; each is logged as a warning of `eidet.llm`. `read` may raise to
    say that the answer makes no sense (ValueError, LookupError, TypeError …). Errors of `otherwise` are
    the caller's own and are raised.
    """
    if llm is None:
        return Outcome(value=otherwise(), by="rules", cause="none", why="no LLM is set")
    answer = None
    try:
        answer = consult(llm, request)
        return Outcome(value=read(answer), by="llm", answer=answer)
    except UNREADABLE as error:
        if answer is None and isinstance(error, EidetError):
            cause, why = _cause_of(error), str(error)
        else:
            cause, why = "unusable", f"the answer could not be used: {type(error).__name__}: {error}"
    log.warning("%s: the rules decided, because the model failed (%s): %s", request.purpose, cause, why)
    return Outcome(value=otherwise(), by="rules", cause=cause, why=why, answer=answer)


def consult(llm: LLM, request: Request) -> Answer:
    """An answer that can be used, with its `value` if a schema was given; asks once more if it does not fit.

    Raises `Declined`, `BadAnswer`, and what `LLM.ask` raises.
    """
    answer = _judge_answer(_ask_model(llm, request), request)
    if request.schema is None:
        return answer
    try:
        return replace(answer, value=find_fitting(answer.text, request.schema))
    except BadAnswer as bad:
        again = _judge_answer(_ask_model(llm, _repair(request, answer, str(bad))), request)
    return replace(
        again,
        value=find_fitting(again.text, request.schema),
        tokens_in=_sum(answer.tokens_in, again.tokens_in),
        tokens_out=_sum(answer.tokens_out, again.tokens_out),
    )


def _cause_of(error: EidetError) -> str:
    if isinstance(error, BadAnswer):
        return error.cause
    return next((cause for kind, cause in CAUSES if isinstance(error, kind)), "error")


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _repair(request: Request, answer: Answer, wrong: str) -> Request:
    reply = answer.text[:ECHOED].encode(errors="replace").decode().strip()
    reply = reply or "(nothing)"  # an empty turn is refused by some
    complaint = f"That answer cannot be used: {wrong}. {instruction(request.schema or {})}"
    return replace(request, before=(*request.turns, Turn("assistant", reply)), prompt=complaint)


def _ask_model(llm: LLM, request: Request) -> Answer:
    try:
        return llm.ask(request)
    except EidetError:
        raise
    except Exception as error:  # whatever the user's code raises
        raise Unavailable(f"{llm.name} raised {type(error).__name__}: {error}") from error


def _judge_answer(answer: Answer, request: Request) -> Answer:
    """The answer without the model's thoughts, or what is wrong with it."""
    text = without_thoughts(answer.text)
    if answer.stop == "refusal":
        raise Declined(f"{answer.model} declined to answer: {text[:200].strip() or 'no reason given'}")
    if answer.stop == "length":
        raise BadAnswer(
            f"{answer.model} was cut off after {request.max_tokens} tokens; ask for less or raise max_tokens",
            cause="truncated",
        )
    if request.schema is None:
        _check_text(text, answer.model)
    return replace(answer, text=text)


def _check_text(text: str, model: str) -> None:
    if not text.strip():
        raise BadAnswer(f"{model} answered nothing", cause="empty")
    try:
        clean_text(text, "the answer")
    except BadInput as bad:
        raise BadAnswer(str(bad), cause="malformed") from bad
