"""Doors: existing APIs of agent memories, each over one `Memory`.

A door module keeps the names, signatures and texts of the API it stands for and translates them into
the native verbs. What is written through one door is found through the others, given the same memory
and scope. This package imports no door: import the one you want, such as `eidet.compat.enhanced`.
"""
