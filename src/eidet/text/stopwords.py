"""Function words by language: what a question and a text share without meaning the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

_TABLE: Final = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
STOP_WORDS: Final = {
    code: frozenset(" ".join(lines).split()) for code, lines in _TABLE.items() if code != "about"
}
