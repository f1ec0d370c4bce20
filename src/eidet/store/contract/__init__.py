"""The contract of `Store` as tests. A backend's test file subclasses it and makes a store:

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
    """The tests that every store must pass. `make` returns an empty store; `folder` is for its files.

    A store whose records outlive its object also implements `reopen`, which opens it a second time. One that
    cannot prune its history or measure its size declares that: `lacks = (MaintainsStorage,)`.
    """
