"""The questions that an evaluation answered worst, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .show import style_text

if TYPE_CHECKING:
    from rich.text import Text

    from ..eval import Report
    from ..eval.runner import QuestionAnswer

WORST: Final = 3
SAID: Final = 100  # characters of a record that are shown

Texts = dict[tuple[str, str | None], str]


def tell_worst(report: Report) -> Iterator[Text]:
    """Each with what came first and what was expected; nothing if every gold record came first."""
    from ..eval.page import worst

    texts: Texts = {}
    for case in report.cases:
        for draft in case.records:
            texts[case.scope, draft.id] = draft.text or ""
    for number, answer in enumerate(worst(report, WORST)):
        if not number:
            yield style_text(("worst questions", "bold"))
        yield from _tell_question(answer, texts)


def _tell_question(answer: QuestionAnswer, texts: Texts) -> Iterator[Text]:
    yield style_text(f"  {answer.question.text}", (f"  ({answer.scope}, {answer.question.id})", "dim"))
    first = "nothing"
    if answer.found:
        first = _quote(answer.scope, answer.found[0].id, texts)
    yield style_text(("    came first  ", "dim"), first)
    for id in answer.question.gold[:2]:
        place = _find_place(answer, id)
        yield style_text(
            ("    expected    ", "dim"), _quote(answer.scope, id, texts), (f"  {place}", "yellow")
        )


def _quote(scope: str, id: str, texts: Texts) -> str:
    text = " ".join(texts.get((scope, id), "").split())
    if len(text) > SAID:
        text = f"{text[:SAID]}…"
    return f"{id}: {text}"


def _find_place(answer: QuestionAnswer, id: str) -> str:
    for place, hit in enumerate(answer.found, 1):
        if hit.id == id:
            return f"came at {place}"
    return "did not come"
