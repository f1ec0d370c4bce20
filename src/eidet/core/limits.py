"""How much a caller may hand in at once. What is larger is refused before any work is done.

`docs/operate/security.md` lists these limits; the length of a text is the setting `text_chars`.
"""

from __future__ import annotations

from typing import Final

from .errors import BadInput

QUERY_CHARS: Final = 100_000  # of a query
DOCUMENT_CHARS: Final = 10_000_000  # of `data` or `meta`, written as JSON
DOCUMENT_DEPTH: Final = 200  # lists and dicts inside of each other
NUMBER_BITS: Final = 4096  # of a whole number in `data` or `meta`
DERIVED_FROM: Final = 10_000  # ids of the records that one record was made from
CONDITIONS: Final = 2000  # in one filter, with all that is nested in it
FILTER_DEPTH: Final = 30  # filters inside of each other
FILTER_VALUES: Final = 1_000_000  # ids, and values of `in`
REGEX_CHARS: Final = 1_000  # of a regular expression; `regex` prepares a long one in cubic time


def check_length(text: str, most: int, what: str) -> str:
    if len(text) > most:
        raise BadInput(f"{what} has at most {most:,} characters; this one has {len(text):,}")
    return text


def check_count(count: int, most: int, what: str) -> None:
    if count > most:
        raise BadInput(f"{what}: at most {most:,} are allowed, and there are {count:,}")
