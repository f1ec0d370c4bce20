"""Names of scopes with gaps: `acme/{user}` puts what each user said into a scope of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ..core.errors import BadInput
from ..core.scope import Scope, check_scope

_GAP: Final = re.compile(r"\{(\w*)\}")
GAPS: Final = ("user", "owner", "agent", "session", "collection", "namespace", "scope")


def check_template(template: str) -> None:
    """`BadInput` for a gap that nothing can fill, or a name that no scope can have."""
    for gap in _GAP.findall(template):
        if gap not in GAPS:
            known = ", ".join(f"{{{name}}}" for name in GAPS)
            raise BadInput(f"scope {template!r}: there is no {{{gap}}}; there are {known}")
    check_scope(_GAP.sub("x", template))


def fill_scope(template: str, labels: Mapping[str, str]) -> str:
    """The scope of one item; a label that stays empty falls away."""
    parts: list[str] = []
    for part in template.split("/"):
        filled = _fill_part(part, labels)
        if filled:
            parts.append(filled)
    return "/".join(parts) or Scope().path


def _fill_part(part: str, labels: Mapping[str, str]) -> str:
    for gap in _GAP.findall(part):
        part = part.replace(f"{{{gap}}}", labels.get(gap, ""))
    return part
