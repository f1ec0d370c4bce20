"""The verbs of any store, written once over `Store` and `Transaction`.

writing.py    put, rewrite_form, delete_unchanged, delete_where
changing.py   replaces and deletes stored records; heeds legal holds; histories from elsewhere
erasing.py    erase, tombstones, what a plan reads
values.py     settings, leases, counts, uses, staged vectors
reading.py    scan, counts, quality_counts, fingerprint, what depends on a store's abilities
"""

from __future__ import annotations

from .erasing import (
    count_ends,
    ended_since,
    erase,
    find_derived,
    lift_tombstones,
    list_revised,
    reader_of,
    tombstones_in,
)
from .reading import (
    changes_telling,
    compact,
    count,
    count_kinds,
    count_scopes,
    find_same_ids,
    fingerprint,
    get_setting,
    get_settings,
    list_paths,
    measure_size,
    prune_history,
    quality_counts,
    scan,
    scrub_files,
)
from .values import (
    add_counts,
    add_uses,
    clear_leases,
    drop_marks,
    read_counts,
    read_lease,
    read_staged,
    replace_derived,
    rewrite_history,
    set_settings,
    stage_vectors,
    switch_vectors,
    take_lease,
)
from .writing import delete_unchanged, delete_where, put, rewrite_form

__all__ = [
    "add_counts",
    "add_uses",
    "changes_telling",
    "clear_leases",
    "compact",
    "count",
    "count_ends",
    "count_kinds",
    "count_scopes",
    "delete_unchanged",
    "delete_where",
    "drop_marks",
    "ended_since",
    "erase",
    "find_derived",
    "find_same_ids",
    "fingerprint",
    "get_setting",
    "get_settings",
    "lift_tombstones",
    "list_paths",
    "list_revised",
    "measure_size",
    "prune_history",
    "put",
    "quality_counts",
    "read_counts",
    "read_lease",
    "read_staged",
    "reader_of",
    "replace_derived",
    "rewrite_form",
    "rewrite_history",
    "scan",
    "scrub_files",
    "set_settings",
    "stage_vectors",
    "switch_vectors",
    "take_lease",
    "tombstones_in",
]
