"""The HTML report: whole, harmless, and free of the outside world."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from eidet import Draft
from eidet.eval import Case, Question, Report, Variant, evaluate, html_of
from eidet.eval.page import worst

NASTY = "</script><script>alert(1)</script> \"'& <img src=x onerror=alert(1)> \x1b[31m"
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """The tags of a page, and whether each is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def report() -> Report:
    records = [Draft(id=f"r{at}", text=f"The {at}th boat is called Plover {at}.") for at in range(12)]
    nasty = Draft(id="x", text=NASTY + " lamp", who="<b>Eve</b>", session="<i>")
    questions = [
        Question(id=f"q{at}", text=f"Plover {at}", gold=(f"r{at}",), category="boats") for at in range(11)
    ]
    odd = [
        Question(id="<q>", text=f"lamp? {NASTY}", gold=("r11", "x"), category="<u>odd</u>"),
        Question(id="lost", text="zebra", gold=("r11",), category="<u>odd</u>"),
    ]
    cases = [
        Case(scope="harbour", records=(*records, nasty), questions=(*questions, *odd), left_out={"<why>": 2})
    ]
    return evaluate(cases, Variant(embedder="hashing"), against=[Variant(embedder="hashing:8")], depth=10)


def test_the_page_is_well_formed_and_shows_the_texts_as_texts(report: Report) -> None:
    page, reader = html_of(report, title=f"a {NASTY}"), Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert not reader.tags & {"script", "img", "link", "iframe", "u", "i", "q", "why", "object", "form"}
    assert NASTY.replace("\x1b", "\N{REPLACEMENT CHARACTER}") in reader.text
    assert "<b>Eve</b>:" in reader.text
    assert "\x1b" not in page


def test_nothing_is_loaded_from_anywhere(report: Report) -> None:
    page = html_of(report)
    assert not re.search(r"https?:|//|url\(|@import|src=[\"']?\w+:", page)
    assert "default-src 'none'" in page


def test_every_plot_is_xml_without_numbers_gone_wrong(report: Report) -> None:
    plots = re.findall(r"<svg.*?</svg>", html_of(report), re.DOTALL)
    assert len(plots) == 5
    for plot in plots:
        ET.fromstring(plot)
        assert "nan" not in plot
        assert "inf" not in plot


def test_the_worst_questions_come_in_turn_from_each_category() -> None:
    records = (Draft(id="a", text="The kiln is hot."), Draft(id="b", text="A barge passed."))
    asked = [("1", "a", "x"), ("2", "b", "x"), ("3", "b", "x"), ("4", "b", "x"), ("5", "b", "y")]
    questions = tuple(Question(id=id, text="kiln", gold=(gold,), category=of) for id, gold, of in asked)
    case = Case(scope="s", records=records, questions=questions)
    report = evaluate([case], Variant(embedder="hashing"), depth=1, budget=0)
    assert [answer.question.id for answer in worst(report, 3)] == ["2", "5", "3"]
    assert [answer.question.id for answer in worst(report, 9)] == ["2", "5", "3", "4"], "1 is answered well"


def test_one_question_about_one_record_makes_a_page() -> None:
    case = Case(
        scope="s",
        records=(Draft(id="a", text="kiln"),),
        questions=(Question(id="q", text="kiln", gold=("a",)),),
    )
    page = html_of(evaluate([case], Variant(embedder="hashing"), depth=1, budget=0))
    assert "All gold was found first." in page
    assert "recall@1" in page
    assert "nan" not in page
