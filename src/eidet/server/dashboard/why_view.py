"""The view Why?: a question, its answer, and how the answer came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import date
from typing import Any, Final

from pydantic import Field

from ...core.errors import BadInput
from ...core.record import Record
from ...core.verb_table import CONTEXT, RECALL
from ...core.where import Where
from ...memory import Memory
from ...recall import RECIPES, Recipe
from ...recall.pack import Context
from ...recall.recipes import WEIGHTS
from ...recall.understand import Understood
from ...recall.why_not import Explained, Whereabouts, failing_parts
from ...text.analysis import NAMED, NUMBERED, TIMED
from ...text.tokens import counter_of
from ..rest.bodies import make_body, to_arguments
from ..rest.replies import tell_record
from ..rest.search_routes import tell_hit

_ARM_ROWS: Final = 25  # candidates listed for each arm
_REMOVED_ROWS: Final = 8
_FORMS: Final = {TIMED: "a time", NUMBERED: "a number", NAMED: "a name"}
_SHAPING: Final = ("explain", "reasons", "vectors")  # arguments that only shape the answer of a recall
_ASKED: Final = {name: argument for name, argument in RECALL.items() if name not in _SHAPING}

_weights: Final[Any] = (dict[str, float], Field(default_factory=dict, max_length=40))
WhyBody: Final[Any] = make_body(
    "WhyBody",
    "A question to be explained, with a budget and weights to try.",
    {**_ASKED, "budget": CONTEXT["budget"]},
    weights=_weights,
)
WhyNotBody: Final[Any] = make_body(
    "WhyNotBody",
    "The same question, the record that is missed, and its scope where the question asks several.",
    {**_ASKED, "budget": CONTEXT["budget"]},
    weights=_weights,
    id=(str, ...),
    at=(str | None, None),
)


def to_question(body: Any) -> dict[str, Any]:
    """Converts a body to the arguments of `memory.admin.explain`."""
    given = to_arguments(body)
    for name in ("weights", "id", "at"):
        given.pop(name, None)
    return given | {"recipe": choose_recipe(body.recipe, body.weights)}


def choose_recipe(name: str | None, weights: Mapping[str, float]) -> Recipe:
    if unknown := weights.keys() - set(WEIGHTS):
        raise BadInput(f"there is no signal named {min(unknown)!r}; there are {', '.join(WEIGHTS)}")
    changes: dict[str, Any] = dict(weights)
    return replace(RECIPES[name or "auto"], **changes)


def tell_answer(memory: Memory, explained: Explained, chosen: Recipe) -> dict[str, Any]:
    trace = explained.hits.trace
    assert trace is not None
    return asdict(trace) | {
        "hits": [tell_hit(hit) for hit in explained.hits],
        "understood": _tell_meaning(explained),
        "arms": _tell_arms(memory, explained, trace.arms),
        "removed": _tell_removed(explained),
        "context": _tell_lines(explained.context),
        "recipe": {name: getattr(chosen, name) for name in WEIGHTS},
        "recipes": list(RECIPES),
    }


def _tell_meaning(explained: Explained) -> dict[str, Any]:
    if explained.ranking is None:
        return {"terms": [], "dense": ""}
    asked = explained.ranking.asked
    names = ("dense", "speaker", "several", "session", "moment", "names", "phrases")
    return {name: getattr(asked, name) for name in names} | {
        "terms": list(explained.ranking.terms),
        "dates": _tell_dates(asked),
        "form": [name for flag, name in _FORMS.items() if asked.expects & flag],
        "identifiers": [one.text for one in asked.identifiers],
    }


def _tell_dates(asked: Understood) -> list[dict[str, str]]:
    rows = []
    for one in asked.dates:
        first, last = date.fromordinal(one.first), date.fromordinal(one.last)
        rows.append({"text": one.text, "first": first.isoformat(), "last": last.isoformat()})
    return rows


def _tell_arms(
    memory: Memory, explained: Explained, arms: Mapping[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """Returns the best candidates of each arm, with their records."""
    wanted = tuple({id: None for best in arms.values() for id, _ in best[:_ARM_ROWS]})
    where = Where(ids=wanted, scope=explained.query.scope)
    known = {record.id: tell_record(record) for record in memory.parts.store.find(where)} if wanted else {}
    return {
        name: [{"score": score, "record": known[id]} for id, score in best[:_ARM_ROWS] if id in known]
        for name, best in arms.items()
    }


def _tell_removed(explained: Explained) -> list[dict[str, Any]]:
    where = explained.query.where
    return [
        {
            "score": hit.score,
            "record": tell_record(hit.record),
            "because": [] if where is None else list(failing_parts(where, hit.record)),
        }
        for hit in list(explained.removed)[:_REMOVED_ROWS]
    ]


def _tell_lines(context: Context) -> dict[str, Any]:
    """Lists the lines of a context, each with its tokens and its record, if it has one."""
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


def tell_whereabouts(place: Whereabouts, record: Record, explained: Explained) -> dict[str, Any]:
    told = {(packed.scope, packed.id) for packed in explained.context.records}
    in_context = (record.scope, record.id) in told
    return asdict(place) | {"record": tell_record(record), "in_context": in_context}
