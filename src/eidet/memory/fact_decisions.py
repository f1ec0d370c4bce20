"""Decisions about facts and entities. Each is a record of kind `triple`: forgetting it undoes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.actor import acts
from ..core.arguments import check_texts
from ..core.errors import BadInput
from ..core.record import Kind, Record, Trust
from ..core.scope import Scope
from ..core.validate import clean_text, local
from ..graph.asking import Asking, list_decisions, list_rivals
from ..graph.fact import Entity, Fact
from ..graph.scope_graph import View
from ..graph.triple_data import Decision, DecisionKind, decision_data, triple_data
from ..models.llm import LLM, llm_of
from ..text.facts.statement import Statement
from ..upkeep.model_facts import list_unread, phrase_statement, read_facts_with
from .namespaces import Services

IMPORTANCE = 0.1  # of a decision: low, because no one searches for its text


class FactDecisions:
    """Stores decisions and undoes them."""

    def __init__(self, services: Services) -> None:
        self._services, self._parts = services, services.parts

    def resolve(self, kept: Fact, view: View, because: str | None) -> Record:
        rivals = list_rivals(self._asking, kept, view)
        if not rivals:
            raise self._parts.absence_error(f"contradiction of {kept.text!r} to resolve")
        return self._reject(DecisionKind.RESOLVE, rivals, because)

    def retract(self, fact: Fact, because: str | None) -> Record:
        if fact.derived:
            raise BadInput(f"{fact.text!r} follows from other facts: retract one of those (see `why`)")
        return self._reject(DecisionKind.RETRACT, [fact], because)

    def merge(self, names: Sequence[str], scope: Scope, because: str | None) -> Record:
        if len(names) < 2:
            raise BadInput("merge takes two entities or more")
        entities = [self._require_entity(name, scope) for name in names]
        decision = Decision(action=DecisionKind.MERGE, entities=tuple(entity.id for entity in entities))
        text = f"Merged: {' and '.join(entity.name for entity in entities)} are the same"
        return self._decide(scope, text, decision, (), because)

    def undo(self, id: str, scope: Scope) -> None:
        known = list_decisions(self._parts.store, scope, self._parts.clock())
        if not any(record.id == id for record in known):
            raise self._parts.absence_error(f"decision {id!r} in scope {scope}")
        self._services.forgetting.delete(id, None, False, scope, by=None, why=acts().why or "undone")

    def store(
        self,
        scope: str | Scope,
        text: str,
        data: dict[str, Any],
        sources: Sequence[str],
        details: dict[str, Any],
    ) -> Record:
        """Stores a fact or a decision as a record of kind `triple`."""
        fields = {
            "kind": Kind.TRIPLE,
            "scope": scope,
            "data": data,
            "derived_from": check_texts(sources, "sources"),
            **details,
        }
        stored = self._services.writes.remember(text, fields)  # type: ignore[arg-type]  # named as in Details
        assert isinstance(stored, Record)
        return stored

    def read(self, llm: object, ids: Sequence[str], scope: Scope) -> list[Record]:
        """Stores the facts that a model finds beyond those of the rules, each with its source record.

        Skips absent and quarantined records. Returns the stored facts.
        """
        model, added = llm_of(llm), list[Record]()
        for record in self._parts.store.read(scope.path, list(ids)):
            if record is None or record.trust is Trust.QUARANTINED:
                continue
            for number, statement in enumerate(self._list_more(model, record)):
                text = phrase_statement(statement, record)
                details = _details_of(record) | {"key": f"fact {record.id} {record.version} {number}"}
                added.append(self.store(scope, text, triple_data(statement), [record.id], details))
        return added

    def _list_more(self, model: LLM, record: Record) -> list[Statement]:
        outcome = read_facts_with(model, record.whole.text, said=local(record.occurred))
        return list_unread(outcome.value, record)

    @property
    def _asking(self) -> Asking:
        return Asking(self._parts.graphs)

    def _require_entity(self, name: str, scope: Scope) -> Entity:
        found = self._asking.find_entities(scope, name)
        if not found:
            raise self._parts.absence_error(f"entity called {name!r} in scope {scope}")
        if len(found) > 1:
            names = ", ".join(entity.name for entity in found)
            raise BadInput(f"{name!r} may be {names}: name one of them")
        return found[0]

    def _reject(self, action: DecisionKind, facts: Sequence[Fact], because: str | None) -> Record:
        first, sources = facts[0], dict.fromkeys(id for fact in facts for id in fact.sources)
        decision = Decision(
            action=action,
            entities=(first.subject_id,),
            relation=first.relation,
            objects=tuple(fact.object_id for fact in facts),
            negated=first.negated,
            since=_choose(min, [fact.valid_from for fact in facts]),
            until=_choose(max, [fact.valid_to for fact in facts]),
        )
        text = "Retracted: " + "; ".join(fact.text for fact in facts)
        return self._decide(Scope(first.scope), text, decision, list(sources), because)

    def _decide(
        self, scope: Scope, text: str, decision: Decision, sources: Sequence[str], because: str | None
    ) -> Record:
        if because is not None:
            text = f"{text}, because {clean_text(because, 'because')}"
        return self.store(scope, text, decision_data(decision), sources, {"importance": IMPORTANCE})


def _details_of(record: Record) -> dict[str, Any]:
    """Returns the details that a fact shares with its source record."""
    names = ("who", "session", "agent", "step", "occurred", "trust", "expires")
    return {name: getattr(record, name) for name in names}


def _choose(choose: Callable[[list[float]], float], times: Iterable[float | None]) -> float | None:
    """Returns the first or last of the times, or None if one of them is open."""
    known = list(times)
    told = [at for at in known if at is not None]
    return choose(told) if len(told) == len(known) else None
