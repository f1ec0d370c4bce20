"""The example plugin, installed as any package would be: Eidet finds what it adds, and it keeps the laws."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from eidet.core.errors import Misconfigured
from eidet.core.plugins import load_plugin
from eidet.core.settings import Settings
from eidet.index.embedded import EmbeddedIndex
from eidet.models.embed import embedder_of
from eidet.models.rerank import reranker_of
from eidet.open import open_index, open_store
from eidet.recall.recipes import recipe_of
from eidet.store.ram import RamStore

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


def run(target: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(target), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed_by_hand(tmp_path_factory.mktemp("plugin"))


USE = """
import sys
from eidet import Memory
team = f"folder://{sys.argv[1]}/team"
with Memory(team, embedder="letters:32") as one:
    one.remember("the old harbour", occurred="2020-01-01")
with Memory(team, embedder="letters:32") as one, Memory(team, embedder="letters:32") as two:
    one.remember("the new harbour", occurred="2026-01-01")
    hits = two.recall("harbour", recipe="newest", now="2026-01-02")
    print([hit.text for hit in hits])
"""


def test_what_a_plugin_adds_is_found_by_its_names(plugin: Path, tmp_path: Path) -> None:
    told = run(plugin, "-c", USE, str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("['the new harbour', 'the old harbour']")


CRASH = """
import os, sys
from pathlib import Path
from eidet_example.store import FolderStore
from eidet.core.errors import Corrupt
from eidet.core.record import Record
from eidet.core.where import Where
from eidet.store import verbs
folder = Path(sys.argv[1])
log = folder / "log"
def put(store, name):
    verbs.put(store, [Record(id=name, scope="a", text=f"{name} says this")], now=1.0)
def ids(store):
    return "".join(record.id for record in store.find(Where()))
first = FolderStore(folder)
put(first, "x")
whole = log.read_bytes()
put(first, "y")
last = log.read_bytes()[len(whole):]
for cut in (1, 8, len(last) // 2, len(last) - 1):
    log.write_bytes(whole + last[:cut])
    with_torn_line = FolderStore(folder)
    assert ids(with_torn_line) == "x", cut
    put(with_torn_line, "z")
    assert ids(FolderStore(folder)) == "xz"
verbs.delete_where(with_torn_line, Where(ids=("z",)), now=2.0)
assert b"z says this" in log.read_bytes()
verbs.scrub_files(with_torn_line, None)
assert b"z says this" not in log.read_bytes()
again = FolderStore(folder)
assert (ids(again), again.head()) == ("x", with_torn_line.head())
put(with_torn_line, "w")
assert ids(again) == "xw"
log.write_bytes(log.read_bytes().replace(b"x says", b"y says"))
try:
    ids(FolderStore(folder))
except Corrupt as error:
    print(error)
"""


def test_the_store_of_the_plugin_survives_a_crash_and_forgets_for_good(plugin: Path, tmp_path: Path) -> None:
    told = run(plugin, "-c", CRASH, str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert told.stdout == f"{tmp_path}/log is damaged at byte 0\n"


INDEX = """
from eidet import Memory
from eidet.core.settings import Settings
from eidet.core.where import Where
how = Settings(index="shelves://team?small=0&ship_rows=1&background=no")
with Memory(settings=how, embedder="letters:32") as one:
    one.remember(["the old harbour", "the new harbour"], kind="fact")
    one.remember("a harbour seal", kind="episode")
    print([hit.text for hit in one.recall("harbour", kinds=["episode"])])
    print(one.admin.stats()["index"]["rows_in_database"], one.admin.check())
"""


def test_the_index_of_a_plugin_is_named_by_a_setting(plugin: Path) -> None:
    told = run(plugin, "-c", INDEX)
    assert told.returncode == 0, told.stderr
    assert told.stdout.split("\n")[:2] == ["['a harbour seal']", "3 []"]


COMMANDS = """
import json, sys
from typer.testing import CliRunner
from eidet.cli import app
told = [CliRunner().invoke(app, words) for words in json.loads(sys.argv[1])]
print(json.dumps([one.output if one.exit_code == 0 else repr(one) for one in told]))
"""


def test_all_that_a_plugin_adds_is_reached_from_the_command_line(plugin: Path, tmp_path: Path) -> None:
    commands = [
        ["remember", "the old harbour", "--occurred", "2020-01-01"],
        ["remember", "the new harbour of the town"],
        ["recall", "an old harbour", "--recipe", "newest", "--json"],
        ["recall", "an old harbour", "--json"],
        ["context", "harbour", "--recipe", "newest"],
        ["stats", "--at", f"folder://{tmp_path}/team", "--json"],
    ]
    told = run(
        plugin,
        "-c",
        COMMANDS,
        json.dumps(commands),
        EIDET_MEMORY=str(tmp_path / "agent.db"),
        EIDET_EMBEDDER="letters:32",
        EIDET_INDEX="shelves://team?small=0&ship_rows=1&background=no",
    )
    assert told.returncode == 0, told.stderr
    _, _, newest, usual, block, stats = json.loads(told.stdout)
    assert json.loads(newest)["hits"][0]["record"]["text"] == "the new harbour of the town"
    assert json.loads(usual)["hits"][0]["record"]["text"] == "the old harbour"
    assert "harbour" in block
    assert json.loads(stats)["embedder"] == "letters:32"


def test_a_name_that_nobody_offers_tells_those_that_are_there(plugin: Path) -> None:
    ask = "from eidet import Memory; Memory().recall('x', recipe='no such one')"
    told = run(plugin, "-c", ask)
    assert "BadInput" in told.stderr
    assert "newest" in told.stderr
    told = run(plugin, "-c", "from eidet import Memory; Memory('folder://')")
    assert "a folder store needs a path" in told.stderr


def test_an_entry_point_that_is_no_recipe_is_told(plugin: Path, tmp_path: Path) -> None:
    target = tmp_path / "bad"
    shutil.copytree(plugin, target)
    (entry_points,) = target.glob("*.dist-info/entry_points.txt")
    entry_points.write_text("[eidet.recipes]\nbad = builtins:list\n")
    told = run(target, "-c", "from eidet import Memory; Memory().recall('x', recipe='bad')")
    assert "must return a Recipe, not []" in told.stderr


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a package of one module that offers something under the name `odd` of every group."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name: str, value: str, code: str, groups: Iterable[str] = USES, called: str = "odd") -> None:
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / f"{name}.py").write_text(code)
        told = tmp_path / f"{name}-1.0.dist-info"
        told.mkdir()
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = "".join(f"[{group}]\n{called} = {value}\n" for group in groups)
        (told / "entry_points.txt").write_text(lines)
        importlib.invalidate_caches()

    return install


Offer = Callable[..., None]
USES: dict[str, Callable[[], object]] = {
    "eidet.embedders": lambda: embedder_of("odd:3"),
    "eidet.recipes": lambda: recipe_of("odd"),
    "eidet.rerankers": lambda: reranker_of("odd"),
    "eidet.stores": lambda: open_store("odd://place", Settings()),
    "eidet.indexes": lambda: open_index(RamStore(), Settings(index="odd+http://host"), 8),
}


@pytest.mark.parametrize("group", sorted(USES))
def test_a_plugin_that_cannot_be_imported_is_named_with_its_package(group: str, offer: Offer) -> None:
    offer("broken_one", "broken_one:Odd", "raise RuntimeError('no licence here')")
    with pytest.raises(Misconfigured) as told:
        USES[group]()
    said = f"'odd' of {group}, which the package broken_one 1.0 offers as broken_one:Odd, cannot be loaded"
    assert str(told.value) == f"{said}: RuntimeError: no licence here"


@pytest.mark.parametrize("group", sorted(USES))
def test_a_plugin_whose_entry_point_names_nothing_is_told(group: str, offer: Offer) -> None:
    offer("hollow", "hollow:Gone", "")
    with pytest.raises(Misconfigured, match=r"hollow:Gone, cannot be loaded: AttributeError"):
        USES[group]()


@pytest.mark.parametrize("group", sorted(USES))
def test_two_packages_that_want_one_name_are_both_named(group: str, offer: Offer) -> None:
    offer("first", "first:Odd", "Odd = dict")
    offer("second", "second:Odd", "Odd = dict")
    both = r"the package first 1.0 \(first:Odd\) and the package second 1.0 \(second:Odd\) each offer 'odd'"
    with pytest.raises(Misconfigured, match=both):
        USES[group]()


@pytest.mark.parametrize("group", sorted(USES))
def test_a_plugin_that_takes_other_arguments_is_told_those_it_gets(group: str, offer: Offer) -> None:
    offer("strict", "strict:odd", "def odd(a, b, c, d, /): ...")
    with pytest.raises(Misconfigured, match=r"cannot be called as .*plugins\.md says: missing"):
        USES[group]()


WANTED = {
    "eidet.embedders": "an embedder (name, width, embed), not int",
    "eidet.recipes": "a Recipe, not 7",
    "eidet.rerankers": "a reranker (name, scores), not int",
    "eidet.stores": "a store, not int",
    "eidet.indexes": "an index, not int",
}


@pytest.mark.parametrize("group", sorted(USES))
def test_a_plugin_that_gives_something_else_is_told(group: str, offer: Offer) -> None:
    offer("other", "other:odd", "def odd(*given, **named): return 7")
    with pytest.raises(Misconfigured) as told:
        USES[group]()
    assert str(told.value) == f"'odd' of {group} must return {WANTED[group]}"


def test_what_comes_with_eidet_keeps_its_name(offer: Offer) -> None:
    offer("usurper", "usurper:x", "raise RuntimeError('loaded')", ["eidet.indexes"], "embedded")
    assert load_plugin("eidet.indexes", "embedded") is EmbeddedIndex


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
    assert run(target, "-c", USE, str(tmp_path)).stdout.startswith("['the new harbour', 'the old harbour']")
