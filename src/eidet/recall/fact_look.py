"""What facts tell of the best hits: which of them answers at the time asked about, and what replaced it.

A question that is understood as one about facts ("where does Ann live?") is answered by the facts that held
then: the records that state them go first, and what they replaced says so. For any other question, a hit
whose facts no longer hold goes behind the hit that replaced it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Final

from ..core.hit import Hit
from ..core.record import Record
from ..core.validate import local
from ..core.value_classes import dataclass
from ..graph import Graphs
from ..graph.fact_answers import list_answers, list_relevant
from ..graph.scope_graph import ScopeGraph, View
from ..graph.validity import Interval
from ..store import Head
from ..text.analysis import has_statements, is_question, terms_in
from ..text.facts import Asks, FactQuestion, Tense, read_fact_question, relation_of
from .rescore import FACTS, add_words, rescore

LONGEST_QUESTION: Final = 3  # words beside names
ReadSeqs = Callable[[str, list[int]], list[Record | None]]
MOST: Final = 5  # facts that answer one question
SURE: Final = 0.9  # the score of a record that states the fact asked for, if it is certain
FIRM: Final = 0.5  # facts of less confidence answer nothing
NOT_THEN: Final = "not the time asked for"  # said of a record; the fact that it states held then
REPLACED: Final = 0.4  # of the score of the answer is the most for what it replaced
LIKELY: Final = 0.5  # a newer hit with this share of the score of a fact may know better


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """A query as facts see it: the question that it asks, if any, and the time that is meant."""

    question: FactQuestion | None
    at: float  # the present of the question
    view: View
    names: frozenset[int]  # the ids of the terms of the names that it mentions
    is_present: bool  # whether it asks about what holds, not about what held

    @property
    def until(self) -> float:
        """The end of the time that is asked about."""
        if self.question is not None and self.question.until is not None:
            return self.question.until
        return self.at


@dataclass(slots=True)
class Findings:
    """What the graph of one scope tells: records that answer, and records that were replaced."""

    answers: dict[int, Interval] = field(default_factory=dict)  # by the seq of the record to show
    replaced: dict[int, Interval] = field(default_factory=dict)  # by the seq of the record, its last interval


def read_fact_query(
    text: str,
    *,
    asked: float,
    now: float,
    language: str,
    timed: bool,
    terms: frozenset[int],
    names: frozenset[int],
) -> FactQuery:
    """What a query asks, as far as it asks about a fact.

    `timed`: the query names a time, or asks for the first or the last, so the present is not meant.
    `terms` and `names`: the ids of its words, and of those that are names. With many other words, a
    question asks for more than one fact tells.
    """
    question = None
    if len(terms - names) <= LONGEST_QUESTION:
        question = read_fact_question(text, asked=local(asked), language=language)
    if question is not None and not _asks_for_a_fact(question, len(terms - names)):
        question = None
    present = not timed if question is None else question.tense is Tense.NOW
    return FactQuery(question=question, at=asked, view=View(now=now), names=names, is_present=present)


def _asks_for_a_fact(question: FactQuestion, words: int) -> bool:
    """Whether a fact alone answers: not when something happened, nor "what did she do" at the party."""
    if question.asks is Asks.WHEN:
        return False
    if "works_as" in question.relations:
        return words <= 1 and question.tense is not Tense.EVER
    return True


def find_facts(graphs: Graphs, path: str, head: Head, hits: Sequence[Hit], asked: FactQuery) -> Findings:
    """Asks the graph of one scope about a query and its hits."""
    seqs = [hit.record.seq for hit in hits if hit.record.scope == path and has_statements(hit.record.terms)]
    if asked.question is None and not seqs:
        return Findings()
    return graphs.ask(path, lambda graph: _find(graph, asked, seqs), head)


def _find(graph: ScopeGraph, asked: FactQuery, seqs: Sequence[int]) -> Findings:
    findings = Findings()
    if asked.question is not None:
        _find_answers(graph, asked.question, asked, seqs, findings)
    if asked.is_present:
        for seq in seqs:
            ended = _find_ended(graph, seq, asked)
            if ended is not None and seq not in findings.answers:
                findings.replaced[seq] = ended
    return findings


def _find_answers(
    graph: ScopeGraph, question: FactQuestion, asked: FactQuery, seqs: Sequence[int], findings: Findings
) -> None:
    """One record for each fact: one that was found anyway if there is one, else the latest."""
    for interval in list_answers(graph, question, asked.at, asked.view)[:MOST]:
        if interval.confidence >= FIRM and relation_of(interval.relation).single:
            findings.answers.setdefault(_choose_source(interval, seqs), interval)
    if findings.answers or question.tense is not Tense.NOW:
        return
    for interval in list_relevant(graph, question, asked.view):
        single = relation_of(interval.relation).single
        ended = single and interval.start is not None and interval.closer is not None
        if ended and interval.successor is None:  # that it no longer holds is the answer
            assert interval.closer is not None
            findings.answers.setdefault(interval.closer.source.seq, interval)


def _choose_source(interval: Interval, seqs: Sequence[int]) -> int:
    sources = [assertion.source.seq for assertion in interval.said]
    for seq in seqs:
        if seq in sources:
            return seq
    return max(sources)


def _find_ended(graph: ScopeGraph, seq: int, asked: FactQuery) -> Interval | None:
    """The fact of a record that was replaced last; None if any of its facts still holds."""
    ended: Interval | None = None
    for interval in graph.find_intervals(seq, asked.view):
        if interval.end is None or interval.end > asked.at:
            return None
        if interval.closer is not None and (ended is None or interval.end >= (ended.end or 0.0)):
            ended = interval
    return ended


def apply_findings(
    hits: list[Hit],
    findings: Findings,
    path: str,
    asked: FactQuery,
    read: ReadSeqs,
) -> list[Hit]:
    """The hits in the order that facts suggest, each with what facts say of it.

    `read` gives None for a record that the caller may not see: it neither answers nor is it named.
    """
    if not findings.answers and not findings.replaced:
        return hits
    newer = _read_missing(hits, findings, path, read)
    marked = [_mark(hit, findings, newer) for hit in hits]
    answers = _list_answer_hits(marked, findings, newer)
    first = {hit.record.seq for hit in answers}
    rest = _put_newer_first([hit for hit in marked if hit.record.seq not in first], findings)
    if rest and answers and _may_know_better(rest[0], answers[0], asked):
        return [rest[0], *_below(answers, rest[0].score), *rest[1:]]
    return answers + _lower_replaced(rest, answers)


def _may_know_better(best: Hit, answer: Hit, asked: FactQuery) -> bool:
    """Whether the best hit is newer than the fact: rules do not read every way to tell of a change."""
    if asked.question is None or asked.question.tense in (Tense.BEFORE, Tense.EVER):
        return False
    if best.superseded_by is not None or not answer.record.occurred < best.record.occurred <= asked.until:
        return False
    likely = best.score >= answer.score * LIKELY and not is_question(best.record.terms)
    return likely and asked.names <= terms_in(best.record.terms)


def _lower_replaced(hits: list[Hit], answers: Sequence[Hit]) -> list[Hit]:
    """What an answer replaced is no answer itself, however well its words match: its score says so."""
    most = {hit.id: hit.score * REPLACED for hit in answers}
    lowered: list[Hit] = []
    for hit in hits:
        limit = most.get(hit.superseded_by or "", 1.0)
        lowered.append(rescore(hit, min(hit.score, limit), FACTS))
    return sorted(lowered, key=lambda hit: -hit.score)


def _below(hits: Sequence[Hit], most: float) -> list[Hit]:
    return [rescore(hit, min(hit.score, most), FACTS) for hit in hits]


def _read_missing(hits: Sequence[Hit], findings: Findings, path: str, read: ReadSeqs) -> dict[int, Record]:
    """The records that answers and reasons name, by seq: those of the hits, and the others from the store."""
    known = {hit.record.seq: hit.record for hit in hits}
    wanted = list(findings.answers)
    for interval in findings.replaced.values():
        wanted.append(_newer_seq(interval))
    missing = [seq for seq in dict.fromkeys(wanted) if seq not in known]
    for record in read(path, missing) if missing else ():
        if record is not None:
            known[record.seq] = record
    return known


def _newer_seq(interval: Interval) -> int:
    """The seq of what replaced a fact: its successor, or what says that it ended."""
    if interval.successor is not None:
        return interval.successor.first.source.seq
    assert interval.closer is not None
    return interval.closer.source.seq


def _mark(hit: Hit, findings: Findings, newer: dict[int, Record]) -> Hit:
    interval = findings.replaced.get(hit.record.seq)
    if interval is None or interval.end is None:
        return hit
    record = newer.get(_newer_seq(interval))
    if record is None or record.id == hit.id:
        return hit
    words = f"replaced on {_day(interval.end)} by “{_shorten(record.text)}”"
    return replace(add_words(hit, words, first=True), superseded_by=record.id)


def _list_answer_hits(hits: Sequence[Hit], findings: Findings, known: dict[int, Record]) -> list[Hit]:
    """The hits that answer, with scores that say how sure the facts are."""
    if not findings.answers:
        return []
    there = {hit.record.seq: hit for hit in hits}
    best = max((hit.score for hit in hits), default=0.0)
    answers: list[Hit] = []
    for seq, interval in findings.answers.items():
        if seq not in known:
            continue
        hit = there.get(seq) or Hit(record=known[seq], score=0.0)
        score = max(SURE * min(interval.confidence, 1.0), hit.score)
        answer = add_words(rescore(hit, score, FACTS), _describe(interval), first=True, instead=NOT_THEN)
        answers.append(answer)
    if answers and answers[0].score < best:
        answers[0] = rescore(answers[0], best, FACTS)
    return sorted(answers, key=lambda hit: -hit.score)


def _describe(interval: Interval) -> str:
    since = "" if interval.start is None else f" since {_day(interval.start)}"
    if interval.end is not None:
        return f"states what held{since} until {_day(interval.end)}"
    return f"states what holds{since}"


def _put_newer_first(hits: list[Hit], findings: Findings) -> list[Hit]:
    """Where a hit was replaced, the one that replaced it takes its place, if that was found, too."""
    there = {hit.id: hit for hit in hits}
    ordered: dict[str, Hit] = {}
    for hit in hits:
        for newer in reversed(_list_newer(hit, there, findings)):
            ordered.setdefault(newer.id, newer)
    scores = sorted((hit.score for hit in hits), reverse=True)
    return [rescore(hit, score, FACTS) for hit, score in zip(ordered.values(), scores, strict=True)]


def _list_newer(hit: Hit, there: dict[str, Hit], findings: Findings) -> list[Hit]:
    """A hit, what replaced it, what replaced that, and so on; two may replace each other in turn."""
    found = {hit.id: hit}
    while hit.record.seq in findings.replaced and hit.superseded_by in there:
        hit = there[hit.superseded_by]
        if hit.id in found:
            break
        found[hit.id] = hit
    return list(found.values())


def _day(at: float) -> str:
    when = datetime.fromtimestamp(at, UTC)
    return f"{when.day} {when:%B %Y}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= 60:
        return line
    return line[:57].rstrip() + "…"
