"""The Agent Memory API on Eidet: states and actions by step, hooks, and a fluent query."""

from eidet.compat.api import AgentMemoryAPI, BaseAgent, install_memory_hooks


@install_memory_hooks
class Trader(BaseAgent):
    """Trades away its wood while its memory records every step."""

    def __init__(self, config=None, agent_id=None):
        super().__init__(config, agent_id)
        self.wood, self.health = 3, 0.9

    def act(self, observation):
        self.wood -= 1
        self.health -= 0.2
        return {"action_type": "trade", "with": observation["from"], "reward": 0.5}

    def get_state(self):
        state = super().get_state()
        state.health = round(self.health, 1)
        state.extra_data["inventory"] = {"wood": self.wood}
        return state


with AgentMemoryAPI() as memory_api:
    trader = Trader({"memory": memory_api}, agent_id="trader")
    for who in ("ann", "bob", "ann"):
        trader.act({"from": who})

    space = trader.memory_space
    print("trades with ann:", len(space.retrieve_by_attributes({"action_params.observation.from": "ann"})))
    for change in memory_api.get_attribute_change_history("trader", "inventory.wood"):
        print(f"step {change['step_number']}: wood {change['previous_value']} -> {change['new_value']}")

    weak = space.query().of_type("state").path("health", "less", 0.6).important(0.5).run()
    print("weak at steps", sorted(entry["step_number"] for entry in weak))

    like = memory_api.retrieve_similar_states("trader", {"health": 0.5, "inventory": {"wood": 1}}, 1, "state")
    print("most like that:", like[0]["contents"]["inventory"])
