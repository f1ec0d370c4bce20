"""Four kinds of memory in one file: the current task, the conversation, facts, experiences."""

import tempfile
from pathlib import Path

from eidet import Memory
from eidet.views import Conversation, Episodic, Semantic, Working

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "agent.db"
    with Memory(file) as memory:
        working = Working(memory, agent="planner", persist=True)
        working.set_task("Book a train to Graz")
        working.push_goal("find a connection")
        working.add_result("connections", ["RJ 63", "RJ 65"])

        talk = Conversation(memory, "monday", agent="planner")
        talk.add("I need to be in Graz before noon.")
        talk.add("There is a train at 8:02.", role="assistant")

        facts = Semantic(memory, agent="planner")
        facts.add("Ann gets travel sick in the rear carriages", importance=0.9)

        lived = Episodic(memory, agent="planner")
        lived.record(
            "The booking site was down",
            action="waited and tried again",
            outcome="booked after ten minutes",
            success=True,
            lessons=["Try again before calling the hotline"],
        )

    with Memory(file) as memory:  # later, another agent on the same memory
        print(Working(memory, agent="planner", persist=True).prompt())
        helper = Conversation(memory, "monday", agent="helper")
        helper.add("Shall I reserve a seat in front?", role="assistant")
        for record in helper.records():
            print(f"{record.agent}: {record.text}")
        print("fact:", Semantic(memory).search("where should Ann sit?", 1)[0].text)
        print("lesson:", *Episodic(memory).lessons("the site does not answer"))
