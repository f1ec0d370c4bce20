"""The read path: understand → search per arm under one Where → signals → fuse → fetch → explain."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from ..core.errors import BadInput, Corrupt
from ..core.hit import Hit, Hits, Trace
from ..core.observers import add_details
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import local
from ..core.where import Where
from ..graph import Graphs
from ..index import Candidates, Floats, Hints, Index, Probe, Rows
from ..models.embed import Embedder, embed_checked
from ..models.embed.quantise import pack_vector, row_of
from ..parts import Parts
from ..store import Head, Store, verbs
from ..store.answers import names_value, sort_by_value
from ..store.traits import missing_of
from ..text import Analyzer, term_id
from ..text.flags import list_names
from .fuse import Ranked, put_same_first, rerank_hits, with_phrases
from .later import ChangesShown, put_in_time
from .model import load_weights, rank_candidates
from .query import Query, count_to_read, least_for, list_losses, recipe_for, zone_of
from .reasons import explain_hit, trace_answer
from .recipes import AUTO, RECIPES, Recipe, recipe_of
from .sessions import AskedTalk, parse_asked_sessions, parse_asked_talk
from .signals import Signals, keep_time, signals_of
from .standing import add_instructions
from .states import POOL, explain_fields, rank_states, search_states, weigh_states
from .understand import FIRST, LAST, LONGEST, NOW, Understood, understand_query

NAMING = 5  # hits whose texts show which words of a question are names
LOOKS = 3  # searches at most, if records change between the search and the fetch
_NOTHING: Final[dict[str, Any]] = {"speaker": None, "dates": ()}  # of Understood
_WORD = re.compile(r"[^\W_]|[^\x00-\u25ff]")  # a letter, a digit or an emoji, which can be searched for


__all__ = ["AUTO", "RECIPES", "Query", "Ranking", "Recall", "Recipe", "recipe_of"]


@dataclass(slots=True)
class _StageClock:
    """Measures the milliseconds of each stage of a recall."""

    at: float = field(default_factory=time.perf_counter)
    millis: dict[str, float] = field(default_factory=dict)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.millis[stage] = (now - self.at) * 1000
        self.at = now


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The parsed question and every candidate with its signals, before records are read."""

    asked: Understood
    terms: tuple[str, ...]
    found: Candidates
    signals: Signals
    ranked: Ranked  # all ranked candidates


def group_places(places: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Groups seqs by scope."""
    grouped: dict[str, list[int]] = {}
    for path, seq in places:
        grouped.setdefault(path, []).append(seq)
    return grouped


def _asks_what_holds(query: Query, asked: Understood) -> bool:
    """Returns whether the query is a question, by its form or, beyond English, by its question mark."""
    marked = query.text.rstrip().endswith(("?", "\uff1f", "\u061f", "\u037e"))
    return asked.session is None and (asked.asks or (marked and asked.message < 1))


@dataclass(frozen=True, slots=True)
class Recall:
    """Answers questions from an index and its store. Never writes."""

    store: Store
    index: Index
    embedder: Embedder
    analyzer: Analyzer
    graphs: Graphs | None = None  # None if facts are turned off
    ranking: str | None = None  # the version of the weights; None is the newest

    @classmethod
    def of(cls, parts: Parts) -> Recall:
        """Builds the read path of an open memory."""
        graphs = parts.graphs if parts.settings.facts else None
        return cls(
            parts.store,
            parts.index,
            parts.embedder,
            parts.analyzer,
            graphs,
            parts.settings.ranking,
        )

    def answer(self, query: Query) -> Hits:
        clock = _StageClock()
        if not query.text.strip() and query.vector is None:
            return self._list_hits(query, clock)
        if query.vector is None and not _WORD.search(query.text):
            return self._answer_nothing(query)
        head = self.store.head()
        asked = self.understand(query, head)
        if (wanted := self._find_asked_talk(query, asked)) is not None:
            from .talks import answer_talk

            return answer_talk(self, query, asked, wanted)
        terms = self._terms(asked)
        probe = self._probe(query, asked, terms, head)
        clock.lap("understand")
        for _ in range(LOOKS):
            found = self._search(query, probe)
            clock.lap("search")
            ranking = self._rank(query, asked, terms, found, count_to_read(query, asked))
            clock.lap("fuse")
            records = self.fetch(found, ranking.ranked.rows)
            if not any(record is None for record in records):  # `in` would compare by value
                break
            probe = replace(probe, head=None)  # a write came between search and fetch: search again
        hits = self._hits(ranking, records, query)
        clock.lap("fetch")
        hits = self._read_texts(hits, query, ranking, head)
        clock.lap("facts")
        hits, notes = rerank_hits(hits, query.text, query.reranker)
        least = least_for(query, asked)
        best = [hit for hit in hits[: query.limit] if hit.score >= least]
        clock.lap("rerank")
        add_details(millis=clock.millis, searched=found.searched, kept=found.kept)
        trace = None
        if query.explain:
            said = (*asked.notes(), *notes, *list_losses(found, records, probe), *missing_of(self.store))
            trace = trace_answer(self, query, ranking, clock.millis, said)
        return Hits(best, trace, query.scope.path, answered=ranking.ranked.answered)

    def rank(self, query: Query) -> Ranking | None:
        """Ranks all candidates, of which `answer` shows the best; None if there is nothing to rank by."""
        if query.vector is None and not _WORD.search(query.text):
            return None
        head = self.store.head()
        asked = self.understand(query, head)
        if self._find_asked_talk(query, asked) is not None:
            return None
        terms = self._terms(asked)
        found = self._search(query, self._probe(query, asked, terms, head))
        return self._rank(query, asked, terms, found, len(found))

    def _rank(
        self, query: Query, asked: Understood, terms: tuple[str, ...], found: Candidates, limit: int
    ) -> Ranking:
        """Ranks candidates by the fitted weights, or states by their nearness."""
        zone, recipe = zone_of(query, asked), recipe_for(query)
        signals = signals_of(found, asked, recipe, query.asked, zone, len(terms))
        signals = keep_time(signals, found, asked, query.asked, zone)
        if query.state is None:
            weights = load_weights(self.ranking)
            ranked = rank_candidates(found, signals, asked, recipe, limit, weights, query.unit)
        else:
            signals = weigh_states(self, query.state, found, signals, recipe)
            ranked = rank_states(found, signals, limit, query.unit)
        return Ranking(asked=asked, terms=terms, found=found, signals=signals, ranked=ranked)

    def _read_texts(self, hits: list[Hit], query: Query, ranking: Ranking, head: Head) -> list[Hit]:
        """Applies the exact rules to the hits: first or last, changes, instructions, the same text."""
        asked, found = ranking.asked, ranking.found
        if query.state is not None:
            return explain_fields(hits, query.state)
        if query.unit != "record":
            return hits
        if query.understand and not asked.identifiers:
            ids = frozenset(map(term_id, ranking.terms))
            if asked.moment in (FIRST, LAST) and not asked.several:
                hits = put_in_time(hits, asked.moment, ids, found)
            elif asked.moment == NOW and _asks_what_holds(query, asked) and hits:
                names = self._find_names(hits, asked, ids)
                hits = ChangesShown(self, query, ids, names, head).show(hits)
            if asked.session is None:  # else it wants what was said then, even if outdated
                hits = add_instructions(self, hits, query, found, head)
        if query.vector is None:
            hits = put_same_first(hits, query.text, asked, self.analyzer)
        return hits

    def _find_asked_talk(self, query: Query, asked: Understood) -> AskedTalk | None:
        """Returns the talk that a question asks for, if only its words narrow the search; else None."""
        if (
            not query.understand
            or query.vector is not None
            or query.state is not None
            or query.unit != "record"
        ):
            return None
        return parse_asked_talk(asked, self.analyzer.language)

    def _search(self, query: Query, probe: Probe) -> Candidates:
        if query.state is None:
            return self.index.search(probe)
        return search_states(self, query, probe)

    def _answer_nothing(self, query: Query) -> Hits:
        """Returns the empty answer to a query without a letter, a digit or an emoji."""
        notes = ("the query has no word to look for", *missing_of(self.store))
        trace = Trace(query=query.text, notes=notes, scope=query.scope.path)
        return Hits([], trace if query.explain else None, query.scope.path)

    def understand(self, query: Query, head: Head | None = None) -> Understood:
        """Parses the query. The caller's explicit arguments replace what its words say."""
        if not query.understand or not query.words.strip():
            return Understood(text=query.words, dense=query.words)
        voices = self.index.voices(query.scope, head)
        language, session = self.analyzer.language, None
        if "session" not in query.given and (
            counted := parse_asked_sessions(query.words[:LONGEST], language)
        ):
            from .talks import find_sessions

            session = find_sessions(self, query, counted)
        asked = understand_query(query.words, local(query.asked), voices, language, session)
        if not query.given:
            return asked
        return replace(asked, **{name: _NOTHING[name] for name in query.given if name in _NOTHING})

    def _terms(self, asked: Understood) -> tuple[str, ...]:
        """Returns the terms to search for, without participants' names, which are a signal of their own."""
        terms = dict.fromkeys(self.analyzer.terms(asked.dense))
        return tuple(terms or dict.fromkeys(self.analyzer.terms(asked.text)))

    def read_ids(self, names: tuple[str, ...]) -> frozenset[int]:
        """Returns the ids of the terms of names."""
        if not names:
            return frozenset()
        return frozenset(map(term_id, self.analyzer.terms(" ".join(names))))

    def _find_names(self, hits: list[Hit], asked: Understood, terms: frozenset[int]) -> frozenset[int]:
        """Returns the question's terms that are names, of participants or by the writing of the best hits."""
        written = tuple(name for hit in hits[:NAMING] for name in list_names(hit.text[:LONGEST]))
        return self.read_ids(asked.names) | (self.read_ids(written) & terms)

    def list_records(
        self, where: Where | None, scope: Scope, *, now: float, order: str, limit: int, offset: int = 0
    ) -> list[Record]:
        """Lists living records that pass a filter, ordered by a column of the index or of the store.

        Reads all of them if the order is by a value inside the records.
        """
        by_value = names_value(order)
        if not by_value and order.removeprefix("-") != "uses":
            chosen = self.index.select(scope, where, now=now, order=order, limit=limit + offset)[offset:]
            records = [record for record in self.read_places(chosen) if record is not None]
            if len(records) == len(chosen):  # else a write came between; the store reads one state
                return records
        living = Where(scope=scope, alive_at=now, every=() if where is None else (where,))
        if by_value:
            return sort_by_value(verbs.scan(self.store, living), order)[offset : offset + limit]
        return self.store.find(living, order=order, limit=limit, offset=offset)

    def _probe(self, query: Query, asked: Understood, terms: tuple[str, ...], head: Head) -> Probe:
        wanted = terms if query.recipe.words > 0 else ()
        depth = max(query.recipe.depth, 4 * query.limit)
        if query.state is not None:
            depth = max(depth, POOL)
        sessions = tuple(one.session for one in asked.session.meant) if asked.session else ()
        return Probe(
            scope=query.scope,
            now=query.now,
            where=query.where,
            vector=self._vector(query, asked),
            terms=tuple(map(term_id, wanted)),
            depth=depth,
            head=head,
            hints=Hints(spelt=wanted, names=self._names(asked), sessions=sessions),
        )

    def _names(self, asked: Understood) -> tuple[tuple[int, ...], ...]:
        """Returns the terms of the person asked about, then those of each further name."""
        ways = (way for one in asked.identifiers for way in one.ways)
        names = (*asked.names[:1], *ways)
        return tuple(tuple(map(term_id, self.analyzer.terms(name))) for name in names)

    def _vector(self, query: Query, asked: Understood) -> Floats | None:
        if query.recipe.dense <= 0:
            return None
        if query.vector is not None:
            given: Floats = row_of(pack_vector(query.vector, self.embedder.width))
            if len(given) > self.embedder.width:
                raise BadInput("a recall takes one vector; call it once for each")
            return given
        if not asked.dense.strip():  # a state without texts
            return None
        return self.embed(asked.dense)

    def embed(self, text: str) -> Floats:
        """Embeds a query."""
        row: Floats = embed_checked(self.embedder, [text])[0]
        return row

    def fetch(self, found: Candidates, rows: Rows) -> list[Record | None]:
        """Reads the records of some rows, in one round trip per scope."""
        places = zip(found.scope[rows].tolist(), found.seq[rows].tolist(), strict=True)
        return self.read_places([(found.scopes[code], seq) for code, seq in places])

    def read_places(self, places: Sequence[tuple[str, int]]) -> list[Record | None]:
        """Reads one record per scope and seq, in one round trip per scope; None as in `read`."""
        found: dict[tuple[str, int], Record | None] = {}
        for path, seqs in group_places(places).items():
            found.update(zip([(path, seq) for seq in seqs], self.read(path, seqs), strict=True))
        return [found[place] for place in places]

    def read(self, scope: str, seqs: list[int]) -> list[Record | None]:
        """Reads one record per seq; None if it is deleted, or damaged while others can be read."""
        try:
            return self.store.read(scope, seqs)
        except Corrupt:
            read = [self._one(scope, seq) for seq in seqs]
            if not any(read):
                raise
            return read

    def _one(self, scope: str, seq: int) -> Record | None:
        try:
            return self.store.read(scope, [seq])[0]
        except Corrupt:
            return None

    def _hits(self, ranking: Ranking, records: list[Record | None], query: Query) -> list[Hit]:
        """Makes the hits, best first; leaves out records deleted since the search."""
        hits = []
        for at, (record, score) in enumerate(zip(records, ranking.ranked.scores, strict=True)):
            if record is not None:
                reasons = partial(explain_hit, ranking, at, record, self.analyzer)
                hits.append(Hit(record=record, score=score, reasons=reasons))
        if ranking.asked.phrases:
            hits = with_phrases(hits, ranking.asked.phrases, query.recipe)
        return hits

    def _list_hits(self, query: Query, clock: _StageClock) -> Hits:
        """Lists records by filter alone, ordered by a column, for a query without words and vector."""
        records = self.list_records(
            query.where, query.scope, now=query.now, order=query.order, limit=query.limit
        )
        hits = [Hit(record=record, score=1.0) for record in records]
        clock.lap("search")
        trace = Trace(
            query=query.text,
            millis=clock.millis,
            notes=(f"ordered by {query.order}", *missing_of(self.store)),
            scope=query.scope.path,
        )
        return Hits(hits, trace if query.explain else None, query.scope.path)
