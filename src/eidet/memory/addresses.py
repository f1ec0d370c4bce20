"""Finds the client class for the address of a server: `Memory("http://…")` builds a client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ..core.errors import Misconfigured
from ..core.plugins import load_plugin
from ..net.url import is_server

PAGES: Final = "docs/coming-from"  # where the same tasks stand side by side

_OURS: Final[dict[str, str]] = {
    "remember(text)": """add add_memory add_memories add_message add_messages add_texts add_documents
        add_episode append create insert memorize put save save_context store upsert write index""",
    "recall(question)": """search query retrieve similarity_search similarity_search_with_score lookup ask
        get_relevant_documents search_memory search_memories semantic_search""",
    "context(question)": "get_context get_user_context get_memory_context load_memory_variables as_prompt",
    "find(scope=…)": "get_all all list list_memories peek get_memories get_messages scan",
    "get(id)": "fetch get_memory get_by_id get_by_ids",
    "revise(id, text=…)": "update edit modify replace set update_memory",
    "forget(id)": "delete remove delete_memory delete_memories erase pop",
    "forget(scope=…, everything=True)": "delete_all reset clear drop delete_user delete_collection truncate",
    "scopes()": "users list_users get_users namespaces list_namespaces collections list_collections",
    "count()": "size length total",
    "facts.about(name)": "about get_facts entities timeline graph",
    "admin.stats()": "stats info status describe",
    "upkeep.maintain()": "maintain optimize vacuum cleanup",
    "export(path)": "dump backup to_json",
    "load(path)": "restore from_json import_",
}
_DURABLE: Final = frozenset(("commit", "persist", "sync"))


def _list_verbs(table: dict[str, str]) -> Iterable[tuple[str, str]]:
    for ours, names in table.items():
        for name in names.split():
            yield name, ours


FOREIGN: Final[dict[str, str]] = dict(_list_verbs(_OURS))


class _ForeignVerbs:
    """Makes an unknown verb of another library fail with the name of ours."""

    if not TYPE_CHECKING:  # else type checkers would take every name for one that exists

        def __getattr__(self, name: str) -> object:
            raise AttributeError(_describe_verb(type(self).__name__, name), name=name, obj=self)


def _describe_verb(owner: str, name: str) -> str:
    """Words the error for a missing attribute."""
    if name in _DURABLE:
        return f"{owner!r} has no {name!r}: once a call returns, its data is durable"
    ours = FOREIGN.get(name)
    if ours is None:
        return f"{owner!r} object has no attribute {name!r}"
    return f"{owner!r} has no {name!r}: use {ours}; {PAGES} shows the verbs of other libraries beside ours"


class Addressed(_ForeignVerbs):
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
