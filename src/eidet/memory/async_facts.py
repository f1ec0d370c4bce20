"""`memory.facts` for asyncio."""

from __future__ import annotations

from typing import ClassVar

from ..net.hop import Hopping, hop
from .facts import FactsNamespace


class AsyncFacts(Hopping[FactsNamespace]):
    """`memory.facts` for asyncio."""

    add: ClassVar = hop(FactsNamespace.add)
    read: ClassVar = hop(FactsNamespace.read)
    about: ClassVar = hop(FactsNamespace.about)
    match: ClassVar = hop(FactsNamespace.match)
    neighbours: ClassVar = hop(FactsNamespace.neighbours)
    paths: ClassVar = hop(FactsNamespace.paths)
    timeline: ClassVar = hop(FactsNamespace.timeline)
    entities: ClassVar = hop(FactsNamespace.entities)
    profile: ClassVar = hop(FactsNamespace.profile)
    why: ClassVar = hop(FactsNamespace.why)
    instructions: ClassVar = hop(FactsNamespace.instructions)
    contradictions: ClassVar = hop(FactsNamespace.contradictions)
    resolve: ClassVar = hop(FactsNamespace.resolve)
    retract: ClassVar = hop(FactsNamespace.retract)
    merge: ClassVar = hop(FactsNamespace.merge)
    undo: ClassVar = hop(FactsNamespace.undo)
    decisions: ClassVar = hop(FactsNamespace.decisions)
    export: ClassVar = hop(FactsNamespace.export)
    networkx: ClassVar = hop(FactsNamespace.networkx)
    load: ClassVar = hop(FactsNamespace.load)
