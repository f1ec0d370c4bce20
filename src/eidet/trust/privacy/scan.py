"""Everything a text holds that may be personal or secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .birth_dates import births
from .findings import Detector, Found, resolve_overlaps
from .network import emails, hosts
from .numbers import numbers
from .patterns import Pattern
from .postal_addresses import addresses
from .secrets import secrets

LEAST = 0.5  # findings that are less certain are left out unless asked for

_DIGIT = re.compile("[0-9]")
_WITH_DIGITS: tuple[Detector, ...] = (numbers, hosts, births, addresses)
_ALWAYS: tuple[Detector, ...] = (emails, secrets)


def find(text: str, patterns: Iterable[Pattern] = (), *, least: float = LEAST) -> list[Found]:
    """What was found, in text order and without overlaps. No text makes it raise; time is linear in it."""
    return resolve_overlaps(one for one in _candidates(text, patterns) if one.confidence >= least)


def _candidates(text: str, patterns: Iterable[Pattern]) -> Iterator[Found]:
    detectors = _ALWAYS
    if _DIGIT.search(text):
        detectors = (*_ALWAYS, *_WITH_DIGITS)
    for detect in detectors:
        yield from detect(text)
    for pattern in patterns:
        yield from pattern.findings(text)
