"""Checks the built site: every link leads somewhere, and no page loads anything from another host.

python docs/check_site.py site
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
SHOWN_ONLY = ("canonical", "next", "prev")  # relations that a browser does not load


@dataclass
class Page:
    """What a page refers to, and what in it can be referred to."""

    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.page.ids.add(given["id"])
        if tag == "a" and "href" in given:
            self.page.links.add(given["href"])
        if tag in LOADED and LOADED[tag] in given and given.get("rel") not in SHOWN_ONLY:
            self.page.loaded.add(given[LOADED[tag]])


def read(file: Path) -> Page:
    reader = Reader()
    reader.feed(file.read_text(encoding="utf-8"))
    return reader.page


def find_faults(folder: Path) -> list[str]:
    pages = {file.resolve(): read(file) for file in sorted(folder.rglob("*.html"))}
    faults = []
    for file, page in pages.items():
        if file.name != "404.html":  # its addresses begin at the root of a host
            for target in sorted(page.links | page.loaded):
                fault = _check(target, file, page, pages)
                if fault:
                    faults.append(f"{file.relative_to(folder.resolve())}: {fault}")
    return faults


def _check(target: str, file: Path, page: Page, pages: dict[Path, Page]) -> str:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return f"loads {target}" if target in page.loaded and parts.scheme != "data" else ""
    place = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not place.is_file():
        return f"links to {target}, which is not there"
    if parts.fragment and place in pages and unquote(parts.fragment) not in pages[place].ids:
        return f"links to {target}, which has no such heading"
    return ""


if __name__ == "__main__":
    found = find_faults(Path(sys.argv[1]))
    for fault in found:
        print(fault)
    print(f"{len(found)} faults")
    sys.exit(1 if found else 0)
