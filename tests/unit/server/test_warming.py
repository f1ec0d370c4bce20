"""What is slow once is done before the first request, or in a thread: the loop goes on."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from tests.forked import run_anew
from tests.servers.served import Running

from eidet.core.observers import VerbCall, observe
from eidet.models.embed.hashing import Hashing
from eidet.server.warming import rehearse

LOADS = """
import sys
from eidet.models.embed import embedder_of
from eidet.server.warming import load_model, rehearse
embedder = embedder_of(None)
assert "tokenizers" not in sys.modules
load_model(embedder)
assert "tokenizers" in sys.modules
before = len(sys.modules)
rehearse(embedder, None)
assert len(sys.modules) > before
loaded = set(sys.modules)
from eidet import Memory
with Memory(embedder=embedder) as memory:
    memory.remember("Ann lives in Lisbon", who="ann")
    memory.recall("where does Ann live?")
    memory.context("Ann")
    memory.forget(where={"who": "ann"})
late = {name for name in set(sys.modules) - loaded if name.startswith("eidet.")}
assert not late, late
"""


def test_models_and_modules_are_loaded_before_the_first_request(tmp_path: Path) -> None:
    done = run_anew(["-c", LOADS], folder=tmp_path, environment=dict(os.environ))
    assert done.code == 0, done.err


def test_a_costly_model_is_not_asked() -> None:
    class Costly(Hashing):
        def embed(self, texts: Any) -> Any:
            raise AssertionError("asked")

    seen: list[VerbCall] = []

    class Watch:
        def __init__(self, call: VerbCall) -> None:
            seen.append(call)

        def __enter__(self) -> None: ...

        def __exit__(self, *_raised: object) -> None: ...

    with observe(Watch):
        rehearse(Costly(64), "de")
    assert {call.verb for call in seen} == {"remember", "recall", "context", "forget"}


def test_the_schema_is_made_in_a_thread(running: Running, monkeypatch: Any) -> None:
    made_by: list[str] = []
    make = running.app.openapi

    def watch() -> dict[str, Any]:
        made_by.append(threading.current_thread().name)
        return make()

    monkeypatch.setattr(running.app, "openapi", watch)
    answer = running.shared.get("/openapi.json")
    assert answer.json()["info"]["title"] == "Eidet"
    assert made_by
    assert "test server" not in made_by
