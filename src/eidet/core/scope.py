"""Scopes: the isolation boundary between memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .errors import BadInput

MOST_SCOPES: Final = 100  # that one question may name

ONE = "*"  # a wildcard for one label elsewhere; here it names nothing
ALL = "**"  # every scope, for verbs that can cover all
BELOW = "/**"  # the suffix of a scope that includes all below it


@dataclass(frozen=True, slots=True)
class Scope:
    """The isolation boundary: a path of labels such as `acme/ann`.

    `"acme"` names exactly one scope. `"acme/**"` names `acme` and all below it, wherever a scope is taken;
    `Scope.under("acme")` is the same, and is printed as `acme/**`. Verbs that read take several scopes as a
    list, which `Scope.among` turns into one value.
    """

    path: str = "default"
    below: bool = False
    also: tuple[Scope, ...] = ()  # further scopes that a question reads; none of them lies within another

    def __post_init__(self) -> None:
        if isinstance(self.path, str) and self.path.endswith(BELOW):
            object.__setattr__(self, "path", self.path.removesuffix(BELOW))
            object.__setattr__(self, "below", True)
        check_scope(self.path)

    @classmethod
    def of(cls, scope: Scopes) -> Scope:
        """Parses one scope, which may include all below it; raises `BadInput` for a list."""
        if isinstance(scope, str):
            return _make_scope(scope)
        if isinstance(scope, list | tuple) or (isinstance(scope, Scope) and scope.also):
            raise BadInput(f"this takes one scope, not a list of them: {cls.among(scope)}")
        return scope if isinstance(scope, Scope) else cls(scope)  # type: ignore[arg-type]  # it refuses others

    @classmethod
    def among(cls, scopes: Scopes) -> Scope:
        """Builds one value from one or several scopes: `Scope.among(["ann", "team/core"])`.

        A scope that is named twice, or that lies within another one of the list, counts once.
        """
        if not isinstance(scopes, list | tuple):
            return scopes if isinstance(scopes, Scope) else cls.of(scopes)
        if not scopes:
            raise BadInput("a list of scopes names at least one scope, such as ['ann', 'team/core']")
        if len(scopes) > MOST_SCOPES:
            raise BadInput(f"a question names at most {MOST_SCOPES} scopes, not {len(scopes):,}")
        return _join_scopes(tuple(one if isinstance(one, Scope) else cls.of(one) for one in scopes))

    @classmethod
    def under(cls, path: str) -> Scope:
        return cls(path, below=True)

    @classmethod
    def exactly(cls, path: str) -> Scope:
        """Names exactly one scope by its full path; refuses `users/**` instead of expanding it.

        A path may have any labels. If a stranger chooses one of them, use `join`.
        """
        check_scope(path)
        return cls(path)

    @classmethod
    def join(cls, *labels: str) -> Scope:
        """Builds one scope from labels that may come from strangers: `Scope.join("users", name)`.

        Refuses what is more than one label or could be taken for a pattern or a folder: `a/b`, `*`, `..`.
        """
        for label in labels:
            _check_label(label)
        return cls.exactly("/".join(labels))

    @property
    def members(self) -> tuple[Scope, ...]:
        """Lists the scopes named, in the order given; just this one if there are no others."""
        return (Scope(self.path, self.below), *self.also) if self.also else (self,)

    @property
    def is_one(self) -> bool:
        """Returns whether this is a single scope, whose whole name is `path`."""
        return not (self.below or self.also)

    def holds(self, path: str) -> bool:
        return (
            path == self.path
            or (self.below and path.startswith(self.path + "/"))
            or any(one.holds(path) for one in self.also)
        )

    def __contains__(self, other: Scope) -> bool:
        """Returns whether everything that `other` covers lies within this scope."""
        return all(
            any(own.holds(one.path) and own.below >= one.below for own in self.members)
            for one in other.members
        )

    def __str__(self) -> str:
        own = self.path + (BELOW if self.below else "")
        return ", ".join((own, *map(str, self.also)))


Scopes = str | Scope | Sequence[str | Scope]  # what verbs that read take: one scope, or a list of them


def _check_label(label: str) -> None:
    if not isinstance(label, str):
        raise BadInput(f"a label of a scope must be a string such as 'ann', not {type(label).__name__}")
    if "/" in label or label in (ONE, ALL, ".", ".."):
        raise BadInput(f"{label!r} cannot be a label of a scope: a label has no '/' and is none of * ** . ..")


@lru_cache(maxsize=4096)
def _make_scope(path: str) -> Scope:
    return Scope(path)


@lru_cache(maxsize=4096)
def _join_scopes(scopes: tuple[Scope, ...]) -> Scope:
    named = dict.fromkeys(one for given in scopes for one in given.members)
    first, *also = [one for one in named if not any(one in other for other in named if other != one)]
    return Scope(first.path, first.below, tuple(also))


def check_scope(path: str) -> None:
    """Checks a path: labels of 1 to 200 printable characters without '/', not `*` or `**`; 1,000 in all."""
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
