from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.core.errors import BadInput
from eidet.models.llm import Answer, BadAnswer, Request, Turn
from eidet.models.llm.consult import read_object


def find_object(text: str) -> Any:
    return read_object(Answer(text=text), lambda answer: answer.value)


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


def test_what_a_broken_object_holds_inside_is_not_the_answer() -> None:
    with pytest.raises(BadAnswer, match="no complete JSON object"):
        find_object('{"facts": [{"text": "a"}, {"text": "b"}')


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "{", "{x" * 100_000])
def test_hopeless_text_is_given_up_quickly(text: str) -> None:
    with pytest.raises(BadAnswer):
        find_object(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
words = st.text().filter(lambda text: "{" not in text and not text.lstrip().startswith("<think>"))


@settings(max_examples=examples(60), deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4), words, words)
def test_an_object_is_found_amid_any_words(value: dict[str, Any], before: str, after: str) -> None:
    assert find_object(f"{before}{json.dumps(value)}{after}") == value


@pytest.mark.parametrize("text", ['{"name": "Ann", "age": ', '{"person": {"name": "Ann"}}'])
def test_what_fits_inside_an_object_that_does_not_is_not_the_answer(text: str) -> None:
    with pytest.raises(BadAnswer):
        read_object(Answer(text=text), lambda answer: answer.value["name"])
