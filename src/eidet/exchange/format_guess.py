"""What a JSON file looks like, for whoever named another format."""

from __future__ import annotations

import json
from typing import Any, Final, TextIO

from ..core.errors import BadInput

HEAD: Final = 1 << 16  # characters that are looked at
# The fields by which a thing is known, and the format that has them; the first that fits counts.
_SIGNS: Final[tuple[tuple[frozenset[str], str], ...]] = (
    (frozenset(("mapping",)), "chatgpt"),
    (frozenset(("chat_messages",)), "claude"),
    (frozenset(("id", "memory")), "mem0"),
    (frozenset(("results",)), "mem0"),
    (frozenset(("agents", "blocks")), "letta"),
    (frozenset(("agent_type", "messages")), "letta"),
    (frozenset(("schema", "memories")), "pam"),
    (frozenset(("type", "entityType")), "mcp"),
    (frozenset(("type", "relationType")), "mcp"),
    (frozenset(("role", "content")), "jsonl"),
    (frozenset(("text",)), "jsonl"),
)
_NAMES: Final = {
    "chatgpt": "a ChatGPT export",
    "claude": "a Claude export",
    "mem0": "an export of mem0",
    "letta": "an agent file of Letta",
    "pam": "a Portable AI Memory",
    "mcp": "the memory file of the MCP reference server",
    "jsonl": "JSON lines",
}


def guess_format(found: Any) -> str | None:
    """The format whose items look like this one; None if it is like none of them."""
    if isinstance(found, dict):
        for fields, name in _SIGNS:
            if fields <= found.keys():
                return name
    return None


def make_foreign(format: str, where: str, lack: str, found: Any) -> BadInput:
    """The error for a source of another format; says what it looks like, where that can be told."""
    other = guess_format(found)
    problem = f"{where} is not {_NAMES[format]}: {lack}"
    if other is None or other == format:
        return BadInput(problem)
    return BadInput(f"{problem}; it looks like {_NAMES[other]}: `eidet import {other}`")


def check_array(file: TextIO, where: str, format: str) -> None:
    """`BadInput` if a file does not begin with a list; leaves it at its beginning."""
    head = file.read(HEAD)
    file.seek(0)
    if head.lstrip()[:1] not in ("[", ""):
        raise make_foreign(format, where, "it is not a list of conversations", _read_first(head))


def _read_first(head: str) -> Any:
    """The first JSON value of a text; None if there is none, or if it is longer than what was read."""
    try:
        return json.JSONDecoder().raw_decode(head.lstrip())[0]
    except (ValueError, RecursionError):
        return None
