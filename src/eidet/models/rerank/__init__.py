"""A second look at the best hits: the `Reranker` port, and `reranker_of`, which finds the one meant.

There is no default: Eidet ranks by itself. A reranker reads query and text together, which is
better and a thousand times slower, so it is asked about the few best hits only.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, TypeGuard, runtime_checkable

from ...core.errors import BadInput, Misconfigured
from ...core.plugins import call_plugin, list_plugins, load_plugin, translate_errors

SLACK = 1e-6  # rounding may carry a score this far out of 0 to 1


@runtime_checkable
class Reranker(Protocol):
    """Says how well texts answer a query. `RerankerContract` tests these laws."""

    @property
    def name(self) -> str:
        """Says which scores these are; where it can, in the words `reranker_of` understands."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in the order given, each finite and from 0 (off the point) to 1.

        The same query and text give the same score, alone or in company, whatever the order; no
        texts give no scores. Empty and very long texts are scored too. Safe in many threads.
        Raises `Unavailable` for what may pass, `BadInput` for texts that are not taken,
        `Misconfigured` for a wrong key, address or model, or an answer that breaks these laws.
        """


def score_checked(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """What the reranker answers, after number and range of the scores were verified."""
    if isinstance(texts, str):
        raise BadInput("reranking takes a list of texts; wrap a single text: [text]")
    if not texts:
        return []
    with translate_errors(f"reranker {reranker.name!r}"):
        answer = reranker.scores(query, texts)
    return check_scores(reranker.name, texts, answer)


def check_scores(name: str, texts: Sequence[str], answer: Any) -> list[float]:
    """The answer as floats from 0 to 1, one per text, or `Misconfigured` saying what came."""
    scores = numbers(name, texts, answer)
    for text, score in zip(texts, scores, strict=True):
        if out_of_range(score):
            raise Misconfigured(
                f"reranker {name!r} gave {score:g} for the text {text[:80]!r}; scores are from 0 to 1. "
                "If they are logits, say so: adapt(…, logits=True)"
            )
    return [min(max(score, 0.0), 1.0) for score in scores]


def numbers(name: str, texts: Sequence[str], answer: Any) -> list[float]:
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
    return not -SLACK <= score <= 1 + SLACK


def sigmoid(logit: float) -> float:
    """A logit as a number from 0 to 1: order is kept, apart from what rounding makes equal."""
    grown = math.exp(-abs(logit))
    return (1.0 if logit >= 0 else grown) / (1.0 + grown)


GROUP = "eidet.rerankers"
BUILT_IN = {
    "sentence-transformers": ".local:SentenceTransformersReranker",
    "fastembed": ".local:FastEmbedReranker",
}


def reranker_of(
    thing: object,
    *,
    key: str | None = None,
    timeout: float = 30.0,
    environment: Mapping[str, str] = os.environ,
) -> Reranker:
    """The reranker a user means.

    A string names one: `"http:MODEL@URL"` or just a URL (see `HttpReranker`),
    `"sentence-transformers:MODEL"`, `"fastembed:MODEL"`, or an entry point of the group
    `eidet.rerankers`. A reranker is itself; any other callable `(query, texts)`, sync or async, is
    adapted. Without `key`, COHERE_API_KEY, JINA_API_KEY or VOYAGE_API_KEY go to their own provider's
    address only. `timeout` bounds a call of a service or coroutine.
    """
    if isinstance(thing, str):
        return _make_named(thing, key, timeout, environment)
    if isinstance(thing, type):
        raise Misconfigured(f"reranker {thing.__name__} is a class; give an instance: {thing.__name__}()")
    if _is_reranker(thing):
        return thing
    from .adapt import adapt

    return adapt(thing, timeout=timeout)


def _is_reranker(thing: Any) -> TypeGuard[Reranker]:
    from ..adapt import is_async

    if not isinstance(thing, Reranker) or not isinstance(thing.name, str):
        return False
    return callable(thing.scores) and not is_async(thing.scores)


def _make_named(spec: str, key: str | None, timeout: float, environment: Mapping[str, str]) -> Reranker:
    name, _, setting = spec.partition(":")
    if name in ("http", "https"):
        from .http import HttpReranker

        return HttpReranker.from_spec(spec, key=key, timeout=timeout, environment=environment)
    if name in BUILT_IN:
        make = _load_built_in(BUILT_IN[name])
        built: Reranker = make(setting) if setting else make()
        return built
    return _make_plugged_in(name, setting)


def _load_built_in(place: str) -> Callable[..., Any]:
    module, _, attribute = place.partition(":")
    make: Callable[..., Any] = getattr(import_module(f".{module}", __name__), attribute)
    return make


def _make_plugged_in(name: str, setting: str) -> Reranker:
    if (make := load_plugin(GROUP, name)) is None:
        known = ", ".join(sorted({"http", *BUILT_IN, *list_plugins(GROUP)}))
        raise Misconfigured(f"no reranker is called {name!r}; there are {known}, or give a callable")
    made: Reranker = call_plugin(GROUP, name, make, [setting] if setting else [])
    if not _is_reranker(made):
        raise Misconfigured(
            f"{name!r} of {GROUP} must return a reranker (name, scores), not {type(made).__name__}"
        )
    return made
