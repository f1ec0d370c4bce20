"""What tenants do: each move is a verb, asked in the way that would most likely reach somebody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from ..core.draft import Draft, Message
from ..core.record import Kind, Record, Trust
from ..core.where import Condition, Where
from ..memory import Memory
from ..upkeep import WORKS
from .tenants import Tenant

_TOPICS: Final = ("the garden", "a train to Lisbon", "the blue door", "a cup of tea", "the invoice of May")
_SESSIONS: Final = ("s1", "s2")  # every tenant has the same
_SHARED: Final = ("shared-1", "shared-2", "k' OR 1=1")  # ids that several tenants use
_MANY: Final = 100_000
_DAY: Final = 86_400.0
_EVERY: Final = Where(trust=tuple(Trust))


@dataclass(slots=True)
class Stage:
    """What the moves share, by scope: `ids` that a tenant ever had, those that were `made` for it alone, and
    those that it has `tried`."""

    memory: Memory
    random: Random
    tenants: list[Tenant]
    folder: Path
    ids: dict[str, list[str]] = field(default_factory=dict)
    made: dict[str, list[str]] = field(default_factory=dict)
    tried: dict[str, set[str]] = field(default_factory=dict)
    exports: dict[str, Path] = field(default_factory=dict)

    def other(self, me: Tenant) -> Tenant:
        """Picks another tenant, often one whose scope is easily mistaken for mine."""
        others = [one for one in self.tenants if one is not me]
        twins, alike = filter(me.is_twin, others), filter(me.is_alike, others)
        among = self.random.choice((list(twins), list(alike), others))
        return self.random.choice(among or others)

    def any_id(self, me: Tenant) -> str:
        """Picks an id: mine, another's, or one that several have."""
        whose = self.random.choice((me, self.other(me)))
        id: str = self.random.choice((*self.ids.get(whose.scope, ())[-12:], *_SHARED))
        self.tried.setdefault(me.scope, set()).add(id)
        return id

    def alive(self, me: Tenant) -> list[Record]:
        return self.memory.find(_EVERY, scope=me.scope, limit=_MANY)

    def text(self, me: Tenant) -> str:
        return (
            f"{me.name} spoke of {self.random.choice(_TOPICS)}, {me.bait} and {me.secret} "
            f"{self.random.randrange(1000)}"
        )

    def question(self, me: Tenant) -> str:
        """Asks about others' content, in words that only their records and the shared ones have."""
        other = self.random.choice((me, self.other(me)))
        asked = (f"what about {self.random.choice(_TOPICS)}?", f"{other.bait}", f"what did {other.name} say?",
                 f'"{other.bait}" near {self.random.choice(_TOPICS)}', "everything")  # fmt: skip
        return self.random.choice(asked)

    def note(self, me: Tenant, records: Record | list[Record], *, made: bool = True) -> Any:
        """Keeps the ids of what a tenant has; names that others may give, too, were not `made` for it."""
        ids = [one.id for one in (records if isinstance(records, list) else [records])]
        self.ids.setdefault(me.scope, []).extend(ids)
        if made:
            self.made.setdefault(me.scope, []).extend(ids)
        return records


class Done(NamedTuple):
    """A move's answer, whether it may have reached below its scope, and what is wrong with its numbers."""

    answer: Any = None
    below: bool = False
    wrong: tuple[str, ...] = ()


Move = Callable[[Stage, Tenant], Done]


def _details(stage: Stage, me: Tenant) -> dict[str, Any]:
    pick = stage.random
    return {
        "scope": me.scope,
        "session": pick.choice((*_SESSIONS, None)),
        "who": pick.choice((me.name, "user", None)),
        "agent": pick.choice((f"agent {me.secret}", "agent", None)),
        "source": pick.choice((f"source {me.secret}", None)),
        "meta": pick.choice(({"note": me.secret, "n": pick.randrange(9)}, None)),
        "trust": pick.choice((None, None, "web", "tool")),
        "expires": pick.choice((None, None, timedelta(days=30))),
        "tier": pick.choice((None, None, None, "middle")),
        "importance": pick.choice((None, 0.2, 0.8)),
    }


def remember(stage: Stage, me: Tenant) -> Done:
    kind = stage.random.choice((Kind.FACT, Kind.EPISODE, Kind.WORKING, Kind.DOCUMENT, None))
    data = stage.random.choice(({"code": me.secret}, None, None))
    made = stage.memory.remember(stage.text(me), kind=kind, data=data, **_details(stage, me))
    return Done(stage.note(me, made))


def remember_messages(stage: Stage, me: Tenant) -> Done:
    turns = [Message(role="user", content=stage.text(me), name=me.name),
             Message(role="assistant", content=stage.text(me))]  # fmt: skip
    session = stage.random.choice(_SESSIONS)
    return Done(stage.note(me, stage.memory.remember(turns, scope=me.scope, session=session)))


def remember_named(stage: Stage, me: Tenant) -> Done:
    """Remembers under an id or a key that others use, too."""
    id, text = stage.random.choice(_SHARED), stage.text(me)
    if stage.random.random() < 0.5:
        return Done(stage.note(me, stage.memory.remember(text, scope=me.scope, id=id), made=False))
    return Done(stage.note(me, stage.memory.remember(text, scope=me.scope, key=id), made=False))


def remember_drafts(stage: Stage, me: Tenant) -> Done:
    """Remembers drafts that claim to derive from another tenant's memories."""
    drafts = [Draft(text=stage.text(me), derived_from=[stage.any_id(me)]), Draft(text=stage.text(me))]
    return Done(stage.note(me, stage.memory.remember(drafts, scope=me.scope)))


def _filter(stage: Stage, me: Tenant) -> Where | None:
    """Builds filters that name another tenant, or all."""
    other = stage.other(me)
    ways = (
        None,
        Where(scope=other.reach(stage.random.random() < 0.5)),
        Where(some=(Where(scope=other.reach(False)), Where(importance_min=0.0))),
        Where(ids=(stage.any_id(me), stage.any_id(me))),
        Where(who=other.name),
        Where(session=_SESSIONS[0]),
        Where(conditions=(Condition("meta.n", "exists"),)),
        ~Where(scope=me.reach(False)),
        Where(never=(Where(who=me.name),)),
        _EVERY,
    )
    return stage.random.choice(ways)


def recall(stage: Stage, me: Tenant) -> Done:
    below = stage.random.random() < 0.3
    hits = stage.memory.recall(
        stage.random.choice((stage.question(me), stage.question(me), "")),
        scope=me.reach(below),
        where=_filter(stage, me),
        unit=stage.random.choice(("record", "record", "session", "scope")),
        recipe=stage.random.choice(("auto", "dialogue", "facts", "documents", "exact")),
        limit=stage.random.choice((1, 10, 100)),
        explain=stage.random.random() < 0.7,
    )
    return Done(hits, below)


def context(stage: Stage, me: Tenant) -> Done:
    below = stage.random.random() < 0.3
    made = stage.memory.context(
        stage.question(me), scope=me.reach(below), where=_filter(stage, me), neighbours=3, budget=2000
    )
    return Done(made, below)


def find(stage: Stage, me: Tenant) -> Done:
    below = stage.random.random() < 0.3
    order = stage.random.choice(("-occurred", "created", "importance", "-uses"))
    found = stage.memory.find(_filter(stage, me), scope=me.reach(below), order=order, limit=_MANY)
    return Done(found, below)


def get(stage: Stage, me: Tenant) -> Done:
    ids = [stage.any_id(me) for _ in range(8)]
    return Done((stage.memory.get(ids, scope=me.scope), stage.memory.get(ids[0], scope=me.scope)))


def history(stage: Stage, me: Tenant) -> Done:
    return Done(stage.memory.history(stage.any_id(me), scope=me.scope))


def detail(stage: Stage, me: Tenant) -> Done:
    return Done(stage.memory.upkeep.detail(stage.any_id(me), scope=me.scope))


def restore(stage: Stage, me: Tenant) -> Done:
    return Done(stage.memory.upkeep.restore(stage.any_id(me), scope=me.scope))


def revise(stage: Stage, me: Tenant) -> Done:
    changes: Mapping[str, Any] = stage.random.choice(
        ({"text": stage.text(me)}, {"importance": 0.9}, {"meta": {"note": me.secret}}, {"who": me.name})
    )
    return Done(stage.memory.revise(stage.any_id(me), scope=me.scope, by=me.name, **changes))


def forget(stage: Stage, me: Tenant) -> Done:
    ids = [stage.any_id(me) for _ in range(2)]
    return Done(stage.memory.forget(ids, scope=me.scope, by=me.name, for_good=_how_far(stage)))


def forget_where(stage: Stage, me: Tenant) -> Done:
    below = stage.random.random() < 0.2
    chosen = _filter(stage, me)
    where = Where(importance_max=0.3) if chosen is None else chosen & Where(importance_max=0.3)
    return Done(stage.memory.forget(where=where, scope=me.reach(below), for_good=_how_far(stage)), below)


def _how_far(stage: Stage) -> bool | None:
    return stage.random.choice((None, False))


def preview_forget(stage: Stage, me: Tenant) -> Done:
    ids = [stage.any_id(me) for _ in range(2)]
    return Done(stage.memory.trust.preview_forget(ids, scope=me.scope))


def forget_old(stage: Stage, me: Tenant) -> Done:
    """Keeps tenants small."""
    alive = sorted(stage.alive(me), key=lambda record: record.seq)
    ids = [record.id for record in alive[:-20]]
    return Done(stage.memory.forget(ids, scope=me.scope) if ids else 0)


def forget_everything(stage: Stage, me: Tenant) -> Done:
    if stage.random.random() < 0.7:
        return Done()
    return Done(stage.memory.forget(scope=me.scope, everything=True))


def feedback(stage: Stage, me: Tenant) -> Done:
    about: Any = stage.any_id(me)
    useful = stage.random.random() < 0.5
    stage.memory.feedback(about, useful=useful, scope=me.scope, by=me.name)
    return Done()


def mark(stage: Stage, me: Tenant) -> Done:
    upkeep, trust = stage.memory.upkeep, stage.memory.trust
    verbs: tuple[Callable[..., Record], ...] = (
        *(upkeep.pin, upkeep.unpin, upkeep.hold, upkeep.release, upkeep.release),
        *(trust.quarantine, trust.approve, trust.approve),
    )
    verb = stage.random.choice(verbs)
    return Done(verb(stage.any_id(me), scope=me.scope, by=me.name))


def review(stage: Stage, me: Tenant) -> Done:
    return Done(stage.memory.trust.review(scope=me.scope, limit=_MANY))


def end_session(stage: Stage, me: Tenant) -> Done:
    made = stage.memory.upkeep.end_session(stage.random.choice(_SESSIONS), scope=me.scope)
    return Done(stage.note(me, made, made=False))


def maintain(stage: Stage, me: Tenant) -> Done:
    newest = max((record.created for record in stage.alive(me)), default=0.0)
    done = stage.memory.upkeep.maintain(
        me.reach(False),
        now=newest + stage.random.choice((0, 7, 40, 400)) * _DAY + 1,
        dry_run=stage.random.random() < 0.3,
        only=stage.random.choice((None, "move", "merge", "summarise", "expire", stage.random.choice(WORKS))),
        archive=stage.folder / f"archive{stage.tenants.index(me)}",
    )
    stage.note(me, stage.alive(me), made=False)
    return Done(done)


def unarchive(stage: Stage, me: Tenant) -> Done:
    """Restores from another's archive, confined to my scope."""
    whose = stage.random.choice((me, stage.other(me)))
    folder = stage.folder / f"archive{stage.tenants.index(whose)}"
    return Done() if not folder.exists() else Done(stage.memory.upkeep.unarchive(folder, scope=me.scope))


def export(stage: Stage, me: Tenant) -> Done:
    below = stage.random.random() < 0.2
    path = stage.folder / f"export{stage.tenants.index(me)}{'-below' if below else ''}.jsonl"
    count = stage.memory.export(path, scope=me.reach(below))
    if not below:
        stage.exports[me.scope] = path
    return Done((count, path.read_text(encoding="utf-8")), below)


def load(stage: Stage, me: Tenant) -> Done:
    path = stage.exports.get(me.scope)
    return Done() if path is None else Done(stage.memory.load(path))


def rebuild(stage: Stage, me: Tenant) -> Done:
    return Done(stage.memory.admin.rebuild(me.scope))
