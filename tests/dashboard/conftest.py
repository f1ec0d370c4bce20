"""One server for all tests of a worker; a browser for each test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.dashboard.site import Visit, browse, build_file, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("fastapi", reason="needs a server: pip install 'eidet[server]'")


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the example memory; nobody changes it."""
    return build_file(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="session")
def site(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The example, served for tests that change nothing."""
    folder = tmp_path_factory.mktemp("site")
    with serve(shutil.copy(example, folder / "example.db")) as base:
        yield base


@pytest.fixture
def own_site(example: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A copy of the example for one test: its address and its file."""
    file = Path(shutil.copy(example, tmp_path / "example.db"))
    with serve(file, audit=tmp_path / "audit.log") as base:
        yield base, file


@pytest.fixture
def browser() -> Iterator[Browser]:
    """One for each test: as long as it is there, an event loop runs, which other tests could not start."""
    with browse() as browser:
        yield browser


@pytest.fixture
def visiting(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Opens pages and, at the end, checks that each stayed on its host and logged no error."""
    visits: list[Visit] = []

    def visit(base: str, **how: object) -> Visit:
        visits.append(Visit.open(browser, base, **how))  # type: ignore[arg-type]
        return visits[-1]

    yield visit
    for one in visits:
        one.check()
        one.close()
