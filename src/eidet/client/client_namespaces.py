"""The namespaces of a memory on a server, also for asyncio: what it answers, and what to do instead."""

from __future__ import annotations

from typing import Final, NoReturn

from ..aio import AsyncAdmin, AsyncKeys, AsyncTrust, AsyncUpkeep
from ..core.fact_verb_table import FACTS as FACT_VERBS
from ..memory.admin import AdminNamespace
from ..memory.async_facts import AsyncFacts
from ..memory.facts import FactsNamespace
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from . import refusals, requests_of
from .remote_verbs import Async, ServedVerbs, Sync, make_absence, serve
from .unpacking import unpack_preview

FACTS: Final = ServedVerbs(
    answered={name: requests_of.ask_facts(name) for name in FACT_VERBS}, refused=refusals.FACTS
)
UPKEEP: Final = ServedVerbs(
    answered={
        "pin": requests_of.mark("PUT", "pin"),
        "unpin": requests_of.mark("DELETE", "pin"),
        "hold": requests_of.mark("PUT", "hold"),
        "release": requests_of.mark("DELETE", "hold"),
    },
    refused=refusals.UPKEEP,
)
TRUST: Final = ServedVerbs(
    answered={
        "preview_forget": requests_of.ask("forget", unpack_preview, preview=True),
        "review": requests_of.review,
    },
    refused=refusals.TRUST,
)
KEYS: Final = ServedVerbs(refused=refusals.KEYS)
ADMIN: Final = ServedVerbs(
    answered={
        "stats": requests_of.stats,
        "health": requests_of.health,
        "sessions": requests_of.sessions,
    },
    refused=refusals.ADMIN,
)


@serve(FACTS)
class ClientFacts(Sync, FactsNamespace):
    """`client.facts`: what held when, and who is who."""


@serve(UPKEEP)
class ClientUpkeep(Sync, UpkeepNamespace):
    """`client.upkeep`: marks on single records."""

    @property
    def keeping(self) -> NoReturn:
        raise make_absence(self._sender.sending.url, "upkeep.keeping", refusals.OPEN_STORE)


@serve(TRUST)
class ClientTrust(Sync, TrustNamespace):
    """`client.trust`: what a forget would take along, and what waits for a look."""

    @property
    def guarding(self) -> NoReturn:
        raise make_absence(self._sender.sending.url, "trust.guarding", refusals.OPEN_STORE)


@serve(KEYS)
class ClientKeys(Sync, KeysNamespace):
    """`client.keys`: keys of a sealed memory stay with the server."""


@serve(ADMIN)
class ClientAdmin(Sync, AdminNamespace):
    """`client.admin`: how the memory on the server does."""


@serve(FACTS)
class AsyncClientFacts(Async, AsyncFacts):
    """`client.facts` for asyncio: what held when, and who is who."""


@serve(UPKEEP)
class AsyncClientUpkeep(Async, AsyncUpkeep):
    """`client.upkeep` for asyncio: marks on single records."""


@serve(TRUST)
class AsyncClientTrust(Async, AsyncTrust):
    """`client.trust` for asyncio: what a forget would take along, and what waits for a look."""


@serve(KEYS)
class AsyncClientKeys(Async, AsyncKeys):
    """`client.keys` for asyncio: keys of a sealed memory stay with the server."""


@serve(ADMIN)
class AsyncClientAdmin(Async, AsyncAdmin):
    """`client.admin` for asyncio: how the memory on the server does."""
