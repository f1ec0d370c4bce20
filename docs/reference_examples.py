"""Finds an example for each public name: written for it, or the shortest statement of a page that uses it."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
WRITTEN = DOCS.parent / "examples" / "reference.md"
SNIPPET = re.compile(r"^```py(?:thon)?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## `([\w.]+)`\n+```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
LONGEST = 14  # lines


class Example(NamedTuple):
    code: str
    page: Path


def example_of(module: str, name: str) -> list[str]:
    """The paragraphs that show how a name is used; none where no page uses it."""
    if f"{module}.{name}" in _written():
        return ["Example", _fence(_written()[f"{module}.{name}"])]
    best = _best(module).get(name)
    if best is None:
        return []
    title = best.page.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")
    link = os.path.relpath(best.page, DOCS / "reference")
    return [f"Example, from [{title}]({link})", _fence(best.code)]


def _fence(code: str) -> str:
    return f"```py\n{code.rstrip()}\n```"


@functools.cache
def _written() -> dict[str, str]:
    return dict(SECTION.findall(WRITTEN.read_text(encoding="utf-8")))


@functools.cache
def _best(module: str) -> dict[str, Example]:
    """The shortest statement for each name that the pages import from a module."""
    best: dict[str, Example] = {}
    for name, example in _uses(module):
        if name not in best or len(example.code) < len(best[name].code):
            best[name] = example
    return best


def _uses(module: str) -> Iterator[tuple[str, Example]]:
    for page in sorted(DOCS.rglob("*.md")):
        if page.parent.name != "reference":
            imported: set[str] = set()
            for code in SNIPPET.findall(page.read_text(encoding="utf-8")):
                yield from _uses_in(code, module, imported, page)


def _uses_in(code: str, module: str, imported: set[str], page: Path) -> Iterator[tuple[str, Example]]:
    try:
        statements = ast.parse(code).body
    except SyntaxError:
        return
    for statement in statements:
        if isinstance(statement, ast.ImportFrom) and statement.module == module:
            imported.update(alias.name for alias in statement.names)
        text = _source(code, statement)
        if not isinstance(statement, ast.Import | ast.ImportFrom) and text.count("\n") < LONGEST:
            for name in _called(statement) & imported:
                yield name, Example(text, page)


def _source(code: str, statement: ast.stmt) -> str:
    """The lines of a statement, those of its decorators included."""
    first = statement.lineno
    for decorator in getattr(statement, "decorator_list", []):
        first = min(first, decorator.lineno)
    return "\n".join(code.splitlines()[first - 1 : statement.end_lineno])


def _called(statement: ast.stmt) -> set[str]:
    """Names that a statement calls, decorates with, or uses a member of."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
    return found
