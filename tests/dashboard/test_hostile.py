"""Texts that want to be code, hosts that want to be asked, keys that are missing."""

from __future__ import annotations

import hashlib
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.dashboard.site import END, NARROW, WIDE, Visit, serve
from tests.dashboard.test_pages import VIEWS

from eidet import Draft, Memory
from eidet.server.dashboard import CSP, STATIC

Visiting = Callable[..., Visit]
HOSTILE: Final = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 2">',
    "javascript:window.hacked=3",
    "</textarea></style><svg onload=window.hacked=4>",
    "\u202ethis runs from right to left\u202c and back",
    "שלום עולם, זה טקסט בעברית עם English בתוכו.",
    "${window.hacked=5} {{7*7}} <%= 7 %>",
    "a" * 3000,
)
NAME: Final = "<b onmouseover=window.hacked=6>Ann</b>"

# Every foreign file that ships with the dashboard or its tests: version and SHA-256.
FOREIGN: Final = {
    "vendor/htm-preact-standalone.js": (
        "htm 3.1.1, preact/standalone.module.js, with preact inside",
        "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
    ),
    "vendor/LICENSE-htm.txt": (
        "Apache-2.0",
        "740725f7252e750af735d0028cc534970772f513331e9f68150fede8fb3ce00f",
    ),
    "vendor/LICENSE-preact.txt": (
        "MIT",
        "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4",
    ),
}
AXE: Final = ("axe-core 4.14.0, MPL-2.0", "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("hostile") / "hostile.db"
    with Memory(file, clock=lambda: END) as memory:
        for at, text in enumerate((*HOSTILE, "word " * 200_000)):
            draft = Draft(
                text=text, who=NAME, session=f"<i>{at}</i>", source=text[:90], occurred=END - at * 3600
            )
            memory.remember(draft, scope="<u>evil</u>", meta={"<k>": text[:90]})
    with serve(file) as base:
        yield base


@pytest.mark.parametrize("width", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("view", VIEWS)
def test_hostile_texts_stay_texts(view: str, width: dict[str, int], hostile: str, visiting: Visiting) -> None:
    visit = visiting(hostile, width=width)
    visit.go(view, scope="<u>evil</u>", q="script hacked onerror word")
    page = visit.page
    assert page.evaluate("window.hacked") is None
    assert page.locator("main script, main img, main b[onmouseover], main u").count() == 0
    assert not visit.is_too_wide
    if view == "memories":
        page.get_by_text("<script>window.hacked = 1</script>").first.wait_for()
        page.locator(".row-open").first.click()
        page.get_by_role("complementary", name="Record").get_by_text("History").wait_for()
        assert page.evaluate("window.hacked") is None
        assert not visit.is_too_wide


def test_a_text_of_a_megabyte_is_shown_in_part_and_whole_on_request(hostile: str, visiting: Visiting) -> None:
    visit = visiting(hostile)
    visit.go("memories", scope="<u>evil</u>")
    page = visit.page
    page.locator(".row-open", has_text="word word").first.click()
    page.get_by_text("20,000 of 1,000,000 characters are shown.").wait_for()
    page.get_by_role("button", name="Show all").click()
    visit.until("document.querySelector('.detail-text').innerText.length > 900000")


def test_pages_carry_a_strict_policy_and_no_inline_code(site: str) -> None:
    for path in ("/", "/dashboard/app.js", "/dashboard/base.css", "/dashboard/icon.svg"):
        with urllib.request.urlopen(site + path) as answer:
            assert answer.headers["Content-Security-Policy"] == CSP
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for part in ("default-src 'self'", "base-uri 'none'", "frame-ancestors 'none'", "object-src 'none'"):
        assert part in CSP
    assert "unsafe" not in CSP
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|<script(?![^>]*src=)|\son\w+=|\sstyle=|https?://", page)
    for file in STATIC.rglob("*.js"):
        text = file.read_text()
        assert "innerHTML" not in text or file.parent.name == "vendor"
        assert not re.search(r"https?://(?!www\.w3\.org)", text) or file.parent.name == "vendor"


def test_the_policy_stops_code_that_gets_into_the_page(site: str, visiting: Visiting) -> None:
    visit = visiting(site)
    visit.go("health")
    visit.expected = ("Content Security Policy", "TrustedScript", "requires 'Trusted")
    refused = visit.page.evaluate(
        """() => { try { document.body.innerHTML = '<img src=x onerror="window.hacked=1">'; return false; }
                   catch (error) { return true; } }"""
    )
    assert refused
    assert visit.page.evaluate("window.hacked") is None


def test_foreign_files_are_those_that_are_listed() -> None:
    shipped = {str(file.relative_to(STATIC)) for file in (STATIC / "vendor").iterdir()}
    assert shipped == set(FOREIGN)
    for name, (_version, digest) in FOREIGN.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest
    axe = Path(__file__).parent / "axe" / "axe.min.js"
    assert hashlib.sha256(axe.read_bytes()).hexdigest() == AXE[1]


KEYS: Final = """
[[key]]
name = "reader"
scopes = ["tidewater/mara"]
rights = ["read"]
key = "reader-secret"

[[key]]
name = "admin"
scopes = ["**"]
rights = ["read", "write", "forget", "admin"]
key = "admin-secret"
"""


@pytest.fixture(scope="module")
def guarded(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    keys = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys.write_text(KEYS)
    keys.chmod(0o600)
    with serve(example, keys=keys) as base:
        yield base


def test_a_page_asks_for_a_key_and_shows_only_what_it_opens(guarded: str, visiting: Visiting) -> None:
    visit = visiting(guarded)
    visit.expected = ("401",)
    page = visit.page
    page.goto(f"{guarded}/")
    page.get_by_role("dialog").get_by_label("Key").fill("reader-secret")
    page.get_by_role("button", name="Open the dashboard").click()
    page.locator(".scope-pick option").first.wait_for(state="attached")
    scopes = page.locator(".scope-pick option").all_inner_texts()
    assert not [name for name in scopes if "fleet" in name]
    page.goto(f"{guarded}/#/health")
    page.get_by_role("button", name="Dry run").wait_for()
    assert page.get_by_role("button", name="Dry run").is_disabled()
    assert page.evaluate("localStorage.getItem('eidet-key')") is None
