"""Finds the client class for the address of a server: `Memory("http://…")` builds a client."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ..core.errors import Misconfigured
from ..core.plugins import load_plugin
from ..net.url import is_server


class Addressed:
    """A class whose objects may live on a server: given an address, it builds the client instead.

    `clients` is the group of entry points that names the client. The client is a subclass, so `isinstance`
    holds. A subclass that names no group opens no server.
    """

    _clients: ClassVar[str | None] = None

    def __init_subclass__(cls, *, clients: str | None = None) -> None:
        super().__init_subclass__()
        cls._clients = clients

    def __new__(cls, *given: Any, **named: Any) -> Self:
        place = given[0] if given else named.get("place")
        if cls._clients is None or not is_server(place):
            return super().__new__(cls)
        client: type[Self] = _find_client(cls._clients, place)
        return super().__new__(client)


class KeptByServer:
    """Marks a memory on a server: its verbs wait for the server, and it has no parts in this process."""


def is_remote(memory: object) -> bool:
    """Returns whether the memory lives on a server."""
    return isinstance(memory, KeptByServer)


def _find_client(group: str, place: str) -> Any:
    """Loads the client class that an entry point of the group names for the scheme of an address."""
    scheme = place.partition("://")[0].lower()
    found = load_plugin(group, scheme)
    if found is None:
        raise Misconfigured(
            f"there is no entry point {scheme!r} of {group}; was Eidet installed, or only copied? "
            f"eidet.connect({place!r}) opens a server, too"
        )
    return found
