"""The headings of `eidet --help`, in the order in which somebody new needs them."""

from __future__ import annotations

from typing import Final

START: Final = "Start here"
USE: Final = "Remember and recall"
FORGET: Final = "Forget, and prove it"
LIFE: Final = "The life of memories"
TRUST: Final = "Trust, privacy and keys"
CARE: Final = "Look after"
ACCOUNT: Final = "Account for"
MEASURE: Final = "Measure"
INSIDE: Final = "Commands"  # of a group
PANELS: Final = (START, USE, FORGET, LIFE, TRUST, CARE, ACCOUNT, MEASURE)


def place_of(panel: object) -> int:
    """Where a heading stands; an unknown one comes last."""
    if panel in PANELS:
        return PANELS.index(panel)
    return len(PANELS)
