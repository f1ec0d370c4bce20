"""A state as a question: which of its values are compared, and which words are left to search by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from ..core.arguments import check_query
from ..core.condition import is_number
from ..core.validate import Json, clean_json, describe_data
from ..index.state_columns import DataPath

FIELDS: Final = 100  # values of a query that are compared; the first ones

FieldForm = Literal["number", "text", "items", "mark"]


@dataclass(frozen=True, slots=True)
class StateField:
    """One value of a query: its place, how it is compared, and its weight."""

    path: DataPath
    value: Json
    form: FieldForm
    weight: float = 1.0

    @property
    def name(self) -> str:
        """The field's name as a person says it: `inventory wood`, `position 2`."""
        return " ".join(map(_name_step, self.path))


@dataclass(frozen=True, slots=True)
class StateQuery:
    """The values to compare states with, and the texts among them in words."""

    fields: tuple[StateField, ...]
    words: str

    @property
    def paths(self) -> list[DataPath]:
        return [field.path for field in self.fields]


def read_state(data: Mapping[str, Json], guard: Callable[[str], str]) -> StateQuery | None:
    """The values of a state; None where all of them are texts, which are searched for as texts.

    `guard` turns a text into the words of the records.
    """
    fields: list[StateField] = []
    for field in _list_fields((), data, 1.0):
        if len(fields) == FIELDS:
            break
        fields.append(_guard_field(field, guard))
    if all(field.form in ("text", "items") and _is_worded(field.value) for field in fields):
        return None
    parts = []
    for field in fields:
        if _is_worded(field.value):
            parts.append(f"{field.name}: {describe_data(field.value)}")
    return StateQuery(tuple(fields), "; ".join(parts))


def words_to_ask(query: str | Mapping[str, Json]) -> str:
    """Returns the text to search by words and meaning: the query's text, or the texts of a state."""
    text = check_query(query)
    if not isinstance(query, Mapping):
        return text
    state = read_state(clean_json(query, "a query"), str)
    if state is None:
        return text
    return state.words


def _list_fields(path: DataPath, value: Json, weight: float) -> Iterator[StateField]:
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
    if isinstance(value, list) and value:
        return "items"
    return "mark"


def _guard_field(field: StateField, guard: Callable[[str], str]) -> StateField:
    if isinstance(field.value, str):
        return StateField(field.path, guard(field.value), field.form, field.weight)
    return field


def _is_worded(value: Json) -> bool:
    """Tells whether a value contains words."""
    if isinstance(value, list):
        return any(isinstance(item, str) for item in value)
    return isinstance(value, str)


def _name_step(step: str | int) -> str:
    """A place in a list is counted from one."""
    if isinstance(step, int):
        return str(step + 1)
    return step
