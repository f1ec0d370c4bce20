"""Tenants with scopes that are easily taken for one another, and words by which their records are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final
from unicodedata import normalize

from ..core.errors import BadInput
from ..core.scope import Scope

_SCOPES: Final = (
    "a",
    "a/b",
    "ab",
    "A",
    "a_",
    "a%",
    "a/../b",
    "' OR 1=1 --",
    "b",
    "a/b/c",
    "aa",
    "a*",
    "a\\b",
    'a"b',
    "é",
    "e\u0301",  # the same to the eye
    "ａ",  # full width
    "а",
    "a/b%",
    "a; DROP TABLE record; --",
    "${a}",
    "{a}",
    "..",
    "NULL",
    "default",
    "日本/語",
    "🦊",
    "a/" + "x" * 200,
    "/".join(["deep"] * 40),
    "null/0",
)
INVALID: Final = (
    "",
    "*",
    "a/*",
    "a/**/b",
    "/",
    "a/",
    "/a",
    "a//b",
    " a",
    "a ",
    "a\x00",
    "a\x00b",
    "a\nb",
    "a\tb",
    "a\u202eb",
    "a\x7f",
    "\ud800",
    "x" * 201,
    "/".join(["x" * 100] * 11),
)
_LETTERS: Final = "bcdfghjklmnpqrtvwz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A tenant with a scope. Others may say `bait` and `name`; only the owner says `secret`."""

    scope: str
    secret: str
    bait: str
    name: str

    def may_see(self, other: Tenant, *, below: bool) -> bool:
        return other is self or (below and other.scope.startswith(self.scope + "/"))

    @property
    def looks(self) -> str:
        """Returns the scope as a careless comparison takes it."""
        return normalize("NFKC", self.scope).casefold()

    def is_twin(self, other: Tenant) -> bool:
        return self is not other and self.looks == other.looks

    def is_alike(self, other: Tenant) -> bool:
        """Tells whether one could be mistaken for the other, or for a part of it."""
        return self is not other and (
            self.looks.startswith(other.looks) or other.looks.startswith(self.looks)
        )

    def reach(self, below: bool) -> Scope:
        return Scope(self.scope, below=below)


def tenants_of(count: int, random: Random) -> list[Tenant]:
    """Makes as many tenants as wanted: odd scopes first, then plain ones."""
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= 1000:
        raise BadInput(f"tenants must be from 2 to 1,000 (a leak needs two), not {count!r}")
    return [_tenant(scope, random) for scope, _ in zip(_scopes(), range(count), strict=False)]


def _scopes() -> Iterator[str]:
    yield from _SCOPES
    number = 0
    while True:
        yield f"tenant{number}"
        number += 1


def _tenant(scope: str, random: Random) -> Tenant:
    """Makes a tenant whose words no stemmer shortens and no text has by chance."""
    words = ["".join(random.choices(_LETTERS, k=10)) + "x" for _ in range(3)]
    return Tenant(scope=scope, secret=f"zq{words[0]}", bait=f"by{words[1]}", name=f"Jo{words[2]}")
