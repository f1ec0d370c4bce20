"""The statements that the write path read out of a record's text."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import Corrupt
from ..store import Entry
from ..text.analysis import facts_in, has_statements, read_analysis
from ..text.facts.statement import KnownMentions, Statement, read_all_statements
from .assertion import Stated


def statements_of(terms: bytes) -> tuple[Statement, ...]:
    """Those in a record's analysis; none if that is damaged, which whoever reads the record is told."""
    try:
        return read_analysis(terms).statements
    except Corrupt:
        return ()


def list_stated(entries: Sequence[Entry], known: KnownMentions) -> list[Stated]:
    """The entries whose texts state something, each with what it states. Their bytes are read in one pass."""
    stating: list[Entry] = []
    blobs: list[bytes] = []
    for entry in entries:
        if has_statements(entry.terms):
            blob = facts_in(entry.terms)
            if blob:
                stating.append(entry)
                blobs.append(blob)
    return list(map(Stated, stating, read_all_statements(blobs, known)))
