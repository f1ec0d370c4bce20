"""Signs that change what is said, written as words: "-5" is not "5", and "C++" is not "C"."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = dict(
    pair.split(" ", 1)
    for pair in (
        *("$ dollar", "€ euro", "£ pound", "¥ yen", "₹ rupee", "% percent", "‰ permille", "° degree"),
        *("< below", "> above", "≤ at most", "≥ at least", "<= at most", ">= at least", "= equals"),
        *("== equals", "!= not equals", "≠ not equals", "++ plusplus", "# sharp", "- minus", "− minus"),
        *("+ plus", "-> to", "→ to"),
    )
)
_SIGN = re.compile(
    r"->|→|[<>!=]=|[$€£¥₹%‰≤≥≠=°]|(?<=\w)\+\+|(?<=\w)#|(?<!\w)[-−+](?=[$€£]?\d)|(?<=\s)[<>](?=\s|\d)"
)


def spell_symbols(text: str) -> str:
    """The text with its telling signs as words; brackets, dashes and marks of layout stay as they are."""
    return _SIGN.sub(lambda sign: f" {_WORDS[sign[0]]} ", text)
