"""From a file to cases: which of the formats it has is seen by looking at it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from .. import BadInput
from .cases import Case, check_cases
from .json_fields import json_of, list_in
from .lines import is_world, read_line_cases, read_worlds
from .locomo import read_locomo
from .longmemeval import read_longmemeval

FORMATS: Final = ("locomo", "longmemeval", "jsonl", "worlds")


def read_cases(
    file: str | Path,
    *,
    format: str | None = None,
    roles: Sequence[str] = ("user",),
    sessions: int = 50,
    seed: int = 0,
) -> list[Case]:
    """The cases of a LoCoMo, LongMemEval or JSON-lines file, plain or gzipped; checked as a whole.

    `roles` (whose turns are remembered) and `sessions` (the size of a haystack that has to be made
    from evidence alone) are for LongMemEval; `seed` decides which sessions share a haystack.
    """
    if format is not None and format not in FORMATS:
        raise BadInput(f"unknown format {format!r}; there are {', '.join(FORMATS)}")
    name, text = Path(file).name, _content(Path(file))
    whole = None if format in ("jsonl", "worlds") or _is_lines(text) else json_of(text, name)
    match format or _format_of(whole, text, name):
        case "locomo":
            cases = list(read_locomo(_as_list(whole, name), name))
        case "longmemeval":
            listed = _as_list(whole, name)
            cases = list(read_longmemeval(listed, name, roles=roles, sessions=sessions, seed=seed))
        case "worlds":
            cases = list(read_worlds(text, name))
        case _:
            cases = list(read_line_cases(text, name))
    check_cases(cases)
    return cases


def _content(file: Path) -> str:
    try:
        content = file.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(f"{file} is a damaged gzip file: {error}") from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None


def _is_lines(text: str) -> bool:
    """Whether the first line is an object by itself, with a type or with more lines after it."""
    first, _, rest = text.strip().partition("\n")
    alone = first.startswith("{") and first.rstrip().endswith("}")
    return alone and ('"type"' in first or is_world(first) or bool(rest))


def _format_of(whole: Any, text: str, name: str) -> str:
    if whole is None:
        return "worlds" if is_world(text.partition("\n")[0]) else "jsonl"
    first = whole[0] if isinstance(whole, list) and whole else whole
    if isinstance(first, dict):
        if "conversation" in first:
            return "locomo"
        if "haystack_sessions" in first:
            return "longmemeval"
    raise BadInput(
        f"{name} is neither LoCoMo (objects with conversation and qa), nor LongMemEval (objects with "
        'haystack_sessions), nor lines of {"type": "record" | "question", …} or {"world": …}; '
        "--format says which it is"
    )


def _as_list(whole: Any, name: str) -> list[Any]:
    """The list that a file is, or the one object as a list."""
    return [whole] if isinstance(whole, dict) else list_in({"the file": whole}, "the file", name)
