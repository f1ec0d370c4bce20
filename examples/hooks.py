"""Records what an agent does without changing the agent."""

from eidet import Memory
from eidet.hooks import install_hooks, with_hooks

memory = Memory()


class Explorer:
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.step_number = 0
        self.health = 1.0
        self.place = "camp"

    def act(self, observation: str) -> dict[str, object]:
        self.step_number += 1
        self.place = observation
        self.health = 0.4 if observation == "swamp" else 0.9
        return {"action": f"walk to the {observation}", "reward": -2.0 if observation == "swamp" else 0.2}


agent = with_hooks(Explorer("ann"), memory=memory)
for place in ("forest", "swamp", "hill"):
    agent.act(place)

for record in memory.find(kinds="action", order="step"):
    data = record.data
    health = data["changes"].get("health", "as it was")
    print(f"step {record.step}: {data['action']}, reward {data['reward']}, health {health}")

worst = memory.find(kinds="state", order="-importance", limit=1)[0]
print("the state to remember:", worst.data["place"], f"at importance {worst.importance:.1f}")


@install_hooks(memory=memory, methods=("act", "rest"))
class Careful(Explorer):
    def rest(self) -> str:
        self.health = 1.0
        return "rested"


careful = Careful("bob")
careful.act("swamp")
careful.rest()
print([record.data["method"] for record in memory.find(kinds="action", agent="bob", order="step")])
