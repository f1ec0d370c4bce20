"""Parses facts in texts: who lives where, works for whom, likes what, and since when. Pure, no I/O.

fact_reader.py       `read_facts`: from a text to its statements; begin here
relations.json       the table of relations: how English says each, how many values it holds at a time
statement.py         a statement of a text as a value, and its bytes
vocabulary.py        the relations and words as values
"""
