"""Checks what a wheel and an sdist hold: check_dist.py FOLDER

The wheel holds the package and nothing else, every file that git knows, at most 12 MB of
vectors and 3 MB of the rest.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath

TABLE, MOST_TABLE_BYTES = "eidet/models/embed/multi.npz", 12_000_000
MOST_BYTES = 3_000_000  # of all the rest
NEEDED = ("eidet/py.typed", TABLE, "eidet/store/sql/migrations/versions/0001_first_tables.sql")
LICENCES = ("LICENSE", "THIRD_PARTY.md", "LICENSE-htm.txt", "LICENSE-preact.txt", "LICENSE-dateparser.txt")
ROOT = Path(__file__).parents[1]


def check_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.compress_size for entry in archive.infolist()}
    outside = [name for name in sizes if not name.startswith(("eidet/", "eidet-"))]
    assert not outside, f"not of the package: {outside}"
    rest = wheel.stat().st_size - sizes.get(TABLE, 0)
    assert rest <= MOST_BYTES, f"{rest:,} bytes beside the vectors are too many"
    assert sizes.get(TABLE, 0) <= MOST_TABLE_BYTES, f"{sizes[TABLE]:,} bytes of vectors are too many"
    for name in (*NEEDED, *list_sources()):
        assert name in sizes, f"{name} is missing in the wheel"
    for name in LICENCES:
        assert any(".dist-info/licenses/" in one and one.endswith(f"/{name}") for one in sizes), (
            f"{name} is missing"
        )
    report(wheel, sizes)


def list_sources() -> list[str]:
    """What git tracks of the package; nothing where this is no checkout."""
    listed = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [line.removeprefix("src/") for line in listed.stdout.splitlines()]


def report(wheel: Path, sizes: dict[str, int]) -> None:
    parts: Counter[str] = Counter()
    for name, size in sizes.items():
        parts[PurePosixPath(name).suffix or PurePosixPath(name).name] += size
    said = ", ".join(f"{kind} {size / 1000:,.0f} kB" for kind, size in parts.most_common(6))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB in {len(sizes)} files; packed: {said}")


def check_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in (
        "pyproject.toml",
        "LICENSE",
        "THIRD_PARTY.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "tests/conftest.py",
    ):
        assert name in names, f"{name} is missing in the sdist"
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.2f} MB in {len(names)} files")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    check_wheel(wheel)
    check_sdist(sdist)
