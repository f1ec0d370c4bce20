"""The statements that the write path read out of a record's text."""

from __future__ import annotations

from ..text.analysis import read_analysis
from ..text.facts.statement import Statement

NONE: tuple[Statement, ...] = ()


def statements_of(terms: bytes) -> tuple[Statement, ...]:
    """Those in a record's analysis."""
    read_analysis(terms)
    return NONE
