"""The tools, resources and prompts that the MCP conformance suite calls by name, for an MCP server of ours.

They exist so that the suite's scenarios run through our transport, keys and middleware. Only the tests
register them: `python -m tests.servers.mcp_conformance PORT` starts a server that has them.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Annotated, Any, Final

from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    JSONRPCMessage,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

IMAGE: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
AUDIO: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
PICTURE: Final = ImageContent(type="image", data=IMAGE, mime_type="image/png")


class RememberedEvents(EventStore):
    """Events in RAM, so that a client that lost its stream can go on where it was."""

    def __init__(self) -> None:
        self._events: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        seen = int(last_event_id)
        if not 1 <= seen <= len(self._events):
            return None
        stream = self._events[seen - 1][0]
        for number, (at, message) in enumerate(self._events[seen:], seen + 1):
            if at == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def make_resource(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)


def test_simple_text() -> str:
    """Answers a text."""
    return "This is a simple text response for testing."


def test_image_content() -> list[ImageContent]:
    """Answers a picture."""
    return [PICTURE]


def test_audio_content() -> list[AudioContent]:
    """Answers a sound."""
    return [AudioContent(type="audio", data=AUDIO, mime_type="audio/wav")]


def test_embedded_resource() -> list[EmbeddedResource]:
    """Answers a resource."""
    return [make_resource("test://embedded-resource", "This is an embedded resource content.")]


def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Answers a text, a picture and a resource."""
    mixed = make_resource(
        "test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"
    )
    return [TextContent(type="text", text="Multiple content types test:"), PICTURE, mixed]


async def test_tool_with_logging(ctx: Context) -> str:
    """Logs three times."""
    for step in ("started", "processing data", "completed"):
        await ctx.info(f"Tool execution {step}")
        await asyncio.sleep(0.05)
    return "Tool with logging executed successfully"


async def test_tool_with_progress(ctx: Context) -> str:
    """Reports progress three times."""
    for done in (0, 50, 100):
        await ctx.report_progress(progress=done, total=100, message=f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return "done"


async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    said = await ctx.session.create_message(
        messages=[SamplingMessage(role="user", content=TextContent(type="text", text=prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    assert isinstance(said.content, TextContent)
    return f"LLM response: {said.content.text}"


class UserResponse(BaseModel):
    response: str = Field(description="User's response")


class WithDefaults(BaseModel):
    name: str = Field(default="John Doe", description="User name")
    age: int = Field(default=30, description="User age")
    score: float = Field(default=95.5, description="User score")
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(default=True, description="Verification status")


def titled(**titles: str) -> list[Any]:
    return [{"const": value, "title": title} for value, title in titles.items()]


class WithChoices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})
    titledSingle: str = Field(json_schema_extra={"oneOf": titled(low="Low", medium="Medium", high="High")})
    untitledMulti: list[str] = Field(
        json_schema_extra={"items": {"type": "string", "enum": ["read", "write", "execute"]}}
    )
    titledMulti: list[str] = Field(
        json_schema_extra={"items": {"anyOf": titled(feature="New Feature", bug="Bug Fix", docs="Docs")}}
    )
    legacyEnum: str = Field(
        json_schema_extra={"enum": ["small", "medium", "large"], "enumNames": ["Small", "Medium", "Large"]}
    )


async def elicit(ctx: Context, message: str, schema: type[BaseModel], told: str) -> str:
    said = await ctx.elicit(message=message, schema=schema)
    content = said.data.model_dump_json() if said.action == "accept" else "{}"
    return f"{told}: action={said.action}, content={content}"


async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user."""
    return await elicit(ctx, message, UserResponse, "User response")


async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks the user, with defaults."""
    return await elicit(ctx, "Please provide user information", WithDefaults, "Elicitation result")


async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks the user to choose."""
    return await elicit(ctx, "Please select values", WithChoices, "Elicitation completed")


def test_error_handling() -> str:
    """Fails."""
    raise ToolError("This tool intentionally returns an error for testing")


def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "<none>",
) -> str:
    """Takes an argument that clients repeat in a header."""
    return f"region={region}"


async def test_missing_capability(ctx: Context) -> str:
    """Needs a client that can sample."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool requires the client 'sampling' capability",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "The client can sample."


def ask_for_a_word() -> Elicit[UserResponse]:
    return Elicit("The stateless streaming probe asks for a word", UserResponse)


async def test_streaming_elicitation(
    answer: Annotated[ElicitationResult[UserResponse], Resolve(ask_for_a_word)],
) -> str:
    """Needs an answer of the user, through a resolver."""
    return f"elicitation {answer.action}"


async def test_logging_tool(ctx: Context) -> str:
    """Logs once, if the request wants it."""
    await ctx.info("test_logging_tool ran")
    return "logged"


async def test_reconnection(ctx: Context) -> str:
    """Closes its stream in the middle of a call."""
    await ctx.info("Before disconnect")
    await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    await ctx.info("After reconnect")
    return "Reconnection test completed"


async def test_trigger_tool_change(ctx: Context) -> str:
    """Tells listeners that the tools changed."""
    await ctx.notify_tools_changed()
    return "tool list changed"


async def test_trigger_prompt_change(ctx: Context) -> str:
    """Tells listeners that the prompts changed."""
    await ctx.notify_prompts_changed()
    return "prompt list changed"


def json_schema_2020_12_tool() -> str:
    """Has an input schema with many keywords."""
    return "json_schema_2020_12_tool"


RICH_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

TOOLS: Final = (
    *(test_simple_text, test_image_content, test_audio_content, test_embedded_resource),
    *(test_multiple_content_types, test_tool_with_logging, test_tool_with_progress, test_sampling),
    *(test_elicitation, test_elicitation_sep1034_defaults, test_elicitation_sep1330_enums),
    *(test_error_handling, test_x_mcp_header, test_missing_capability, test_streaming_elicitation),
    *(test_logging_tool, test_reconnection, test_trigger_tool_change, test_trigger_prompt_change),
    json_schema_2020_12_tool,
)


def static_text() -> str:
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    return base64.b64decode(IMAGE)


def template_data(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def watched() -> str:
    return "Watched resource content"


def test_simple_prompt() -> list[UserMessage]:
    """A prompt without arguments."""
    return [UserMessage("This is a simple prompt for testing.")]


def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    """A prompt with arguments."""
    return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    """A prompt with a resource."""
    embedded = make_resource(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(embedded), UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> list[UserMessage]:
    """A prompt with a picture."""
    return [UserMessage(PICTURE), UserMessage("Please analyze the image above.")]


PROMPTS: Final = (
    *(test_simple_prompt, test_prompt_with_arguments),
    *(test_prompt_with_embedded_resource, test_prompt_with_image),
)


async def accept(_ctx: ServerRequestContext[Any, Any], _params: Any) -> EmptyResult:
    """What the first era asks of servers that log or let resources be watched."""
    return EmptyResult()


def add_fixtures(server: MCPServer) -> None:
    from .mcp_input_fixtures import INPUT_PROMPTS, INPUT_TOOLS

    for tool in (*TOOLS, *INPUT_TOOLS):
        server.add_tool(tool)
    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = RICH_SCHEMA
    server.resource("test://static-text", description="A text.")(static_text)
    server.resource("test://static-binary", description="A picture.")(static_binary)
    server.resource("test://template/{id}/data", description="A template.")(template_data)
    server.resource("test://watched-resource", description="Can be watched.")(watched)
    for prompt in (*PROMPTS, *INPUT_PROMPTS):
        server.add_prompt(Prompt.from_function(prompt))
    low = server._lowlevel_server
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, accept)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, accept)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accept)
