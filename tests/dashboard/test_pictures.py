"""The pictures that the pages show are there, of the size they should have, and not too heavy."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Final

from tests.dashboard.screenshots import SHOTS

DOCS: Final = Path(__file__).parents[2] / "docs"
HEAVIEST: Final = 250_000  # bytes


def size_of(file: Path) -> tuple[int, int]:
    """Width and height, from the header of a PNG."""
    head = file.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def test_every_picture_is_made_by_the_script_and_light() -> None:
    for shot in SHOTS:
        file = DOCS / "images" / f"dashboard-{shot.name}.png"
        assert size_of(file) == (shot.width["width"], shot.width["height"])
        assert file.stat().st_size <= HEAVIEST


def test_the_page_shows_every_view() -> None:
    page = (DOCS / "operate" / "dashboard.md").read_text(encoding="utf-8")
    shown = re.findall(r"images/dashboard-([\w-]+)\.png", page)
    views = {"overview", "why", "why-not", "memories", "review", "timeline", "facts", "health"}
    assert views <= set(shown)
