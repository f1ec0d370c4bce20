"""An agent as people write them, and what a memory kept of it."""

from __future__ import annotations

from typing import Any

from eidet import Memory, Record


class Agent:
    """As people write them: it knows nothing of memory."""

    def __init__(self, agent_id: str = "ann") -> None:
        self.agent_id = agent_id
        self.step_number = 0
        self.health = 1.0
        self.inventory: dict[str, int] = {}
        self.ran = 0
        self._secret = "hidden"

    def act(self, observation: dict[str, Any] | None = None, *, hurt: float = 0.0) -> dict[str, Any]:
        self.ran += 1
        self.step_number += 1
        self.health -= hurt
        self.inventory["wood"] = self.inventory.get("wood", 0) + 1
        return {"action_type": "gather", "reward": 0.5, "seen": observation}


def kept(memory: Memory, kind: str | None = None) -> list[Record]:
    return memory.find(kinds=kind, order="seq", limit=1_000)
