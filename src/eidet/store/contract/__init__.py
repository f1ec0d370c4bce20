"""The laws of `Store` as tests. Subclass it in a test file and say how yours is made:

class TestMine(StoreContract):
    def make(self) -> Store:
        return Mine(self.folder / "mine.db")
"""

from __future__ import annotations

from .following import FollowingLaws
from .forgetting_laws import ForgettingLaws, HoldLaws
from .forms import FormLaws
from .lasting import LastingLaws
from .laws import ALL, FULL, LATER, NOW, catch, fact, ids, within
from .reading_laws import ReadingLaws
from .transactions import TransactionLaws
from .value_laws import ValueLaws
from .writing_laws import WritingLaws

__all__ = ["ALL", "FULL", "LATER", "NOW", "StoreContract", "catch", "fact", "ids", "within"]


class StoreContract(
    TransactionLaws,
    WritingLaws,
    ReadingLaws,
    FormLaws,
    FollowingLaws,
    ValueLaws,
    ForgettingLaws,
    HoldLaws,
    LastingLaws,
):
    """The laws that every store passes. `make` returns an empty store; `folder` is for its files.

    A store that outlives its object also has `reopen`, which opens the same one a second time. One that
    cannot prune its history or measure its size says so: `lacks = (MaintainsStorage,)`.
    """
