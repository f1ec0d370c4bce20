"""Compares states with a state given as the query, field by field: numbers, flags and texts.

Differences of numbers are measured by the spread of the field among the candidates, so that health from 0
to 1 and gold from 0 to 10,000 count alike (Gower's distance). A flag is equal or not. The distance of a
different text is that of its words and meaning. A candidate without a field is farther than all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.condition import MISSING, is_number, resolve, same
from ..core.hit import Hit, Reasons
from ..core.record import Record
from ..core.validate import Json, describe_data
from ..index import Candidates, Probe, ValueMatch, ValuePath
from ..text import term_id
from .fuse import Ranked
from .model import number_groups
from .recipes import Recipe
from .signals import Signals, share_covered

if TYPE_CHECKING:
    from . import Query, Recall


FIELDS: Final = 100  # values of a query that are compared at most; the first ones

FieldForm = Literal["number", "text", "items", "mark"]


@dataclass(frozen=True, slots=True)
class StateField:
    """One value of a query: its place, how it is compared, and its weight."""

    path: ValuePath
    value: Json
    form: FieldForm
    weight: float = 1.0

    @property
    def name(self) -> str:
        """The field's name in words: `inventory wood`, `position 2`; positions in a list count from one."""
        return " ".join(str(step + 1) if isinstance(step, int) else step for step in self.path)


@dataclass(frozen=True, slots=True)
class StateQuery:
    """The values to compare states with, and the texts among them as a search text."""

    fields: tuple[StateField, ...]
    words: str

    @property
    def values(self) -> dict[ValuePath, Json]:
        """The values by their paths in a record."""
        return {("data", *field.path): field.value for field in self.fields}


def read_state(data: Mapping[str, Json], guard: Callable[[str], str]) -> StateQuery | None:
    """Parses the values of a state; None if all of them are texts, which are searched for as texts.

    `guard` rewrites a text as it would be stored.
    """
    fields = [
        replace(field, value=guard(field.value)) if isinstance(field.value, str) else field
        for field in islice(_list_fields((), data, 1.0), FIELDS)
    ]
    if all(field.form in ("text", "items") and _is_worded(field.value) for field in fields):
        return None
    worded = [one for one in fields if _is_worded(one.value)]
    return StateQuery(tuple(fields), "; ".join(f"{one.name}: {describe_data(one.value)}" for one in worded))


def _list_fields(path: ValuePath, value: Json, weight: float) -> Iterator[StateField]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _list_fields((*path, key), inner, weight)
    elif isinstance(value, list) and value and all(map(is_number, value)):
        for place, number in enumerate(value):  # a list counts as much as one number does
            yield StateField((*path, place), number, "number", weight / len(value))
    else:
        yield StateField(path, value, _form_of(value), weight)


def _form_of(value: Json) -> FieldForm:
    if is_number(value):
        return "number"
    if isinstance(value, str):
        return "text"
    return "items" if isinstance(value, list) and value else "mark"


def _is_worded(value: Json) -> bool:
    """Returns whether a value contains words."""
    return any(isinstance(item, str) for item in (value if isinstance(value, list) else [value]))


# --- nearness

FIELDS_SIGNAL: Final = "fields"
POOL: Final = 50_000  # states of a scope up to which all are compared; beyond, those whose words fit best
TAILS: Final = (5, 95)  # percentiles of the scale, so that a few extreme values do not set it
OTHER_TEXT: Final = 0.1  # least distance of a different text
FAR: Final = 1.0  # distance of a different value
LACKING: Final = 1.0  # distance of a missing number beyond the farthest one
_LARGEST: Final = 1e150  # larger numbers count as this one
FIELDS_SAID: Final = 6  # values that an explanation names

Floats = NDArray[Any]


def _match_values(recall: Recall, state: StateQuery, found: Candidates) -> list[ValueMatch]:
    """Compares the values of all candidates with those of a query, field by field."""
    rows = [np.flatnonzero(found.scope == code) for code in range(len(found.scopes))]
    order = np.argsort(np.concatenate(rows)) if rows else np.empty(0, np.intp)
    parts = [
        recall.index.match_values(scope, found.seq[here], state.values)
        for scope, here in zip(found.scopes, rows, strict=True)
    ]
    return [
        ValueMatch(*(np.concatenate(arrays)[order] for arrays in zip(*(p[path] for p in parts), strict=True)))
        for path in state.values
    ]


def _measure_nearness(state: StateQuery, matches: list[ValueMatch], texts: Floats) -> Floats:
    """Measures how near each candidate is, from 1 (all values equal) to 0.

    `texts` scores how well the words and the meaning of each candidate fit, from 0 to 1.
    """
    total, weights = np.zeros(len(texts)), 0.0
    has_any = texts > 0
    for field, match in zip(state.fields, matches, strict=True):
        total += field.weight * _measure_field(field, match, texts)
        weights += field.weight
        has_any |= match.known
    shares: Floats = np.where(has_any, 1.0 / (1.0 + total / weights), 0.0)
    return shares


def _find_scale(numbers: Floats, asked: float) -> float:
    """Returns the unit of distance: the spread of the values, or else the size of the largest."""
    there = numbers[~np.isnan(numbers)]
    if not len(there):
        return 1.0
    low, high = np.percentile(there, TAILS)
    spread = float(high - low) or float(there.max() - there.min())
    return spread or max(abs(asked), float(np.abs(there).max())) or 1.0


def _measure_field(field: StateField, match: ValueMatch, texts: Floats) -> Floats:
    """Measures each candidate's distance from the value asked for; a missing number is farther than all."""
    if field.form == "number":
        asked = min(max(field.value, -_LARGEST), _LARGEST)
        away = np.abs(match.number - asked) / _find_scale(match.number, asked)
        return np.where(np.isnan(away), LACKING + float(np.nanmax(away, initial=FAR)), away)
    if field.form == "items":
        return 1.0 - match.shared
    if field.form == "text":
        return np.where(match.equal, 0.0, FAR - (FAR - OTHER_TEXT) * texts)
    return np.where(match.equal, 0.0, np.where(match.known, FAR, FAR + LACKING))


def search_states(recall: Recall, query: Query, probe: Probe) -> Candidates:
    """Returns all states that pass the filter; of more than `POOL` in a scope, those whose words fit best.

    The trace then says that not all were compared.
    """
    found = recall.index.search(probe)
    if len(found) >= found.kept or (probe.vector is not None and probe.terms):
        return _note_left_out(found)
    terms = recall.analyzer.terms(query.text)
    worded = replace(probe, vector=recall.embed(query.text), terms=tuple(map(term_id, terms)))
    return _note_left_out(recall.index.search(worded))


def _note_left_out(found: Candidates) -> Candidates:
    if len(found) >= found.kept:
        return found
    note = f"{len(found):,} of {found.kept:,} states were compared: those whose words fit best"
    return replace(found, notes=(*found.notes, note))


def weigh_states(
    recall: Recall, state: StateQuery, found: Candidates, text: Signals, recipe: Recipe
) -> Signals:
    """Replaces the text signals by the nearness of the fields; keeps the other signals of the recipe."""
    near = _measure_nearness(state, _match_values(recall, state, found), _score_texts(found, text))
    shares = {FIELDS_SIGNAL: near}
    wanted = {FIELDS_SIGNAL: recipe.dense + recipe.words + recipe.context}
    beside = {"importance": recipe.importance, "recency": recipe.recency, "asked": recipe.asked}
    for name, weight in beside.items():
        if name in text.shares and weight > 0:
            shares[name], wanted[name] = text.shares[name] * (near > 0), weight
    total = sum(wanted.values()) or 1.0
    weighed = {name: shares[name] * (weight / total) for name, weight in wanted.items()}
    return Signals({**text.values, **shares}, weighed, text.match, meant=text.meant)


def _score_texts(found: Candidates, text: Signals) -> Floats:
    """Scores how well the texts among the values fit, from 0 to 1, by words and meaning."""
    fits = max(float(found.dense.max(initial=0.0)), share_covered(found), 0.0)
    scored: Floats = np.clip(text.match * min(fits, 1.0), 0.0, 1.0)
    return scored


def rank_states(found: Candidates, signals: Signals, limit: int, unit: str) -> Ranked:
    """Ranks the states, or the best of each session or scope, by the sum of their signals, their score."""
    sums = np.zeros(len(found))
    for shares in signals.shares.values():
        sums += shares
    chosen = np.arange(len(found)) if signals.meant is None else signals.meant.nonzero()[0]
    newest = chosen[::-1]
    rows = newest.take((-sums.take(newest)).argsort(kind="stable"))
    if unit != "record":
        _, first = np.unique(number_groups(found, unit).take(rows), return_index=True)
        rows = rows.take(np.sort(first))
    rows = rows[:limit]
    scores = np.clip(sums.take(rows), 0.0, 1.0).tolist()
    alone = found.traits.session < 0
    return Ranked(
        rows=rows,
        scores=scores,
        answered=max(scores, default=0.0),
        values=signals.values,
        shares=lambda: signals.shares,
        alone=alone,
    )


def explain_fields(hits: list[Hit], state: StateQuery) -> list[Hit]:
    """Adds to the hits reasons that name their values."""
    return [replace(hit, reasons=partial(_explain, hit, state)) for hit in hits]


def _explain(hit: Hit, state: StateQuery) -> Reasons:
    own = hit.reasons()
    return replace(own, words=(*_describe_fields(hit.record, state), *own.words))


def _describe_fields(record: Record, state: StateQuery) -> Iterator[str]:
    """Yields phrases on which values equal those asked for, and which differ."""
    for field in state.fields[:FIELDS_SAID]:
        own = resolve(record.data, field.path)
        if own is MISSING:
            yield f"has no {field.name}"
        elif same(own, field.value):
            yield f"{field.name} is {_show(own)}"
        elif field.form not in ("text", "items"):
            yield f"{field.name} is {_show(own)}, not {_show(field.value)}"


def _show(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)[:80]
