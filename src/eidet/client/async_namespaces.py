"""The namespaces of a memory on a server, for asyncio: what it answers, and what to do instead."""

from __future__ import annotations

from typing import ClassVar

from ..aio import AsyncAdmin, AsyncKeys, AsyncTrust, AsyncUpkeep
from ..memory import Memory
from ..memory.async_facts import AsyncFacts
from ..net.hop import Threads
from . import fact_requests, mark_requests, refusals, requests_of, transfer_requests
from .remote_verbs import Async, await_answer, await_refusal
from .sending import AsyncSender


class AsyncClientFacts(Async, AsyncFacts):
    """`client.facts` for asyncio: what held when, and who is who."""

    def __init__(self, sender: AsyncSender, threads: Threads[Memory]) -> None:
        super().__init__(threads, lambda: threads.core().facts)
        self._sender = sender

    add: ClassVar = await_answer(AsyncFacts.add, fact_requests.add)
    about: ClassVar = await_answer(AsyncFacts.about, fact_requests.about)
    match: ClassVar = await_answer(AsyncFacts.match, fact_requests.match)
    neighbours: ClassVar = await_answer(AsyncFacts.neighbours, fact_requests.neighbours)
    paths: ClassVar = await_answer(AsyncFacts.paths, fact_requests.paths)
    timeline: ClassVar = await_answer(AsyncFacts.timeline, fact_requests.timeline)
    entities: ClassVar = await_answer(AsyncFacts.entities, fact_requests.entities)
    profile: ClassVar = await_answer(AsyncFacts.profile, fact_requests.profile)
    why: ClassVar = await_answer(AsyncFacts.why, fact_requests.why)
    instructions: ClassVar = await_answer(AsyncFacts.instructions, fact_requests.instructions)
    contradictions: ClassVar = await_answer(AsyncFacts.contradictions, fact_requests.contradictions)
    resolve: ClassVar = await_answer(AsyncFacts.resolve, fact_requests.resolve)
    retract: ClassVar = await_answer(AsyncFacts.retract, fact_requests.retract)
    merge: ClassVar = await_answer(AsyncFacts.merge, fact_requests.merge)
    split: ClassVar = await_answer(AsyncFacts.split, fact_requests.split)
    undo: ClassVar = await_answer(AsyncFacts.undo, fact_requests.undo)
    decisions: ClassVar = await_answer(AsyncFacts.decisions, fact_requests.decisions)
    export: ClassVar = await_answer(AsyncFacts.export, fact_requests.export)
    read: ClassVar = await_refusal(AsyncFacts.read, refusals.FACTS["read"])
    networkx: ClassVar = await_refusal(AsyncFacts.networkx, refusals.FACTS["networkx"])
    load: ClassVar = await_refusal(AsyncFacts.load, refusals.FACTS["load"])


class AsyncClientUpkeep(Async, AsyncUpkeep):
    """`client.upkeep` for asyncio: marks on single records."""

    def __init__(self, sender: AsyncSender, threads: Threads[Memory]) -> None:
        super().__init__(threads, lambda: threads.core().upkeep)
        self._sender = sender

    pin: ClassVar = await_answer(AsyncUpkeep.pin, mark_requests.pin)
    unpin: ClassVar = await_answer(AsyncUpkeep.unpin, mark_requests.unpin)
    hold: ClassVar = await_answer(AsyncUpkeep.hold, mark_requests.hold)
    release: ClassVar = await_answer(AsyncUpkeep.release, mark_requests.release)
    maintain: ClassVar = await_refusal(AsyncUpkeep.maintain, refusals.UPKEEP["maintain"])
    background: ClassVar = await_refusal(AsyncUpkeep.background, refusals.UPKEEP["background"])
    retention: ClassVar = await_refusal(AsyncUpkeep.retention, refusals.UPKEEP["retention"])
    end_session: ClassVar = await_refusal(AsyncUpkeep.end_session, refusals.UPKEEP["end_session"])
    unarchive: ClassVar = await_refusal(AsyncUpkeep.unarchive, refusals.UPKEEP["unarchive"])
    fit: ClassVar = await_refusal(AsyncUpkeep.fit, refusals.UPKEEP["fit"])
    detail: ClassVar = await_refusal(AsyncUpkeep.detail, refusals.UPKEEP["detail"])
    restore: ClassVar = await_refusal(AsyncUpkeep.restore, refusals.UPKEEP["restore"])


class AsyncClientTrust(Async, AsyncTrust):
    """`client.trust` for asyncio: what a forget would take along, and what waits for a look."""

    def __init__(self, sender: AsyncSender, threads: Threads[Memory]) -> None:
        super().__init__(threads, lambda: threads.core().trust)
        self._sender = sender

    preview_forget: ClassVar = await_answer(AsyncTrust.preview_forget, requests_of.preview_forget)
    review: ClassVar = await_answer(AsyncTrust.review, requests_of.review)
    quarantine: ClassVar = await_refusal(AsyncTrust.quarantine, refusals.TRUST["quarantine"])
    approve: ClassVar = await_refusal(AsyncTrust.approve, refusals.TRUST["approve"])
    reveal: ClassVar = await_refusal(AsyncTrust.reveal, refusals.TRUST["reveal"])
    forget_value: ClassVar = await_refusal(AsyncTrust.forget_value, refusals.TRUST["forget_value"])
    verify_forgotten: ClassVar = await_refusal(
        AsyncTrust.verify_forgotten, refusals.TRUST["verify_forgotten"]
    )
    verify_receipt: ClassVar = await_refusal(AsyncTrust.verify_receipt, refusals.TRUST["verify_receipt"])


class AsyncClientKeys(Async, AsyncKeys):
    """`client.keys` for asyncio: keys of a sealed memory stay with the server."""

    def __init__(self, sender: AsyncSender, threads: Threads[Memory]) -> None:
        super().__init__(threads, lambda: threads.core().keys)
        self._sender = sender

    rotate: ClassVar = await_refusal(AsyncKeys.rotate, refusals.KEYS["rotate"])
    shred: ClassVar = await_refusal(AsyncKeys.shred, refusals.KEYS["shred"])


class AsyncClientAdmin(Async, AsyncAdmin):
    """`client.admin` for asyncio: how the memory on the server does."""

    def __init__(self, sender: AsyncSender, threads: Threads[Memory]) -> None:
        super().__init__(threads, lambda: threads.core().admin)
        self._sender = sender

    stats: ClassVar = await_answer(AsyncAdmin.stats, transfer_requests.stats)
    health: ClassVar = await_answer(AsyncAdmin.health, transfer_requests.health)
    sessions: ClassVar = await_answer(AsyncAdmin.sessions, requests_of.sessions)
    metrics: ClassVar = await_refusal(AsyncAdmin.metrics, refusals.ADMIN["metrics"])
    check: ClassVar = await_refusal(AsyncAdmin.check, refusals.ADMIN["check"])
    flush: ClassVar = await_refusal(AsyncAdmin.flush, refusals.ADMIN["flush"])
    rebuild: ClassVar = await_refusal(AsyncAdmin.rebuild, refusals.ADMIN["rebuild"])
    reembed: ClassVar = await_refusal(AsyncAdmin.reembed, refusals.ADMIN["reembed"])
    phrase_query: ClassVar = await_refusal(AsyncAdmin.phrase_query, refusals.ADMIN["phrase_query"])
    explain: ClassVar = await_refusal(AsyncAdmin.explain, refusals.ADMIN["explain"])
