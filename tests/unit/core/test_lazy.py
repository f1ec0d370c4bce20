"""What is loaded or compiled on first use behaves as if it had been there before."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eidet
from eidet.core.lazy_names import lazy_names
from eidet.core.lazy_pattern import LazyPattern

ROOT = Path(eidet.__file__).parent
PACKAGES = [
    ".".join(("eidet", *path.parent.relative_to(ROOT).parts))
    for path in sorted(ROOT.rglob("__init__.py"))
    if "lazy_names(" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_lazy_package_is_there(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_see_the_names_that_are_there(package: str) -> None:
    path = ROOT.joinpath(*package.split(".")[1:], "__init__.py")
    seen: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            seen.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            seen.add(node.name)
        elif isinstance(node, ast.Assign):
            seen.update(target.id for target in node.targets if isinstance(target, ast.Name))
    assert set(importlib.import_module(package).__all__) <= seen


def test_an_unknown_name_is_an_attribute_error() -> None:
    load_name = lazy_names("eidet.text.facts", {"relations": ("RELATIONS",)})
    with pytest.raises(AttributeError, match=r"module 'eidet\.text\.facts' has no attribute 'nothing'"):
        load_name("nothing")


@given(st.text(alphabet="ab1 ", max_size=12))
def test_a_lazy_pattern_answers_as_the_pattern_does(text: str) -> None:
    lazy, plain = LazyPattern("A(b)?", re.IGNORECASE), re.compile("A(b)?", re.IGNORECASE)
    for name in ("search", "match", "fullmatch"):
        found, wanted = getattr(lazy, name)(text), getattr(plain, name)(text)
        assert (found and found.span()) == (wanted and wanted.span())
    assert [found.span() for found in lazy.finditer(text)] == [found.span() for found in plain.finditer(text)]
    assert (lazy.findall(text), lazy.split(text)) == (plain.findall(text), plain.split(text))
    assert lazy.sub("x", text) == plain.sub("x", text)
