"""`memory.facts`: what held when, who is who, and what was decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..core.arguments import check_flag, check_limit, check_share, one
from ..core.errors import BadInput
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import Moment, clean_text, moment
from ..graph.asking import Asking
from ..graph.explaining import explain_fact, find_fact, list_decisions
from ..graph.fact import Contradiction, Entity, Explanation, Fact, Neighbour
from ..graph.joins import FactMatch, read_patterns
from ..graph.scope_graph import Moments, View
from ..graph.triple_data import mention_of, triple_data
from ..graph.wording import phrase_profile
from ..parts import Parts
from ..text.facts import relation_of
from ..text.facts.statement import Nature, Statement
from ..trust.audit.reads import Auditing
from ..write import WritePath
from .fact_decisions import FactDecisions
from .forgetting import Forgetting

HOPS: Final = 4
NATURES: Final = (Nature.INSTRUCTION, Nature.PREFERENCE)
Named = str | Entity


class FactsNamespace:
    """What the memory holds to be true. Questions are about the present unless `as_of` says otherwise.

    `as_of` asks what was true at a time, `known_at` what the memory knew at a time.
    """

    def __init__(self, parts: Parts, writes: WritePath, forgetting: Forgetting, auditing: Auditing) -> None:
        self._parts = parts
        self._auditing = auditing
        self._decisions = FactDecisions(parts, writes, forgetting)

    def add(
        self,
        /,
        subject: Named,
        relation: str,
        object: Named | float,
        *,
        scope: str | Scope = "default",
        since: Moment | None = None,
        until: Moment | None = None,
        ended: bool = False,
        negated: bool = False,
        confidence: float = 1.0,
        sources: Sequence[str] = (),
        **details: Any,
    ) -> Fact:
        """States a fact. `sources` are the ids of records that it was read from.

        Without `since` it is valid from when it was said: now, or `occurred`. `details` are those of
        `remember`: who, session, agent, occurred, trust, meta and so on.
        """
        relation = _check_relation(relation)
        statement = Statement(
            subject=mention_of(_name_of(subject)),
            relation=relation,
            object=mention_of(_name_of(object), relation_of(relation).object),
            since=None if since is None else moment(since, "since"),
            until=None if until is None else moment(until, "until"),
            ended=check_flag(ended, "ended"),
            negated=check_flag(negated, "negated"),
            confidence=check_share(confidence, "confidence"),
        )
        phrase = relation_of(relation).phrase
        text = phrase.format(subject=statement.subject.name or "I", object=statement.object.name)
        stored = self._decisions.store(scope, text, triple_data(statement), sources, details)
        return self._find_fact(stored.id, Scope(one(scope)))

    def about(
        self,
        entity: Named,
        *,
        scope: str | Scope = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """What holds of an entity: what is said of it, then what names it."""
        facts = self._asking.about(Scope.of(scope), _id_of(entity), self._moments(as_of, known_at))
        return self._note("facts.about", scope, facts)

    def match(
        self,
        *patterns: Sequence[str | None],
        subject: Named | None = None,
        relation: str | None = None,
        object: Named | None = None,
        scope: str | Scope = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        ever: bool = False,
        infer: bool = True,
        limit: int = 100,
    ) -> list[FactMatch]:
        """The ways in which a pattern, or several patterns together, hold; at most `limit`.

        A part that begins with a question mark is a variable: it stands for the same in all patterns.
        `match(("?x", "works_at", "?o"), ("?o", "located_in", "Porto"))`. `ever` asks of all times,
        `infer` adds what follows by rules (see `eidet.graph.inference`).
        """
        asked = list(patterns)
        if subject is not None or relation is not None or object is not None:
            asked.append((_part_of(subject), relation, _part_of(object)))
        moments = self._moments(as_of, known_at, ever=check_flag(ever, "ever"))
        matches = self._asking.match(
            Scope.of(scope),
            read_patterns(asked),
            moments,
            infer=check_flag(infer, "infer"),
            limit=check_limit(limit),
        )
        for match in matches:
            self._note("facts.match", scope, match.facts)
        return matches

    def neighbours(
        self,
        entity: Named,
        *,
        scope: str | Scope = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[Neighbour]:
        """Who and what is one fact away."""
        found = self._asking.neighbours(Scope.of(scope), _id_of(entity), self._moments(as_of, known_at))
        self._note("facts.neighbours", scope, [neighbour.fact for neighbour in found])
        return found

    def paths(
        self,
        start: Named,
        goal: Named,
        *,
        hops: int = HOPS,
        scope: str | Scope = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[tuple[Fact, ...]]:
        """The shortest ways between two entities, each as the facts along it; at most four `hops`."""
        if isinstance(hops, bool) or not isinstance(hops, int) or not 1 <= hops <= HOPS:
            raise BadInput(f"hops must be a whole number from 1 to {HOPS}, not {hops!r}")
        moments = self._moments(as_of, known_at)
        found = self._asking.paths(Scope.of(scope), _id_of(start), _id_of(goal), moments, hops)
        for path in found:
            self._note("facts.paths", scope, path)
        return found

    def timeline(
        self,
        entity: Named,
        *,
        relation: str | None = None,
        scope: str | Scope = "default",
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """All that ever held of an entity, the earliest first; of one relation, if it is named."""
        facts = self._asking.timeline(Scope.of(scope), _id_of(entity), self._view(known_at))
        if relation is not None:
            facts = [fact for fact in facts if fact.relation == relation]
        return self._note("facts.timeline", scope, facts)

    def entities(self, *, kind: str | None = None, scope: str | Scope = "default") -> list[Entity]:
        """Everybody and everything that is spoken of, the most often named first."""
        return self._asking.list_entities(Scope.of(scope), kind)

    def find(self, name: str, *, scope: str | Scope = "default") -> list[Entity]:
        """The entities that a name may mean: several, where namesakes are told apart."""
        return self._asking.find_entities(Scope.of(scope), clean_text(name, "a name"))

    def profile(
        self,
        entity: Named,
        *,
        scope: str | Scope = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> str:
        """A short text of what holds of an entity, and of what is to come; empty if nothing is known."""
        place, name, texts = Scope.of(scope), _id_of(entity), list[str]()
        moments = self._moments(as_of, known_at)
        facts = self.timeline(entity, scope=scope, known_at=known_at)
        for one_meant in self._asking.find_entities(place, name):
            now, later = _split_by(facts, one_meant, moments.at or 0.0)
            texts.append(phrase_profile(one_meant.name, one_meant.aliases, now, later))
        return "\n\n".join(texts)

    def why(self, fact: Fact | str, *, scope: str | Scope = "default") -> Explanation:
        """The sentences behind a fact, what ended it, and the rule that inferred it."""
        found = self._require(fact, scope)
        explanation = explain_fact(self._asking, found, self._view(None))
        self._note("facts.why", scope, [found])
        return explanation

    def instructions(
        self,
        *,
        preferences: bool = True,
        scope: str | Scope = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """Standing instructions, then preferences, that hold; without `preferences`, only the former."""
        natures = NATURES if check_flag(preferences, "preferences") else NATURES[:1]
        facts = self._asking.instructions(Scope.of(scope), self._moments(as_of, known_at), natures)
        return self._note("facts.instructions", scope, facts)

    def contradictions(
        self, *, scope: str | Scope = "default", known_at: Moment | None = None
    ) -> list[Contradiction]:
        """Facts that cannot hold together, where nothing decides between them; `resolve` does."""
        found = self._asking.contradictions(Scope.of(scope), self._view(known_at))
        for contradiction in found:
            self._note("facts.contradictions", scope, contradiction.facts)
        return found

    def resolve(
        self, keep: Fact | str, *, scope: str | Scope = "default", because: str | None = None
    ) -> Record:
        """Decides a contradiction: one fact stays, those that it contradicts never held. `undo` undoes it."""
        return self._decisions.resolve(self._require(keep, scope), self._view(None), because)

    def retract(
        self, fact: Fact | str, *, scope: str | Scope = "default", because: str | None = None
    ) -> Record:
        """Says that a fact never held. What it had closed opens again; its sources stay. `undo` undoes it."""
        return self._decisions.retract(self._require(fact, scope), because)

    def merge(
        self, entity: Named, *others: Named, scope: str | Scope = "default", because: str | None = None
    ) -> Record:
        """Says that several names mean one entity. `undo` undoes it."""
        names = [_id_of(name) for name in (entity, *others)]
        return self._decisions.merge(names, Scope(one(scope)), because)

    def split(
        self,
        entity: Named,
        *,
        sources: Sequence[str],
        name: str,
        scope: str | Scope = "default",
        because: str | None = None,
    ) -> Record:
        """Says that what some records (by id) tell is of another one of the same name. `undo` undoes it.

        `name` tells the new one from the old one: `split("Alex", sources=[…], name="from work")`.
        """
        return self._decisions.split(_id_of(entity), sources, name, Scope(one(scope)), because)

    def undo(self, decision: Record | str, *, scope: str | Scope = "default") -> None:
        """Takes a decision back: a merge, a split, a resolution or a retraction."""
        if isinstance(decision, Record):
            self._decisions.undo(decision.id, Scope(decision.scope))
        else:
            self._decisions.undo(clean_text(decision, "an id"), Scope(one(scope)))

    def decisions(self, *, scope: str | Scope = "default") -> list[Record]:
        """What was decided about facts and entities, the oldest first."""
        return list_decisions(self._parts.store, Scope.of(scope), self._parts.clock())

    # what the verbs share

    @property
    def _asking(self) -> Asking:
        self._parts.check_open()
        return Asking(self._parts.graphs)

    def _view(self, known_at: Moment | None) -> View:
        known = None if known_at is None else moment(known_at, "known_at")
        return View(now=self._parts.clock(), known_at=known)

    def _moments(self, as_of: Moment | None, known_at: Moment | None, *, ever: bool = False) -> Moments:
        """Without `as_of`, the present; of what was known then, the present of then."""
        view = self._view(known_at)
        if ever:
            return Moments(view=view, at=None)
        if as_of is not None:
            return Moments(view=view, at=moment(as_of, "as_of"))
        return Moments(view=view, at=view.now if view.known_at is None else view.known_at)

    def _note(self, verb: str, scope: str | Scope, facts: Sequence[Fact]) -> list[Fact]:
        sources: dict[str, None] = {}
        for fact in facts:
            sources.update(dict.fromkeys(fact.sources))
        self._auditing.read(verb, scope, list(sources))
        return list(facts)

    def _require(self, fact: Fact | str, scope: str | Scope) -> Fact:
        if isinstance(fact, Fact):
            return fact
        return self._find_fact(clean_text(fact, "the id of a fact"), Scope(one(scope)))

    def _find_fact(self, id: str, scope: Scope) -> Fact:
        found = find_fact(self._asking, scope, id, self._view(None))
        if found is None:
            raise self._parts.absence_error(f"fact {id!r} in scope {scope}")
        return found


def _id_of(entity: Named | float) -> str:
    if isinstance(entity, Entity):
        return entity.id
    if isinstance(entity, bool) or not isinstance(entity, str | int | float):
        raise BadInput(f"an entity is a name or an Entity, not {type(entity).__name__}")
    return clean_text(str(entity), "a name")


def _name_of(entity: Named | float) -> str:
    """A name as a text would write it."""
    if isinstance(entity, Entity):
        return entity.name
    return _id_of(entity)


def _part_of(entity: Named | None) -> str | None:
    if entity is None:
        return None
    return _id_of(entity)


def _check_relation(relation: str) -> str:
    """In the form of the catalogue: `lives in` is `lives_in`."""
    name = "_".join(clean_text(relation, "a relation").casefold().split())
    if not name or len(name) > 100 or "{" in name or "}" in name:
        raise BadInput(f"a relation is a name such as 'lives_in', not {relation!r:.80}")
    return name


def _split_by(facts: Sequence[Fact], entity: Entity, at: float) -> tuple[list[Fact], list[Fact]]:
    """Those that hold of an entity at a time, and those that will."""
    now: list[Fact] = []
    later: list[Fact] = []
    for fact in facts:
        if entity.id not in (fact.subject_id, fact.object_id):
            continue
        if fact.holds_at(at):
            now.append(fact)
        elif fact.valid_from is not None and fact.valid_from > at:
            later.append(fact)
    return now, later
