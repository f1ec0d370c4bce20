"""A dashboard that is served on loopback, and a browser that looks at it. Both are real."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.servers import free_port
from tests.servers.served import Running

from eidet import AsyncMemory
from eidet.cli.demo import build_example
from eidet.server.server_settings import ServerSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

END: Final = 1_794_873_600.0  # the last moment of the example, and the time by which its server goes
MARA: Final = "tidewater/mara"
WIDE, NARROW = {"width": 1600, "height": 1000}, {"width": 390, "height": 844}
INSTALL: Final = "needs Chromium: apt-get install --no-install-recommends chromium"
ARGUMENTS: Final = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def build_file(folder: Path) -> Path:
    """The example memory, built once for all tests of a worker."""
    file = folder / "example.db"
    build_example(file, END)
    return file


@contextmanager
def serve(place: str | Path, **chosen: Any) -> Iterator[str]:
    """Serves a memory in a thread; its address. `chosen` are keys of the server, and audit of the memory."""
    audit = chosen.pop("audit", None)
    memory = AsyncMemory(place, clock=lambda: END, audit=audit)
    running = Running(memory, ServerSettings(port=free_port(), **chosen))
    running.start()
    try:
        yield running.url
    finally:
        running.stop()


@contextmanager
def browse() -> Iterator[Browser]:
    """Debian's Chromium; the test is skipped where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    found = shutil.which("chromium")
    if found is None:
        pytest.skip(INSTALL)
    with driver.sync_playwright() as play:
        browser: Browser = play.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield browser
        browser.close()


TOO_WIDE = """() => {
  const edge = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= edge) return [];
  const reach = e => e.getBoundingClientRect().right;
  const over = [...document.body.querySelectorAll("*")].filter(e => reach(e) > edge + 1);
  return ["the page", ...over.slice(0, 8).map(e => `${e.tagName}.${e.getAttribute("class")} `
    + Math.round(reach(e)))];
}"""


@dataclass
class Visit:
    """One page, and what went wrong on it."""

    page: Page
    base: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()  # parts of errors that a test provokes

    @classmethod
    def open(cls, browser: Browser, base: str, *, width: Any = None, theme: str = "light") -> Visit:
        page = browser.new_page(viewport=width or WIDE, color_scheme=theme)
        page.set_default_timeout(20_000)
        visit = cls(page, base)
        page.on("console", visit._hear)
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        page.on("dialog", lambda dialog: visit.errors.append(f"a dialog: {dialog.message}"))
        page.on("request", visit._note)
        return visit

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _note(self, request: Request) -> None:
        self.requests.append(request.url)

    def go(self, view: str, scope: str = MARA, **params: str) -> None:
        """Opens a view, by its address as a link would."""
        from urllib.parse import urlencode

        loaded = self.page.url.startswith(self.base)
        self.page.goto(f"{self.base}/#/{view}?{urlencode({'scope': scope, **params})}")
        if loaded:
            self.page.reload()
        self.wait()

    def wait(self) -> None:
        """Until nothing loads any more."""
        self.until("document.querySelector('h1') && !document.querySelector('.loading, .spin')")

    def until(self, holds: str, given: object = None) -> None:
        """Waits for a condition. Playwright's own way needs eval in the page, which the policy forbids."""
        deadline = time.monotonic() + 60
        script = f"one => Boolean({holds})"
        while not self.page.evaluate(script, given):
            assert time.monotonic() < deadline, f"never came true: {holds}"
            self.page.wait_for_timeout(30)

    @property
    def is_too_wide(self) -> bool:
        return self.list_too_wide() != []

    def list_too_wide(self) -> list[str]:
        """What reaches over the right edge of the page, outermost first; empty where it fits."""
        found: list[str] = self.page.evaluate(TOO_WIDE)
        return found

    def check(self) -> None:
        """No error was logged, and nothing was asked of another host."""
        wrong = []
        for error in self.errors:
            if not any(part in error for part in self.expected):
                wrong.append(error)
        assert not wrong, wrong
        away = [url for url in self.requests if not url.startswith((f"{self.base}/", "blob:"))]
        assert not away

    def close(self) -> None:
        self.page.close()
