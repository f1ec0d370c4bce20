"""Sentences of records that state a fact, with who said them, when and where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..core.record import Record
from .assertion import Assertion
from .fact import Quotation
from .scope_graph import ScopeGraph

if TYPE_CHECKING:
    from . import Graphs


def quote(graphs: Graphs, graph: ScopeGraph, said: Iterable[Assertion]) -> tuple[Quotation, ...]:
    """The sentences of statements, each once. Call it from within a question."""
    wanted = list(said)
    seqs = list(dict.fromkeys(assertion.source.seq for assertion in wanted))
    records = {record.seq: record for record in graphs.read(graph.scope, seqs)}
    quotations: dict[Quotation, None] = {}
    for assertion in wanted:
        record = records.get(assertion.source.seq)
        if record is not None:
            quotations[_quote_one(record, assertion)] = None
    return tuple(quotations)


def _quote_one(record: Record, assertion: Assertion) -> Quotation:
    text = record.whole.text
    if not assertion.source.is_told and assertion.end > assertion.start:
        text = text[assertion.start : assertion.end]
    return Quotation(
        id=record.id,
        text=text.strip(),
        occurred=record.occurred,
        who=record.who,
        trust=record.trust,
        source=record.source,
    )
