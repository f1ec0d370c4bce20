"""`memory.facts`: facts over time, entities, and decisions about both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from ..core.arguments import check_flag, check_limit, check_share, each_path, one
from ..core.errors import BadInput
from ..core.record import Record, Trust
from ..core.scope import Scope, Scopes
from ..core.validate import Moment, check_whole, clean_text, moment
from ..graph.asking import Asking
from ..graph.explaining import explain_fact, find_fact, list_decisions, phrase_profile
from ..graph.fact import Contradiction, Entity, Explanation, Fact, Neighbour
from ..graph.graph_formats import write_mcp_lines
from ..graph.joins import FactMatch, parse_patterns
from ..graph.scope_graph import Budget, Moments, View
from ..graph.triple_data import mention_of, triple_data
from ..text.facts.statement import Nature, Statement
from ..text.facts.vocabulary import relation_of
from .fact_decisions import FactDecisions
from .namespaces import Services

Named = str | Entity

HOPS: Final = 4
NATURES: Final = (Nature.INSTRUCTION, Nature.PREFERENCE)


class FactsNamespace:
    """The facts of a memory. Questions are about the present unless `as_of` says otherwise.

    `as_of` asks what was true at a time, `known_at` what the memory knew at a time.
    """

    def __init__(self, services: Services) -> None:
        self._services, self._parts = services, services.parts
        self._decisions = FactDecisions(services)

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
        """Stores a fact. `sources` are the ids of the records it was read from.

        Without `since` the fact is valid from `occurred`, or from now. `details` are those of
        `remember`: who, session, agent, occurred, trust, meta and so on.
        """
        relation = check_relation(relation)
        statement = Statement(
            subject=mention_of(name_of(subject)),
            relation=relation,
            object=mention_of(name_of(object), relation_of(relation).object),
            since=None if since is None else moment(since, "since"),
            until=None if until is None else moment(until, "until"),
            ended=check_flag(ended, "ended"),
            negated=check_flag(negated, "negated"),
            confidence=check_share(confidence, "confidence"),
        )
        phrase = relation_of(relation).phrase
        text = phrase.format(subject=statement.subject.name or "I", object=statement.object.name)
        stored = self._decisions.store(scope, text, triple_data(statement), sources, details)
        return self._require(stored.id, scope, is_bounded=False)

    def read(self, llm: object, ids: Sequence[str], *, scope: str | Scope = "default") -> list[Fact]:
        """Reads records with a language model and adds the facts that the rules missed.

        `llm` is an LLM or anything `llm_of` takes. A fact whose words are not in the text is left out.
        If the model fails on a record, nothing is added for it and nothing is lost.
        """
        added = self._decisions.read(llm, ids, Scope(one(scope)))
        return [self._require(record.id, scope, is_bounded=False) for record in added]

    def about(
        self,
        entity: Named,
        *,
        scope: Scopes = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """Lists the facts that hold of an entity: first those about it, then those that name it."""
        place, asking, moments = self._question(scope, as_of, known_at)
        return self._note("about", scope, asking.about(place, id_of(entity), moments))

    def match(
        self,
        *patterns: Sequence[str | None],
        subject: Named | None = None,
        relation: str | None = None,
        object: Named | None = None,
        scope: Scopes = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        ever: bool = False,
        infer: bool = True,
        limit: int = 100,
    ) -> list[FactMatch]:
        """Returns the ways in which one or several patterns hold together, at most `limit`.

        A part that begins with a question mark is a variable with the same value in all patterns:
        `match(("?x", "works_at", "?o"), ("?o", "located_in", "Porto"))`. `ever` matches facts of all times,
        `infer` adds facts that follow by rules (see `eidet.graph.inference`).
        """
        asked = list(patterns)
        if subject is not None or relation is not None or object is not None:
            asked.append((part_of(subject), relation, part_of(object)))
        place, asking, moments = self._question(scope, as_of, known_at, ever=ever)
        rules, most = check_flag(infer, "infer"), check_limit(limit)
        matches = asking.match(place, parse_patterns(asked), moments, infer=rules, limit=most)
        self._note("match", scope, chain.from_iterable(one.facts for one in matches))
        return matches

    def neighbours(
        self,
        entity: Named,
        *,
        scope: Scopes = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[Neighbour]:
        """Lists the entities one fact away."""
        place, asking, moments = self._question(scope, as_of, known_at)
        found = asking.neighbours(place, id_of(entity), moments)
        self._note("neighbours", scope, [neighbour.fact for neighbour in found])
        return found

    def paths(
        self,
        start: Named,
        goal: Named,
        *,
        hops: int = HOPS,
        scope: Scopes = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[tuple[Fact, ...]]:
        """Finds the shortest paths between two entities, each as the facts along it; at most four `hops`."""
        most = check_whole(hops, 1, HOPS, "hops")
        place, asking, moments = self._question(scope, as_of, known_at)
        found = asking.paths(place, id_of(start), id_of(goal), moments, most)
        self._note("paths", scope, chain.from_iterable(found))
        return found

    def timeline(
        self,
        entity: Named,
        *,
        relation: str | None = None,
        scope: Scopes = "default",
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """Lists every fact that ever held of an entity, earliest first, or those of one relation."""
        place, asking, moments = self._question(scope, None, known_at)
        facts = asking.timeline(place, id_of(entity), moments.view)
        return self._note("timeline", scope, [one for one in facts if relation in (None, one.relation)])

    def entities(
        self, name: str | None = None, *, kind: str | None = None, scope: Scopes = "default"
    ) -> list[Entity]:
        """Lists the entities of a scope, most often named first.

        With a `name`, lists the entities it may mean: several if there are namesakes.
        """
        place, asking, _ = self._question(scope)
        self._services.auditing.read("facts.entities", scope, [])
        if name is None:
            return asking.list_entities(place, kind)
        found = asking.find_entities(place, clean_text(name, "a name"))
        return [entity for entity in found if kind is None or entity.kind == kind]

    def profile(
        self,
        entity: Named,
        *,
        scope: Scopes = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> str:
        """Summarises the facts that hold of an entity and those that begin later; empty if none is known."""
        place, asking, moments = self._question(scope, as_of, known_at)
        name, texts = id_of(entity), list[str]()
        facts = self._note("profile", scope, asking.timeline(place, name, moments.view))
        for one_meant in asking.find_entities(place, name):
            now, later = _split_by(facts, one_meant, moments.at or 0.0)
            texts.append(phrase_profile(one_meant.name, one_meant.aliases, now, later))
        return "\n\n".join(texts)

    def why(self, fact: Fact | str, *, scope: Scopes = "default") -> Explanation:
        """Returns the sentences behind a fact, what ended it, and the rule that inferred it."""
        found = self._require(fact, scope)
        _, asking, moments = self._question(found.scope)
        explanation = explain_fact(asking, found, moments.view)
        self._note("why", scope, [found])
        return explanation

    def instructions(
        self,
        *,
        preferences: bool = True,
        scope: Scopes = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """Lists the instructions that hold, then, unless `preferences` is False, the preferences."""
        natures = NATURES if check_flag(preferences, "preferences") else NATURES[:1]
        place, asking, moments = self._question(scope, as_of, known_at)
        return self._note("instructions", scope, asking.instructions(place, moments, natures))

    def contradictions(
        self, *, scope: Scopes = "default", known_at: Moment | None = None
    ) -> list[Contradiction]:
        """Lists facts that cannot hold together and are undecided; `resolve` decides between them."""
        place, asking, moments = self._question(scope, None, known_at)
        found = asking.contradictions(place, moments.view)
        self._note("contradictions", scope, chain.from_iterable(one.facts for one in found))
        return found

    def resolve(
        self, keep: Fact | str, *, scope: str | Scope = "default", because: str | None = None
    ) -> Record:
        """Decides a contradiction: keeps one fact and marks its rivals as never true. `undo` reverses it."""
        _, _, moments = self._question(one(scope))
        return self._decisions.resolve(self._require(keep, one(scope)), moments.view, because)

    def retract(
        self, fact: Fact | str, *, scope: str | Scope = "default", because: str | None = None
    ) -> Record:
        """Marks a fact as never true and reopens facts it ended; its sources stay. `undo` reverses it."""
        return self._decisions.retract(self._require(fact, one(scope)), because)

    def merge(
        self, entity: Named, *others: Named, scope: str | Scope = "default", because: str | None = None
    ) -> Record:
        """Merges several names into one entity. `undo` reverses it."""
        names = [id_of(name) for name in (entity, *others)]
        return self._decisions.merge(names, Scope(one(scope)), because)

    def undo(self, decision: Record | str, *, scope: str | Scope = "default") -> None:
        """Reverses a decision: a merge, a resolution or a retraction."""
        if isinstance(decision, Record):
            self._decisions.undo(decision.id, Scope(decision.scope))
        else:
            self._decisions.undo(clean_text(decision, "an id"), Scope(one(scope)))

    def decisions(self, *, scope: Scopes = "default") -> list[Record]:
        """Lists the decisions made about facts and entities, oldest first."""
        known = list_decisions(self._parts.store, Scope.among(scope), self._parts.clock())
        found = [record for record in known if record.trust is not Trust.QUARANTINED]
        self._services.auditing.read(
            "facts.decisions", scope, [(record.scope, record.id) for record in found]
        )
        return found

    def export(
        self,
        *,
        scope: Scopes = "default",
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        ever: bool = False,
    ) -> str:
        """Returns the facts that hold (or `ever` held) as text, in the format of MCP's reference server."""
        place, asking, moments = self._question(scope, as_of, known_at, ever=ever, is_bounded=False)
        facts = self._note("export", scope, asking.list_all(place, moments))
        return write_mcp_lines(asking.list_entities(place), facts)

    # what the verbs share

    def _question(
        self,
        scope: Scopes,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        *,
        ever: bool = False,
        is_bounded: bool = True,
    ) -> tuple[Scope, Asking, Moments]:
        """Returns what each question needs: where to ask, whom, and about which times.

        `as_of` defaults to the present, or to `known_at` if given. The budget of the question starts now.
        Unbounded, it ends only when the caller stops waiting.
        """
        self._parts.check_open()
        settings, place = self._parts.settings, Scope.among(scope)
        budget = Budget(settings.fact_steps, settings.fact_seconds) if is_bounded else Budget()
        known = None if known_at is None else moment(known_at, "known_at")
        view = View(now=self._parts.clock() if known is None else known, budget=budget)
        asking = Asking(self._services.reads.graphs_known_at(place, known))
        if check_flag(ever, "ever"):
            return place, asking, Moments(view=view, at=None)
        return place, asking, Moments(view=view, at=view.now if as_of is None else moment(as_of, "as_of"))

    def _note(self, verb: str, scope: Scopes, facts: Iterable[Fact]) -> list[Fact]:
        """Notes in the audit log which records an answer comes from. Returns the facts as a list."""
        noted = list(facts)
        sources = [(fact.scope, id) for fact in noted for id in fact.sources]
        self._services.auditing.read(f"facts.{verb}", scope, sources)
        return noted

    def _require(self, fact: Fact | str, scope: Scopes, *, is_bounded: bool = True) -> Fact:
        if isinstance(fact, Fact):
            return fact
        id = clean_text(fact, "the id of a fact")
        place, asking, moments = self._question(scope, is_bounded=is_bounded)
        for path in each_path(scope):
            if (found := find_fact(asking, Scope(path), id, moments.view)) is not None:
                return found
        raise self._parts.absence_error(f"fact {id!r} in scope {place}")


# Arguments.


def id_of(entity: Named | float) -> str:
    if isinstance(entity, Entity):
        return entity.id
    if isinstance(entity, bool) or not isinstance(entity, str | int | float):
        raise BadInput(f"an entity is a name or an Entity, not {type(entity).__name__}")
    return clean_text(str(entity), "a name")


def name_of(entity: Named | float) -> str:
    """Returns the name as a text would write it."""
    return entity.name if isinstance(entity, Entity) else id_of(entity)


def part_of(entity: Named | None) -> str | None:
    return None if entity is None else id_of(entity)


def check_relation(relation: str) -> str:
    """Normalises a relation to the catalogue's form: `lives in` becomes `lives_in`."""
    name = "_".join(clean_text(relation, "a relation").casefold().split())
    if not name or len(name) > 100 or "{" in name or "}" in name:
        raise BadInput(f"a relation is a name such as 'lives_in', not {relation!r:.80}")
    return name


def _split_by(facts: Sequence[Fact], entity: Entity, at: float) -> tuple[list[Fact], list[Fact]]:
    """Splits the facts about an entity into those that hold at a time and those that begin later."""
    told = [one for one in facts if entity.id in (one.subject_id, one.object_id) and not one.says_own_name]
    now = [fact for fact in told if fact.holds_at(at)]
    return now, [one for one in told if one not in now and one.valid_from is not None and one.valid_from > at]
