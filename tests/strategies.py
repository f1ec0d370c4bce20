"""Hypothesis strategies for records and filters that are likely to meet.

Pools are small and full of near misses (`a`, `ab`, `a/b`; 1, 1.0, true) so that filters hit some
records and just miss others.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from eidet.model import Kind, Place, Record, Scope, Tier
from eidet.where import OPERATORS, Box, Condition, Near, Where

SCOPES = ("a", "ab", "a/b", "a0", "a b", "A", "a/b/c", "a/b0", "a-b", "é/b")
LABELS = ("ann", "Ann", "ann ", "bob", "x\0y", "x", "é", "")
IDS = (*(f"id{n}" for n in range(12)), "x", "x\0y")
KEYS = ("a", "b", "_c1", "0", "1", "a b", "é", "")
PATTERNS = ("a", "^x", "y$", r"\d", "(?i)ANN", "^$", "[é-ü]", r"x\x00y", "a|b")
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
USUAL = (1, 1.0, True, 0.5, "ann", None)
STEPS = (-1, 0, 1, 2, 3, 2**40)
TIMES = (-5.0, 0.0, 1.0, 1.5, 2.0, 1.7e9, 1.7e9 + 1e-6)
COORDINATES = (-2.0, -1.0, 0.0, 0.5, 1.0, 3.0, 4.0, 5.0, 1e150)

scopes = st.builds(Scope, st.sampled_from(SCOPES), st.booleans())
times = st.sampled_from(TIMES)
places = st.lists(st.sampled_from(COORDINATES), min_size=2, max_size=3).map(tuple)
shares = st.sampled_from((0.0, 0.25, 0.3, 0.5, 1.0))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def mostly(usual: st.SearchStrategy[Any], rare: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from((True, True, True, False)).flatmap(lambda luck: usual if luck else rare)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


scalars = mostly(st.sampled_from(USUAL), st.sampled_from(SCALARS) | numbers)


def texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def documents() -> st.SearchStrategy[Any]:
    """JSON values as a record may hold them."""
    return st.recursive(
        scalars | texts(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=8,
    )


def objects() -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects that mostly hold something under `a`, where conditions mostly look."""
    inside = mostly(scalars, documents())
    return st.fixed_dictionaries(
        {"a": inside}, optional={key: inside for key in KEYS if key != "a"}
    ) | st.dictionaries(st.sampled_from(KEYS), inside, max_size=2)


def records() -> st.SearchStrategy[Record]:
    """Records as a store would give them back, but for `seq`, which is 0."""
    label = maybe(st.sampled_from(LABELS))
    return st.builds(
        Record,
        id=st.sampled_from(IDS),
        scope=st.sampled_from(SCOPES),
        text=texts(),
        kind=st.sampled_from(Kind),
        tier=st.sampled_from(Tier),
        data=mostly(objects(), documents()),
        meta=objects(),
        who=label,
        agent=label,
        session=label,
        source=label,
        step=maybe(st.sampled_from(STEPS)),
        place=maybe(places),
        importance=shares,
        created=times,
        occurred=times,
        expires=maybe(times),
    )


def paths() -> st.SearchStrategy[Any]:
    step: st.SearchStrategy[str | int] = st.sampled_from(KEYS) | st.integers(-1, 2)
    root = st.sampled_from(("data", "meta"))
    usual = st.sampled_from((*["data.a"] * 4, *["meta.a"] * 2, "data._c1", "data.a.0", "data.a.b"))
    return mostly(usual, st.tuples(root, step) | st.tuples(root, step, step))


def conditions() -> st.SearchStrategy[Condition]:
    return st.sampled_from(OPERATORS).flatmap(_conditions_with)


def _conditions_with(op: str) -> st.SearchStrategy[Condition]:
    ordered = scalars.filter(lambda v: isinstance(v, int | float | str) and not isinstance(v, bool))
    operands: dict[str, st.SearchStrategy[Any]] = {
        "exists": st.booleans(),
        "regex": mostly(st.just("a"), st.sampled_from(PATTERNS)),
        "in": st.lists(mostly(scalars, documents()), max_size=3) | st.just(SCALARS),
        "contains": mostly(st.sampled_from(("n", "ann", 1)), documents()),
        **dict.fromkeys(("<", "<=", ">", ">="), ordered),
    }
    return st.builds(Condition, paths(), st.just(op), operands.get(op, mostly(scalars, documents())))


def wheres() -> st.SearchStrategy[Where]:
    """Filters of one to three parts, nested up to three deep."""
    return st.recursive(_flat(), _nested, max_leaves=4)


def _flat() -> st.SearchStrategy[Where]:
    parts = {
        "scope": scopes,
        "ids": st.lists(st.sampled_from(IDS), max_size=4),
        "kinds": st.lists(st.sampled_from(Kind), max_size=6),
        "tiers": st.lists(st.sampled_from(Tier), max_size=2),
        **dict.fromkeys(("agent", "session", "who", "source"), st.sampled_from(LABELS)),
        **dict.fromkeys(("since", "until", "created_since", "created_until", "alive_at"), times),
        **dict.fromkeys(("step_from", "step_to"), st.sampled_from((*STEPS, 0.5, 10**30, -(10**30)))),
        **dict.fromkeys(("importance_min", "importance_max"), shares),
        "box": places.flatmap(_boxes),
        "near": st.builds(Near, place=places, radius=st.sampled_from((0.0, 0.5, 1.0, 5.0, 1e200))),
        "conditions": st.lists(conditions(), min_size=1, max_size=2),
    }
    names = st.lists(st.sampled_from((*parts, *["conditions"] * 9)), min_size=1, max_size=3, unique=True)
    return names.flatmap(lambda chosen: st.builds(Where, **{name: parts[name] for name in chosen}))


def _boxes(low: Place) -> st.SearchStrategy[Box]:
    high = st.tuples(*(st.sampled_from([c for c in COORDINATES if c >= side]) for side in low))
    return st.builds(Box, low=st.just(low), high=high)


def _nested(inner: st.SearchStrategy[Where]) -> st.SearchStrategy[Where]:
    several = st.lists(inner, min_size=1, max_size=2)
    return (
        inner.map(lambda w: ~w)
        | st.tuples(inner, inner).map(lambda two: two[0] & two[1])
        | st.tuples(inner, inner).map(lambda two: two[0] | two[1])
        | st.builds(Where, scope=maybe(scopes), some=several, never=several)
    )
