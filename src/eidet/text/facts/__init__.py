"""Facts in texts: who is said to live where, work for whom, like what, and since when. Pure, no I/O.

fact_reader.py       `read_facts`: from a text to its statements; begin here
relations.json       the table of relations: how English says each, how many values it holds at a time
statement.py         what a text states, as a value, and its bytes
vocabulary.py        the relations and words as values
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.lazy_names import lazy_names

if TYPE_CHECKING:
    from .fact_reader import read_facts
    from .statement import Mention, Nature, Reference, Statement, pack_statements, parse_statements
    from .vocabulary import RELATIONS, Relation, phrase_relation, relation_of
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "fact_reader": ("read_facts",),
            "vocabulary": ("RELATIONS", "Relation", "phrase_relation", "relation_of"),
            "statement": (
                "Mention",
                "Nature",
                "Reference",
                "Statement",
                "pack_statements",
                "parse_statements",
            ),
        },
    )

__all__ = [
    "RELATIONS",
    "Mention",
    "Nature",
    "Reference",
    "Relation",
    "Statement",
    "pack_statements",
    "parse_statements",
    "phrase_relation",
    "read_facts",
    "relation_of",
]
