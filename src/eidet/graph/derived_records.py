"""Facts that rules read in texts, as records of kind `triple`. They are made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..core.record import Kind, Record
from ..core.state import NO_STATE
from ..core.where import Where
from ..store.answers import names_value, sort_by_value, sort_records
from ..text.facts import relation_of
from ..text.facts.statement import Nature
from . import Graphs
from .assertion import Assertion
from .scope_graph import ScopeGraph

BATCH: Final = 500
MARK: Final = "#"  # stands between the id of a record and the number of its statement


def asks_for_triples(where: Where) -> bool:
    """Tells whether a filter names the kind `triple`."""
    if where.kinds is not None:
        return Kind.TRIPLE in where.kinds
    return any(asks_for_triples(part) for part in where.every)


class DerivedRecords:
    """Makes records of derived facts."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs

    def find(
        self, where: Where, stored: Sequence[Record], *, order: str, limit: int, offset: int = 0
    ) -> list[Record]:
        """Sorts stored records and derived ones together. `where` names their scope.

        `stored` has all that is asked for, from the first on.
        """
        together = [*stored, *self.list_matching(where)]
        sort = sort_by_value if names_value(order) else sort_records
        return sort(together, order)[offset : offset + limit]

    def count(self, where: Where) -> int:
        """Counts the derived records that match."""
        return len(self.list_matching(where))

    def list_matching(self, where: Where) -> list[Record]:
        """Lists the derived records that match a filter with a scope."""
        if where.scope is None:
            return []
        found = self._graphs.gather(where.scope, lambda graph: list(self._derive_all(graph)))
        return [record for record in found if where.matches(record)]

    def get(self, scope: str, id: str) -> Record | None:
        """Finds the derived record with an id such as `…#0`, or None."""
        source, mark, number = id.rpartition(MARK)
        if not mark or not number.isdecimal():
            return None

        def find(graph: ScopeGraph) -> Record | None:
            records = self._graphs.read(scope, [source])
            made = (derived for record in records for derived in _derive(graph, record))
            return next((derived for derived in made if derived.id == id), None)

        return self._graphs.ask(scope, find)

    def _derive_all(self, graph: ScopeGraph) -> Iterator[Record]:
        seqs = list(graph.index.sources)
        for start in range(0, len(seqs), BATCH):
            for record in self._graphs.read(graph.scope, seqs[start : start + BATCH]):
                yield from _derive(graph, record)


def _derive(graph: ScopeGraph, record: Record) -> Iterator[Record]:
    source = graph.index.sources.get(record.seq)
    if source is None or source.is_told:
        return
    for assertion in source.assertions:
        yield _derive_record(graph, record, assertion)


def _derive_record(graph: ScopeGraph, source: Record, assertion: Assertion) -> Record:
    """One statement of a record as a record: all else is as in its source."""
    identities = graph.identities
    subject = identities.names.name_of(identities.root_of(assertion.subject))
    value = assertion.object_mention.name
    if assertion.object_mention.kind != "value":
        value = identities.names.name_of(identities.root_of(assertion.object))
    data: dict[str, Any] = {"subject": subject, "relation": assertion.relation, "object": value}
    data |= _tell_rest(assertion)
    return source.but(
        id=f"{source.id}{MARK}{assertion.position}",
        kind=Kind.TRIPLE,
        text=relation_of(assertion.relation).phrase.format(subject=subject, object=value),
        data=data,
        meta={},
        state=NO_STATE,
        derived_from=(source.id,),
        vector=None,
        terms=b"",
        level=0,
        original=None,
    )


def _tell_rest(assertion: Assertion) -> dict[str, Any]:
    """What a statement says beside its three parts."""
    plain: dict[str, Any] = {
        "since": None,
        "until": None,
        "ended": False,
        "negated": False,
        "confidence": 1.0,
    }
    fields: dict[str, Any] = {name: getattr(assertion, name) for name in plain}
    fields["nature"] = assertion.nature.value
    plain["nature"] = Nature.FACT.value
    return {name: value for name, value in fields.items() if value != plain[name]}
