"""Tools and a prompt that need input first: the conformance suite calls them by name."""

from __future__ import annotations

import json
from typing import Any, Final

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

Answer = str | InputRequiredResult


def ask(message: str, **fields: str) -> ElicitRequest:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100))


def said(answer: Any, field: str) -> str:
    if isinstance(answer, ElicitResult) and answer.content:
        return str(answer.content.get(field, "?"))
    return "?"


async def test_input_required_result_elicitation(ctx: Context) -> Answer:
    """Needs a name."""
    responses = ctx.input_responses
    if responses and "user_name" in responses:
        return f"Hello, {said(responses['user_name'], 'name')}!"
    return InputRequiredResult(input_requests={"user_name": ask("What is your name?", name="string")})


async def test_input_required_result_sampling(ctx: Context) -> Answer:
    """Needs an answer of the client's model."""
    responses = ctx.input_responses
    if responses and "capital_question" in responses:
        answer = responses["capital_question"]
        assert isinstance(answer, CreateMessageResult)
        assert isinstance(answer.content, TextContent)
        return f"Model said: {answer.content.text}"
    return InputRequiredResult(input_requests={"capital_question": sample("What is the capital of France?")})


async def test_input_required_result_list_roots(ctx: Context) -> Answer:
    """Needs the client's roots."""
    responses = ctx.input_responses
    if responses and "client_roots" in responses:
        answer = responses["client_roots"]
        assert isinstance(answer, ListRootsResult)
        return f"Client exposed {len(answer.roots)} root(s)."
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


async def test_input_required_result_request_state(ctx: Context) -> Answer:
    """Needs a confirmation, and its own state back."""
    responses = ctx.input_responses
    if responses and "confirm" in responses and ctx.request_state == "request-state-nonce":
        return "state-ok: confirmation received"
    confirm = ask("Please confirm", ok="boolean")
    return InputRequiredResult(input_requests={"confirm": confirm}, request_state="request-state-nonce")


async def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    """Needs three things at once."""
    responses = ctx.input_responses
    if responses and {"user_name", "greeting", "client_roots"} <= responses.keys():
        return "All inputs received."
    wanted: dict[str, InputRequest] = {
        "user_name": ask("What is your name?", name="string"),
        "greeting": sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    return InputRequiredResult(input_requests=wanted, request_state="multiple-inputs")


async def test_input_required_result_multi_round(ctx: Context) -> Answer:
    """Needs two answers, one after the other."""
    state = json.loads(ctx.request_state) if ctx.request_state else {"round": 0}
    responses = ctx.input_responses or {}
    if state["round"] == 1 and "step1" in responses:
        kept = json.dumps({"round": 2, "name": said(responses["step1"], "name")})
        second = ask("Step 2: What is your favorite color?", color="string")
        return InputRequiredResult(input_requests={"step2": second}, request_state=kept)
    if state["round"] == 2 and "step2" in responses:
        return f"{state['name']} likes {said(responses['step2'], 'color')}."
    first = ask("Step 1: What is your name?", name="string")
    return InputRequiredResult(input_requests={"step1": first}, request_state=json.dumps({"round": 1}))


async def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    """Gives out a state that nobody may change."""
    if ctx.request_state is None:
        confirm = ask("Please confirm", ok="boolean")
        return InputRequiredResult(input_requests={"confirm": confirm}, request_state="round-1")
    return f"state-ok: {ctx.request_state}"


async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
    """Needs only what the client says it can do."""
    can = ctx.client_capabilities
    wanted: dict[str, InputRequest] = {}
    if can is None or can.sampling is not None:
        wanted["sample"] = sample("Say hello")
    if can is None or can.elicitation is not None:
        wanted["ask"] = ask("What is your name?", name="string")
    return InputRequiredResult(input_requests=wanted, request_state="capability-gated")


async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | InputRequiredResult:
    """A prompt that needs a context first."""
    responses = ctx.input_responses
    if responses and "user_context" in responses:
        return [UserMessage(f"Use the following context: {said(responses['user_context'], 'context')}")]
    wanted = ask("What context should the prompt use?", context="string")
    return InputRequiredResult(input_requests={"user_context": wanted})


INPUT_TOOLS: Final = (
    *(test_input_required_result_elicitation, test_input_required_result_sampling),
    *(test_input_required_result_list_roots, test_input_required_result_request_state),
    *(test_input_required_result_multiple_inputs, test_input_required_result_multi_round),
    *(test_input_required_result_tampered_state, test_input_required_result_capabilities),
)
INPUT_PROMPTS: Final = (test_input_required_result_prompt,)
