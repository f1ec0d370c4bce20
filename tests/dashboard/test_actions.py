"""Everything that can be done in the dashboard is done, and the memory is looked at afterwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from tests.dashboard.site import END, MARA, Visit, serve

from eidet import Memory
from eidet.eval import read_cases
from eidet.server.access import add_key

Visiting = Callable[..., Visit]
Own = tuple[str, Path]


def open_memory(file: Path) -> Memory:
    return Memory(file, clock=lambda: END, audit=file.parent / "audit.log")


def test_the_dashboard_opens_with_an_overview(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    visit = visiting(base)
    visit.page.goto(base)
    visit.wait()
    page = visit.page
    assert page.locator("h1").inner_text() == "Overview"
    visit.go("overview")
    figures = page.locator(".figures").inner_text()
    with open_memory(file) as memory:
        newest = memory.find(scope=MARA, order="-created", limit=1)[0]
        assert f"{memory.count(scope=MARA)}\n" in figures
        waiting = len(memory.trust.review(scope=MARA)) + len(memory.facts.contradictions(scope=MARA))
    assert waiting > 0
    assert f"Waiting\n{waiting}\n" in figures
    assert newest.text in page.locator(".lines .row-open").first.inner_text()
    assert "questions asked" in str(page.locator("figure svg").get_attribute("aria-label"))
    page.get_by_role("button", name="Look").first.click()
    visit.until("document.querySelector('h1').innerText === 'Review'")


def test_a_memory_is_added_with_the_keyboard(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    visit = visiting(base)
    visit.go("overview")
    page = visit.page
    page.get_by_label("Text").focus()
    for words in ("Mara sails on Sundays", "desk", "episode"):
        page.keyboard.type(words)
        page.keyboard.press("Tab")
        if words == "Mara sails on Sundays":
            page.keyboard.press("Control+a")
    page.get_by_label("Happened").fill("2026-11-01T09:30")
    page.get_by_label("Happened").press("Enter")
    page.get_by_text("Stored in desk.").wait_for()
    visit.until("document.activeElement.tagName === 'TEXTAREA' && !document.activeElement.value")
    with open_memory(file) as memory:
        (stored,) = memory.find(scope="desk")
    assert (stored.text, stored.kind) == ("Mara sails on Sundays", "episode")
    assert datetime.fromtimestamp(stored.occurred) == datetime(2026, 11, 1, 9, 30)  # noqa: DTZ001, DTZ006
    page.get_by_label("Text").fill("Mara sails on Mondays")
    page.get_by_label("Text").press("Control+Enter")
    visit.until("!document.querySelector('textarea').value")
    page.get_by_role("textbox", name="Scope").fill("a//b")
    visit.expected = ("422",)
    page.get_by_label("Text").fill("nowhere")
    page.get_by_role("button", name="Remember").click()
    page.get_by_role("alert").wait_for()


def test_the_inbox_is_worked_through_with_the_keyboard(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    with open_memory(file) as memory:
        for words in ("Mara keeps bees", "Mara keeps goats", "Mara keeps ducks"):
            memory.trust.quarantine(memory.remember(words, scope="desk").id, scope="desk", because="odd")
    visit = visiting(base)
    visit.go("review", scope="desk")
    page, current = visit.page, visit.page.locator("[aria-current=true]")
    assert "Mara keeps ducks" in current.inner_text()
    page.keyboard.press("j")
    visit.until("document.querySelector('[aria-current=true]').innerText.includes('goats')")
    page.keyboard.press("e")
    page.get_by_label("Text").fill("Mara keeps two goats")
    page.keyboard.press("Control+Enter")
    page.get_by_text("Edited and approved.").wait_for()
    visit.until("document.querySelector('[aria-current=true]').innerText.includes('bees')")
    page.keyboard.press("r")
    page.get_by_text("Press r again").wait_for()
    page.keyboard.press("r")
    page.get_by_text("Rejected, and forgotten.").wait_for()
    visit.until("document.querySelector('[aria-current=true]').innerText.includes('ducks')")
    page.keyboard.press("a")
    page.get_by_role("heading", name="Nothing waits").wait_for()
    with open_memory(file) as memory:
        told = sorted(record.text for record in memory.find(scope="desk"))
        assert told == ["Mara keeps ducks", "Mara keeps two goats"]
        assert memory.trust.review(scope="desk") == []


@pytest.mark.parametrize("rights", [("read",), ("write",), ("read", "write")])
def test_the_overview_keeps_to_the_rights_of_a_key(
    rights: tuple[str, ...], example: Path, tmp_path: Path, visiting: Visiting
) -> None:
    file = Path(shutil.copy(example, tmp_path / "example.db"))
    key = add_key(tmp_path / "keys.toml", "page", ["tidewater"], rights)
    with serve(file, keys=tmp_path / "keys.toml") as base:
        visit = visiting(base)
        visit.expected = ("401",)
        visit.page.goto(base)
        visit.page.get_by_role("textbox", name="Key").fill(key)
        visit.page.keyboard.press("Enter")
        visit.page.get_by_role("heading", name="Add a memory").wait_for()
        words = visit.page.locator("main").inner_text()
        assert ("This key may not write." in words) == ("write" not in rights)
        assert ("Came lately" in words) == ("read" in rights)
        if "write" in rights:
            visit.page.get_by_label("Text").fill("Mara sails on Sundays")
            visit.page.get_by_role("button", name="Remember").click()
            visit.page.get_by_text("Stored in tidewater").wait_for()
        visit.check()
        visit.page.goto("about:blank")


def test_a_question_is_explained_and_what_is_missed_is_found_out(site: str, visiting: Visiting) -> None:
    visit = visiting(site)
    visit.go("why")
    page = visit.page
    page.get_by_role("searchbox", name="Question").fill("Where does Jonas live?")
    page.keyboard.press("Enter")
    page.locator(".hit").first.wait_for()
    assert "about Jonas" in page.locator("aside").inner_text().replace("\n", " ")
    first = page.locator(".hit").first
    assert "Porto" in first.inner_text()
    assert page.locator(".packed .told").count() > 3
    page.get_by_role("searchbox", name="Find the memory that you expected").fill("Jonas is allergic")
    page.locator(".pick-row", has_text="allergic to hazelnuts").first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".gaps tr").first.wait_for()
    told = dialog.inner_text()
    assert "candidates" in told
    assert "its meaning is further from the question" in told.lower()
    page.keyboard.press("Escape")
    visit.until("!document.querySelector('dialog')")


def test_weights_filters_and_time_move_the_ranking(site: str, visiting: Visiting) -> None:
    visit = visiting(site)
    visit.go("why", q="When was the sea trial?")
    page = visit.page
    before = page.locator(".hit-text").all_inner_texts()
    page.get_by_label("Weight of recency").fill("2")
    page.locator(".move").first.wait_for()
    assert page.locator(".hit-text").all_inner_texts() != before
    page.get_by_role("button", name="Reset").click()
    visit.until("document.querySelector('.hit-text').innerText === one", before[0])
    page.locator("aside").get_by_role("button", name="fact", exact=True).click()
    page.get_by_text("Would have been found without the filter").wait_for()
    assert "kind: the filter asks for fact" in page.locator(".removed").inner_text()
    page.get_by_role("button", name="Clear").click()
    visit.until("document.querySelectorAll('.removed').length === 0")
    page.get_by_label("Asked at").fill("2026-07-22T12:00")
    page.get_by_role("searchbox", name="Question").fill("What happened last week?")
    page.keyboard.press("Enter")
    page.get_by_text("2026-07-13 to 2026-07-19").wait_for()
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("searchbox", name="Question").fill("Where does Jonas live?")
    page.keyboard.press("Enter")
    visit.wait()
    page.get_by_label("What was true at").fill("2026-06-10T12:00")
    visit.until("document.querySelector('.hit-text').innerText === one", "Jonas lives in Kiel.")
    page.get_by_label("What was known at").fill("2020-01-01T12:00")
    visit.until("!document.querySelector('.hit-text')")


def test_a_judged_question_becomes_part_of_an_evaluation_set(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    visit = visiting(base)
    visit.go("why", q="What does a Tern cost?")
    page = visit.page
    page.locator(".hit").first.get_by_role("button", name="Right answer").click()
    page.get_by_role("button", name="Save into the evaluation set").click()
    page.get_by_text("Saved to").wait_for()
    cases = read_cases(file.with_name("example.db.eval.jsonl"))
    (question,) = cases[0].questions
    assert question.text == "What does a Tern cost?"
    texts = {draft.id: draft.text for draft in cases[0].records}
    assert "41,500 euros" in (texts[question.gold[0]] or "")
    assert len(texts) > 300


def test_records_are_searched_filtered_and_paged(site: str, visiting: Visiting) -> None:
    visit = visiting(site)
    visit.go("memories")
    page = visit.page
    rows = page.locator(".memory-table tbody tr")
    assert rows.count() == 25
    page.get_by_role("button", name="Next page").click()
    page.get_by_text("26 to 50 of").wait_for()
    page.get_by_role("button", name="document", exact=True).click()
    page.get_by_text("5 records").wait_for()
    page.locator("summary", has_text="All filters").click()
    page.get_by_label("Source").fill("trials/1.md")
    page.get_by_text("1 record", exact=True).wait_for()
    page.get_by_role("button", name="Clear all filters").click()
    page.get_by_label("Condition as JSON").fill('{"record.uses": {"$gte": 5}}')
    page.keyboard.press("Enter")
    visit.until("!document.querySelector('.list h2').innerText.startsWith('33')")
    page.get_by_role("button", name="Clear all filters").click()
    page.get_by_role("searchbox", name="Search").fill("hazelnuts")
    page.get_by_text("best first").wait_for()
    assert "hazelnuts" in rows.first.inner_text()
    rows.first.locator(".row-open").click()
    page.get_by_role("complementary", name="Record").get_by_text("History").wait_for()


def test_a_record_is_edited_pinned_held_and_set_aside(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    with open_memory(file) as memory:
        (record,) = [one for one in memory.find(scope=MARA, kinds="fact") if "Gannet costs" in one.text]
        visit = visiting(base)
        visit.go("memories", id=record.id, at=MARA)
        page = visit.page
        page.get_by_role("button", name="Edit").click()
        page.get_by_role("dialog").get_by_label("Text").fill("A Gannet costs 69,500 euros.")
        page.get_by_role("button", name="Save a new version").click()
        page.get_by_text("Saved as version 2.").wait_for()
        page.locator(".diff ins").wait_for()
        assert page.locator(".diff del").inner_text().strip() == "67,000"
        assert page.locator(".diff ins").inner_text().strip() == "69,500"
        for press, then in (
            ("Pin", "Unpin"),
            ("Unpin", "Pin"),
            ("Quarantine", "Approve"),
            ("Approve", "Quarantine"),
        ):
            page.get_by_role("button", name=press, exact=True).click()
            page.get_by_role("button", name=then, exact=True).wait_for()
        page.get_by_role("button", name="Hold", exact=True).click()
        page.get_by_role("button", name="Release").wait_for()
        assert page.get_by_role("button", name="Edit").is_disabled()
        assert page.get_by_role("button", name="Forget…").is_disabled()
        now = memory.get(record.id, scope=MARA)
        assert now is not None
        assert now.text == "A Gannet costs 69,500 euros."
        assert now.state.hold is not None
        page.get_by_role("button", name="Release").click()
        page.get_by_role("button", name="Hold", exact=True).wait_for()


def test_forgetting_shows_what_goes_and_gives_a_receipt(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    with open_memory(file) as memory:
        (record,) = [
            one for one in memory.find(scope=MARA, limit=400) if "thermal runaway" in one.text and one.who
        ]
        visit = visiting(base)
        visit.go("memories", id=record.id, at=MARA)
        page = visit.page
        page.get_by_role("button", name="Forget…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("Made of it, goes too").wait_for()
        dialog.get_by_label("Why").fill("asked for by the insurer")
        dialog.get_by_role("button", name="Forget for good").click()
        dialog.get_by_text("1 record forgotten.").wait_for()
        with page.expect_download() as saving:
            dialog.get_by_role("button", name="Save the receipt").click()
        receipt = json.loads(Path(saving.value.path()).read_text())
        assert receipt["why"] == "asked for by the insurer"
        assert record.id in receipt["ids"]
        dialog.get_by_role("button", name="Done").click()
        assert memory.get(record.id, scope=MARA) is None


def test_the_timeline_zooms_from_months_to_minutes(site: str, visiting: Visiting) -> None:
    visit = visiting(site)
    visit.go("timeline")
    page = visit.page
    page.get_by_role("button", name="recalls", exact=True).click()
    page.get_by_text("recalls on").wait_for()
    page.get_by_role("button", name="Week", exact=True).click()
    visit.wait()
    page.locator(".moments li").first.wait_for()
    page.get_by_role("button", name="All", exact=True).click()
    visit.wait()
    page.get_by_role("button", name="writes", exact=True).click()
    page.locator(".heat[fill='var(--h4)']").first.click()
    visit.wait()
    page.locator(".moments li").first.wait_for()
    page.locator(".line-box").focus()
    for _ in range(4):
        page.keyboard.press("+")
        visit.wait()
    page.keyboard.press("Escape")
    visit.wait()
    box = page.locator(".line-box svg").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 60, steps=4)
    page.mouse.up()
    visit.until("document.querySelector('.zooms .btn').getAttribute('aria-pressed') === 'false'")
    page.get_by_role("button", name="All", exact=True).click()
    visit.wait()
    page.locator(".lane", has_text="battery-fire").first.click()
    page.get_by_text("Clear all filters").wait_for()
    assert "battery-fire" in page.locator(".memory-table").inner_text()


def test_facts_are_walked_explained_and_decided(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    visit = visiting(base)
    visit.go("facts", entity="Jonas")
    page = visit.page
    assert "Porto" in page.locator(".graph").inner_text()
    page.get_by_role("button", name="two", exact=True).click()
    visit.until("document.querySelectorAll('.node').length > 6")
    page.get_by_role("button", name="Jonas lives in Kiel").first.press("Enter")
    page.get_by_role("dialog").get_by_text("Ended by").wait_for()
    page.keyboard.press("Escape")
    page.locator(".rival", has_text="Stavanger").get_by_role("button", name="Keep this one").click()
    page.get_by_text("Decided: this one stays.").wait_for()
    visit.until("document.querySelectorAll('.rival').length === 0")
    with open_memory(file) as memory:
        assert memory.facts.contradictions(scope=MARA) == []
    page.get_by_role("button", name="Undo").click()
    page.locator(".rival").first.wait_for()


def test_health_plans_upkeep_and_runs_it(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    visit = visiting(base)
    visit.go("health")
    page = visit.page
    assert page.get_by_role("button", name="Do it").is_disabled()
    page.get_by_role("button", name="Dry run").click()
    page.get_by_text("would move").wait_for()
    with open_memory(file) as memory:
        assert memory.count(scope=MARA, tiers="short") == memory.count(scope=MARA)
    page.get_by_role("button", name="Do it").click()
    page.get_by_text("Upkeep examined").wait_for()
    with open_memory(file) as memory:
        assert memory.count(scope=MARA, tiers="short") < memory.count(scope=MARA)


def test_a_scope_is_exported_and_loaded(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    visit = visiting(base)
    visit.go("health")
    page = visit.page
    with page.expect_download() as saving:
        page.get_by_role("button", name="Export this scope").click()
    saved = Path(saving.value.path())
    assert saving.value.suggested_filename == "tidewater-mara.jsonl"
    with open_memory(file) as memory:
        count = memory.count(scope=MARA)
        assert json.loads(saved.read_text().splitlines()[-1])["count"] == count
        page.get_by_text("Exported this scope.").wait_for()
        memory.forget(everything=True, scope=MARA, for_good=False)
        page.get_by_label("A file to load").set_input_files(saved)
        page.get_by_text(f"Loaded {count} records of this scope.").wait_for()
        assert memory.count(scope=MARA) == count
    visit.expected = ("422",)
    broken = file.with_name("broken.jsonl")
    broken.write_bytes(saved.read_bytes()[:-30])
    page.get_by_label("A file to load").set_input_files(broken)
    page.get_by_role("alert").wait_for()
    assert "That did not work" in page.get_by_role("alert").inner_text()


def test_what_another_process_writes_appears_by_itself(own_site: Own, visiting: Visiting) -> None:
    base, file = own_site
    visit = visiting(base)
    visit.go("memories")
    with open_memory(file) as memory:
        memory.remember("Written by somebody else just now.", scope=MARA)
    visit.page.get_by_text("Written by somebody else just now.").first.wait_for()
