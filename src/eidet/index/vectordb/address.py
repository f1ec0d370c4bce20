"""Addresses of vector databases, as in `qdrant+https://host:6333?key=env:QDRANT_API_KEY`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any, Final
from uuid import UUID

from ...core.errors import BadInput, Misconfigured, MissingExtra
from ...core.settings import Settings
from ...models.embed import Embedder
from ...net.http import HttpClient, NoSuchResource, join_endpoint
from ...net.retry import Retrier, RetryPolicy
from ...net.url import Options
from ...store import Store
from ...text import Analyzer
from ..embedded.lexicon import make_lexicon
from . import Database, VectorLost, VectorSettings, VectorShelf
from .index import VectorIndex

RETRY_POLICY: Final = RetryPolicy(deadline_seconds=10.0, break_after=3, rest_seconds=5.0)
_NUMBERS: Final = {f.name for f in fields(VectorSettings)} - {"background", "prefix"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseAddress:
    """A parsed address: the database's location, credentials and options.

    `target` is an http(s) address, a path of a file, or ":memory:".
    """

    name: str
    target: str
    key: str | None = None
    options: Mapping[str, str]
    settings: VectorSettings
    retry_policy: RetryPolicy = RETRY_POLICY

    @property
    def shown(self) -> str:
        """The address for messages, without the key."""
        return f"{self.name} at {self.target}"

    def number(self, option: str, usual: float) -> float:
        return Options(self.options).parse_number(option, usual)


def parse_database_address(
    url: str, environment: Mapping[str, str], *, own: tuple[str, ...] = ()
) -> DatabaseAddress:
    """Parses an address; `own` lists the options of this database beside those that all have."""
    place, _, query = url.partition("?")
    kind, _, rest = place.partition("://")
    name, _, scheme = kind.partition("+")
    options = Options.parse(query, hint=f"see docs/operate/vector-databases.md on {name}")
    options.check_known(sorted({"background", "deadline", "key", "prefix", *_NUMBERS, *own}))
    if scheme in ("http", "https"):
        rest = join_endpoint(f"{scheme}://{rest}", "", f"the index {name}")
    elif not rest or scheme not in ("", "file"):
        raise Misconfigured(
            f"the index {name} needs an address, such as {name}+http://localhost:8080, not {place!r}"
        )
    deadline = options.parse_number("deadline", RETRY_POLICY.deadline_seconds)
    return DatabaseAddress(
        name=name,
        target=rest,
        key=options.read_secret("key", environment, "the index"),
        options=options.values,
        settings=_parse_settings(options),
        retry_policy=replace(RETRY_POLICY, deadline_seconds=deadline),
    )


def _parse_settings(options: Options) -> VectorSettings:
    usual = VectorSettings()
    given: dict[str, Any] = {
        number: type(getattr(usual, number))(options.parse_number(number, 0.0))
        for number in _NUMBERS & options.values.keys()
    }
    prefix = options.get_text("prefix", usual.prefix)
    if not (prefix.isalnum() and prefix[:1].isupper() and prefix.isascii()):
        raise Misconfigured("the prefix of collections is letters and digits, the first a capital letter")
    return replace(usual, **given, prefix=prefix, background=options.parse_flag("background", True))


def open_vector_index(
    connect: Callable[[DatabaseAddress], Database],
    store: Store,
    width: int,
    settings: Settings,
    *,
    package: str | None = None,
    own: tuple[str, ...] = (),
    renewed: Callable[[], None] | None = None,
    embedder: Embedder | None = None,
    analyzer: Analyzer | None = None,
) -> VectorIndex:
    """Opens the index at the address in the setting `index`; `package` is its driver, from an extra."""
    address = parse_database_address(settings.index, os.environ, own=own)
    if package is not None and find_spec(package) is None:
        raise MissingExtra(f"the index {address.name}", extra=address.name)
    return VectorIndex(
        store,
        width,
        connect(address),
        settings=address.settings,
        memory_mb=settings.index_memory_mb,
        renewed=renewed,
        lexicon=make_lexicon(embedder, analyzer),
        analyzer=analyzer,
    )


class Http:
    """JSON over HTTP, for databases that need no driver of their own."""

    def __init__(self, address: DatabaseAddress, headers: Mapping[str, str], *, under: str = "") -> None:
        if not address.target.startswith("http"):
            example = f"{address.name}+https://HOST"
            raise Misconfigured(f"{address.name} is reached by {example}, not {address.target!r}")
        self.retrier: Retrier = Retrier(address.shown, address.retry_policy)
        self._client = HttpClient(endpoint=address.target + under, headers=headers)

    def ask(self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None) -> Any:
        """Returns the JSON of the answer; None for an empty one.

        Raises `VectorLost` for 404, `Unavailable` for temporary failures, and `Misconfigured` for all others.
        """
        return self.retrier.call(partial(self._ask_once, method, path, body, query))

    def _ask_once(
        self, method: str, path: str, body: Any, query: Mapping[str, Any] | None, left: float
    ) -> Any:
        try:
            return self._client.request(method, path, left, body=body, query=query)
        except NoSuchResource as missing:
            raise VectorLost(str(missing)) from None
        except BadInput as refused:
            raise Misconfigured(str(refused)) from None


def uuid_of(shelf: VectorShelf, key: int) -> str:
    """Makes a UUID from shelf and key: a record may be on two shelves at once."""
    space = int.from_bytes(blake2b(shelf.name.encode(), digest_size=8).digest(), "big")
    return str(UUID(int=space << 64 | key))


def key_in(id: object) -> int:
    """Returns the key from which a UUID was made."""
    return UUID(str(id)).int & ((1 << 64) - 1)
