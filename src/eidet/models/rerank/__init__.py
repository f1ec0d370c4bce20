"""The `Reranker` port, which rates the best hits again, and `reranker_of`, which makes one from a setting.

There is no default: Eidet ranks by itself. A reranker reads query and text together, which is
better and a thousand times slower, so it only gets the few best hits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable

from ...core.errors import BadInput, Misconfigured, translate_errors
from .. import make_named

_SLACK = 1e-6  # rounding may carry a score this far out of 0 to 1


@runtime_checkable
class Reranker(Protocol):
    """Rates how well texts answer a query. `RerankerContract` tests these laws."""

    @property
    def name(self) -> str:
        """Identifies the scores; if possible, by a name that `reranker_of` accepts."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Returns one score per text, in the order given, from 0 (irrelevant) to 1.

        The same query and text give the same score, whatever the other texts and their order; no
        texts give no scores. Empty and very long texts are scored too. Safe in many threads.
        Raises `Unavailable` for temporary failures, `BadInput` for refused texts,
        `Misconfigured` for a wrong key, address or model, or an answer that breaks these laws.
        """


def score_checked(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """Scores texts and checks the number and range of the scores."""
    if isinstance(texts, str):
        raise BadInput("reranking takes a list of texts; wrap a single text: [text]")
    if not texts:
        return []
    with translate_errors(f"reranker {reranker.name!r}"):
        answer = reranker.scores(query, texts)
    return check_scores(reranker.name, texts, answer)


def check_scores(name: str, texts: Sequence[str], answer: Any, *, logits: bool = False) -> list[float]:
    """Returns the answer as floats from 0 to 1, one per text; raises `Misconfigured` if it is anything else.

    Logits, which may be of any size, go through a sigmoid.
    """
    try:
        scores = [float(score) for score in answer]
    except (TypeError, ValueError) as bad:
        raise Misconfigured(f"reranker {name!r} gave something that is not a list of numbers: {bad}") from bad
    if len(scores) != len(texts):
        raise Misconfigured(f"reranker {name!r} gave {len(scores)} scores for {len(texts)} texts")
    for text, score in zip(texts, scores, strict=True):
        if not math.isfinite(score):
            raise Misconfigured(f"reranker {name!r} gave {score} for the text {text[:80]!r}")
        if not (logits or -_SLACK <= score <= 1 + _SLACK):
            raise Misconfigured(
                f"reranker {name!r} gave {score:g} for the text {text[:80]!r}; scores are from 0 to 1. "
                "If they are logits, say so: adapt_reranker(…, logits=True)"
            )
    return [sigmoid(score) if logits else min(max(score, 0.0), 1.0) for score in scores]


def sigmoid(logit: float) -> float:
    """Maps a logit to 0 to 1, in the same order, apart from those that rounding makes equal."""
    grown = math.exp(-abs(logit))
    return (1.0 if logit >= 0 else grown) / (1.0 + grown)


_GROUP = "eidet.rerankers"
_BUILT_IN = {
    "sentence-transformers": ".local:SentenceTransformersReranker",
    "fastembed": ".local:FastEmbedReranker",
}


def reranker_of(thing: object, *, timeout: float = 30.0) -> Reranker:
    """Returns the reranker that a setting describes.

    A string names one: `"sentence-transformers:MODEL"`, `"fastembed:MODEL"`, or an entry point of the group
    `eidet.rerankers`. A reranker is itself; any other callable `(query, texts)`, sync or async, is adapted.
    `timeout` bounds a coroutine.
    """
    if isinstance(thing, str):
        named: Reranker = make_named(thing, _GROUP, _BUILT_IN, _is_reranker, "a reranker (name, scores)")
        return named
    if isinstance(thing, type):
        raise Misconfigured(f"reranker {thing.__name__} is a class; give an instance: {thing.__name__}()")
    if _is_reranker(thing):
        return thing
    from ..adapt import adapt_reranker

    return adapt_reranker(thing, timeout=timeout)


def _is_reranker(thing: Any) -> TypeGuard[Reranker]:
    from ..adapt import is_async

    if not isinstance(thing, Reranker) or not isinstance(thing.name, str):
        return False
    return callable(thing.scores) and not is_async(thing.scores)
