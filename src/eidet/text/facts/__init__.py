"""Facts in texts: who is said to live where, work for whom, like what, and since when. Pure, no I/O.

statement.py   what a text states, as a value, and its bytes
relations.py   the catalogue of relations: how many values each holds at a time, inverses, wording
"""

from __future__ import annotations

from .relations import RELATIONS, Relation, relation_of
from .statement import Mention, Statement, pack_statements, read_statements

__all__ = [
    "RELATIONS",
    "Mention",
    "Relation",
    "Statement",
    "pack_statements",
    "read_statements",
    "relation_of",
]
