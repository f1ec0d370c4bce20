"""Tests of the frameworks themselves: fetched at a pinned version, checked by hash, run with our class.

None of them enters this repository. `judge` says which tests failed; each caller lists the ones it expects
to fail, with the reason, and a test that passes against expectation fails as well.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LIMIT = 600  # seconds for a suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Where tests come from, and what is changed in them so that they test our class."""

    requirement: str  # name==version
    sha256: str  # of the source distribution
    files: Sequence[str]  # the tests to run, by their paths in it
    changes: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)  # by file: (old, new)
    shim: str = ""  # the text of `eidet_shim.py`, which changed tests import
    copied: Sequence[str] = ("tests",)  # folders that the tests need


@dataclass(frozen=True, slots=True)
class Verdict:
    passed: frozenset[str]
    failed: frozenset[str]
    said: str


def fetch(upstream: Upstream, folder: Path) -> Path:
    """The unpacked source distribution. pip refuses one whose hash is another."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{upstream.requirement} --hash=sha256:{upstream.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    command += ["--require-hashes", "-r", str(wanted), "-d", str(folder)]
    subprocess.run(command, check=True, timeout=LIMIT)
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = [one for one in folder.iterdir() if one.is_dir()]
    return unpacked


def judge(upstream: Upstream, folder: Path) -> Verdict:
    """Runs the tests in a folder of their own, where only what they need is to be found."""
    source, place = fetch(upstream, folder), folder / "run"
    place.mkdir()
    for name in upstream.copied:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).rename(place / name)
    (place / "eidet_shim.py").write_text(upstream.shim)
    for name, changes in upstream.changes.items():
        _change(place / name, changes)
    report = place / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    command += ["-p", "no:xdist", f"--junitxml={report}", f"--rootdir={place}", *upstream.files]
    ran = subprocess.run(
        command,
        cwd=place,
        env=_environment(place),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    said = ran.stdout[-6000:] + ran.stderr[-2000:]
    assert report.exists(), said
    return _read(report, said)


def _change(path: Path, changes: Sequence[tuple[str, str]]) -> None:
    text = path.read_text()
    for old, new in changes:
        assert old in text, f"{path.name} has changed: {old!r} is not in it"
        text = text.replace(old, new)
    path.write_text(text)


def _environment(place: Path) -> dict[str, str]:
    import os

    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "PYTHONPATH": str(place),
        "OPENAI_API_KEY": "none",
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
    }


def _read(report: Path, said: str) -> Verdict:
    passed: set[str] = set()
    failed: set[str] = set()
    for case in ET.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(name)
        elif case.find("skipped") is None:
            passed.add(name)
    return Verdict(frozenset(passed), frozenset(failed), said)
