from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.core.errors import BadInput
from eidet.models.llm import BadAnswer, Request, Turn
from eidet.models.llm.consult import find_fitting, find_misfit, is_closed

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": ["integer", "null"], "minimum": 0, "maximum": 150},
        "mood": {"enum": ["glad", "sad", 1]},
        "marks": {"type": "array", "items": {"type": "number"}, "maxItems": 3},
        "extra": {"type": "object"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ann"},
        {"name": "", "age": None, "mood": 1},
        {"name": "Ann", "age": 150, "mood": "sad", "marks": [1, 2.5, -3e9], "extra": {"a": True}},
    ],
)
def test_what_fits_fits(value: Any) -> None:
    assert find_misfit(value, PERSON) == ""


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "$ has to be object, not []"),
        (None, "$ has to be object, not null"),
        ({}, "$ lacks 'name'"),
        ({"name": None}, "$.name has to be string, not null"),
        ({"name": "a", "age": 1.5}, "$.age has to be integer or null, not 1.5"),
        ({"name": "a", "age": True}, "$.age has to be integer or null, not true"),
        ({"name": "a", "age": -1}, "$.age has to be from 0 to 150, not -1"),
        ({"name": "a", "age": 151}, "$.age has to be from 0 to 150, not 151"),
        ({"name": "a", "mood": "odd"}, '$.mood has to be one of ["glad","sad",1], not "odd"'),
        ({"name": "a", "marks": [1, "2"]}, '$.marks[1] has to be number, not "2"'),
        ({"name": "a", "marks": [1, False]}, "$.marks[1] has to be number, not false"),
        ({"name": "a", "marks": [1, 2, 3, 4]}, "$.marks has to be at most 3 items, not 4"),
        ({"name": "a", "other": 1}, "$ has 'other', which is not wanted"),
    ],
)
def test_what_does_not_fit_is_named_with_the_way_to_it(value: Any, complaint: str) -> None:
    assert find_misfit(value, PERSON) == complaint


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "string"}, "asks for an object"),
        ({}, "asks for an object"),
        ({"type": "object", "properties": {"a": {"enum": {1, 2}}}}, "JSON cannot represent"),
    ],
)
def test_a_schema_that_asks_for_no_object_is_refused(schema: Any, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        Request(prompt="x", schema=schema)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"prompt": " "}, "needs a prompt"),
        ({"prompt": 7}, "needs a string"),
        ({"prompt": "\ud800"}, "lone surrogate"),
        ({"prompt": "x", "max_tokens": 0}, "at least 1"),
        ({"prompt": "x", "before": (Turn("system", "x"),)}, "user or assistant"),
        ({"prompt": "x", "before": (Turn("user", "\ud800"),)}, "lone surrogate"),
    ],
)
def test_a_request_that_cannot_be_asked_is_refused(given: Any, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        Request(**given)


def test_a_schema_is_closed_if_every_object_names_and_needs_all_it_may_hold() -> None:
    inner = {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": False}
    outer = {"type": "object", "properties": {"a": {"type": "array", "items": inner}}, "required": ["a"]}
    assert is_closed(inner)
    assert not is_closed(outer)
    assert is_closed(outer | {"additionalProperties": False})
    assert not is_closed(inner | {"required": []})


ANY = {"type": "object"}


def test_what_a_broken_object_holds_inside_is_not_the_answer() -> None:
    with pytest.raises(BadAnswer, match="no complete JSON object"):
        find_fitting('{"facts": [{"text": "a"}, {"text": "b"}', ANY)


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "{", "{x" * 100_000])
def test_hopeless_text_is_given_up_quickly(text: str) -> None:
    with pytest.raises(BadAnswer):
        find_fitting(text, ANY)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
words = st.text().filter(lambda text: "{" not in text and not text.lstrip().startswith("<think>"))


@settings(max_examples=examples(60), deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4), words, words)
def test_an_object_is_found_amid_any_words(value: dict[str, Any], before: str, after: str) -> None:
    assert find_fitting(f"{before}{json.dumps(value)}{after}", ANY) == value


@settings(max_examples=examples(60), deadline=None)
@given(st.text(), json_values)
def test_any_text_and_any_value_fits_or_says_why_not(text: str, value: Any) -> None:
    assert isinstance(find_misfit(value, PERSON), str)
    with suppress(BadAnswer):
        assert find_misfit(find_fitting(text, PERSON), PERSON) == ""


def test_what_fits_inside_an_object_that_does_not_is_not_the_answer() -> None:
    with pytest.raises(BadAnswer, match=r"\$ lacks 'name'"):
        find_fitting('{"person": {"name": "Ann"}}', PERSON)
