"""Columns as attributes of a vector set's elements, and filters in the words of `VSIM … FILTER`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from .pushdown import Every, Filter, Leaf, hash_label, passes

# One letter each: every element carries them. What is asked for most stands first.
NAMES: Final = {
    "expires": "e", "occurred": "c", "session": "s", "who": "w", "kind": "k", "tier": "t", "trust": "r",
    "agent": "a", "source": "o", "created": "d", "importance": "i", "stepped": "m", "step": "n",
    "placed": "p", "x": "x", "y": "y", "z": "z",
}  # fmt: skip
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]*")
_BINARY: Final = 1e-4  # the grammar knows no negative exponents: what is smaller is told by a power of two


def attributes(columns: Mapping[str, Any]) -> str:
    """The columns of a point as JSON; the others are not told."""
    values = {letter: _encode(columns[name]) for name, letter in NAMES.items()}
    return json.dumps(values, separators=(",", ":"))


def may_pass(only: Filter, told: bytes | None) -> bool:
    """Whether an element with these attributes passes."""
    row = json.loads(told or b"{}")
    return bool(row) and passes(_use_letters(only), row)


def expression(only: Filter) -> str:
    """The same in the words of the server. Words and comparisons know no order but that of the brackets."""
    if isinstance(only, Leaf):
        return _compare(only)
    if not only.parts:
        return "(1 == 1)" if isinstance(only, Every) else "(1 == 0)"
    joint = " and " if isinstance(only, Every) else " or "
    return f"({joint.join(map(expression, only.parts))})"


def _compare(leaf: Leaf) -> str:
    name = f".{NAMES[leaf.column]}"
    if leaf.op in ("in", "not in"):
        among = f"({name} in [{', '.join(map(_literal, leaf.value))}])"
        return among if leaf.op == "in" else f"(not {among})"
    return f"({name} {'==' if leaf.op == '=' else leaf.op} {_literal(leaf.value)})"


def _use_letters(only: Filter) -> Filter:
    if isinstance(only, Leaf):
        value = tuple(map(_encode, only.value)) if only.op.endswith("in") else _encode(only.value)
        return Leaf(NAMES[only.column], only.op, value)
    return type(only)(tuple(map(_use_letters, only.parts)))


def _encode(value: Any) -> Any:
    """Text that needs no escapes, and numbers that JSON knows."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else hash_label(value, b"")
    number = float(value)
    if number != number:
        return 0
    number = min(max(number, -1.7e308), 1.7e308)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _literal(value: Any) -> str:
    encoded = _encode(value)
    if isinstance(encoded, str):
        return f'"{encoded}"'
    if isinstance(encoded, int) or abs(encoded) >= _BINARY:
        return repr(encoded).replace("e+", "e")
    whole, below = encoded.as_integer_ratio()
    return f"({whole} * 2 ** -{int(math.log2(below))})"
