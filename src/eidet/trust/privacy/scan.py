"""Everything a text holds that may be personal or secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .birth_dates import births
from .findings import Detector, Found, finding_at, resolve_overlaps
from .fold import fold
from .network import emails, hosts
from .numbers import numbers
from .patterns import Pattern
from .postal_addresses import addresses
from .secrets import secrets

LEAST = 0.5  # findings that are less certain are left out unless asked for
CERTAIN = 0.8  # findings over a line break need as much

_DIGIT = re.compile("[0-9]")
_WITH_DIGITS: tuple[Detector, ...] = (numbers, hosts, births, addresses)
_ALWAYS: tuple[Detector, ...] = (emails, secrets)


def find(text: str, patterns: Iterable[Pattern] = (), *, least: float = LEAST) -> list[Found]:
    """What was found, in text order and without overlaps. No text makes it raise; time is linear in it."""
    found = [*_candidates(text, patterns), *_find_hidden(text, patterns)]
    return resolve_overlaps(one for one in found if one.confidence >= least)


def _find_hidden(text: str, patterns: Iterable[Pattern]) -> Iterator[Found]:
    """What only shows in the text as it reads; over a line break, only what is certain."""
    folded = fold(text)
    if folded is None:
        return
    for one in _candidates(folded.text, patterns):
        span = folded.span(one.start, one.end)
        found = finding_at(text, one.kind, span, one.confidence)
        over_lines = "\n" in found.text and one.confidence < CERTAIN
        if found.text != one.text and not over_lines:
            yield found


def _candidates(text: str, patterns: Iterable[Pattern]) -> Iterator[Found]:
    detectors = _ALWAYS
    if _DIGIT.search(text):
        detectors = (*_ALWAYS, *_WITH_DIGITS)
    for detect in detectors:
        yield from detect(text)
    for pattern in patterns:
        yield from pattern.findings(text)
