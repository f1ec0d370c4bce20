"""A transaction that does one thing otherwise: for stores that fail or leak on purpose."""

from __future__ import annotations

from typing import Any

from eidet.store import Transaction


class Altered:
    """Passes everything on; what a subclass defines is done instead."""

    def __init__(self, transaction: Transaction) -> None:
        self.inner = transaction

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
