"""A cache of answers that evicts the least recently used and checks that an answer is still valid."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, Final, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from ..opening import check_number
from .errors import MemoryConfigException

P = ParamSpec("P")
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
MOST: Final = 20_000  # the most records that all answers of a cache hold together


class _Kept(NamedTuple):
    answer: tuple[Any, ...]
    stamp: Hashable
    made: float


class ResultCache(Generic[T]):
    """Keeps the `size` answers used last, each for `ttl` seconds; 0 keeps none. Thread-safe."""

    def __init__(self, ttl: float, size: int, clock: Callable[[], float]) -> None:
        self._size, self._clock = size, clock
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0
        self.set_ttl(ttl)

    def get(self, key: Hashable, still: Callable[[Hashable], Hashable | None]) -> tuple[T, ...] | None:
        """Returns the answer if it is still valid: `still` turns its stamp into a new one, or None."""
        with self._lock:
            kept = self._kept.pop(key, None)
        fresh = kept is not None and kept.made + self._ttl > self._clock()
        stamp = still(kept.stamp) if kept is not None and fresh else None
        with self._lock:
            if kept is None or stamp is None:
                self._misses += 1
                return None
            self._hits += 1
            self._kept[key] = kept._replace(stamp=stamp)
            return kept.answer

    def put(self, key: Hashable, answer: tuple[T, ...], stamp: Hashable) -> None:
        if not self._ttl:
            return
        with self._lock:
            self._kept[key] = _Kept(answer, stamp, self._clock())
            while len(self._kept) > self._size or self._count() > MOST:
                self._kept.popitem(last=False)

    def _count(self) -> int:
        return sum(len(kept.answer) for kept in self._kept.values())

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

    def set_ttl(self, ttl: float) -> None:
        """Sets the time to live of cached and future answers."""
        self._ttl = check_number(ttl, "a cache's ttl", error=MemoryConfigException)
        if not self._ttl:
            self.clear()

    def info(self) -> dict[str, Any]:
        with self._lock:
            return {
                "entries": len(self._kept),
                "max_entries": self._size,
                "memories": self._count(),
                "hits": self._hits,
                "misses": self._misses,
                "ttl": self._ttl,
            }


class Cached(Protocol[P, R_co]):
    """A function with cached results; `cache_clear` drops them, `cache_info` counts."""

    __name__: str
    cache_clear: Callable[[], None]
    cache_info: Callable[[], dict[str, Any]]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def cacheable(
    ttl: float = 60, max_size: int = 128, *, clock: Callable[[], float] = time.monotonic
) -> Callable[[Callable[P, T]], Cached[P, T]]:
    """Caches the results of a function by its arguments, for `ttl` seconds; errors are not cached.

    Arguments are compared by value; one that is neither hashable nor made of lists, dicts and sets is
    compared by identity.
    """
    check_number(ttl, "a cache's ttl", error=MemoryConfigException)

    def around(function: Callable[P, T]) -> Cached[P, T]:
        cache: ResultCache[T] = ResultCache(ttl, max_size, clock)

        @wraps(function)
        def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            key = key_of((args, kwargs))
            kept = cache.get(key, lambda stamp: stamp)
            if kept is None:
                kept = (function(*args, **kwargs),)
                cache.put(key, kept, "kept")
            return kept[0]

        cached = cast("Cached[P, T]", answer)
        cached.cache_clear, cached.cache_info = cache.clear, cache.info
        return cached

    return around


@dataclass(frozen=True, slots=True, eq=False)
class _Itself:
    """A key that is equal by identity; holds the object, so that no other one can get its id."""

    thing: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def key_of(value: object) -> Hashable:
    """Returns a lookup key for arguments: equal for equal values of equal types (1 is not True)."""
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value), *(key_of(getattr(value, f.name)) for f in fields(value)))
    if isinstance(value, Mapping):
        return ("dict", frozenset((key_of(k), key_of(v)) for k, v in value.items()))
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(key_of, value))
    if isinstance(value, set | frozenset):
        return ("set", frozenset(map(key_of, value)))
    try:
        hash(value)
    except TypeError:
        return _Itself(value)
    return (type(value).__name__, value)
