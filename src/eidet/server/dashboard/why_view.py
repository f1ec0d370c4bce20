"""Why?: a question, its answer, and all that is known of how the answer came about."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import date
from typing import Any, Final

from pydantic import BaseModel, Field

from ...core.errors import BadInput
from ...core.hit import Hit, Trace
from ...core.record import Record
from ...core.where import Where
from ...memory import Memory
from ...recall import RECIPES, Recipe
from ...recall.pack import Context
from ...recall.recipes import WEIGHTS
from ...recall.understand import Understood
from ...recall.why_not import Explained, Whereabouts, failing_parts
from ...text.analysis import NAMED, NUMBERED, TIMED
from ...text.tokens import counter_of
from .record_json import record_as_json

_ARM_ROWS: Final = 25  # candidates of an arm that are told
_REMOVED_ROWS: Final = 8
_FORMS: Final = {TIMED: "a time", NUMBERED: "a number", NAMED: "a name"}


class FilterForm(BaseModel):
    """The parts of a filter that every view offers."""

    kinds: list[str] = Field(default_factory=list, max_length=20)
    tiers: list[str] = Field(default_factory=list, max_length=10)
    trust: list[str] = Field(default_factory=list, max_length=10)
    who: str | None = None
    agent: str | None = None
    session: str | None = None
    since: float | str | None = None
    until: float | str | None = None
    where: dict[str, Any] | None = None

    def options(self) -> dict[str, Any]:
        """The fields that were filled in, as options of verbs."""
        names = FilterForm.model_fields.keys() - {"where"}
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "", [])}


class WhyForm(FilterForm):
    """A question to be explained: with weights, a time and a budget to try."""

    query: str = Field(default="", max_length=20_000)
    limit: int = Field(default=10, ge=1, le=100)
    recipe: str = "auto"
    weights: dict[str, float] = Field(default_factory=dict, max_length=40)
    least: float | None = None
    now: float | str | None = None
    as_of: float | str | None = None
    known_at: float | str | None = None
    understand: bool = True
    budget: int = Field(default=600, ge=1, le=100_000)

    def arguments(self) -> dict[str, Any]:
        """The arguments for `memory.admin.explain`, without the question."""
        arguments = self.options() | {
            "limit": self.limit,
            "where": self.where,
            "recipe": self.choose_recipe(),
            "understand": self.understand,
            "budget": self.budget,
        }
        for name in ("now", "as_of", "known_at"):
            if getattr(self, name) not in (None, ""):
                arguments[name] = getattr(self, name)
        if self.least is not None:
            arguments["least"] = self.least
        return arguments

    def choose_recipe(self) -> Recipe:
        if self.recipe not in RECIPES:
            raise BadInput(f"there is no recipe named {self.recipe!r}; there are {', '.join(RECIPES)}")
        recipe = RECIPES[self.recipe]
        unknown = self.weights.keys() - set(WEIGHTS)
        if unknown:
            raise BadInput(f"there is no signal named {min(unknown)!r}; there are {', '.join(WEIGHTS)}")
        changes: dict[str, Any] = dict(self.weights)
        return replace(recipe, **changes)


class WhyNotForm(WhyForm):
    """The same question, and the record that is missed."""

    id: str
    at: str | None = None  # its scope, where the question asks several


def answer_as_json(memory: Memory, explained: Explained, form: WhyForm) -> dict[str, Any]:
    trace = explained.hits.trace
    assert trace is not None
    chosen = form.choose_recipe()
    return _trace_as_json(trace) | {
        "hits": [_hit_as_json(hit) for hit in explained.hits],
        "understood": _meaning(explained),
        "arms": _arms(memory, explained),
        "removed": _list_removed(explained),
        "context": _context_as_json(explained.context),
        "recipe": {name: getattr(chosen, name) for name in WEIGHTS},
        "recipes": list(RECIPES),
    }


def _trace_as_json(trace: Trace) -> dict[str, Any]:
    return {
        "notes": list(trace.notes),
        "searched": trace.searched,
        "filtered": trace.filtered,
        "weights": dict(trace.weights),
        "millis": dict(trace.millis),
    }


def _meaning(explained: Explained) -> dict[str, Any]:
    if explained.ranking is None:
        return {"terms": [], "dense": ""}
    asked = explained.ranking.asked
    result: dict[str, Any] = {"terms": list(explained.ranking.terms), "dates": _dates(asked)}
    for name in ("dense", "speaker", "several", "session", "kind", "place", "moment"):
        result[name] = getattr(asked, name)
    for name in ("names", "phrases"):
        result[name] = list(getattr(asked, name))
    result["form"] = _form(asked)
    result["identifiers"] = [one.text for one in asked.identifiers]
    return result


def _form(asked: Understood) -> list[str]:
    return [name for flag, name in _FORMS.items() if asked.expects & flag]


def _dates(asked: Understood) -> list[dict[str, str]]:
    rows = []
    for one in asked.dates:
        first, last = date.fromordinal(one.first), date.fromordinal(one.last)
        rows.append({"text": one.text, "first": first.isoformat(), "last": last.isoformat()})
    return rows


def _arms(memory: Memory, explained: Explained) -> dict[str, list[dict[str, Any]]]:
    """The best candidates of each arm, with what they say."""
    trace = explained.hits.trace
    assert trace is not None
    wanted = [id for best in trace.arms.values() for id, _ in best[:_ARM_ROWS]]
    known = _read_by_id(memory, explained, wanted)
    return {
        name: [
            {"score": score, "record": record_as_json(known[id], 160)}
            for id, score in best[:_ARM_ROWS]
            if id in known
        ]
        for name, best in trace.arms.items()
    }


def _read_by_id(memory: Memory, explained: Explained, ids: list[str]) -> dict[str, Record]:
    if not ids:
        return {}
    where = Where(ids=tuple(dict.fromkeys(ids)), scope=explained.query.scope)
    return {record.id: record for record in memory.parts.store.find(where)}


def _list_removed(explained: Explained) -> list[dict[str, Any]]:
    where = explained.query.where
    return [
        {
            "score": hit.score,
            "record": record_as_json(hit.record, 160),
            "because": [] if where is None else list(failing_parts(where, hit.record)),
        }
        for hit in list(explained.removed)[:_REMOVED_ROWS]
    ]


def _context_as_json(context: Context) -> dict[str, Any]:
    """Converts a context line by line, each with its tokens and its record, if it has one."""
    counter, records, at = counter_of(None), list(context.records), 0
    lines = []
    for line in context.text.split("\n"):
        row: dict[str, Any] = {"text": line[:2000], "tokens": counter.count(line + "\n"), "id": None}
        if line.startswith("[") and at < len(records):
            row |= {"id": records[at].id, "scope": records[at].scope, "kind": records[at].kind}
            at += 1
        lines.append(row)
    return {
        "lines": lines,
        "tokens": context.tokens,
        "budget": context.budget,
        "left_out": len(context.left_out),
        "told": len(context.records),
    }


def whereabouts_as_json(place: Whereabouts, record: Record, explained: Explained) -> dict[str, Any]:
    told = {(packed.scope, packed.id) for packed in explained.context.records}
    in_context = (record.scope, record.id) in told
    return asdict(place) | {"record": record_as_json(record), "in_context": in_context}


def _hit_as_json(hit: Hit) -> dict[str, Any]:
    reasons = hit.reasons()
    return {
        "score": hit.score,
        "why": hit.why(),
        "matched": list(reasons.matched),
        "signals": [asdict(signal) for signal in reasons.signals],
        "record": record_as_json(hit.record),
    }
