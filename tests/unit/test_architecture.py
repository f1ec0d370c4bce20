"""The page on the architecture, the linter's contract and the tree of the code say the same."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CODE = ROOT / "src" / "eidet"
PAGE = (ROOT / "docs" / "how-it-works" / "architecture.md").read_text(encoding="utf-8")


def _block(heading: str) -> list[str]:
    """The lines of the first block of text below a heading."""
    found = re.search(rf"^## {heading}\n.*?^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"the page needs a block below '## {heading}'"
    return found[1].splitlines()


def _names(line: str) -> list[str]:
    """What stands before the remark: words with at most one space between them."""
    return re.split(r" {2,}", line.strip(), maxsplit=1)[0].split()


def _tree() -> list[str]:
    """The paths that the tree shows, below src/eidet."""
    paths, package = [], ""
    for line in _block("The tree")[1:]:
        if not line.startswith("    "):
            package = ""
        names = _names(line)
        paths += [package + name for name in names]
        if not line.startswith("    ") and len(names) == 1:
            package = names[0]
    return paths


def _top_level() -> set[str]:
    packages = {f"{path.name}/" for path in CODE.iterdir() if (path / "__init__.py").exists()}
    modules = {path.name for path in CODE.glob("*.py") if path.name != "__init__.py"}
    return packages | modules


def _contract() -> list[set[str]]:
    linter: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [one["layers"] for one in linter["contracts"] if one["type"] == "layers"]
    return [set(re.findall(r"\w+", layer)) for layer in layers]


def test_what_the_tree_shows_exists() -> None:
    assert [path for path in _tree() if not (CODE / path).exists()] == []


def test_the_tree_shows_every_package_and_module_at_the_top() -> None:
    assert _top_level() - set(_tree()) == set()


def test_the_tree_shows_what_a_package_is_made_of() -> None:
    assert {"store/sql/", "trust/audit/", "models/embed/", "index/embedded/"} <= set(_tree())


def test_the_ports_and_their_contracts_exist() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \| (?:`(\w+)`|–) \|", PAGE, re.MULTILINE)
    assert len(rows) >= 8
    files = [path for path in CODE.rglob("*.py") if "contract" in str(path.relative_to(CODE))]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for port, module, contract in rows:
        assert hasattr(importlib.import_module(module), port), f"{module} has no {port}"
        assert not contract or re.search(rf"^class {contract}\b", code, re.MULTILINE), contract


def test_the_layers_are_those_of_the_linter() -> None:
    assert [set(_names(line)) for line in _block("The layers")] == _contract()


def test_every_package_and_module_has_a_layer() -> None:
    placed = set().union(*_contract())
    assert {name.rstrip("/").removesuffix(".py") for name in _top_level()} == placed


def test_the_linter_leaves_nothing_out_and_allows_no_way_up() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract for contract in contracts if contract["type"] == "layers")
    assert layers["exhaustive"]
    assert "ignore_imports" not in layers
