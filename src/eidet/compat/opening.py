"""Helpers of all doors: opening the memory, checking numbers, and issuing unique numbers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, ParamSpec, Self, TypeVar

from ..aio import AsyncMemory
from ..core.errors import BadInput, EidetError, Misconfigured, Refused
from ..core.record import Record
from ..memory import Memory
from ..models.adapt import CalledEmbedder
from ..models.embed import Embedder, Vectors, embed_checked, is_costly
from ..models.embed.quantise import find_cosines
from ..net.hop import lend_loop
from ..recall.recipes import Recipe
from ..store import SETTINGS, Transaction, verbs
from ..write.shape import Given

P = ParamSpec("P")
T = TypeVar("T")
COSINE: Final = Recipe(name="cosine", dense=1.0, words=0.0, importance=0.0, nothing=0.0)
Place = Memory | AsyncMemory | str | Path | None


class OwnsMemory:
    """A context manager around `memory`. It closes a memory it opened; one that was given stays open."""

    memory: Memory
    _owned: bool

    def _take(self, place: Place, **how: Any) -> None:
        """Opens the memory, or takes the one that was given."""
        self.memory = open_memory(place, **how)
        self._owned = not is_shared(place)

    def close(self) -> None:
        """Closes a memory that was opened here; one that was given is its owner's to close."""
        if self._owned:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


def open_memory(memory: Place = None, **how: Any) -> Memory:
    """Returns a given memory as it is, opens a path or URL, or makes a new memory in RAM for None.

    `how` are keywords of `Memory` (embedder, settings, clock …) for one that is opened here; None leaves
    the default. For a memory that is open already they raise `Misconfigured`.
    """
    given = {name: value for name, value in how.items() if value is not None}
    if isinstance(memory, Memory | AsyncMemory):
        if given:
            raise Misconfigured(
                f"{', '.join(sorted(given))} cannot be changed on a memory that is already open: "
                "set it where you open the memory"
            )
        return memory if isinstance(memory, Memory) else memory.core
    if memory is not None and not isinstance(memory, str | Path):
        raise Misconfigured(f"memory= must be a Memory, a path, a URL or None, not {type(memory).__name__}")
    return Memory(memory, **given)


def open_with_embedder(place: Place, embedder: Embedder | None, advice: str, **how: Any) -> Memory:
    """Opens a memory with an embedder. An open one must have the same, or the error includes `advice`."""
    if embedder is None or not is_shared(place):
        return open_memory(place, embedder=embedder, **how)
    memory = open_memory(place, **how)
    has = memory.parts.embedder.name
    if has != embedder.name:
        raise Misconfigured(f"the given memory uses the embedder {has!r}, not {embedder.name!r}: {advice}")
    return memory


def is_shared(memory: object) -> bool:
    """Returns whether a door was given an open memory, which its owner will close."""
    return isinstance(memory, Memory | AsyncMemory)


def embed_query(memory: Memory, query: str) -> Vectors:
    """Returns the vector of a query as the memory sees it: with tokens for values that its guard hides."""
    rows = embed_checked(memory.parts.embedder, [memory.trust.guarding.query(query)])
    first: Vectors = rows[0]
    return first


def find_nearest(memory: Memory, vector: Vectors | Sequence[float], **how: Any) -> list[tuple[Record, float]]:
    """Recalls by cosine to a vector alone, nearest first; `how` are further options of `recall`."""
    hits = memory.recall(vector=vector, recipe=COSINE, understand=False, **how)
    records = [hit.record for hit in hits]
    near = zip(records, find_cosines(records, vector), strict=True)
    return sorted(near, key=lambda pair: -pair[1])


def list_texts(memory: Memory, what: Sequence[Given]) -> list[str]:
    """Returns the texts that the memory will embed for these inputs, in the form it will keep."""
    return memory.trust.guarding.texts(list(what), {})


async def embed_ahead(memory: Memory, texts: Sequence[str]) -> None:
    """Embeds texts into the embedder's cache; learns a function's width from a text.

    So a user's function is called only with given texts, never just to find out its width.
    """
    embedder = memory.parts.embedder
    if is_costly(embedder):
        await run(memory, embed_checked, embedder, texts)
    elif isinstance(embedder, CalledEmbedder) and not embedder.knows_width and texts:
        await asyncio.to_thread(embedder.embed, texts[:1])


def is_blank(memory: Memory, embedder: Embedder | None) -> bool:
    """Returns whether nothing was ever embedded here, so that reading would only probe the width."""
    unasked = isinstance(embedder, CalledEmbedder) and not embedder.knows_width
    return unasked and verbs.get_setting(memory.parts.store, "width") is None


def refuse_held(memory: Memory, ids: Sequence[str], *, scope: str) -> None:
    """Refuses to replace records under a legal hold, before anything is added beside them."""
    for record in memory.get(list(ids), scope=scope):
        if record is not None and record.state.hold is not None:
            raise Refused(f"record {record.id!r} is under a legal hold: `release` it before it is replaced")


async def run(memory: Memory, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a synchronous call for an asynchronous door: in a thread, unless nothing in it waits."""
    if memory.parts.waits:
        return await asyncio.to_thread(lend_loop(partial(verb, *args, **kwargs)))
    return verb(*args, **kwargs)


def check_whole(value: Any, name: str, *, least: int | None = 0, error: type[EidetError] = BadInput) -> int:
    """Returns a whole number, from `least` up unless that is None; raises `error` for other values."""
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        wanted = "a whole number"
        if least is not None:
            wanted += f" from {least} up"
        raise error(f"{name} must be {wanted}, not {value!r}")
    return value


def check_limit(value: Any, name: str, *, least: int = 1, error: type[EidetError] = BadInput) -> int | None:
    """Returns a whole number from `least` up, or None for no limit; raises `error` for other values."""
    return None if value is None else check_whole(value, name, least=least, error=error)


def check_number(
    value: Any,
    name: str,
    *,
    least: float = 0.0,
    most: float = math.inf,
    error: type[EidetError] = BadInput,
) -> float:
    """Returns a finite number from `least` to `most`, both included; raises `error` for other values."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not least <= value <= most:
        span = f"from {least:g} to {most:g}" if most < math.inf else f"from {least:g} up"
        raise error(f"{name} must be a number {span}, not {value!r}")
    return float(value)


def check_positive(value: Any, name: str, *, error: type[EidetError] = BadInput) -> float:
    """Returns a finite number above 0; raises `error` for other values."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        raise error(f"{name} must be a number above 0, not {value!r}")
    return float(value)


def next_number(memory: Memory, series: str) -> int:
    """Returns the next number of a series, from 0 up, and never the same one twice on a store."""
    key_ids, name = memory.parts.key_ids, series.encode()
    own = f"number of {key_ids.mark(name)}"  # before the write, because this may create the store's secret
    settings = [f"number of {mark}" for mark in key_ids.list_marks(name)]

    def take(transaction: Transaction) -> int:
        number = max(map(int, transaction.values(SETTINGS, settings).values()), default=0)
        transaction.set_values(SETTINGS, {own: str(number + 1)})
        return number

    return memory.parts.store.write(take)  # no verb issues numbers, and recall would find a record
