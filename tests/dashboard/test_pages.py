"""Every view at both widths and in both themes: nothing too wide, no error, nothing that axe-core finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.dashboard.site import NARROW, WIDE, Visit

VIEWS: Final = ("overview", "why", "memories", "review", "timeline", "facts", "health")
AXE: Final = Path(__file__).parent / "axe" / "axe.min.js"
RULES: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
Visiting = Callable[..., Visit]


def find_barriers(visit: Visit) -> list[str]:
    """What axe-core finds on the page as it is."""
    visit.page.evaluate(AXE.read_text(encoding="utf-8"))
    found: dict[str, Any] = visit.page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}, resultTypes: ['violations']})",
        list(RULES),
    )
    told = []
    for violation in found["violations"]:
        for node in violation["nodes"]:
            told.append(f"{violation['id']}: {node['target']} {node['failureSummary']}"[:400])
    return told


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_whole_at_both_widths_and_in_both_themes(view: str, site: str, visiting: Visiting) -> None:
    for width, theme in ((WIDE, "light"), (NARROW, "dark"), (WIDE, "dark"), (NARROW, "light")):
        visit = visiting(site, width=width, theme=theme)
        visit.go(view, q="Where does Jonas live?")
        assert visit.page.locator("h1").inner_text()
        assert visit.page.locator("[role=alert]").count() == 0
        assert visit.list_too_wide() == []
        if (width is WIDE) == (theme == "light"):
            assert find_barriers(visit) == []


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_is_too_wide_before_its_charts_know_their_width(
    view: str, site: str, visiting: Visiting
) -> None:
    visit = visiting(site, width=NARROW)
    visit.page.add_init_script("window.ResizeObserver = class { observe() {} disconnect() {} }")
    visit.go(view, q="Where does Jonas live?")
    assert visit.list_too_wide() == []


@pytest.mark.parametrize("view", VIEWS)
def test_an_empty_scope_says_what_to_do(view: str, site: str, visiting: Visiting) -> None:
    visit = visiting(site)
    visit.go(view, scope="nobody/here")
    words = visit.page.locator("main").inner_text()
    told = {
        "overview": "This scope is empty",
        "why": "This scope is empty",
        "memories": "This scope is empty",
        "review": "Nothing waits",
        "timeline": "Nothing has happened here yet",
        "facts": "No facts yet",
        "health": "No recall yet",
    }
    assert told[view] in words
    assert find_barriers(visit) == []


def test_the_keyboard_reaches_every_view_and_skips_the_navigation(site: str, visiting: Visiting) -> None:
    visit = visiting(site)
    visit.go("why")
    page = visit.page
    page.keyboard.press("Tab")
    page.evaluate("document.activeElement.blur()")
    for name in ("Memories", "Review", "Timeline", "Facts", "Health", "Overview", "Why?"):
        page.get_by_role("link", name=name, exact=True).focus()
        page.keyboard.press("Enter")
        visit.until("document.querySelector('h1').innerText === one", name)
        visit.until("document.activeElement.tagName === 'H1'")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "H1"


def test_the_theme_that_was_chosen_stays(site: str, visiting: Visiting) -> None:
    visit = visiting(site, theme="light")
    visit.go("health")
    visit.page.get_by_role("button", name="Dark theme").click()
    visit.until("document.documentElement.dataset.theme === 'dark'")
    visit.page.reload()
    visit.wait()
    visit.until("document.documentElement.dataset.theme === 'dark'")


def test_a_server_that_has_gone_is_told(example: Path, visiting: Visiting) -> None:
    from tests.dashboard.site import serve

    with serve(example) as base:
        visit = visiting(base)
        visit.go("memories")
    visit.expected = ("ERR_CONNECTION_REFUSED", "Failed to load resource")
    page = visit.page
    page.get_by_role("searchbox", name="Search").fill("boats")
    page.get_by_text("The server does not answer.").first.wait_for()
    assert "eidet serve" in page.locator("[role=alert]").inner_text()
