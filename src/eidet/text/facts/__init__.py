"""Facts in texts: who is said to live where, work for whom, like what, and since when. Pure, no I/O.

fact_reader.py       `read_facts`: from a text to its statements; begin here
statement.py         what a text states, as a value, and its bytes
relations.py         the catalogue of relations: how many values each holds at a time, inverses, wording
sentence_words.py    a text as sentences of words
sentence_reading.py  one sentence while it is read
mentions.py          who and what is spoken of
moods.py             tense, negation, plans and doubt
valid_times.py       since when and until when
*_rules.py           the rules: verbs, "is", attributes, kin, events, instructions
word_tables.py       what a language's tables hold; tables/ has the words of each language
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.lazy_names import lazy_names

if TYPE_CHECKING:
    from .fact_reader import read_facts
    from .relations import RELATIONS, Relation, phrase_relation, relation_of
    from .statement import Mention, Nature, Reference, Statement, pack_statements, read_statements
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "fact_reader": ("read_facts",),
            "relations": (
                "RELATIONS",
                "Relation",
                "phrase_relation",
                "relation_of",
            ),
            "statement": (
                "Mention",
                "Nature",
                "Reference",
                "Statement",
                "pack_statements",
                "read_statements",
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
    "phrase_relation",
    "read_facts",
    "read_statements",
    "relation_of",
]
