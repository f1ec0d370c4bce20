"""How a schema is asked for, and endpoints that do not take all that we send."""

from __future__ import annotations

import pytest
from tests.servers.scripted import status
from tests.unit.models.llm.server import KEY, Server, takes_no

from eidet.core.errors import BadInput
from eidet.models.http import HttpLLM
from eidet.models.llm import Request

HELLO = Request(prompt="Say hello.", system="Be kind.", max_tokens=50)
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}


def llm_at(server: Server) -> HttpLLM:
    return HttpLLM("m-1", url=server.url, key=KEY)


def test_openai_gets_a_schema_as_response_format(server: Server) -> None:
    llm_at(server).ask(Request(prompt="Facts?", schema=SCHEMA))
    assert server.asked[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA},
    }


@pytest.mark.parametrize("field", ["response_format", "x"])
def test_an_endpoint_that_knows_no_schemas_is_asked_in_words_and_remembered(
    server: Server, field: str
) -> None:
    server.script = [takes_no("response_format", message=f"no {field} here")] * 3
    llm = llm_at(server)
    request = Request(prompt="Facts?", system="Be brief.", schema=SCHEMA)
    llm.ask(request)
    llm.ask(request)
    assert ["response_format" in body for body in server.asked] == [True, False, False]
    said = server.asked[1]["messages"][0]["content"]
    assert said.startswith("Be brief.")
    assert '"additionalProperties":false' in said


def test_a_temperature_that_is_not_taken_is_left_out_from_then_on(server: Server) -> None:
    server.script = [takes_no("temperature")] * 3
    llm = llm_at(server)
    llm.ask(HELLO)
    llm.ask(HELLO)
    assert ["temperature" in body for body in server.asked] == [True, False, False]


def test_what_was_not_sent_is_not_suspected(server: Server) -> None:
    server.script = [status(400, "something about temperature")] * 9
    with pytest.raises(BadInput, match="temperature"):
        llm_at(server).ask(Request(prompt="hi", temperature=None))
    assert len(server.asked) == 1


def test_the_limit_gets_its_new_name_where_only_that_is_taken(server: Server) -> None:
    words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    server.script = [takes_no("max_tokens", message=words)] * 2
    assert llm_at(server).ask(HELLO).text == "hello"
    assert server.asked[1]["max_completion_tokens"] == 50
    assert "max_tokens" not in server.asked[1]


def test_a_request_that_is_not_taken_at_all_is_bad_input_and_forgets_nothing(server: Server) -> None:
    words = "the prompt is too long; temperature, max_completion_tokens and schema are fine"
    server.script = [status(400, words)] * 9
    llm = llm_at(server)
    with pytest.raises(BadInput, match="too long"):
        llm.ask(Request(prompt="Facts?", schema=SCHEMA))
    assert len(server.asked) == 4
    server.script = []
    llm.ask(HELLO)
    assert server.asked[-1]["temperature"] == 0
