"""`memory.facts` for asyncio."""

from __future__ import annotations

from typing import Final

from ..net.hop import Hopping, hop
from .facts import FactsNamespace


class AsyncFacts(Hopping[FactsNamespace]):
    """`memory.facts` for asyncio."""

    add: Final = hop(FactsNamespace.add)
    read: Final = hop(FactsNamespace.read)
    about: Final = hop(FactsNamespace.about)
    match: Final = hop(FactsNamespace.match)
    neighbours: Final = hop(FactsNamespace.neighbours)
    paths: Final = hop(FactsNamespace.paths)
    timeline: Final = hop(FactsNamespace.timeline)
    entities: Final = hop(FactsNamespace.entities)
    profile: Final = hop(FactsNamespace.profile)
    why: Final = hop(FactsNamespace.why)
    instructions: Final = hop(FactsNamespace.instructions)
    contradictions: Final = hop(FactsNamespace.contradictions)
    resolve: Final = hop(FactsNamespace.resolve)
    retract: Final = hop(FactsNamespace.retract)
    merge: Final = hop(FactsNamespace.merge)
    split: Final = hop(FactsNamespace.split)
    undo: Final = hop(FactsNamespace.undo)
    decisions: Final = hop(FactsNamespace.decisions)
    export: Final = hop(FactsNamespace.export)
    networkx: Final = hop(FactsNamespace.networkx)
    load: Final = hop(FactsNamespace.load)
