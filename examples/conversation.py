"""Stores a conversation of several sessions in a file that a second process could share."""

import tempfile
from pathlib import Path

from eidet import Memory

FIRST = [
    {"role": "user", "content": "I'm planning a cycling trip along the Danube in September."},
    {"role": "assistant", "content": "Lovely! Passau to Vienna is about 320 km."},
    {"role": "user", "content": "I can't eat gluten, so I need to find bakeries on the way."},
]
SECOND = [{"role": "user", "content": "I bought new panniers for the bike today."}]

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "agent.db"
    with Memory(file) as memory:
        memory.remember(FIRST, scope="ann", session="monday")
        memory.remember(SECOND, scope="ann", session="tuesday")

    with Memory(file) as memory:  # later, perhaps in another process
        for hit in memory.recall("what food must be avoided?", scope="ann", limit=1):
            print(hit.record.session, "|", hit.record.who, "|", hit.text)
        latest = memory.find(scope="ann", kinds="message", order="-occurred", limit=1)
        print("latest:", latest[0].text)
        print("another user sees:", list(memory.recall("bike", scope="bob")))
