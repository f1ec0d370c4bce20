"""What the command line says of an error is about commands and options, not about Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import eidet
from eidet.cli import say_plainly

SOURCE: Final = Path(eidet.__file__).parent
# What a command can reach; other packages speak to programs.
REACHED: Final = (
    "cli",
    "copy",
    "core",
    "eval",
    "exchange",
    "graph",
    "memory",
    "open.py",
    "parts.py",
    "store",
    "trust",
    "upkeep",
)
ERRORS: Final = {"BadInput", "Misconfigured", "Refused", "Conflict", "Unavailable", "Corrupt", "NotFound"}
# About the types of Python values, which no command hands over, and the words of other backends' authors.
FOR_PROGRAMS: Final = re.compile(
    r"must be (a|an|Settings|Upkeep|Near|Box)\b.*, not \{\}|neither true nor false|joined with another filter"
    r"|has no method|it has no `leap|guard\(value|secrets\.token_bytes"
    r"|setting \w+ must be|list of Retention|\(then=…\)"
)
PYTHON: Final = re.compile(r"\w\(|\b(True|False|None)\b|\bmemory\.\w+|\b[a-z_]+=(True|False|None|…)|\bdict\b")


def read_messages() -> Iterator[tuple[str, str]]:
    for name in REACHED:
        path = SOURCE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if "contract" in file.parts:
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
                    message = "".join(map(text_of, node.args[:1]))
                    if message and not FOR_PROGRAMS.search(message):
                        yield f"{file.relative_to(SOURCE)}:{node.lineno}", message


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "{}" for part in node.values)
    return ""


def test_no_message_that_a_command_can_show_speaks_python() -> None:
    spoken = {place: say_plainly(message) for place, message in read_messages()}
    assert len(spoken) > 300
    assert {place: message for place, message in spoken.items() if PYTHON.search(message)} == {}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("go through memory.scopes()", "go through `eidet scopes`"),
        ("give it as scope=…, beside the filter", "give it as --scope, beside the filter"),
        ("use everything=True with a scope", "use --everything with a scope"),
        ("data.a[1] holds nan; use None or a string", "data.a[1] holds nan; use null or a string"),
    ],
)
def test_a_message_names_the_command_or_option(message: str, said: str) -> None:
    assert say_plainly(message) == said
