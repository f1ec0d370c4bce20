"""Doors: the vocabularies that agents already speak, each over one `Memory`.

A door module keeps the names, signatures and texts of the API it stands for and translates them into
the native verbs. What is written through one door is found through the others, given the same memory
and scope. Nothing is imported here: name the door you want, as in `eidet.compat.enhanced`.
"""
