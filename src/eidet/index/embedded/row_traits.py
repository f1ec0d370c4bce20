"""What columns and words of a scope tell of its candidates beside their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.record import Place
from .. import Floats, Hints, Rows, Traits
from .columns import ColumnTable
from .filters import Mask
from .postings import Postings


def describe_rows(
    columns: ColumnTable,
    postings: Postings,
    rows: Rows,
    hints: Hints,
    *,
    turn: NDArray[np.int32],
    voices: tuple[str, ...],
    aligned: Floats | None,
) -> Traits:
    """Traits of the records that begin at the rows, which rise. `turn` and `aligned` have a row each."""
    return Traits(
        importance=columns.importance[rows],
        occurred=columns.occurred[rows],
        session=columns.session[rows],
        turn=turn,
        who=columns.who[rows],
        kind=columns.kind[rows],
        flags=columns.flags[rows],
        length=_measure_lengths(columns, postings, rows),
        days=_read_days(columns, rows),
        voices=voices,
        mentions=tuple(_find_mentions(columns, postings, rows, name) for name in hints.names),
        inside=None if hints.session is None else _match_session(columns, rows, hints.session),
        away=None if hints.place is None else _measure_distance(columns, rows, hints.place),
        aligned=aligned,
    )


def _measure_lengths(columns: ColumnTable, postings: Postings, rows: Rows) -> Floats:
    """Terms of the records that begin at the rows; infinite for a record in several units."""
    lengths = postings.lengths[rows]
    further = np.minimum(rows + 1, max(columns.count - 1, 0))
    lengths[columns.unit[further] > 0] = np.inf
    return lengths


def _read_days(columns: ColumnTable, rows: Rows) -> NDArray[np.int32]:
    """Days of the rows, which rise, by their position among them."""
    days = columns.days
    if not len(days) or not len(rows):
        return np.empty((0, 3), np.int32)
    at = np.minimum(np.searchsorted(rows, days[:, 0]), len(rows) - 1)
    here = rows[at] == days[:, 0]
    found: NDArray[np.int32] = days[here]
    found[:, 0] = at[here]
    return found


def _find_mentions(columns: ColumnTable, postings: Postings, rows: Rows, name: tuple[int, ...]) -> Mask:
    """Whether the records that begin at the rows have every term of a name (in one unit)."""
    if not name:
        return np.zeros(len(rows), np.bool_)
    terms = tuple(set(name))
    _, docs, _ = postings.lookup(terms)
    held = np.bincount(docs, minlength=columns.count) >= len(terms)
    if columns.records < columns.live:
        held[docs - columns.unit[docs]] |= held[docs]
    return held[rows]


def _match_session(columns: ColumnTable, rows: Rows, name: str) -> Mask:
    """Whether the rows are of a session by that name: "7" is also "session-7"."""
    low, codes = name.casefold(), columns.codes["session"]
    named = [code for label, code in codes.items() if _ends_with(label.casefold(), low)]
    return np.isin(columns.session[rows], named)


def _ends_with(label: str, name: str) -> bool:
    return label.endswith(name) and not label[: len(label) - len(name)][-1:].isalnum()


def _measure_distance(columns: ColumnTable, rows: Rows, place: Place) -> NDArray[np.float64]:
    """How far the rows are from a place; without a height they are at 0, as in filters."""
    height = columns.z[rows]
    axes = (columns.x[rows], columns.y[rows], np.where(np.isnan(height), 0.0, height))
    total = np.zeros(len(rows))
    for values, middle in zip(axes, (*place, 0.0)[:3], strict=True):
        total += (values - middle) ** 2
    return np.sqrt(total)
