"""The memory of one agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...core.draft import Draft
from ...core.record import Kind, Record
from ...core.where import Where
from ...memory import Memory
from ...upkeep import Maintained
from .config import MemoryConfig
from .entries import Entry, check_id, place_of, tiers_of
from .errors import (
    MemoryMaintenanceException,
    MemoryRetrievalException,
    MemoryStoreException,
    Severity,
    log,
    translate_errors,
)
from .events import Events, Hook
from .models import contents_of
from .retrieval import Retrieval, Tiers
from .statistics import statistics
from .tiers import AgentTiers


class MemorySpace(Retrieval):
    """One agent's memories. `memory_type` and `memory_tiers` narrow any question; None asks for all.

    Several spaces, of this process or of others, may be open on the same agent.
    """

    def __init__(
        self, agent_id: str, *, memory: Memory, config: MemoryConfig, scope: str | None, events: Events
    ) -> None:
        super().__init__(agent_id, memory=memory, config=config, scope=scope)
        self._events = events
        self._inserted = 0
        self._aged_out = -1.0  # when ages were looked at last

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
        """Stores contents (a dict, or a model with `as_dict`); the id of the memory."""
        draft = self._draft(contents, step_number, priority, memory_type)
        about = {"agent_id": self.agent_id, "step_number": step_number}
        with translate_errors(MemoryStoreException, f"the {memory_type} was not stored", **about):
            record = self._memory.remember(draft, scope=self.scope)
        self._announce_stored([record])
        return record.id

    def store_batch(self, memories: Sequence[Mapping[str, Any]]) -> list[str]:
        """Stores many at once, all or none: dicts with contents, step_number, priority and memory_type."""
        if isinstance(memories, str | Mapping) or not isinstance(memories, Iterable):
            raise MemoryStoreException(f"a batch is a list of memories, not {type(memories).__name__}")
        drafts = [self._draft_of(at, one) for at, one in enumerate(memories)]
        if not drafts:
            return []
        with translate_errors(
            MemoryStoreException, "the batch was not stored", agent_id=self.agent_id, count=len(drafts)
        ):
            records = self._memory.remember(drafts, scope=self.scope)
        self._announce_stored(records)
        return [record.id for record in records]

    def _draft_of(self, at: int, one: Mapping[str, Any]) -> Draft:
        if not isinstance(one, Mapping) or "contents" not in one:
            raise MemoryStoreException(f"memory {at} of the batch is a dict with contents, not {one!r:.80}")
        return self._draft(
            one["contents"],
            one.get("step_number", 0),
            one.get("priority", 1.0),
            one.get("memory_type", "state"),
        )

    def _draft(self, contents: Any, step: int, priority: float, memory_type: str) -> Draft:
        data = contents_of(contents)
        if data is None:
            raise MemoryStoreException(f"the contents of a memory are a dict, not {type(contents).__name__}")
        if isinstance(step, bool) or not isinstance(step, int):
            raise MemoryStoreException(f"step_number is a whole number, not {step!r}")
        number = isinstance(priority, int | float) and not isinstance(priority, bool)
        if not number or not 0 <= priority <= 1:
            raise MemoryStoreException(f"priority is a number from 0 to 1, not {priority!r}")
        if memory_type not in list(Kind):
            raise MemoryStoreException(f"memory_type is state, action or interaction, not {memory_type!r}")
        return Draft(
            data=data,
            kind=memory_type,
            agent=self.agent_id,
            step=step,
            importance=float(priority),
            place=place_of(data),
        )

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
        """Looks at one memory closely: counts as a retrieval, and brings back what its tier left out."""
        reader = self._reader
        with reader.translate_errors("the memory was not read", memory_id=memory_id):
            found = self._memory.get(check_id(memory_id), scope=self.scope)
            if found is None:
                raise MemoryRetrievalException(f"there is no memory {memory_id!r} of agent {self.agent_id!r}")
            if found.level:
                self._memory.upkeep.restore(memory_id, scope=self.scope)  # counts as a use, too
            else:
                reader.count_use(found)
            self._memory.admin.flush()
            return reader.entry(reader.look().get(memory_id))

    def set_importance_score(self, memory_id: str, importance_score: float) -> bool:
        """Sets the priority of a memory; whether there is such a memory."""
        with translate_errors(MemoryStoreException, "the importance was not set", memory_id=memory_id):
            if self._memory.get(check_id(memory_id), scope=self.scope) is None:
                return False
            self._memory.revise(memory_id, scope=self.scope, importance=importance_score)
        return True

    # Keeping.

    def maintain(self) -> Maintained:
        """Brings every tier within its limits now."""
        with translate_errors(
            MemoryMaintenanceException, "the tiers were not kept in order", agent_id=self.agent_id
        ):
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
        """What was stored is stored: upkeep that fails is told in the log."""
        now = self._reader.clock()
        patient = now - self._aged_out < (self.config.stm.ttl or 0.0) / 20
        try:
            with translate_errors(
                MemoryMaintenanceException, "the tiers were not looked at", agent_id=self.agent_id
            ):
                due = self._tiers().is_due(early=not patient)
            if due:
                self._aged_out = now
                self.maintain()
        except MemoryMaintenanceException as error:
            log.warning("upkeep of agent %s failed; its memories are unchanged: %s", self.agent_id, error)

    def _tiers(self) -> AgentTiers:
        return AgentTiers(self._memory, self.scope, self.config, self._reader.clock())

    def flush_to_ltm(self, include_stm: bool = True) -> dict[str, int]:
        """Moves everything into long-term memory; how many came out of stm and of im."""
        with translate_errors(
            MemoryMaintenanceException, "the memories were not moved", agent_id=self.agent_id
        ):
            return self._tiers().move_to_long(short=include_stm)

    def clear(self, memory_tiers: Tiers = None) -> int:
        """Deletes the agent's memories, or those of some tiers; how many there were."""
        chosen = tiers_of(memory_tiers)
        with translate_errors(MemoryStoreException, "the memories were not deleted", agent_id=self.agent_id):
            if chosen is None:
                return self._memory.forget(everything=True, scope=self.scope, for_good=False)
            return self._memory.forget(where=Where(tiers=chosen), scope=self.scope, for_good=False)

    def get_statistics(self) -> dict[str, Any]:
        """Counts in all and by tier, types, importance, and what the cache holds."""
        with self._reader.translate_errors("the statistics were not read"):
            counts = statistics(self._memory, self.scope, self._reader.importance_of)
        return {"agent_id": self.agent_id, **counts, "cache": self.cache_info()}

    # Hooks.

    def register_hook(self, event: str, hook: Hook, priority: int = 5) -> None:
        self._events.register(event, hook, priority)

    def trigger_event(self, event: str, data: Mapping[str, Any] | None = None) -> list[Any]:
        """Calls the hooks of an event, highest priority first; what each answered."""
        return self._events.fire(event, data or {}, self)
