"""A store that memories of one process share by name: `Memory("shared://team")`."""

from __future__ import annotations

import threading

from eidet.core.errors import Misconfigured
from eidet.core.settings import Settings
from eidet.store.ram import RamStore

_stores: dict[str, SharedStore] = {}
_lock = threading.Lock()


class SharedStore(RamStore):
    """Lives as long as the process: closing a memory leaves it to the others."""


def shared(url: str, *, settings: Settings) -> SharedStore:
    """The store of that name. Eidet calls this with the whole URL and the settings of the memory."""
    del settings
    name = url.partition("://")[2]
    if not name:
        raise Misconfigured("a shared store needs a name, such as shared://team")
    with _lock:
        return _stores.setdefault(name, SharedStore())
