"""Scopes: the isolation boundary between memories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .errors import BadInput

ALL = "**"  # every scope, where a verb can mean that
BELOW = "/**"  # ends the name of a scope that is meant with all below it


@dataclass(frozen=True, slots=True)
class Scope:
    """The isolation boundary: a path of labels such as `acme/ann`.

    `"acme"` names exactly one scope. `"acme/**"` names `acme` and all below it, wherever a scope is taken;
    `Scope.under("acme")` is the same, and is printed as `acme/**`.
    """

    path: str = "default"
    below: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.path, str) and self.path.endswith(BELOW):
            object.__setattr__(self, "path", self.path.removesuffix(BELOW))
            object.__setattr__(self, "below", True)
        check_scope(self.path)

    @classmethod
    def of(cls, scope: str | Scope) -> Scope:
        if isinstance(scope, str):
            return _make_scope(scope)
        return scope if isinstance(scope, Scope) else cls(scope)

    @classmethod
    def under(cls, path: str) -> Scope:
        return cls(path, below=True)

    @classmethod
    def exactly(cls, path: str) -> Scope:
        """One scope, whose name may come from a stranger: `users/**` is refused, not understood."""
        check_scope(path)
        return cls(path)

    def holds(self, path: str) -> bool:
        return path == self.path or (self.below and path.startswith(self.path + "/"))

    def __str__(self) -> str:
        return self.path + (BELOW if self.below else "")


@lru_cache(maxsize=4096)
def _make_scope(path: str) -> Scope:
    return Scope(path)


def check_scope(path: str) -> None:
    """Labels are any printable text without '/', 1 to 200 characters each, 1,000 in all, and no `**` last."""
    if not isinstance(path, str):
        raise BadInput(f"a scope must be a string such as 'acme/ann', not {type(path).__name__}")
    if len(path) > 1000:
        raise BadInput(f"a scope has at most 1,000 characters, this one has {len(path):,}")
    if path == ALL or path.endswith(BELOW):
        raise BadInput(f"scope {path!r}: '**' stands once at the end of a scope, as in 'acme/**'")
    for label in path.split("/"):
        if not label or len(label) > 200 or label != label.strip() or not label.isprintable():
            raise BadInput(
                f"scope {path!r}: each label between '/' needs 1 to 200 printable characters "
                "and no space at its ends"
            )
