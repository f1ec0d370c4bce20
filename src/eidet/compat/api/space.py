"""The memory of one agent: storing, tiers, and hooks on its events."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...core.draft import Draft
from ...core.errors import EidetError
from ...core.record import Kind, Record, Tier, Trust
from ...core.settings import Upkeep
from ...core.where import Where
from ...memory import Memory
from ...upkeep import Maintained
from ...upkeep.candidates import resting
from ..opening import check_number, check_whole
from .config import MOVES, MemoryConfig, RedisIMConfig, RedisSTMConfig
from .entries import TIERS, Entry, place_of, tiers_of
from .errors import MemoryConfigException, MemoryMaintenanceException, MemoryStoreException, Severity, log
from .models import contents_of
from .retrieval import Retrieval, Tiers

_UNLIMITED = Upkeep(
    short_entries=None, short_age_days=None, middle_entries=None, middle_age_days=None, promote_uses=None
)


@dataclass(frozen=True, slots=True)
class _AgentTiers:
    """The tiers of one agent as of a moment."""

    memory: Memory
    scope: str
    config: MemoryConfig
    now: float

    def maintain(self) -> Maintained:
        """Deletes expired memories, promotes those used often, and moves those over a limit down."""
        self.memory.admin.flush()
        done = self._maintain_once(MOVES)
        if done.counts.get("move") and self._is_over(Tier.MIDDLE, self.config.im):
            done = _add_up(done, self._maintain_once(("move",)))  # these moves may overfill the middle tier
        return done

    def _maintain_once(self, works: tuple[str, ...]) -> Maintained:
        settings = self.config.upkeep(
            short=self._count_staying(Tier.SHORT, self.config.stm),
            middle=self._count_staying(Tier.MIDDLE, self.config.im),
        )
        return self.memory.upkeep.maintain(self.scope, only=works, settings=settings)

    def move_to_long(self, *, short: bool) -> dict[str, int]:
        """Moves the middle tier, and with `short` the short one, to the long tier. Returns both counts."""
        self.memory.admin.flush()
        to_middle = self._move(replace(_UNLIMITED, short_entries=0)) if short else 0
        all_of_it = self._move(replace(_UNLIMITED, middle_entries=0))
        return {"stm": to_middle, "im": all_of_it - to_middle}

    def _move(self, settings: Upkeep) -> int:
        return self.memory.upkeep.maintain(self.scope, only="move", settings=settings).counts.get("move", 0)

    def _count_staying(self, tier: Tier, limits: RedisSTMConfig | RedisIMConfig) -> int | None:
        """Returns how many entries may stay: at most the limit, and none unused for longer than the TTL."""
        if limits.ttl is None or not self._is_any_old(tier, limits.ttl):
            return limits.memory_limit
        fresh = self.memory.count(_all_of(tier) & ~resting(self.now - limits.ttl), scope=self.scope)
        return fresh if limits.memory_limit is None else min(limits.memory_limit, fresh)

    def is_due(self) -> bool:
        """Returns whether any tier is over a limit. Cheap: mostly answered from the index."""
        return self._is_over(Tier.SHORT, self.config.stm) or self._is_over(Tier.MIDDLE, self.config.im)

    def _is_over(self, tier: Tier, limits: RedisSTMConfig | RedisIMConfig) -> bool:
        most, steps, here = self._count_staying(tier, limits), limits.retention_steps, _all_of(tier)
        # a search for one more record, because a store in RAM counts slowly
        if most is not None and self.memory.find(
            here, scope=self.scope, order="-created", limit=1, offset=most
        ):
            return True
        return steps is not None and self._count_steps_behind(tier) > steps

    def _is_any_old(self, tier: Tier, ttl: float) -> bool:
        """Returns whether a record was unused for `ttl`. If all are younger, uses are not read."""
        here = _all_of(tier)
        oldest = self.memory.find(here, scope=self.scope, order="created", limit=1)
        if not oldest or self.now - oldest[0].created < ttl:
            return False
        return self.memory.count(here & resting(self.now - ttl), scope=self.scope) > 0

    def _count_steps_behind(self, tier: Tier) -> int:
        """Returns the steps between the oldest memory of a tier and the newest of all."""
        newest = self.memory.find(scope=self.scope, order="-step", limit=1)
        oldest = self.memory.find(_all_of(tier), scope=self.scope, order="step", limit=1)
        if not newest or not oldest or newest[0].step is None or oldest[0].step is None:
            return 0
        return newest[0].step - oldest[0].step


def _all_of(tier: Tier) -> Where:
    """Selects all records of a tier, quarantined ones included."""
    return Where(tiers=(tier,), trust=tuple(Trust))


def _add_up(one: Maintained, other: Maintained) -> Maintained:
    return replace(
        one,
        counts=dict(Counter(one.counts) + Counter(other.counts)),
        changes=one.changes + other.changes,
        skipped=one.skipped + other.skipped,
        failed=one.failed + other.failed,
        seconds=one.seconds + other.seconds,
    )


def _statistics(memory: Memory, scope: str, importance: Callable[[Record], float]) -> dict[str, Any]:
    """Returns counts in total and by tier. Reads every memory of the agent."""
    memory.admin.flush()
    records = memory.find(scope=scope, order="seq", limit=None)
    tiers = {
        name: _of([record for record in records if record.tier is tier], importance)
        for name, tier in TIERS.items()
    }
    whole = _of(records, importance)
    return {
        "total_memories": whole["count"],
        **{f"{name}_count": tier["count"] for name, tier in tiers.items()},
        "memory_type_distribution": whole["memory_types"],
        "average_importance": whole["average_importance"],
        "retrievals": whole["retrievals"],
        "vector_bytes": whole["vector_bytes"],
        "tiers": tiers,
    }


def _of(records: list[Record], importance: Callable[[Record], float]) -> dict[str, Any]:
    return {
        "count": len(records),
        "memory_types": dict(Counter(str(record.kind) for record in records)),
        "average_importance": sum(map(importance, records)) / len(records) if records else 0.0,
        "retrievals": sum(record.uses for record in records),
        "vector_bytes": sum(len(record.vector or b"") for record in records),
    }


def make_draft(
    agent_id: str, contents: Any, step_number: int = 0, priority: float = 1.0, memory_type: str = "state"
) -> Draft:
    """Checks a memory to store, and returns it as the memory takes it."""
    data = contents_of(contents)
    if data is None:
        raise MemoryStoreException(f"the contents of a memory are a dict, not {type(contents).__name__}")
    check_whole(step_number, "step_number", least=None, error=MemoryStoreException)
    importance = check_number(priority, "priority", most=1.0, error=MemoryStoreException)
    if memory_type not in list(Kind):
        raise MemoryStoreException(f"memory_type is state, action or interaction, not {memory_type!r}")
    return Draft(
        data=data,
        kind=memory_type,
        agent=agent_id,
        step=step_number,
        importance=importance,
        place=place_of(data),
    )


Hook = Callable[..., Any]
DEEPEST: Final = 5  # levels of events that hooks trigger


class Events:
    """The hooks of one API. A hook that fails is logged, and the others are called."""

    def __init__(self) -> None:
        self._hooks: dict[str, list[tuple[float, Hook]]] = {}  # with priorities
        self._depth = threading.local()

    def register(self, event: str, hook: Hook, priority: int = 5) -> None:
        """Registers a hook. Higher priorities are called first, equal ones in order of registration."""
        if not isinstance(event, str) or not event or not callable(hook):
            raise MemoryConfigException("a hook is a callable for an event with a name")
        if isinstance(priority, bool) or not isinstance(priority, int | float):
            raise MemoryConfigException(f"the priority of a hook is a number, not {priority!r}")
        added = [*self._hooks.get(event, ()), (priority, hook)]
        self._hooks[event] = sorted(added, key=lambda one: -one[0])

    def fire(self, event: str, data: Mapping[str, Any], space: MemorySpace) -> list[Any]:
        """Calls the hooks and returns the result of each, None for one that failed."""
        hooks = self._hooks.get(event, ())
        if not hooks:
            return []
        depth = getattr(self._depth, "now", 0)
        if depth >= DEEPEST:
            log.warning(
                "event %s: hooks trigger events %s levels deep; calling no hook for this one", event, depth
            )
            return []
        self._depth.now = depth + 1
        try:
            return [self._call_hook(hook, event, dict(data), space) for _, hook in hooks]
        finally:
            self._depth.now = depth

    def _call_hook(self, hook: Hook, event: str, data: dict[str, Any], space: MemorySpace) -> Any:
        try:
            answer = hook(data, space)
            if isinstance(answer, Mapping) and answer.get("store_memory"):
                _store(answer, data, space)
        except Exception as error:  # noqa: BLE001  code of the user: whatever it does, the memory goes on
            level = logging.WARNING if isinstance(error, EidetError) else logging.ERROR
            log.log(level, "a hook of event %s failed: %r", event, error, exc_info=error)
            return None
        return answer


def _store(answer: Mapping[str, Any], data: Mapping[str, Any], space: MemorySpace) -> None:
    contents = answer.get("memory_data")
    if not isinstance(contents, Mapping):
        raise MemoryStoreException("a hook that stores a memory answers with memory_data, a dict")
    step = answer.get("step_number", data.get("step_number", 0))
    kind = answer.get("memory_type", "state")
    space.store(contents, step, answer.get("priority", 1.0), memory_type=kind)


class MemorySpace(Retrieval):
    """The memories of one agent. `memory_type` and `memory_tiers` narrow any query; None means all.

    Several spaces, of this process or of others, may be open on the same agent.
    """

    def __init__(
        self, agent_id: str, *, memory: Memory, config: MemoryConfig, scope: str | None, events: Events
    ) -> None:
        super().__init__(agent_id, memory=memory, config=config, scope=scope)
        self._events = events
        self._inserted = 0

    # Storing.

    def store_state(self, state_data: Any, step_number: int, priority: float = 1.0) -> str:
        return self.store(state_data, step_number, priority, memory_type="state")

    def store_interaction(self, interaction_data: Any, step_number: int, priority: float = 1.0) -> str:
        return self.store(interaction_data, step_number, priority, memory_type="interaction")

    def store_action(self, action_data: Any, step_number: int, priority: float = 1.0) -> str:
        return self.store(action_data, step_number, priority, memory_type="action")

    def store(
        self, contents: Any, step_number: int, priority: float = 1.0, *, memory_type: str = "state"
    ) -> str:
        """Stores contents (a dict or a model with `as_dict`) and returns the id of the memory."""
        draft = make_draft(self.agent_id, contents, step_number, priority, memory_type)
        what = f"the {memory_type} was not stored"
        with self._translate_errors(what, MemoryStoreException, step_number=step_number):
            record = self.memory.remember(draft, scope=self.scope)
        self._announce_stored([record])
        return record.id

    def store_batch(self, memories: Sequence[Mapping[str, Any]]) -> list[str]:
        """Stores several memories, all or none: dicts of contents, step_number, priority and memory_type."""
        if isinstance(memories, str | Mapping) or not isinstance(memories, Iterable):
            raise MemoryStoreException(f"a batch is a list of memories, not {type(memories).__name__}")
        drafts = [self._draft_of(at, one) for at, one in enumerate(memories)]
        if not drafts:
            return []
        with self._translate_errors("the batch was not stored", MemoryStoreException, count=len(drafts)):
            records = self.memory.remember(drafts, scope=self.scope)
        self._announce_stored(records)
        return [record.id for record in records]

    def _draft_of(self, at: int, one: Mapping[str, Any]) -> Draft:
        if not isinstance(one, Mapping) or "contents" not in one:
            raise MemoryStoreException(f"memory {at} of the batch is a dict with contents, not {one!r:.80}")
        known = ("contents", "step_number", "priority", "memory_type")
        return make_draft(self.agent_id, **{name: one[name] for name in known if name in one})

    def _announce_stored(self, records: Sequence[Record]) -> None:
        for record in records:
            details = {"memory_id": record.id, "agent_id": self.agent_id, "step_number": record.step,
                    "memory_type": str(record.kind), "contents": record.data}  # fmt: skip
            self._events.fire(f"{record.kind}_stored", details, self)
        self._inserted += len(records)
        if self._inserted >= self.config.cleanup_interval:
            self._inserted = 0
            self._maintain_if_due()

    # One memory.

    def focus(self, memory_id: str) -> Entry:
        """Returns one memory and restores what its tier left out. Counts as a retrieval."""
        with self._translate_errors("the memory was not read", memory_id=memory_id):
            found = self._look().require(memory_id)
            if found.level:
                self.memory.upkeep.restore(memory_id, scope=self.scope)  # counts as a use, too
            else:
                self._count_use(found)
            self.memory.admin.flush()
            return self._entry(self._look().require(memory_id))

    def set_importance_score(self, memory_id: str, importance_score: float) -> bool:
        """Sets the priority of a memory. Returns whether the memory exists."""
        with self._translate_errors("the importance was not set", MemoryStoreException, memory_id=memory_id):
            if self._look().get(memory_id) is None:
                return False
            self.memory.revise(memory_id, scope=self.scope, importance=importance_score)
        return True

    # Keeping.

    def maintain(self) -> Maintained:
        """Brings every tier within its limits now."""
        with self._translate_errors("the tiers were not kept in order", MemoryMaintenanceException):
            done = self._tiers().maintain()
        self._events.fire("maintenance", {"agent_id": self.agent_id, "counts": dict(done.counts)}, self)
        if done.failed:
            raise MemoryMaintenanceException(
                f"{len(done.failed):,} memories could not be moved, the others were: {done.failed[0]}",
                severity=Severity.POTENTIALLY_RECOVERABLE,
                context={"agent_id": self.agent_id, "failed": done.failed},
            )
        return done

    def _maintain_if_due(self) -> None:
        """Runs upkeep if it is due. A failure is logged and undoes nothing that was stored."""
        try:
            with self._translate_errors("the tiers were not looked at", MemoryMaintenanceException):
                due = self._tiers().is_due()
            if due:
                self.maintain()
        except MemoryMaintenanceException as error:
            log.warning("upkeep of agent %s failed; its memories are unchanged: %s", self.agent_id, error)

    def _tiers(self) -> _AgentTiers:
        return _AgentTiers(self.memory, self.scope, self.config, self.clock())

    def flush_to_ltm(self, include_stm: bool = True) -> dict[str, int]:
        """Moves im, and with `include_stm` stm, into long-term memory. Returns both counts."""
        with self._translate_errors("the memories were not moved", MemoryMaintenanceException):
            return self._tiers().move_to_long(short=include_stm)

    def clear(self, memory_tiers: Tiers = None) -> int:
        """Deletes the agent's memories, or those of some tiers, and returns how many."""
        chosen = tiers_of(memory_tiers)
        where = None if chosen is None else Where(tiers=chosen)
        with self._translate_errors("the memories were not deleted", MemoryStoreException):
            return self.memory.forget(where=where, everything=where is None, scope=self.scope, for_good=False)

    def get_statistics(self) -> dict[str, Any]:
        """Returns counts in total and by tier, types, average importance and statistics of the cache."""
        with self._translate_errors("the statistics were not read"):
            counts = _statistics(self.memory, self.scope, self._importance_of)
        return {"agent_id": self.agent_id, **counts, "cache": self.cache_info()}

    # Hooks.

    def register_hook(self, event: str, hook: Hook, priority: int = 5) -> None:
        self._events.register(event, hook, priority)

    def trigger_event(self, event: str, data: Mapping[str, Any] | None = None) -> list[Any]:
        """Calls the hooks of an event, highest priority first, and returns the result of each."""
        return self._events.fire(event, data or {}, self)
