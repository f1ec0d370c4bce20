"""Imports of chats, judged by another reader of the same exports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.integrations.needs import need
from tests.unit.exchange.sources import FOREIGN, list_records, open_memory

from eidet.exchange import import_memories

need("portable_ai_memory", "exchange")


@pytest.mark.parametrize(("format", "converter"), [("chatgpt", "openai"), ("claude", "anthropic")])
def test_another_reader_finds_the_same_messages(format: str, converter: str) -> None:
    from portable_ai_memory.converters.anthropic import AnthropicConverter
    from portable_ai_memory.converters.openai import OpenAIConverter

    reader: Any = {"openai": OpenAIConverter, "anthropic": AnthropicConverter}[converter]()
    source = json.loads((FOREIGN / format / "conversations.json").read_text())
    assert reader.detect(source)
    theirs = {
        message.id: (conversation.id, str(message.role), message.created_at.timestamp())
        for conversation in reader.convert_conversations(source)
        for message in conversation.messages
    }
    with open_memory() as memory:
        import_memories(memory, format, FOREIGN / format / "conversations.json")
        ours = {record.meta[format]["message"]: record for record in list_records(memory).values()}
    assert ours.keys() <= theirs.keys()
    for id, record in ours.items():
        session, role, created = theirs[id]
        assert (record.session, record.data["role"]) == (session, role)
        if id != "a3":  # of which the export tells no time
            assert record.occurred == pytest.approx(created)
    left = theirs.keys() - ours.keys()
    assert left <= {"th", "cm3", "a1", "s0"}  # reasoning, no text, another branch, a hidden prompt
