"""Makes the pictures of the documentation: `python -m tests.dashboard.screenshots docs/images`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.dashboard.site import NARROW, WIDE, Visit, browse, build_file, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser


class Shot(NamedTuple):
    """A picture: its name, the view with its parameters, how it is looked at, and what is done first."""

    name: str
    view: str
    params: dict[str, str]
    act: Callable[[Visit], None] | None = None
    width: Any = WIDE
    theme: str = "light"


def ask_why_not(visit: Visit) -> None:
    visit.page.get_by_role("searchbox", name="Find the memory that you expected").fill("Jonas moved to Porto")
    visit.page.locator(".pick-row", has_text="moved to Porto").first.click()
    visit.page.get_by_role("dialog").locator(".gaps tr").first.wait_for()


def open_price(visit: Visit) -> None:
    visit.page.get_by_role("searchbox", name="Search").fill("what does a Tern cost")
    visit.page.get_by_text("best first").wait_for()
    visit.page.locator(".row-open").first.click()
    visit.page.locator(".diff").wait_for()


def plan_upkeep(visit: Visit) -> None:
    visit.page.get_by_role("button", name="Dry run").click()
    visit.page.get_by_text("would move").wait_for()


JONAS: Final = {"q": "Where does Jonas live?"}
SHOTS: Final = (
    Shot("overview", "overview", {}),
    Shot("overview-narrow", "overview", {}, None, NARROW, "dark"),
    Shot("why", "why", {"q": "What happened with batch H-77/9485?"}),
    Shot("why-not", "why", JONAS, ask_why_not),
    Shot("memories", "memories", {}, open_price),
    Shot("review", "review", {}),
    Shot("timeline", "timeline", {}),
    Shot("facts", "facts", {"entity": "Jonas"}),
    Shot("health", "health", {}, plan_upkeep),
    Shot("why-narrow", "why", JONAS, None, NARROW, "dark"),
    Shot("facts-narrow", "facts", {"entity": "Jonas"}, None, NARROW),
)


def warm_up(browser: Browser, base: str) -> None:
    """The first question loads the model that embeds it."""
    visit = Visit.open(browser, base)
    visit.go("why", **JONAS)
    visit.close()


def make_pictures(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        file = build_file(Path(work))
        with serve(file, audit=Path(work) / "audit.log") as base, browse() as browser:
            warm_up(browser, base)
            for shot in SHOTS:
                visit = Visit.open(browser, base, width=shot.width, theme=shot.theme)
                visit.go(shot.view, **shot.params)
                if shot.act is not None:
                    shot.act(visit)
                visit.wait()
                visit.page.wait_for_timeout(300)
                visit.page.screenshot(path=folder / f"dashboard-{shot.name}.png")
                visit.check()
                visit.close()


if __name__ == "__main__":
    make_pictures(Path(sys.argv[1]))
