"""Procedures: the data of a record that says how something is done, and the text made from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .errors import BadInput
from .record import Kind
from .validate import Json, describe_data

_NAME: Final = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")  # what a skill may be called
LONGEST: Final = 1024  # characters of a line, as of the description of a skill
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
    for name in data.keys() - {"name", "steps"}:
        _check_line(data[name], name)
    steps = data["steps"] if isinstance(data["steps"], list) else [data["steps"]]
    if not steps or not all(isinstance(step, str) and step.strip() for step in steps):
        raise BadInput("steps is a list of texts, or one text; none of them is empty")
    if "name" in data and not (isinstance(data["name"], str) and _NAME.fullmatch(data["name"])):
        raise BadInput(
            f"the name of a procedure is up to 64 lower-case letters, digits and single hyphens, such as "
            f"release-notes, not {data['name']!r:.80}"
        )


def _check_line(value: Json, name: str) -> None:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or value != " ".join(value.split()):
        raise BadInput(
            f"{name} is one line of 1 to {LONGEST:,} characters with single spaces, not {value!r:.80}"
        )


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
