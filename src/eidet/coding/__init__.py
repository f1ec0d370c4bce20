"""A memory for coding agents: captures what they do, and recalls what matters for their prompts.

tools.py         the table of agents: their files, their events, and our entries there
install.py       `eidet integrate`: plans changes of files, shows a diff, writes and undoes them
config_text.py   adds and removes our entries in JSON and TOML files of others
hook.py          the program that an agent starts at each event; imports nothing else of Eidet
resident.py      the process that keeps a memory open between events, and ends by itself
recalling.py     the context for an event, and the records that a session was shown
transcripts.py   parses messages and tool calls from the files and events of each agent
capturing.py     makes drafts of those, with their trust
"""
