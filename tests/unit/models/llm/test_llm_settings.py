"""How a schema is asked for, and endpoints that do not take all that we send."""

from __future__ import annotations

import pytest
from tests.servers.scripted import status
from tests.unit.models.llm.server import KEY, Server, says, takes_no

from eidet.core.errors import BadInput
from eidet.models.llm import Request
from eidet.models.llm.http import DIALECTS, HttpLLM

HELLO = Request(prompt="Say hello.", system="Be kind.", max_tokens=50)
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
both = pytest.mark.parametrize("provider", ["anthropic", "openai"])


def llm_at(server: Server, provider: str) -> HttpLLM:
    return HttpLLM(DIALECTS[provider], "m-1", url=server.url, key=KEY)


def test_anthropic_gets_a_schema_as_a_tool_it_has_to_call(server: Server) -> None:
    server.script = [says('{"facts": ["a"]}')]
    answer = llm_at(server, "anthropic").ask(Request(prompt="Facts?", schema=SCHEMA))
    assert answer.text == '{"facts": ["a"]}'
    [tool] = server.asked[0]["tools"]
    assert tool["input_schema"] == SCHEMA
    assert server.asked[0]["tool_choice"] == {"type": "tool", "name": tool["name"]}


@pytest.mark.parametrize("closed", [True, False])
def test_openai_gets_a_schema_as_response_format_strict_where_it_can_be(server: Server, closed: bool) -> None:
    schema = SCHEMA | {"additionalProperties": not closed}
    llm_at(server, "openai").ask(Request(prompt="Facts?", schema=schema))
    assert server.asked[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": closed},
    }


@pytest.mark.parametrize(
    ("provider", "field"), [("openai", "response_format"), ("anthropic", "tool_choice"), ("openai", "x")]
)
def test_an_endpoint_that_knows_no_schemas_is_asked_in_words_and_remembered(
    server: Server, provider: str, field: str
) -> None:
    native = {"openai": "response_format", "anthropic": "tools"}[provider]
    server.script = [takes_no(native, message=f"no {field} here")] * 3
    llm = llm_at(server, provider)
    request = Request(prompt="Facts?", system="Be brief.", schema=SCHEMA)
    assert (llm.ask(request).attempts, llm.ask(request).attempts) == (2, 1)
    assert [native in body for body in server.asked] == [True, False, False]
    said = str(server.asked[1].get("system") or server.asked[1]["messages"][0]["content"])
    assert said.startswith("Be brief.")
    assert '"additionalProperties":false' in said


@both
def test_a_temperature_that_is_not_taken_is_left_out_from_then_on(server: Server, provider: str) -> None:
    server.script = [takes_no("temperature")] * 3
    llm = llm_at(server, provider)
    assert (llm.ask(HELLO).attempts, llm.ask(HELLO).attempts) == (2, 1)
    assert "temperature" not in server.asked[2]


@both
def test_what_was_not_sent_is_not_suspected(server: Server, provider: str) -> None:
    server.script = [status(400, "something about temperature")] * 9
    with pytest.raises(BadInput, match="temperature"):
        llm_at(server, provider).ask(Request(prompt="hi", temperature=None))
    assert len(server.asked) == 1


def test_the_limit_gets_its_new_name_where_only_that_is_taken(server: Server) -> None:
    words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    server.script = [takes_no("max_tokens", message=words)] * 2
    assert llm_at(server, "openai").ask(HELLO).text == "hello"
    assert server.asked[1]["max_completion_tokens"] == 50
    assert "max_tokens" not in server.asked[1]


@both
def test_a_request_that_is_not_taken_at_all_is_bad_input_and_forgets_nothing(
    server: Server, provider: str
) -> None:
    words = "the prompt is too long; temperature, max_completion_tokens and schema are fine"
    server.script = [status(400, words)] * 9
    llm = llm_at(server, provider)
    with pytest.raises(BadInput, match="too long"):
        llm.ask(Request(prompt="Facts?", schema=SCHEMA))
    assert len(server.asked) == {"anthropic": 3, "openai": 4}[provider]
    server.script = []
    llm.ask(HELLO)
    assert server.asked[-1]["temperature"] == 0
