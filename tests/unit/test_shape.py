"""Holds the shape of `src/eidet`: what a reader feels may only get smaller.

`python tests/unit/test_shape.py` prints today's figures, so that ceilings can be lowered after a change.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src" / "eidet"

LONGEST_FILE: Final = 400
MOST_METHODS: Final = 25
LAYERS: Final = 10  # of imports, in pyproject.toml

# Protocols of the store, and how many methods each may ask of a backend.
PORT_METHODS: Final[dict[str, int]] = {
    "store/__init__.py:Store": 12,
    "store/__init__.py:Transaction": 10,
}

# The lines of each package, and its public classes and functions at the top of a module.
PACKAGES: Final[dict[str, tuple[int, int]]] = {
    ".": (733, 4),
    "aio": (177, 6),
    "cli": (3688, 45),
    "client": (923, 20),
    "coding": (1470, 39),
    "compat": (7617, 161),
    "copy": (507, 6),
    "core": (4421, 158),
    "eval": (1685, 45),
    "exchange": (2485, 55),
    "graph": (2650, 51),
    "hooks": (730, 17),
    "index": (6535, 98),
    "integrations": (3648, 48),
    "memory": (2209, 33),
    "mirror": (600, 11),
    "models": (2256, 66),
    "net": (920, 27),
    "quality": (499, 22),
    "recall": (5068, 99),
    "server": (5586, 133),
    "store": (11762, 274),
    "text": (4770, 127),
    "trust": (5590, 133),
    "upkeep": (2978, 66),
    "views": (1115, 22),
    "write": (870, 18),
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Defined = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """One parsed file, named by its path below `src/eidet`."""

    name: str
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        first, slash, _ = self.name.partition("/")
        return first if slash else "."

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def public_names(self) -> int:
        return sum(isinstance(node, Defined) and not node.name.startswith("_") for node in self.tree.body)

    def count_methods(self) -> Iterator[tuple[str, int]]:
        """Each class with the number of its methods; a set of overloads counts once."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                methods = {method.name for method in node.body if isinstance(method, Function)}
                yield f"{self.name}:{node.name}", len(methods)


@cache
def read_modules() -> tuple[Module, ...]:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    return tuple(
        Module(path.relative_to(SOURCE).as_posix(), text, ast.parse(text)) for path, text in texts.items()
    )


@cache
def measure_classes() -> dict[str, int]:
    return {name: count for module in read_modules() for name, count in module.count_methods()}


@cache
def measure_packages() -> dict[str, tuple[int, int]]:
    lines: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for module in read_modules():
        lines[module.package] += module.lines
        names[module.package] += module.public_names
    return {package: (lines[package], names[package]) for package in lines}


def test_no_file_is_longer_than_it_may_be() -> None:
    over = [f"{one.name} has {one.lines} lines" for one in read_modules() if one.lines > LONGEST_FILE]
    assert not over, f"a file may have {LONGEST_FILE} lines:\n" + "\n".join(over)


def test_no_class_has_more_methods_than_it_may_have() -> None:
    over = [f"{name} has {count}" for name, count in measure_classes().items() if count > MOST_METHODS]
    assert not over, f"a class may have {MOST_METHODS} methods:\n" + "\n".join(over)


def test_a_port_asks_no_more_methods_of_a_backend() -> None:
    over = {
        port: measure_classes()[port] for port, most in PORT_METHODS.items() if measure_classes()[port] > most
    }
    assert not over, f"methods of a port, which may have {PORT_METHODS}"


def test_no_module_reaches_into_the_privates_of_another() -> None:
    reaches = [
        f"{module.name}:{number}"
        for module in read_modules()
        for number, line in enumerate(module.text.splitlines(), 1)
        if "noqa" in line and "SLF001" in line
    ]
    assert not reaches, reaches


def test_imports_have_no_more_layers() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    assert max(len(contract.get("layers", ())) for contract in contracts) <= LAYERS


def test_every_package_has_a_ceiling() -> None:
    assert set(PACKAGES) == set(measure_packages())


def test_a_package_stays_within_its_lines_and_names() -> None:
    over = [
        f"{package} has {lines} lines and {names} public names; it may have {most}"
        for package, (lines, names) in measure_packages().items()
        if lines > (most := PACKAGES[package])[0] or names > most[1]
    ]
    assert not over, "\n".join(over)


def print_figures() -> None:
    packages = measure_packages()
    for package, (lines, names) in sorted(packages.items()):
        print(f'    "{package}": ({lines}, {names}),')
    print(f"{sum(lines for lines, _ in packages.values())} lines in {len(read_modules())} files,", end=" ")
    print(f"{sum(names for _, names in packages.values())} public names")


if __name__ == "__main__":
    print_figures()
