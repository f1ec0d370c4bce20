"""Scopes: the isolation boundary between memories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .errors import BadInput

ONE = "*"  # what a pattern of one label would be elsewhere; here it names nothing
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
        """One scope by its whole path: `users/**` is refused, not understood.

        A path may have any labels. If a stranger chooses one of them, use `join`.
        """
        check_scope(path)
        return cls(path)

    @classmethod
    def join(cls, *labels: str) -> Scope:
        """One scope of these labels, which strangers may choose: `Scope.join("users", name)`.

        Refuses what is more than one label or could be taken for a pattern or a folder: `a/b`, `*`, `..`.
        """
        for label in labels:
            _check_label(label)
        return cls.exactly("/".join(labels))

    def holds(self, path: str) -> bool:
        return path == self.path or (self.below and path.startswith(self.path + "/"))

    def __str__(self) -> str:
        return self.path + (BELOW if self.below else "")


def _check_label(label: str) -> None:
    if not isinstance(label, str):
        raise BadInput(f"a label of a scope must be a string such as 'ann', not {type(label).__name__}")
    if "/" in label or label in (ONE, ALL, ".", ".."):
        raise BadInput(f"{label!r} cannot be a label of a scope: a label has no '/' and is none of * ** . ..")


@lru_cache(maxsize=4096)
def _make_scope(path: str) -> Scope:
    return Scope(path)


def check_scope(path: str) -> None:
    """Labels are any printable text without '/', 1 to 200 characters each, 1,000 in all; not `*` or `**`."""
    if not isinstance(path, str):
        raise BadInput(f"a scope must be a string such as 'acme/ann', not {type(path).__name__}")
    if len(path) > 1000:
        raise BadInput(f"a scope has at most 1,000 characters, this one has {len(path):,}")
    if path == ALL:
        raise BadInput(
            "scope '**': this does not reach over every scope; name one ('acme'), one and all below it "
            "('acme/**'), or go through memory.scopes()"
        )
    labels = path.split("/")
    if ALL in labels:
        raise BadInput(f"scope {path!r}: '**' stands once at the end of a scope, as in 'acme/**'")
    if ONE in labels:
        raise BadInput(f"scope {path!r}: '*' is no pattern; 'acme/**' is acme and all below it")
    for label in labels:
        if not label or len(label) > 200 or label != label.strip() or not label.isprintable():
            raise BadInput(
                f"scope {path!r}: each label between '/' needs 1 to 200 printable characters "
                "and no space at its ends"
            )
