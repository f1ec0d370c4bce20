"""Sealing records anew that a store around several writes from one of them to another by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ...store import Transaction
from ...store.lives import Carry, Life, list_versions
from ...store.verbs.writing import Put
from .opener import Opener
from .small_values import Forms
from .transaction import SealedTransaction


@runtime_checkable
class CarriesOver(Protocol):
    """A store that writes records from one place to another, as next versions of what is there."""

    def carry_by(self, carry: Carry) -> None:
        """From now on such records are written so."""


def carry_sealed(
    opener: Opener, forms: Forms, transaction: Transaction, lives: Sequence[Life], now: float
) -> None:
    """Writes records with their histories; each version is sealed for what it becomes there."""
    plain = [(opener.open(form), opener.open_history(story)) for form, story in lives]
    job = Put(records=list_versions(plain), now=now, unique=False, follows=True)
    job(SealedTransaction(transaction, opener, forms, fixed=True))
