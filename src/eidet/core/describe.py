"""Data as a line of text."""

from __future__ import annotations

from .validate import Json


def describe_data(data: Json) -> str:
    """Data as a line of text, for search and for people: `health: 0.85; inventory wood: 5`."""
    match data:
        case dict():
            return "; ".join(
                f"{key} {describe_data(value)}"
                if isinstance(value, dict)
                else f"{key}: {describe_data(value)}"
                for key, value in data.items()
            )
        case list():
            return ", ".join(describe_data(item) for item in data)
    return str(data)
