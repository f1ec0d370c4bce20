"""Updates a memory safely, reads its history, and forgets it for good."""

from eidet import Conflict, Memory, Where

with Memory() as memory:
    home = memory.remember("Ann lives in Porto.", agent="assistant")
    moved = memory.revise(home.id, text="Ann lives in Lisbon.", version=home.version, by="assistant")

    try:  # a writer with a stale version cannot overwrite the new one
        memory.revise(home.id, text="Ann lives in Faro.", version=home.version)
    except Conflict as conflict:
        print("conflict:", conflict)

    print([(event.what, event.by, event.before) for event in memory.history(home.id)])

    memory.remember("a note", session="draft")
    print("forgotten:", memory.forget(where=Where(session="draft")), memory.forget(moved.id))
    print("left:", memory.admin.stats()["records"])
