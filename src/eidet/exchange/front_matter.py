"""YAML front matter of Markdown files, and names of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import yaml

from ..core.errors import BadInput
from .source_items import plain_json

RESERVED: Final = ("index.md", "log.md")  # listings of a folder, which hold no notes
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FENCE: Final = "---"
_UNFOLDED: Final = 1 << 30  # characters of a line
_STEM: Final = re.compile(r"[^a-z0-9_-]+")
_STEM_CHARS: Final = 60
# Characters that editors and Markdown would change: control characters, line separators, byte order marks.
_UNHOLDABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    def ignore_aliases(self, _: object) -> bool:
        return True


def dump_yaml(values: Mapping[str, Any]) -> str:
    """Returns YAML in block style, without a newline at its end; `-->` never occurs in it."""
    how: dict[str, Any] = {"allow_unicode": True, "sort_keys": False, "width": _UNFOLDED}
    text = str(yaml.dump(dict(values), Dumper=_Dumper, **how))
    if "-->" in text:
        quoted = str(yaml.dump(dict(values), Dumper=_Dumper, default_style='"', **how))
        text = quoted.replace("-->", r"--\x3E")
    return text.removesuffix("\n")


def load_yaml(text: str, where: str, line: int) -> dict[str, Any]:
    """Parses a YAML mapping as JSON; `BadInput` names the file and the line, counted from `line`."""
    try:
        if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _LOADER)):
            raise BadInput(f"{where}, line {line}: an alias such as *name is not read; write the value out")
        found = yaml.load(text, Loader=_LOADER)  # noqa: S506  # the loader is the safe one
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, BadInput):
            raise
        mark = getattr(error, "problem_mark", None)
        at = line + (0 if mark is None else min(mark.line, text.count("\n")))
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise BadInput(f"{where}, line {at}: this is not YAML ({problem}); quote texts with signs") from None
    if found is not None and not isinstance(found, dict):
        raise BadInput(f"{where}, line {line}: `name: value` lines are expected, not {found!r:.60}")
    values: dict[str, Any] = plain_json(found or {})
    return values


def split_front_matter(text: str, where: str) -> tuple[dict[str, Any], str, int]:
    """Returns the front matter of a Markdown file, its body, and the number of the body's first line."""
    text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text, 1
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise BadInput(f"{where}, line 1: the front matter has no end; add a line --- after it")
    return load_yaml("\n".join(lines[1:end]), where, 2), "\n".join(lines[end + 1 :]), end + 2


def join_front_matter(values: Mapping[str, Any], body: str) -> str:
    return f"{_FENCE}\n{dump_yaml(values)}\n{_FENCE}\n\n{body}\n"


def make_stem(label: str) -> str:
    """Returns a stable file name for a label; different labels get different names."""
    stem = _STEM.sub("-", label.lower()).strip("-")[:_STEM_CHARS]
    if stem == label and f"{stem}.md" not in RESERVED:
        return stem
    return f"{stem}-{sha256(label.encode()).hexdigest()[:8]}".strip("-")


def can_hold(text: str) -> bool:
    """Returns whether a text survives a Markdown body unchanged."""
    return not text.startswith("\n") and not text.endswith("\n") and _UNHOLDABLE.search(text) is None
