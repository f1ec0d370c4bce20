"""Hypothesis strategies for records and filters that are likely to meet.

Pools are small and full of near misses (`a`, `ab`, `a/b`; 1, 1.0, true) so that filters hit some
records and just miss others. Strategies are built once: building them costs more than drawing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from eidet.core.condition import OPERATORS, Condition
from eidet.core.record import Kind, Record, Tier, Trust
from eidet.core.scope import Scope
from eidet.core.state import NO_STATE, MergedPart, Protection, State
from eidet.core.where import Box, Near, Where

SCOPES = ("a", "ab", "a/b", "a0", "a b", "A", "a/b/c", "a/b0", "a-b", "é/b")
LABELS = ("ann", "Ann", "ann ", "bob", "x\0y", "x", "é", "")
IDS = (*(f"id{n}" for n in range(12)), "x", "x\0y")
KEYS = ("a", "b", "_c1", "0", "1", "a b", "é", "")
PATTERNS = ("a", "^x", "y$", r"\d", "(?i)ANN", "^$", "[é-ü]", r"x\x00y", "a|b")
USUAL = (1, 1.0, True, 0.5, "ann", None)
SCALARS = (
    *(None, True, False, 0, 1, -1, 2, 0.0, -0.0, 1.0, 0.5, 0.1 + 0.2, 0.3, 1e16, 1e-320, 1.5e300),
    *(10**16, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), 2**63, float(2**63), 10**25, 10**400),
    *(
        "",
        "a",
        "b",
        "x",
        "x\0y",
        "x\0",
        "é",
        "e\u0301",
        "ann",
        "Ann",
        "1",
        "true",
        "null",
        '"',
        "\\",
        "\u2028🙂",
    ),
)
STEPS = (-1, 0, 1, 2, 3, 2**40)
TIMES = (-5.0, 0.0, 1.0, 1.5, 2.0, 1.7e9, 1.7e9 + 1e-6)
COORDINATES = (-2.0, -1.0, 0.0, 0.5, 1.0, 3.0, 4.0, 5.0, 1e150)


@st.composite
def mostly(draw: st.DrawFn, usual: st.SearchStrategy[Any], rare: st.SearchStrategy[Any]) -> Any:
    return draw(rare if draw(st.integers(0, 3)) == 3 else usual)


single_scopes = st.builds(Scope, st.sampled_from(SCOPES), st.booleans())
scopes = single_scopes | st.lists(single_scopes, min_size=1, max_size=3).map(Scope.among)
times = st.sampled_from(TIMES)
shares = st.sampled_from((0.0, 0.25, 0.3, 0.5, 1.0))
places = st.lists(st.sampled_from(COORDINATES), min_size=2, max_size=3).map(tuple)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = mostly(st.sampled_from(USUAL), st.sampled_from(SCALARS) | numbers)
documents = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)
values = mostly(scalars, documents)
objects = st.fixed_dictionaries({"a": values}, optional=dict.fromkeys(("_c1", "0", "é"), values)) | (
    st.dictionaries(st.sampled_from(KEYS), values, max_size=2)
)

protections = st.builds(
    Protection, at=times, by=st.none() | st.sampled_from(LABELS[:-1]), expires=st.none() | times
)
parts = st.builds(MergedPart, id=st.sampled_from(IDS), text=texts, occurred=times, meta=objects)
_kept = st.builds(
    State,
    pinned=st.none() | protections,
    hold=st.none() | protections,
    ttl=st.none() | st.sampled_from((1, 1.5, 2**53 + 1)),
    merged=st.lists(parts, max_size=2).map(tuple),
    weighed=st.booleans(),
    pii=st.sampled_from(((), ("ann",), ("ann", "bob"))),
    more=st.just({}) | objects,
).map(State.but)


@st.composite
def states(draw: st.DrawFn) -> State:
    """Nothing for most records. A function of its own, as the whole strategy is too long to be printed."""
    return draw(_kept) if draw(st.integers(0, 3)) == 3 else NO_STATE


@cache
def records() -> st.SearchStrategy[Record]:
    """Records as a store would give them back, but for `seq`, which is 0."""
    label = st.none() | st.sampled_from(LABELS)
    return st.builds(
        Record,
        id=st.sampled_from(IDS),
        scope=st.sampled_from(SCOPES),
        text=texts,
        kind=st.sampled_from(Kind),
        tier=st.sampled_from(Tier),
        trust=st.sampled_from(Trust),
        data=mostly(objects, documents),
        meta=objects,
        state=states(),
        who=label,
        agent=label,
        session=label,
        source=label,
        step=st.none() | st.sampled_from(STEPS),
        place=st.none() | places,
        importance=shares,
        created=times,
        occurred=times,
        expires=st.none() | times,
    )


@cache
def conditions() -> st.SearchStrategy[Condition]:
    ordered = scalars.filter(lambda v: isinstance(v, int | float | str) and not isinstance(v, bool))
    operands: dict[str, st.SearchStrategy[Any]] = {
        "exists": st.booleans(),
        "regex": mostly(st.just("a"), st.sampled_from(PATTERNS)),
        "in": st.lists(values, max_size=3) | st.just(SCALARS),
        "contains": mostly(st.sampled_from(("n", "ann", 1)), documents),
        **dict.fromkeys(("<", "<=", ">", ">="), ordered),
    }
    return st.one_of(
        *(st.builds(Condition, _paths(), st.just(op), operands.get(op, values)) for op in OPERATORS)
    )


def _paths() -> st.SearchStrategy[Any]:
    root, step = st.sampled_from(("data", "meta", "state")), st.sampled_from((*KEYS, -1, 0, 1, 2))
    usual = st.sampled_from(
        (
            *(*["data.a"] * 4, *["meta.a"] * 2, "data._c1", "data.a.0", "data.a.b", "state.a", "state.hold"),
            *("state.hold.by", "state.ttl", "state.pii", "state.merged.0.text", "state.weighed"),
        )
    )
    return mostly(usual, st.tuples(root, step) | st.tuples(root, step, step))


@cache
def wheres() -> st.SearchStrategy[Where]:
    """Filters of one to three parts each, nested a few deep."""
    return st.recursive(_flat(), _nested, max_leaves=4)


@st.composite
def _flat(draw: st.DrawFn) -> Where:
    parts = _parts()
    names = draw(st.lists(st.sampled_from((*parts, *["conditions"] * 9)), min_size=1, max_size=3))
    return Where(**{name: draw(parts[name]) for name in dict.fromkeys(names)})


@cache
def _parts() -> dict[str, st.SearchStrategy[Any]]:
    return {
        "scope": scopes,
        "ids": st.lists(st.sampled_from(IDS), max_size=4),
        "kinds": st.lists(st.sampled_from(Kind), max_size=6),
        "tiers": st.lists(st.sampled_from(Tier), max_size=2),
        "trust": st.lists(st.sampled_from(Trust), max_size=3),
        **dict.fromkeys(("agent", "session", "who", "source"), st.sampled_from(LABELS)),
        **dict.fromkeys(("since", "until", "created_since", "created_until", "alive_at"), times),
        **dict.fromkeys(("step_from", "step_to"), st.sampled_from((*STEPS, 0.5, 10**30, -(10**30)))),
        **dict.fromkeys(("importance_min", "importance_max"), shares),
        "box": _boxes(),
        "near": st.builds(Near, place=places, radius=st.sampled_from((0.0, 0.5, 1.0, 5.0, 1e200))),
        "conditions": st.lists(conditions(), min_size=1, max_size=2),
    }


def _boxes() -> st.SearchStrategy[Box]:
    side = st.tuples(st.sampled_from(COORDINATES), st.sampled_from(COORDINATES)).map(sorted)
    sides = st.lists(side, min_size=2, max_size=3)
    return sides.map(lambda sides: Box(low=tuple(s[0] for s in sides), high=tuple(s[1] for s in sides)))


def _nested(inner: st.SearchStrategy[Where]) -> st.SearchStrategy[Where]:
    several = st.lists(inner, min_size=1, max_size=2)
    return (
        inner.map(lambda w: ~w)
        | st.tuples(inner, inner).map(lambda two: two[0] & two[1])
        | st.tuples(inner, inner).map(lambda two: two[0] | two[1])
        | st.builds(Where, scope=st.none() | scopes, some=several, never=several)
    )
