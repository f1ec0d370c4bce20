"""Any callable as a reranker, sync or async: `(query, texts)` to one number per text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...core.plugins import translate_errors
from ...net.hop import BackgroundLoop
from ..adapt import as_coroutine, find_function, find_name
from . import check_scores, numbers, sigmoid

_background = BackgroundLoop(
    "eidet-rerank", inside="an asynchronous reranker called scores() of another; await that one itself"
)


def adapt(
    thing: Any, *, name: str | None = None, logits: bool = False, timeout: float = 30.0
) -> _CalledReranker:
    """A reranker around a callable, or an object with `scores`, `rerank` or `score`.

    `logits=True` puts its numbers through a sigmoid; without it they have to be from 0 to 1.
    `timeout` bounds a coroutine; code that blocks is waited for. `name` defaults to the qualified
    name of the function or class.
    """
    return _CalledReranker(_find_function(thing), name or find_name(thing), logits=logits, timeout=timeout)


class _CalledReranker:
    """Calls a function; coroutines run on one background loop of this process while the caller waits.

    Whatever the function raises comes out as `Unavailable`, with the original as its cause.
    """

    def __init__(
        self, function: Callable[[str, list[str]], Any], name: str, *, logits: bool, timeout: float
    ) -> None:
        self.name = name
        self._function = function
        self._logits = logits
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"<Reranker {self.name}>"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        answer = self._call(query, list(texts))
        if self._logits:
            return [sigmoid(logit) for logit in numbers(self.name, texts, answer)]
        return check_scores(self.name, texts, answer)

    def _call(self, query: str, texts: list[str]) -> Any:
        with translate_errors(self.name, self._timeout):
            answer = self._function(query, texts)
            if inspect.isawaitable(answer):
                answer = _background.wait_for(as_coroutine(answer), self._timeout)
        return answer


def _find_function(thing: Any) -> Callable[[str, list[str]], Any]:
    advice = "cannot rerank: give a callable (query, texts) with one score per text"
    return find_function(thing, ("scores", "rerank", "score"), advice)
