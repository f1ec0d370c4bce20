"""Procedures: the data of a record that says how something is done, and the text made from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .errors import BadInput
from .record import Kind
from .validate import Json, describe_data

_FIELDS: Final = ("name", "when", "steps", "when_not", "outcome")
_SHAPE: Final = f"the data of a procedure is a dict of {', '.join(_FIELDS)}"
_MARKS: Final = (".", "!", "?", ":", ";", "…")


def check_procedure(data: Json) -> None:
    """Raises `BadInput` unless the data of a procedure is valid; a procedure in words has none."""
    if data is None:
        return
    if not isinstance(data, dict):
        raise BadInput(f"{_SHAPE}, not {type(data).__name__}")
    if unknown := sorted(data.keys() - set(_FIELDS)):
        raise BadInput(f"{_SHAPE}; put {', '.join(unknown)} into meta")
    if missing := [name for name in ("when", "steps") if name not in data]:
        raise BadInput(f"a procedure needs when and steps; {' and '.join(missing)} is missing")
    for name, value in data.items():
        texts = value if name == "steps" and isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            kind = "a list of texts, or one text" if name == "steps" else "a text"
            raise BadInput(f"{name} of a procedure is {kind}, and not empty; it is {value!r:.80}")


def tell_data(data: Json, kind: str | None) -> str:
    """Returns the text of a record that was given as data only."""
    if kind != Kind.PROCEDURE or not isinstance(data, Mapping) or not data.keys() >= {"when", "steps"}:
        return describe_data(data)
    return "\n".join(_list_lines(data))


def _list_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yields sentences, because a prompt shows them on one line."""
    if "name" in data:
        yield _end_sentence(str(data["name"]).replace("-", " "))
    yield _end_sentence(f"When: {data['when']}")
    steps = data["steps"]
    if isinstance(steps, list):
        yield from (f"{number}. {_end_sentence(str(step).strip())}" for number, step in enumerate(steps, 1))
    else:
        yield str(steps).strip()
    if "when_not" in data:
        yield _end_sentence(f"When not: {data['when_not']}")
    if "outcome" in data:
        yield _end_sentence(f"Outcome: {data['outcome']}")


def _end_sentence(text: str) -> str:
    return text if "\n" in text or text.endswith(_MARKS) else f"{text}."
