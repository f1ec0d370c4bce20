"""The example plugin, installed as any package would be: Eidet finds what it adds, and it keeps the laws."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"


def installed_by_hand(target: Path) -> Path:
    """What an installer would write: the package, and a folder that tells of its entry points."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    shutil.copytree(PLUGIN / "src" / "eidet_example", target / "eidet_example")
    told = target / f"eidet_example-{project['version']}.dist-info"
    told.mkdir()
    name = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (told / "METADATA").write_text(name)
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (told / "entry_points.txt").write_text("\n".join(groups))
    return target


def run(target: Path, *command: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(target), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed_by_hand(tmp_path_factory.mktemp("plugin"))


USE = """
from eidet import Memory
with Memory("shared://team", embedder="letters:32") as one:
    one.remember("the old harbour", occurred="2020-01-01")
with Memory("shared://team") as one, Memory("shared://team", embedder="letters:32") as two:
    one.remember("the new harbour", occurred="2026-01-01")
    hits = two.recall("harbour", recipe="newest", now="2026-01-02")
    print([hit.text for hit in hits])
"""


def test_what_a_plugin_adds_is_found_by_its_names(plugin: Path) -> None:
    told = run(plugin, "-c", USE)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("['the new harbour', 'the old harbour']")


def test_a_name_that_nobody_offers_tells_those_that_are_there(plugin: Path) -> None:
    ask = "from eidet import Memory; Memory().recall('x', recipe='no such one')"
    told = run(plugin, "-c", ask)
    assert "BadInput" in told.stderr
    assert "newest" in told.stderr
    told = run(plugin, "-c", "from eidet import Memory; Memory('shared://')")
    assert "a shared store needs a name" in told.stderr


def test_an_entry_point_that_is_no_recipe_is_told(plugin: Path, tmp_path: Path) -> None:
    target = tmp_path / "bad"
    shutil.copytree(plugin, target)
    (entry_points,) = target.glob("*.dist-info/entry_points.txt")
    entry_points.write_text("[eidet.recipes]\nbad = builtins:list\n")
    told = run(target, "-c", "from eidet import Memory; Memory().recall('x', recipe='bad')")
    assert "gives a Recipe, not []" in told.stderr


def test_the_plugin_keeps_the_shipped_laws(plugin: Path) -> None:
    told = run(
        plugin, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(PLUGIN / "tests")
    )
    assert told.returncode == 0, told.stdout[-3000:]
    assert " passed" in told.stdout


def test_it_can_be_installed_with_pip(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None or importlib.util.find_spec("pip") is None:
        pytest.skip("needs pip and hatchling, which build the example: pip install hatchling")
    source = tmp_path / "source"
    shutil.copytree(PLUGIN, source)
    target = tmp_path / "target"
    quiet = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    told = run(tmp_path, "-m", "pip", "install", *quiet, "--target", str(target), str(source))
    assert told.returncode == 0, told.stderr
    assert run(target, "-c", USE).stdout.startswith("['the new harbour', 'the old harbour']")
