"""Numbers that callers give: each is checked, or an error says which are allowed."""

from __future__ import annotations

import math
from typing import Any

from ..core.errors import BadInput, EidetError


def check_whole(value: Any, name: str, *, least: int | None = 0, error: type[EidetError] = BadInput) -> int:
    """A whole number, from `least` up unless that is None."""
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        wanted = "a whole number"
        if least is not None:
            wanted += f" from {least} up"
        raise error(f"{name} must be {wanted}, not {value!r}")
    return value


def check_limit(value: Any, name: str, *, least: int = 1, error: type[EidetError] = BadInput) -> int | None:
    """A whole number from `least` up, or None for no limit."""
    return None if value is None else check_whole(value, name, least=least, error=error)


def check_number(
    value: Any,
    name: str,
    *,
    least: float = 0.0,
    most: float = math.inf,
    error: type[EidetError] = BadInput,
) -> float:
    """A finite number from `least` to `most`, both included."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not least <= value <= most:
        span = f"from {least:g} to {most:g}" if most < math.inf else f"from {least:g} up"
        raise error(f"{name} must be a number {span}, not {value!r}")
    return float(value)


def check_positive(value: Any, name: str, *, error: type[EidetError] = BadInput) -> float:
    """A finite number above 0."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        raise error(f"{name} must be a number above 0, not {value!r}")
    return float(value)
