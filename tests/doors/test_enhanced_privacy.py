"""Personal data and keys through both doors: nothing that must not be is ever written."""

from __future__ import annotations

from pathlib import Path

import pytest

from eidet import Memory
from eidet.compat.enhanced import EnhancedAgentMemory
from eidet.compat.manager import MemoryConfig
from eidet.core.errors import EidetError, Misconfigured

MAIL = "ann.smith@example.com"
KEY = bytes(range(32))


def written(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


@pytest.mark.point(26)
def test_personal_data_is_stripped_before_it_is_written(tmp_path: Path) -> None:
    with EnhancedAgentMemory(memory=tmp_path / "a.db", privacy="redact") as memory:
        memory.add_experience(f"Ann can be reached at {MAIL} on weekdays")
        memory.add_message("user", f"My address is {MAIL}")
        memory.add_tool_call("mail", {"to": MAIL}, "sent")
        told = [text for _, text, _ in memory.recall("how can Ann be reached?")]
        assert "Ann can be reached at" in told[0]
        assert MAIL not in told[0]
        assert MAIL not in memory.get_recent_messages()
    assert MAIL.encode() not in written(tmp_path)


@pytest.mark.point(27)
def test_a_key_seals_what_is_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with EnhancedAgentMemory(persistent=True, path=path, key=KEY) as memory:
        memory.add_experience("The password of the harbour is Moby Dick", importance=9)
        memory.add_message("user", "Call me Ishmael")
    assert b"Moby" not in written(tmp_path)
    assert b"Ishmael" not in written(tmp_path)
    with EnhancedAgentMemory(persistent=True, path=path, key=KEY) as memory:
        assert memory.recall("password of the harbour", 1)[0][1] == "The password of the harbour is Moby Dick"
    with pytest.raises(EidetError):
        EnhancedAgentMemory(persistent=True, path=path, key=bytes(32)).recall("password")


def test_neither_can_be_said_of_a_memory_that_is_open_already() -> None:
    with pytest.raises(Misconfigured, match="guard"):
        EnhancedAgentMemory(memory=Memory(), privacy="redact")
    with pytest.raises(Misconfigured, match="key"):
        MemoryConfig(memory=Memory(), key=KEY).open()
