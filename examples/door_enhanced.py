"""EnhancedAgentMemory as in its guide, on a file, with a store of your own beside it."""

import tempfile
from pathlib import Path

from eidet.compat.enhanced import EnhancedAgentMemory, MemoryStore


class Shouting(MemoryStore[str]):
    """Any class with four methods is a store."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.meta: dict[str, dict] = {}

    def add(self, key, value, meta=None):
        self.kept[key], self.meta[key] = value.upper(), meta or {}

    def get(self, key):
        return self.kept.get(key)

    def search(self, query, top_k=5):
        return [(k, v, 1.0) for k, v in self.kept.items() if query.upper() in v][:top_k]

    def forget(self, key):
        return self.kept.pop(key, None) is not None


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "agent.db"

    with EnhancedAgentMemory(persistent=True, path=path) as memory:
        memory.add_message("user", "The export job failed again.")
        memory.add_experience("The export job fails when the disk of the build server is full", importance=7)
        memory.add_experience("Lunch is served at noon")
        memory.add_tool_call("disk_usage", {"host": "build"}, {"used": "98 %"}, success=True)
        print(memory.get_recent_messages())

    with EnhancedAgentMemory(persistent=True, path=path) as memory:  # after a restart
        key, text, score = memory.recall("why does the export not work?", k=1)[0]
        print(f"{key} ({score:.2f}): {text}")
        memory.feedback(useful=True)
        print("hit ratio", memory.metrics()["hit_ratio"])

loud = EnhancedAgentMemory(vector=False, long_term=Shouting())
loud.add_experience("quietly does it")
print(loud.recall("quietly"))
