"""A second look at the best hits: the `Reranker` port, and `reranker_of`, which finds the one meant.

There is no default: Eidet ranks by itself. A reranker reads query and text together, which is
better and a thousand times slower, so it is asked about the few best hits only.
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
    """Says how well texts answer a query. `RerankerContract` tests these laws."""

    @property
    def name(self) -> str:
        """Says which scores these are; where it can, in the words `reranker_of` understands."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Returns one score per text, in the order given, from 0 (irrelevant) to 1.

        The same query and text give the same score, alone or in company, whatever the order; no
        texts give no scores. Empty and very long texts are scored too. Safe in many threads.
        Raises `Unavailable` for what may pass, `BadInput` for texts that are not taken,
        `Misconfigured` for a wrong key, address or model, or an answer that breaks these laws.
        """


def score_checked(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """Reranks and verifies number and range of the scores."""
    if isinstance(texts, str):
        raise BadInput("reranking takes a list of texts; wrap a single text: [text]")
    if not texts:
        return []
    with translate_errors(f"reranker {reranker.name!r}"):
        answer = reranker.scores(query, texts)
    return check_scores(reranker.name, texts, answer)


def check_scores(name: str, texts: Sequence[str], answer: Any, *, logits: bool = False) -> list[float]:
    """The answer as floats from 0 to 1, one per text, or `Misconfigured` saying what came.

    Logits, which may be of any size, go through a sigmoid.
    """
    scores = parse_numbers(name, texts, answer)
    if logits:
        return [sigmoid(score) for score in scores]
    for text, score in zip(texts, scores, strict=True):
        if out_of_range(score):
            raise Misconfigured(
                f"reranker {name!r} gave {score:g} for the text {text[:80]!r}; scores are from 0 to 1. "
                "If they are logits, say so: adapt_reranker(…, logits=True)"
            )
    return [min(max(score, 0.0), 1.0) for score in scores]


def parse_numbers(name: str, texts: Sequence[str], answer: Any) -> list[float]:
    """The answer as finite floats of any size, one per text."""
    try:
        scores = [float(score) for score in answer]
    except (TypeError, ValueError) as bad:
        raise Misconfigured(f"reranker {name!r} gave something that is not a list of numbers: {bad}") from bad
    if len(scores) != len(texts):
        raise Misconfigured(f"reranker {name!r} gave {len(scores)} scores for {len(texts)} texts")
    for text, score in zip(texts, scores, strict=True):
        if not math.isfinite(score):
            raise Misconfigured(f"reranker {name!r} gave {score} for the text {text[:80]!r}")
    return scores


def out_of_range(score: float) -> bool:
    return not -_SLACK <= score <= 1 + _SLACK


def sigmoid(logit: float) -> float:
    """A logit as a number from 0 to 1: order is kept, apart from what rounding makes equal."""
    grown = math.exp(-abs(logit))
    return (1.0 if logit >= 0 else grown) / (1.0 + grown)


_GROUP = "eidet.rerankers"
_BUILT_IN = {
    "sentence-transformers": ".local:SentenceTransformersReranker",
    "fastembed": ".local:FastEmbedReranker",
}


def reranker_of(thing: object, *, timeout: float = 30.0) -> Reranker:
    """The reranker a user means.

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
