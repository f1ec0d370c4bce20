"""The statements that the write path read out of a record's text."""

from __future__ import annotations

from ..core.errors import Corrupt
from ..text.analysis import read_analysis
from ..text.facts.statement import Statement


def statements_of(terms: bytes) -> tuple[Statement, ...]:
    """Those in a record's analysis; none if that is damaged, which whoever reads the record is told."""
    try:
        return read_analysis(terms).statements
    except Corrupt:
        return ()
