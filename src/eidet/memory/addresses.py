"""From the address of a server to the class that speaks with it: `Memory("http://…")` is a client."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ..core.errors import Misconfigured
from ..core.foreign_verbs import ForeignVerbs
from ..core.plugins import load_plugin
from ..net.url import is_server


class Addressed(ForeignVerbs):
    """For a class whose objects a server may keep: given the address of one, its client is made instead.

    `clients` is the group of entry points that names the client. The client is a subclass, so `isinstance`
    holds. A class that somebody else makes of it names no group, and opens no server.
    """

    _clients: ClassVar[str | None] = None

    def __init_subclass__(cls, *, clients: str | None = None) -> None:
        super().__init_subclass__()
        cls._clients = clients

    def __new__(cls, *given: Any, **named: Any) -> Self:
        place = given[0] if given else named.get("place")
        if cls._clients is None or not is_server(place):
            return super().__new__(cls)
        client: type[Self] = find_client(cls._clients, place)
        return super().__new__(client)


class KeptByServer:
    """Marks a memory that a server keeps: its verbs wait for the server, and it has no parts here."""


def is_remote(memory: object) -> bool:
    """Whether a server keeps a memory."""
    return isinstance(memory, KeptByServer)


def find_client(group: str, place: str) -> Any:
    """The class that an entry point names for the scheme of an address."""
    scheme = place.partition("://")[0].lower()
    found = load_plugin(group, scheme)
    if found is None:
        raise Misconfigured(
            f"there is no entry point {scheme!r} of {group}; was Eidet installed, or only copied? "
            f"eidet.connect({place!r}) opens a server, too"
        )
    return found
