"""Lets observers watch the verbs of a memory; without observers a call costs nothing more.

Spans, metrics and the log of slow recalls are observers. They see calls of the library itself, so they
also see what a server, a view or an integration asks of a memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(kw_only=True)
class VerbCall:
    """One call of a verb. `answer` is set once the verb returns; `details` grows meanwhile."""

    verb: str  # recall, remember …
    owner: object  # the memory whose verb it is
    signature: inspect.Signature
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    answer: object = None
    details: dict[str, Any] = field(default_factory=dict)  # what the stages of the verb report

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """The verb's arguments by name; empty if the call does not fit the signature."""
        try:
            return self.signature.bind_partial(*self.args, **self.kwargs).arguments
        except TypeError:
            return {}


VerbObserver = Callable[[VerbCall], AbstractContextManager[object]]  # entered before the verb, left after it


_observers: Final[list[VerbObserver]] = []
_current: ContextVar[VerbCall | None] = ContextVar("eidet_verb_call", default=None)


@contextmanager
def observe(observer: VerbObserver) -> Iterator[None]:
    """Shows every call of every memory in this process to an observer, for as long as the block lasts."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def observable(*verbs: str) -> Callable[[type[T]], type[T]]:
    """Makes the calls of some methods of a class visible to observers."""

    def mark(owner: type[T]) -> type[T]:
        for name in verbs:
            setattr(owner, name, _show_calls(getattr(owner, name)))
        return owner

    return mark


def _show_calls(verb: Callable[P, T]) -> Callable[P, T]:
    signature = inspect.signature(verb)

    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _observers:
            return verb(*args, **kwargs)
        seen = VerbCall(verb=verb.__name__, owner=args[0], signature=signature, args=args, kwargs=kwargs)
        with _watch(seen):
            answer = verb(*args, **kwargs)
            seen.answer = answer
        return answer

    return call


@contextmanager
def _watch(call: VerbCall) -> Iterator[None]:
    token = _current.set(call)
    try:
        with ExitStack() as stack:
            for observer in tuple(_observers):
                stack.enter_context(observer(call))
            yield
    finally:
        _current.reset(token)


def add_details(**details: Any) -> None:
    """Adds details to the call under way, for its observers. Does nothing if there are none."""
    if _observers and (call := _current.get()) is not None:
        call.details.update(details)
