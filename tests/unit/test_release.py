"""What a release promises: one version, named licences, a bill of materials, pinned workflows."""

from __future__ import annotations

import re
import tomllib
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

import eidet

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
NOTICE = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OWN = {
    ".py",
    ".lua",
    ".sql",
    ".css",
    ".js",
    ".html",
    ".svg",
    ".typed",
    ".json",
    ".toml",
    ".txt",
}  # suffixes of files that we write


def load_script(name: str) -> ModuleType:
    loader = SourceFileLoader(Path(name).stem, str(ROOT / ".ci" / name))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    made = module_from_spec(spec)
    loader.exec_module(made)
    return made


def list_package_files() -> list[Path]:
    found = []
    for file in sorted((SOURCE / "eidet").rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            found.append(file)
    return found


def test_the_version_is_written_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/eidet/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+", eidet.__version__)


def test_the_changelog_has_the_version() -> None:
    headings = re.findall(
        r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert headings[0] == "Unreleased"
    assert eidet.__version__ in headings


def test_every_vendored_file_is_named_with_its_licence() -> None:
    for file in list_package_files():
        path = file.relative_to(SOURCE).as_posix()
        if "vendor" in file.parts or file.suffix not in OWN:
            assert f"`{path}`" in NOTICE, f"{path} comes from others: name it in THIRD_PARTY.md"


def test_every_file_that_the_notice_names_is_there() -> None:
    named = re.findall(r"`(eidet/[^`]+)`", NOTICE)
    assert named
    for path in named:
        assert (SOURCE / path).is_file(), path


def test_the_wheel_carries_the_licences() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    carried = set()
    for pattern in project["license-files"]:
        carried |= {file.name for file in ROOT.glob(pattern)}
    texts = {file.name for file in list_package_files() if file.name.startswith("LICENSE")}
    assert carried == {"LICENSE", "THIRD_PARTY.md"} | texts


METADATA = """Metadata-Version: 2.4
Name: eidet
Version: 9.9.9
Requires-Dist: pytest>=8
Requires-Dist: no-such-package<2,>=1; extra == 'seal'
Requires-Dist: eidet[server]; extra == 'test'
Requires-Dist: pytest>=7; extra == 'test'
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "eidet-9.9.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("eidet-9.9.9.dist-info/METADATA", METADATA)
        archive.writestr("eidet-9.9.9.dist-info/licenses/THIRD_PARTY.md", NOTICE)
        for file in list_package_files():
            if "vendor" in file.parts:
                archive.write(file, file.relative_to(SOURCE).as_posix())
    return path


def test_the_bill_of_materials_lists_what_is_required_and_what_is_vendored(wheel: Path) -> None:
    bill = load_script("make_sbom.py").make_bill(wheel)
    package = bill["metadata"]["component"]
    assert (package["name"], package["version"]) == ("eidet", "9.9.9")
    assert [(one["name"], one["version"]) for one in package["components"]] == [
        ("htm", "3.1.1"),
        ("preact", "10"),
    ]
    optional, required = bill["components"]
    assert (optional["name"], optional["scope"], "version" in optional) == (
        "no-such-package",
        "optional",
        False,
    )
    assert optional["properties"] == [{"name": "eidet:bounds", "value": "<2,>=1"}]
    assert (required["name"], required["scope"]) == ("pytest", "required")
    assert required["version"] == pytest.__version__
    assert required["licenses"] == [{"license": {"name": "MIT"}}]
    assert bill["dependencies"] == [{"ref": "pkg:pypi/eidet@9.9.9", "dependsOn": [required["bom-ref"]]}]


def test_a_package_without_a_wheel_for_a_machine_is_named() -> None:
    script = load_script("wheels")
    packages = [
        {"name": "pure", "version": "1", "wheels": [{"url": "https://at/pure-1-py3-none-any.whl"}]},
        {"name": "old", "version": "2", "wheels": [{"url": "https://at/old-2-cp313-cp313-win_amd64.whl"}]},
        {"name": "stable", "version": "3", "wheels": [{"url": "https://at/s-3-cp39-abi3-win_amd64.whl"}]},
        {"name": "other", "version": "4", "marker": "sys_platform != 'win32'"},
    ]
    assert script.list_missing(packages, "3.13", "Windows x86-64") == []
    assert script.list_missing(packages, "3.14", "Windows x86-64") == ["old 2"]
    assert script.list_missing(packages, "3.13", "macOS 12 arm64") == ["old 2", "stable 3", "other 4"]


def test_the_pythons_that_are_named_are_those_whose_wheels_are_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = load_script("wheels").PYTHONS
    named = [one.rpartition(" :: ")[2] for one in project["classifiers"] if ":: Python :: 3" in one]
    assert tuple(named) == pythons
    assert project["requires-python"] == f">={pythons[0]}"
    for page in ("README.md", "docs/start/install.md", "docs/operate/upgrade.md"):
        assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_pins_its_actions_and_asks_for_no_more_than_it_needs(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    for used in re.findall(r"uses: (\S+)", text):
        assert used.startswith("./") or re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", used), used
    assert "\npermissions:\n  contents: read\n" in text
    assert "secrets." not in text
    assert text.count("runs-on:") == text.count("timeout-minutes:")
    for script in re.findall(r"(\.ci/\w+)", text):
        assert (ROOT / script).is_file(), script


def test_a_release_is_tested_attested_and_published_without_a_password() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "uses: ./.github/workflows/test.yml" in text
    jobs = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", text.partition("\njobs:\n")[2], re.MULTILINE))
    assert list(jobs) == ["test", "build", "publish", "announce"]
    assert "needs: test" in jobs["build"]
    assert "needs: build" in jobs["publish"]
    provenance, bill = jobs["build"].split("actions/attest@")[1:]
    assert "subject-path:" in provenance
    assert "sbom-path:" not in provenance
    assert "sbom-path:" in bill
    assert "id-token: write" in jobs["publish"]
    assert "attestations: true" in jobs["publish"]
