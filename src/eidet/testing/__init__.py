"""Tests that anybody can run on a memory of theirs, whatever it is kept in.

`leaks` plays several tenants at once and looks for anything of one that reaches another:

    from eidet.testing import leaks

    print(leaks(lambda: Memory("postgresql://…"), tenants=8, operations=2000, seed=0))

    tenants.py   who plays, under which odd scopes        moves.py, checks.py   what they do
    seen.py      all that an answer tells                 fuzz.py               the game, and its report

The contracts of stores, indexes, embedders and rerankers are beside their protocols (`….contract`).
"""

from __future__ import annotations

from .fuzz import FuzzReport, Leak, assert_no_leaks, leaks

__all__ = ["FuzzReport", "Leak", "assert_no_leaks", "leaks"]
