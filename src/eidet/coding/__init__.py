"""A memory for coding agents: what they do is remembered, and what matters is put before them.

tools.py         the table of agents: their files, their events, how an answer is written
install.py       `eidet integrate`: what changes in which file, its diff, writing it, undoing it
config_text.py   our entries in files of JSON and TOML that others write
hook.py          the program that an agent starts at each event; imports nothing else of Eidet
resident.py      the process that keeps a memory open between events, and ends by itself
recalling.py     what an agent is told at an event; what a session was told already
transcripts.py   what was said and done, from the files and events of each agent
capturing.py     what of that is kept, and how far it is trusted
"""
