"""Names that are imported on first use behave as if they had been there before."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import eidet
from eidet.core.lazy_names import lazy_names

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
