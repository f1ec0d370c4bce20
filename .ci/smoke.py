"""What an installed wheel must do on every Python: import, remember, recall, facts, command line, extras."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import files, version
from pathlib import Path

import eidet


def check_memory(folder: Path) -> None:
    place = folder / "smoke.db"
    with eidet.Memory(place) as memory:
        memory.remember(["Ann lives in Lisbon.", "The workshop opens at nine."], scope="ann")
        assert memory.recall("Where does Ann live?", scope="ann")[0].text == "Ann lives in Lisbon."
        assert not memory.recall("Where does Ann live?", scope="bob")
    with eidet.Memory(place) as memory:  # durable
        assert memory.count(scope="ann") == 2
        assert "Lisbon" in str(memory.context("Ann's home", scope="ann", budget=100))
        assert memory.forget(memory.recall("workshop", scope="ann")[0].id, scope="ann")
        assert memory.count(scope="ann") == 1


def check_command_line(folder: Path) -> None:
    command = Path(sysconfig.get_path("scripts")) / "eidet"
    shown = run(command, "--version", folder=folder)
    assert shown == f"eidet {eidet.__version__}\n", shown
    run(command, "remember", "Ben plays the cello.", folder=folder)
    assert "cello" in run(command, "recall", "Which instrument?", folder=folder)
    run(command, "demo", folder=folder)


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_package() -> None:
    assert version("eidet") == eidet.__version__
    assert "site-packages" in str(eidet.__file__), "the wheel is tested, not the sources"
    names = {str(file) for file in files("eidet") or ()}
    assert "eidet/py.typed" in names
    for name in eidet.__all__:
        assert getattr(eidet, name) is not None


def check_missing_extras() -> None:
    try:
        eidet.Memory("redis://127.0.0.1:1/0")
    except eidet.MissingExtra as missing:
        assert "pip install" in str(missing)
    else:
        raise AssertionError("an extra that is not installed must be named")


if __name__ == "__main__":
    check_package()
    with tempfile.TemporaryDirectory() as name:
        check_memory(Path(name))
        check_command_line(Path(name))
    check_missing_extras()
    print(f"eidet {eidet.__version__} works on Python {sys.version.split()[0]}")
