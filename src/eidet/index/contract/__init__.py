"""The laws of `Index` as tests. Subclass it in a test file and make yours in `make`:

class TestMine(IndexContract):
    def make(self, store: Store, width: int) -> Index:
        return Mine(store, width)
"""

from __future__ import annotations

from .describing import DescribingLaws, KeepingUpLaws
from .finding import FindingLaws, ScoringLaws
from .index_laws import NOW, WIDTH, bm25, long, make_record, unit

__all__ = ["NOW", "WIDTH", "IndexContract", "bm25", "long", "make_record", "unit"]


class IndexContract(FindingLaws, ScoringLaws, DescribingLaws, KeepingUpLaws):
    """The laws of every index. `make` builds one over a store; `folder` is for its files.

    For an index that needs a store of its own kind, override `make_store`, and `reopen`, which returns a
    second object on the same records.
    """
