"""A cache of answers that evicts the least recently used and checks that an answer is still valid."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, Final, Generic, ParamSpec, Protocol, TypeVar, cast

from ..opening import check_number
from .errors import MemoryConfigException

P = ParamSpec("P")
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
MOST: Final = 20_000  # the most records that all answers of a cache hold together


@dataclass(slots=True)
class _Kept(Generic[T]):
    answer: T
    stamp: Hashable
    weight: int
    until: float


class ResultCache(Generic[T]):
    """Keeps answers for `ttl` seconds; 0 keeps none. Thread-safe."""

    def __init__(self, ttl: float, size: int, clock: Callable[[], float]) -> None:
        self._ttl = check_number(ttl, "a cache's ttl", error=MemoryConfigException)
        self._size, self._clock = size, clock
        self._kept: OrderedDict[Hashable, _Kept[T]] = OrderedDict()
        self._lock = threading.Lock()
        self._weight = self._hits = self._misses = 0

    def get(self, key: Hashable, still: Callable[[Hashable], Hashable | None]) -> T | None:
        """Returns the answer if it is still valid: `still` turns its stamp into a new one, or None."""
        now = self._clock()
        with self._lock:
            kept = self._kept.get(key)
        stamp = None if kept is None or kept.until <= now or not self._ttl else still(kept.stamp)
        with self._lock:
            if kept is None or stamp is None:
                self._misses += 1
                self._drop(key, kept)
                return None
            self._hits += 1
            kept.stamp = stamp
            if self._kept.get(key) is kept:
                self._kept.move_to_end(key)
            return kept.answer

    def put(self, key: Hashable, answer: T, stamp: Hashable, weight: int) -> None:
        if not self._ttl or weight > MOST:
            return
        with self._lock:
            self._drop(key, self._kept.get(key))
            self._kept[key] = _Kept(answer, stamp, weight, self._clock() + self._ttl)
            self._weight += weight
            while self._kept and (len(self._kept) > self._size or self._weight > MOST):
                self._weight -= self._kept.popitem(last=False)[1].weight

    def _drop(self, key: Hashable, kept: _Kept[T] | None) -> None:
        if kept is not None and self._kept.get(key) is kept:
            del self._kept[key]
            self._weight -= kept.weight

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._weight = 0

    def set_ttl(self, ttl: float) -> None:
        """Sets the time to live of cached and future answers; none stays longer."""
        with self._lock:
            self._ttl = check_number(ttl, "a cache's ttl", error=MemoryConfigException)
            latest = self._clock() + self._ttl
            for kept in self._kept.values():
                kept.until = min(kept.until, latest)
        if not self._ttl:
            self.clear()

    def info(self) -> dict[str, Any]:
        with self._lock:
            return {
                "entries": len(self._kept),
                "max_entries": self._size,
                "memories": self._weight,
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
        cache: ResultCache[tuple[T]] = ResultCache(ttl, max_size, clock)

        @wraps(function)
        def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            key = key_of((args, kwargs))
            kept = cache.get(key, lambda stamp: stamp)
            if kept is None:
                kept = (function(*args, **kwargs),)
                cache.put(key, kept, "kept", 1)
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
