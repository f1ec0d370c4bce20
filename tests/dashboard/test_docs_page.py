"""The page of the REST interface: made from the schema, on this host alone, to read and to try."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
from tests.dashboard.site import NARROW, WIDE, Visit
from tests.dashboard.test_pages import find_barriers

from eidet.server.access import add_key
from eidet.server.dashboard import HEADERS

Visiting = Callable[..., Visit]


def open_docs(visit: Visit) -> None:
    visit.page.goto(f"{visit.base}/docs")
    visit.page.locator(".operation").first.wait_for()


def test_every_route_is_told_at_both_widths_and_in_both_themes(site: str, visiting: Visiting) -> None:
    answer = httpx.get(f"{site}/docs")
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    schema = httpx.get(f"{site}/openapi.json").json()
    routes = sorted(f"{method.upper()} {path}" for path, ways in schema["paths"].items() for method in ways)
    for width, theme in ((WIDE, "light"), (NARROW, "dark"), (WIDE, "dark"), (NARROW, "light")):
        visit = visiting(site, width=width, theme=theme)
        open_docs(visit)
        told = []
        for section in visit.page.locator(".operation").all():
            told.append(section.get_attribute("aria-label"))
        assert sorted(map(str, told)) == routes
        assert not visit.is_too_wide
        if (width is WIDE) == (theme == "light"):
            assert find_barriers(visit) == []


def test_a_route_is_found_and_tried(own_site: tuple[str, Path], visiting: Visiting) -> None:
    visit = visiting(own_site[0])
    open_docs(visit)
    page = visit.page
    page.get_by_role("searchbox", name="Find a route").fill("/v1/memories")
    route = page.locator("#remember")
    route.get_by_role("button", name="Try it").click()
    route.get_by_label("Body").fill('{"memories": [{"text": "<b>Ann</b> is here", "id": "new"}]}')
    route.get_by_role("button", name="Send").click()
    route.get_by_text("201", exact=True).last.wait_for()
    assert "<b>Ann</b> is here" in route.get_by_label("The answer").inner_text()
    one = page.locator("#get_memory")
    one.get_by_role("button", name="Try it").click()
    one.get_by_label("id", exact=True).fill("new")
    one.get_by_role("button", name="Send").click()
    one.get_by_label("The answer").wait_for()
    assert find_barriers(visit) == []


def test_a_key_is_sent_where_one_is_needed(example: Path, tmp_path: Path, visiting: Visiting) -> None:
    from tests.dashboard.site import serve

    key = add_key(tmp_path / "keys.toml", "ann", ["tidewater"], ["read"])
    with serve(example, keys=tmp_path / "keys.toml") as base:
        visit = visiting(base)
        visit.expected = ("401",)
        open_docs(visit)
        route = visit.page.locator("#scopes")
        route.get_by_role("button", name="Try it").click()
        route.get_by_role("button", name="Send").click()
        route.get_by_text("401", exact=True).last.wait_for()
        visit.page.get_by_label("Key, if the server needs one").fill(key)
        route.get_by_role("button", name="Send").click()
        route.get_by_text("tidewater/mara").wait_for()
