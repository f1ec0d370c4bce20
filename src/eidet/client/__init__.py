"""The verbs of a memory that a server keeps: `Client` and `AsyncClient`.

    requests_of.py   each verb as the requests it makes and what it does with the answers
    served_verbs.py  which verbs a server answers, and what to do instead of the others
    remote_verbs.py  methods from requests          by_address.py   `Memory("http://…")`
    packing.py       what a caller gives, as JSON   unpacking.py    JSON as records, hits, contexts, facts
    sending.py       one request over the wire, and what an error of the server means here

A verb is written once, as a generator that yields requests. `Client` sends them and waits; `AsyncClient`
awaits them. Both are subclasses of the memories whose verbs they have, and `serve` overrides those verbs.
"""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import Any, Final, Self

from ..aio import AsyncAdmin, AsyncFacts, AsyncKeys, AsyncMemory, AsyncTrust, AsyncUpkeep
from ..core.fact_verb_table import FACTS as FACT_VERBS
from ..core.observers import observable
from ..core.record import Record
from ..memory import Memory
from ..memory.admin import AdminNamespace
from ..memory.facts import FactsNamespace
from ..memory.feed import ChangePage
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from ..net.hop import Threads
from ..recall.pack import Context
from . import requests_of
from .remote_verbs import Async, ServedVerbs, Sync, make_namespace, serve
from .requests_of import ask, ask_facts, decide, mark
from .sending import AsyncSender, Sender, Sending
from .unpacking import unpack, unpack_all_hits, unpack_forgotten, unpack_hits, unpack_preview

_ON_HOST: Final = "where its store can be opened, `eidet {command} --at …` does it"


def _run(command: str) -> str:
    return _ON_HOST.format(command=command)


_OPEN_STORE: Final = "open the store itself with Memory(…), by its file or its own URL"

_FACTS: Final = {
    "read": "a model reads records beside the store, so " + _OPEN_STORE,
    "networkx": 'facts.export("json-ld") gives the same as text',
    "load": _run("import mcp FILE"),
}
_UPKEEP: Final = {
    "maintain": _run("maintain") + ", and so does Health in the dashboard",
    "background": "upkeep runs beside the store; " + _run("maintain"),
    "retention": _run("maintain --policies"),
    "end_session": "summaries are written beside the store, so " + _OPEN_STORE,
    "unarchive": _run("load FOLDER"),
    "claim_archive": _run("load FOLDER --claim"),
    "detail": _run("show ID --detail"),
    "restore": _run("mark ID --restore") + ", and so does a record in the dashboard",
}
_TRUST: Final = {
    "quarantine": _run("mark ID --quarantine") + ", and so does a record in the dashboard",
    "verify_receipt": "it needs the secret of the memory; " + _run("receipt FILE"),
}
_KEYS: Final = {
    "rotate": "master keys never leave their host; " + _run("keys master --rotate"),
    "shred": "master keys never leave their host; " + _run("forget --shred --scope SCOPE"),
}
_ADMIN: Final = {
    "metrics": "its page /metrics has them for Prometheus",
    "check": _run("doctor"),
    "flush": "the server writes counts down by itself",
    "rebuild": _run("rebuild"),
    "reembed": _run("rebuild --reembed --embedder NAME"),
    "phrase_query": "recall(…, explain=True).trace says what was understood",
    "explain": "recall(…, explain=True) has the trace, and Why? in the dashboard shows it",
}

MEMORY: Final = ServedVerbs(
    answered={
        "remember": requests_of.remember,
        "get": requests_of.get,
        "recall": ask("recall", unpack_hits),
        "recall_all": ask("recall_all", unpack_all_hits),
        "context": ask("context", partial(unpack, Context)),
        "feedback": requests_of.feedback,
        "find": requests_of.find,
        "count": ask("count", int),
        "revise": requests_of.revise,
        "promote": requests_of.promote,
        "forget": ask("forget", unpack_forgotten),
        "history": requests_of.history,
        "scopes": requests_of.scopes,
        "export": requests_of.export,
        "load": requests_of.load,
    },
    absent={"parts": ("the store", _OPEN_STORE), "audit": ("the audit log", "`eidet audit` reads its file")},
)
FACTS: Final = ServedVerbs(answered={name: ask_facts(name) for name in FACT_VERBS}, refused=_FACTS)
UPKEEP: Final = ServedVerbs(
    answered={
        "pin": mark("PUT", "pin"),
        "unpin": mark("DELETE", "pin"),
        "hold": mark("PUT", "hold"),
        "release": mark("DELETE", "hold"),
    },
    refused=_UPKEEP,
    absent={"keeping": ("upkeep.keeping", _OPEN_STORE)},
)
TRUST: Final = ServedVerbs(
    answered={
        "preview_forget": ask("forget", unpack_preview, preview=True),
        "review": decide("review", partial(unpack, list[Record])),
        "approve": decide("approve", partial(unpack, Record)),
        "reject": decide("reject", unpack_forgotten),
    },
    refused=_TRUST,
    absent={"guarding": ("trust.guarding", _OPEN_STORE)},
)
KEYS: Final = ServedVerbs(refused=_KEYS)
ADMIN: Final = ServedVerbs(
    answered={
        "stats": requests_of.stats,
        "health": requests_of.health,
        "sessions": requests_of.sessions,
        "changes": decide("changes", partial(unpack, ChangePage)),
    },
    refused=_ADMIN,
)


__all__ = ["AsyncClient", "Client", "connect"]


@observable("remember", "recall", "context", "find", "revise", "forget", "export", "load")
@serve(MEMORY)
class Client(Sync, Memory):
    """A memory on a server, with the verbs of `Memory`: `Client("http://127.0.0.1:8765")`.

    `key` is a key of the server's callers; `env:NAME` and `file:PATH` name where it is kept. Without one, the
    variable EIDET_API_KEY is read. A call that cannot reach the server, or that the server asks to wait with,
    is sent again until `timeout` seconds have passed. Storing is never doubled by that. Safe from many
    threads. A verb that no server offers raises `Misconfigured`, whose message says what to do instead.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        sender = Sender(Sending.of(url, key, timeout))
        super().__init__(sender)
        self._namespaces: Any = _ClientNamespaces(sender)

    def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        self._sender.close()

    def __repr__(self) -> str:
        return f"Client({self._sender.sending.url})"


class _ClientNamespaces:
    """The namespaces of a client, where `Memory` looks for its own."""

    def __init__(self, sender: Sender) -> None:
        self.facts = make_namespace(FactsNamespace, FACTS, sender)
        self.upkeep = make_namespace(UpkeepNamespace, UPKEEP, sender)
        self.trust = make_namespace(TrustNamespace, TRUST, sender)
        self.keys = make_namespace(KeysNamespace, KEYS, sender)
        self.admin = make_namespace(AdminNamespace, ADMIN, sender)


@serve(MEMORY)
class AsyncClient(Async, AsyncMemory):
    """`Client` for asyncio, with the verbs of `AsyncMemory`: each awaits the server, none hops to a thread.

    `core` and `threads` are a `Client` of the same server and its threads, for views and doors.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 30.0) -> None:
        sender = AsyncSender(Sending.of(url, key, timeout))
        threads: Threads[Memory] = Threads(partial(Client, url, key=key, timeout=timeout), _waits)
        super().__init__(sender, threads, threads.core)
        core = threads.core
        self.facts = make_namespace(AsyncFacts, FACTS, sender, threads, lambda: core().facts)
        self.upkeep = make_namespace(AsyncUpkeep, UPKEEP, sender, threads, lambda: core().upkeep)
        self.trust = make_namespace(AsyncTrust, TRUST, sender, threads, lambda: core().trust)
        self.keys = make_namespace(AsyncKeys, KEYS, sender, threads, lambda: core().keys)
        self.admin = make_namespace(AsyncAdmin, ADMIN, sender, threads, lambda: core().admin)

    async def close(self) -> None:
        """Closes the connections; closing twice is fine."""
        await self._sender.close()
        await self.threads.close(_close)

    def __repr__(self) -> str:
        return f"AsyncClient({self._sender.sending.url})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _close(client: Memory) -> None:
    client.close()


def _waits(_client: Memory) -> bool:
    return True


def connect(url: str, *, key: str | None = None, timeout: float = 30.0) -> Client:
    """Opens a memory on a server, as `Memory(url)` does: `eidet.connect("http://127.0.0.1:8765")`.

    `timeout` says for how many seconds a call is tried.
    """
    return Client(url, key=key, timeout=timeout)
