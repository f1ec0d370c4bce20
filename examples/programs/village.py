"""A simulation: agents on a grid remember every state and every sight, and decide by what they remember.

    python examples/programs/village.py

Three gatherers carry berries home, one at a time. Each state is stored with its step, its place and an
importance; each bush that somebody saw is one record, whose versions tell how it changed. The same day is
lived three times: by agents that forget at once, by agents that remember what they saw themselves, and by
agents that share a memory.

For your own use: replace `World` by your environment; keep `Gatherer.note_sights` and `Gatherer.find_bush`.
`with_hooks(agent, memory=memory)` records the states of agents whose code you do not want to touch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eidet import Memory, Near, Where

STEPS, SIGHT, HOME = 90, 1, (8, 8)
CORNERS = ((2, 2), (14, 2), (14, 14), (2, 14))
BUSHES = {(13, 5): 5, (3, 11): 25}

Place = tuple[int, int]


@dataclass
class World:
    """Where the bushes are, and how many berries each has."""

    berries: dict[Place, int] = field(default_factory=lambda: dict(BUSHES))

    def list_bushes(self, place: Place) -> list[tuple[Place, int]]:
        """What is in sight of a place."""
        seen: list[tuple[Place, int]] = []
        for bush, count in self.berries.items():
            if max(abs(bush[0] - place[0]), abs(bush[1] - place[1])) <= SIGHT:
                seen.append((bush, count))
        return seen

    def pick(self, place: Place) -> bool:
        if self.berries.get(place, 0) == 0:
            return False
        self.berries[place] -= 1
        return True


@dataclass
class Gatherer:
    name: str
    memory: Memory
    sights: str  # the scope of what was seen: one's own, or that of all
    recollection: int  # how many steps back it can remember
    corner: int  # where it looks first
    place: Place = HOME
    carries: bool = False
    brought: int = 0

    def live(self, step: int, world: World) -> None:
        self.note_sights(step, world)
        if self.carries and self.place == HOME:
            self.carries, self.brought = False, self.brought + 1
        if not self.carries and world.pick(self.place):
            self.carries = True
            self.note_sights(step, world)
        doing, target = self._decide(step)
        self.place = _walk(self.place, target)
        state = {"doing": doing, "brought": self.brought, "to": list(target)}
        importance = 0.9 if doing == "carry" else 0.3
        scope = f"life/{self.name}"
        self.memory.remember(state, scope=scope, step=step, place=self.place, importance=importance)

    def note_sights(self, step: int, world: World) -> None:
        """The key makes each bush one record; a change makes its next version."""
        for bush, count in world.list_bushes(self.place):
            data = {"berries": count, "seen_by": self.name}
            self.memory.remember(data, key=f"bush {bush}", scope=self.sights, step=step, place=bush)

    def find_bush(self, step: int) -> Place | None:
        """The nearest bush that had berries when it was last seen."""
        full = Where(conditions=[("data.berries", ">", 0)], step_from=max(0, step - self.recollection))
        for radius in (3, 6, 9, 30):
            near = Where(near=Near(place=self.place, radius=radius))
            for record in self.memory.find(full & near, scope=self.sights, order="-step", limit=1):
                assert record.place is not None
                return (int(record.place[0]), int(record.place[1]))
        return None

    def _decide(self, step: int) -> tuple[str, Place]:
        if self.carries:
            return "carry", HOME
        if bush := self.find_bush(step):
            return "fetch", bush
        return "search", CORNERS[(self.corner + step // 12) % len(CORNERS)]


def _walk(place: Place, target: Place) -> Place:
    """One step, first along x."""
    if place[0] != target[0]:
        return (place[0] + (1 if target[0] > place[0] else -1), place[1])
    if place[1] != target[1]:
        return (place[0], place[1] + (1 if target[1] > place[1] else -1))
    return place


def live_through(memory: Memory, *, recollection: int, shared: bool) -> int:
    """All steps of all gatherers; how many berries they brought home."""
    world, gatherers = World(), []
    for corner, name in enumerate(("ada", "ben", "cleo")):
        sights = "sights" if shared else f"sights/{name}"
        gatherers.append(Gatherer(name, memory, sights, recollection, corner))
    for step in range(STEPS):
        for gatherer in gatherers:
            gatherer.live(step, world)
    return sum(gatherer.brought for gatherer in gatherers)


def ask_observer(memory: Memory) -> None:
    """What somebody would ask who studies the village."""
    print(f"{memory.count(scope='life/**')} states and {memory.count(scope='sights')} bushes remembered")
    for doing in ("search", "fetch", "carry"):
        print(f"  steps spent to {doing}: {memory.count({'data.doing': doing}, scope='life/**')}")
    for bush in memory.find(scope="sights", order="step"):
        assert bush.place is not None
        place = f"({bush.place[0]:.0f}, {bush.place[1]:.0f})"
        left = f"{bush.data['berries']} berries left at step {bush.step}"
        print(f"  bush {place}: {left}, {bush.version} versions")
    late = Where(near=Near(place=(3, 11), radius=3), step_from=STEPS // 2)
    print(f"  states near (3, 11) in the second half: {memory.count(late, scope='life/**')}")
    (hit,) = memory.recall({"doing": "carry", "brought": 3, "to": [8, 8]}, scope="life/ben", limit=1)
    print(
        f"  most like carrying a fourth berry: {hit.record.scope}, step {hit.record.step}, {hit.record.data}"
    )


def main() -> None:
    for title, recollection, shared in (
        ("forget at once", 0, False),
        ("remember what they saw", STEPS, False),
        ("share one memory", STEPS, True),
    ):
        with Memory() as memory:  # Memory("village.db") keeps it for the next run
            brought = live_through(memory, recollection=recollection, shared=shared)
            print(f"gatherers who {title} bring home {brought} berries")
            if shared:
                ask_observer(memory)


if __name__ == "__main__":
    main()
