"""What is installed with Eidet has bounds: a release that may break it is not taken unasked."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# As pyproject.toml says.
UNBOUND = {"regex", "rich", "cryptography"}
FOR_USERS = (
    *("sentence-transformers", "fastembed", "minilm", "plot", "seal"),
    *("qdrant", "milvus", "postgres", "redis", "s3", "mcp", "otel", "http", "client", "server"),
    *("langgraph", "langchain", "openai-agents", "anthropic", "claude-agent", "adk", "agent-framework"),
    *("strands", "llama-index", "pydantic-ai", "crewai", "haystack", "pdf"),
)
WANTED = re.compile(r"([\w.-]+)(?:\[\w+\])?(?:==([\w.]+)|>=([\d.]+)(?:,<([\d.]+))?)")


def requirements() -> list[str]:
    extras = PROJECT["optional-dependencies"]
    return [
        *PROJECT["dependencies"],
        *(one for name in FOR_USERS for one in extras[name] if one != "eidet[http]"),
    ]


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


@pytest.mark.parametrize("requirement", requirements())
def test_a_dependency_has_bounds_and_is_tested_within_them(requirement: str) -> None:
    found = WANTED.fullmatch(requirement)
    assert found is not None, "name>=lowest,<next or name==exact"
    name, exact, lowest, next_ = found.groups()
    assert exact or next_ or name in UNBOUND
    try:
        there = numbers(version(name))
    except PackageNotFoundError:
        return  # its extra is not installed here
    assert exact is None or there == numbers(exact)
    assert lowest is None or there >= numbers(lowest)[:3]
    assert next_ is None or there < numbers(next_)


def test_every_extra_is_looked_at() -> None:
    others = {"test", "test-s3", "test-heavy", "dev", "docs", "lmeb"}
    assert set(FOR_USERS) | others == set(PROJECT["optional-dependencies"])
