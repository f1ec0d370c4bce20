"""The namespaces of a memory on a server: what it answers, and what to do instead of the rest."""

from __future__ import annotations

from typing import NoReturn

from ..memory.admin import AdminNamespace
from ..memory.facts import FactsNamespace
from ..memory.keys import KeysNamespace
from ..memory.trust import TrustNamespace
from ..memory.upkeep import UpkeepNamespace
from . import fact_requests, mark_requests, refusals, requests_of, transfer_requests
from .remote_verbs import Sync, ask, make_absence, refuse
from .sending import Sender


class ClientFacts(Sync, FactsNamespace):
    """`client.facts`: what held when, and who is who."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    add = ask(FactsNamespace.add, fact_requests.add)
    about = ask(FactsNamespace.about, fact_requests.about)
    match = ask(FactsNamespace.match, fact_requests.match)
    neighbours = ask(FactsNamespace.neighbours, fact_requests.neighbours)
    paths = ask(FactsNamespace.paths, fact_requests.paths)
    timeline = ask(FactsNamespace.timeline, fact_requests.timeline)
    entities = ask(FactsNamespace.entities, fact_requests.entities)
    profile = ask(FactsNamespace.profile, fact_requests.profile)
    why = ask(FactsNamespace.why, fact_requests.why)
    instructions = ask(FactsNamespace.instructions, fact_requests.instructions)
    contradictions = ask(FactsNamespace.contradictions, fact_requests.contradictions)
    resolve = ask(FactsNamespace.resolve, fact_requests.resolve)
    retract = ask(FactsNamespace.retract, fact_requests.retract)
    merge = ask(FactsNamespace.merge, fact_requests.merge)
    split = ask(FactsNamespace.split, fact_requests.split)
    undo = ask(FactsNamespace.undo, fact_requests.undo)
    decisions = ask(FactsNamespace.decisions, fact_requests.decisions)
    export = ask(FactsNamespace.export, fact_requests.export)
    read = refuse(FactsNamespace.read, refusals.FACTS["read"])
    networkx = refuse(FactsNamespace.networkx, refusals.FACTS["networkx"])
    load = refuse(FactsNamespace.load, refusals.FACTS["load"])


class ClientUpkeep(Sync, UpkeepNamespace):
    """`client.upkeep`: marks on single records."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    @property
    def keeping(self) -> NoReturn:
        raise make_absence(self._sender.sending.url, "upkeep.keeping", refusals.OPEN_STORE)

    pin = ask(UpkeepNamespace.pin, mark_requests.pin)
    unpin = ask(UpkeepNamespace.unpin, mark_requests.unpin)
    hold = ask(UpkeepNamespace.hold, mark_requests.hold)
    release = ask(UpkeepNamespace.release, mark_requests.release)
    maintain = refuse(UpkeepNamespace.maintain, refusals.UPKEEP["maintain"])
    background = refuse(UpkeepNamespace.background, refusals.UPKEEP["background"])
    retention = refuse(UpkeepNamespace.retention, refusals.UPKEEP["retention"])
    end_session = refuse(UpkeepNamespace.end_session, refusals.UPKEEP["end_session"])
    unarchive = refuse(UpkeepNamespace.unarchive, refusals.UPKEEP["unarchive"])
    fit = refuse(UpkeepNamespace.fit, refusals.UPKEEP["fit"])
    detail = refuse(UpkeepNamespace.detail, refusals.UPKEEP["detail"])
    restore = refuse(UpkeepNamespace.restore, refusals.UPKEEP["restore"])


class ClientTrust(Sync, TrustNamespace):
    """`client.trust`: what a forget would take along, and what waits for a look."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    @property
    def guarding(self) -> NoReturn:
        raise make_absence(self._sender.sending.url, "trust.guarding", refusals.OPEN_STORE)

    preview_forget = ask(TrustNamespace.preview_forget, requests_of.preview_forget)
    review = ask(TrustNamespace.review, requests_of.review)
    quarantine = refuse(TrustNamespace.quarantine, refusals.TRUST["quarantine"])
    approve = refuse(TrustNamespace.approve, refusals.TRUST["approve"])
    reveal = refuse(TrustNamespace.reveal, refusals.TRUST["reveal"])
    forget_value = refuse(TrustNamespace.forget_value, refusals.TRUST["forget_value"])
    verify_forgotten = refuse(TrustNamespace.verify_forgotten, refusals.TRUST["verify_forgotten"])
    verify_receipt = refuse(TrustNamespace.verify_receipt, refusals.TRUST["verify_receipt"])


class ClientKeys(Sync, KeysNamespace):
    """`client.keys`: keys of a sealed memory stay with the server."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    rotate = refuse(KeysNamespace.rotate, refusals.KEYS["rotate"])
    shred = refuse(KeysNamespace.shred, refusals.KEYS["shred"])


class ClientAdmin(Sync, AdminNamespace):
    """`client.admin`: how the memory on the server does."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    stats = ask(AdminNamespace.stats, transfer_requests.stats)
    health = ask(AdminNamespace.health, transfer_requests.health)
    sessions = ask(AdminNamespace.sessions, requests_of.sessions)
    metrics = refuse(AdminNamespace.metrics, refusals.ADMIN["metrics"])
    check = refuse(AdminNamespace.check, refusals.ADMIN["check"])
    flush = refuse(AdminNamespace.flush, refusals.ADMIN["flush"])
    rebuild = refuse(AdminNamespace.rebuild, refusals.ADMIN["rebuild"])
    reembed = refuse(AdminNamespace.reembed, refusals.ADMIN["reembed"])
    phrase_query = refuse(AdminNamespace.phrase_query, refusals.ADMIN["phrase_query"])
    explain = refuse(AdminNamespace.explain, refusals.ADMIN["explain"])
