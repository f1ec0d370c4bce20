"""Facts in texts: who is said to live where, work for whom, like what, and since when. Pure, no I/O.

fact_reader.py       `read_facts`: from a text to its statements; begin here
relations.json       the table of relations: how English says each, how many values it holds at a time
statement.py         what a text states, as a value, and its bytes
vocabulary.py        the relations and words as values
"""
