"""Parses addresses: hosts, logins, options with types and ranges, and where secrets are kept.

Every address looks like `scheme://user:password@host:port/path?option=value`. The backends define which
schemes, options and values they take.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeGuard, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from ..core.errors import Misconfigured
from ..core.private_files import load_secret

API_KEY: Final = "EIDET_API_KEY"  # the environment variable with the key of a server's client

T = TypeVar("T")

_LARGEST_NUMBER: Final = 999_999_999
_YES: Final = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class Options:
    """The query of an address, parsed by type. Errors name the option and end with `hint`."""

    values: Mapping[str, str] = field(repr=False)
    prefix: str = ""  # of the option names in the address
    hint: str = ""

    @classmethod
    def parse(cls, query: str, *, hint: str = "") -> Options:
        return cls(dict(parse_qsl(query, keep_blank_values=True)), hint=hint)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def check_known(self, known: Iterable[str]) -> None:
        """Raises `Misconfigured` for an option that is not one of these; the error lists them."""
        names = list(known)
        for name in sorted(self.values.keys() - set(names)):
            listed = ", ".join(self.prefix + one for one in names)
            raise self.error(f"unknown option {self.prefix + name!r} in the address; there are {listed}")

    def get_text(self, name: str, default: T) -> str | T:
        return self.values.get(name, default)

    def parse_whole(self, name: str, default: int, *, least: int = 0, most: int = _LARGEST_NUMBER) -> int:
        """Parses a whole number within a range."""
        if name not in self.values:
            return default
        text = self.values[name]
        if text.isascii() and text.isdigit():
            number = int(text)
            if least <= number <= most:
                return number
        raise self.error(f"{self.prefix}{name} must be a whole number {_range(least, most)}, not {text!r}")

    def parse_number(self, name: str, default: T, *, above: float | None = None) -> float | T:
        """Parses a number from 0 up, or above a bound."""
        if name not in self.values:
            return default
        text = self.values[name]
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if (number >= 0 if above is None else number > above) and number <= _LARGEST_NUMBER:
            return number
        least = "from 0 up" if above is None else f"above {above:g}"
        raise self.error(f"{self.prefix}{name} must be a number {least}, not {text!r}")

    def parse_choice(self, name: str, choices: Mapping[str, T], default: T) -> T:
        if name not in self.values:
            return default
        text = self.values[name]
        if text not in choices:
            raise self.error(f"{self.prefix}{name} is one of {', '.join(choices)}, not {text!r}")
        return choices[text]

    def parse_flag(self, name: str, default: bool = False) -> bool:
        return default if name not in self.values else self.values[name].lower() in _YES

    def read_secret(self, name: str, environment: Mapping[str, str], whose: str) -> str | None:
        return None if name not in self.values else read_secret(self.values[name], environment, whose)

    def error(self, message: str) -> Misconfigured:
        return Misconfigured(f"{message}: {self.hint}" if self.hint else message)


def _range(least: int, most: int) -> str:
    return f"from {least} up" if most == _LARGEST_NUMBER else f"from {least} to {most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """The parts of an address, still percent-encoded. `str` and `repr` show neither login nor options."""

    scheme: str
    hosts: str
    path: str  # without the leading "/"
    login: str = field(repr=False)
    query: str = field(repr=False)

    def __str__(self) -> str:
        path = f"/{self.path}" if self.path else ""
        return f"{self.scheme}://{self.hosts}{path}"

    def parse_hosts(self, port: int, hint: str = "") -> tuple[tuple[str, int], ...]:
        """Parses hosts with their ports; `port` is the default."""
        return tuple(_parse_host(text, port, hint) for text in self.hosts.split(","))

    def parse_login(self) -> tuple[str | None, str | None]:
        """Returns user and password; None for each that is absent."""
        user, _, password = self.login.partition(":")
        return unquote(user) or None, unquote(password) or None


def split_url(url: str) -> Url:
    """Splits an address into its parts; raises `Misconfigured` for a login that is not percent-encoded."""
    scheme, _, rest = url.partition("://")
    place, _, query = rest.partition("?")
    place, _, path = place.partition("/")
    if "@" in path or "@" in query.partition("&")[0].partition("=")[0]:
        raise Misconfigured(
            "a user or password in an address is percent-encoded: '/' is written %2F, '?' %3F, '@' %40"
        )
    login, _, hosts = place.rpartition("@")
    return Url(scheme=scheme, hosts=hosts, path=path, login=login, query=query)


def _parse_host(text: str, port: int, hint: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        return unquote(parts.hostname or "localhost"), parts.port or port
    except ValueError:
        raise Misconfigured(f"{text!r} is no host and port: {hint}") from None


def is_server(place: object) -> TypeGuard[str]:
    """Returns whether a place is the address of a memory server rather than a store."""
    return isinstance(place, str) and place.lower().startswith(("http://", "https://"))


def read_secret(text: str, environment: Mapping[str, str], whose: str) -> str:
    """Reads a secret: `env:NAME` and `file:PATH` say where it is kept; any other text is the secret."""
    return load_secret(text, f"the key of {whose}", environment).decode("utf-8", "replace").strip()
