"""Writes `src/eidet/text/dates/locales.json`: words of time of other languages, from dateparser's tables.

    pip install dateparser && python train/dates/locales.py

Only the languages that Eidet knows, and of each only what `eidet.text.dates.foreign` reads.
"""

from __future__ import annotations

import json
import runpy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eidet.text.dates.scanner import MONTHS, WEEKDAYS
from eidet.text.words import LANGUAGES

KEYS = (*MONTHS, *WEEKDAYS, "day", "week", "month", "year", "ago", "in", "date_order", "no_word_spacing")
NESTED = ("relative-type", "relative-type-regex", "simplifications")
FILES = {"no": "nb"}
TARGET = Path(__file__).parents[2] / "src/eidet/text/dates/locales.json"


def main() -> None:
    spec = find_spec("dateparser")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pip install dateparser")
    folder = Path(spec.submodule_search_locations[0], "data", "date_translation_data")
    tables = {}
    for code in sorted(LANGUAGES):
        path = folder / f"{FILES.get(code, code)}.py"
        if code != "en" and path.is_file():
            tables[code] = pick(runpy.run_path(str(path))["info"])
    lines = (f"{json.dumps(code)}: {json.dumps(one, ensure_ascii=False)}" for code, one in tables.items())
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def pick(info: dict[str, Any]) -> dict[str, Any]:
    return {key: info[key] for key in (*KEYS, *NESTED) if info.get(key)}


if __name__ == "__main__":
    main()
