"""Remember, recall with reasons, and pack a prompt: the first ten minutes."""

from eidet import Memory

with Memory() as memory:  # in RAM; Memory("agent.db") keeps it in a file
    memory.remember("Ann lives in Lisbon and works as a carpenter.")
    memory.remember("Ann's workshop opens at nine, except on Mondays.")
    memory.remember("The oak table for Mr. Silva is due on 12 June.", importance=0.9)

    for hit in memory.recall("When does the workshop open?", limit=2):
        print(f"{hit.score:.2f}  {hit.text}   because: {hit.why()}")

    print(memory.context("What is due in June?", budget=60))
