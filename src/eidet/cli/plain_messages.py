"""Errors in the words of the command line: the library's messages tell Python programmers what to write."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final[tuple[tuple[str, str], ...]] = (
    (r"[;,] in Python, [^;]*", ""),
    (r"[;,] on the command line, ", " or "),
    (r"open it with Memory\(…, key=[^)]*\)( or key='[^']*')?( or EIDET_KEY or --key-file gives the key)?",
     "give the key by EIDET_KEY or --key-file"),
    (r", Memory\(…, key=…\)", ", which EIDET_KEY or --key-file gives"),
    (r": Memory\(url\) opens it", ": name it with --at"),
    (r"audit=… \(EIDET_AUDIT, or audit in the settings file\)", "EIDET_AUDIT, or audit in the settings file"),
    (r"audit=False \(EIDET_AUDIT=off\)", "EIDET_AUDIT=off"),
    (r"`adapt\(…, name=…\)`, or its attribute `name`", "in Python: `adapt`"),
    (r"`?memory\.admin\.reembed\(…?\)`?", "`eidet rebuild --reembed`"),
    (r"`?memory\.(?:\w+\.)*(\w+)\(…?\)`?", r"`eidet \1`"),
    (r"remember\(…, again=True\)", "`eidet remember --again`"),
    (r"recall\(words, recipe='exact'\)", "`eidet recall WORDS --recipe exact`"),
    (r", and record\.text of what find\(…\) returns can be compared", ""),
    (r"Settings\((\w+)=…\)", r"the setting \1"),
    (r", such as secrets\.\w+\(32\)|: secrets\.\w+\(32\) makes one", ""),
    (r"claim_archive\('folder'\)", "`eidet load FOLDER --claim`"),
    (r"unarchive\('folder'\)", "`eidet load FOLDER`"),
    (r" eidet\.connect\(.*\) opens a server, too", ""),
    (r", or a Recipe of your own|, or give a function", ""),
    (r"a Where\(…\) or ", ""),
    (r"index_unsealed=True", "the setting index_unsealed"),
    (r"\b([a-z_]+)=(?:True|…)", r"--\1"),
    (r"\bdict\b", "JSON object"),
    (r"\bTrue\b", "true"),
    (r"\bFalse\b", "false"),
    (r"\bNone\b", "null"),
)  # fmt: skip
_TABLE: Final = tuple((re.compile(pattern), words) for pattern, words in _WORDS)


def say_plainly(message: str) -> str:
    """A message of the library as somebody at a command line can act on it."""
    for pattern, words in _TABLE:
        message = pattern.sub(words, message)
    return message
