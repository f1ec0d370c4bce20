"""Filters an agent's structured memories by place, step, importance and content."""

from eidet import Memory, Near, Where

with Memory() as memory:
    for step, (x, health, found) in enumerate([(0, 1.0, "wood"), (3, 0.7, "stone"), (9, 0.4, "wood")]):
        memory.remember(
            {"health": health, "found": found},
            agent="scout",
            step=step,
            place=(x, 0),
            importance=1 - health,
        )

    near = memory.recall(where=Where(near=Near(place=(1, 0), radius=2.5)), order="step")
    print("near (1, 0):", [hit.record.step for hit in near])

    weak_or_stone = Where(conditions=[("data.health", "<", 0.5)]) | Where(
        conditions=[("data.found", "=", "stone")]
    )
    print("weak or stone:", [record.step for record in memory.find(weak_or_stone, order="step")])

    late_wood = Where(step_from=1, conditions=[("data.found", "=", "wood")])
    print("late wood:", [hit.text for hit in memory.recall("wood", where=late_wood)])
