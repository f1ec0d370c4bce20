"""`memory.facts` for asyncio."""

from __future__ import annotations

from ..net.hop import Hopping, hop
from .facts import FactsNamespace


class AsyncFacts(Hopping[FactsNamespace]):
    """`memory.facts` for asyncio."""

    add = hop(FactsNamespace.add)
    read = hop(FactsNamespace.read)
    about = hop(FactsNamespace.about)
    match = hop(FactsNamespace.match)
    neighbours = hop(FactsNamespace.neighbours)
    paths = hop(FactsNamespace.paths)
    timeline = hop(FactsNamespace.timeline)
    entities = hop(FactsNamespace.entities)
    profile = hop(FactsNamespace.profile)
    why = hop(FactsNamespace.why)
    instructions = hop(FactsNamespace.instructions)
    contradictions = hop(FactsNamespace.contradictions)
    resolve = hop(FactsNamespace.resolve)
    retract = hop(FactsNamespace.retract)
    merge = hop(FactsNamespace.merge)
    split = hop(FactsNamespace.split)
    undo = hop(FactsNamespace.undo)
    decisions = hop(FactsNamespace.decisions)
    export = hop(FactsNamespace.export)
    networkx = hop(FactsNamespace.networkx)
    load = hop(FactsNamespace.load)
