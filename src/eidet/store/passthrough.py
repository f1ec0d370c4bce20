"""Wrappers: a store around a store, and a transaction around a transaction.

A wrapper inherits these and defines what it changes. `passes` names what the one inside answers itself, and
`lacks` what the wrapper does not offer. Nothing else gets through, and a test compares all three with the
port, so that no call gets past a wrapper that did not decide about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from . import Store, Transaction


class PassthroughStore:
    """A store around another one. It has an optional ability that it passes on if the store inside has it."""

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = ""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        _pass_on(self, inner, f"health {self.passes}")

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def writable(self) -> bool:
        return self.inner.writable

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class PassthroughTransaction:
    """A transaction around another one."""

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = ""

    def __init__(self, inner: Transaction) -> None:
        self.inner = inner
        _pass_on(self, inner, self.passes)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def _pass_on(wrapper: object, inner: object, names: str) -> None:
    """Makes the methods of the one inside those of the wrapper, as far as it has them."""
    for name in names.split():
        if hasattr(inner, name):
            setattr(wrapper, name, getattr(inner, name))
