"""What every verb does to a record under a legal hold. A new verb has to be decided about here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fact_verbs import FACT_VERBS, FactCase, FactVerb
from tests.making import Clock

from eidet import Memory
from eidet.core.draft import Draft
from eidet.core.settings import Retention, Settings, Upkeep
from eidet.graph.fact import Fact
from eidet.models.embed.hashing import Hashing
from eidet.store import Store
from eidet.trust.seal.archives import archive_for
from eidet.upkeep.archive import FolderArchive

SCOPE = "acme/ann"
HELD = "held"
TEXT = "Ann signed the contract in Lisbon"
SESSION = "today"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A memory with a record that the law holds, and everything that could reach it."""

    memory: Memory
    folder: Path
    clock: Clock
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> FactCase:
        """The same memory for the verbs of facts."""
        return FactCase(memory=self.memory, scope=SCOPE, kept=self.kept)

    def file(self, name: str) -> Path:
        return self.folder / name

    def prepare(self) -> None:
        """An export and an archive have earlier versions of the record; an episode is made of it."""
        memory = self.memory
        first = memory.remember(
            f"{TEXT}. Ann lives in Lisbon.", id=HELD, scope=SCOPE, kind="message", session=SESSION
        )
        memory.export(self.file("before.jsonl"), scope=SCOPE, plain=True)
        archive = archive_for(memory.parts.store, FolderArchive(self.file("archive")))
        assert archive is not None
        archive.keep([first], memory.parts.manifest(1.0), now=1.0)
        memory.remember("Bob came along", scope=SCOPE, kind="message", session=SESSION, id="other")
        memory.upkeep.end_session(SESSION, scope=SCOPE)
        memory.remember("the copied fact", id="fact", scope=SCOPE)
        memory.revise(HELD, scope=SCOPE, importance=0.01, tier="long")
        memory.upkeep.hold(HELD, scope=SCOPE, by="court")
        memory.upkeep.hold("fact", scope=SCOPE, by="court")
        self.facts.prepare()
        self.kept["decision"] = memory.facts.merge("Ann", "Kimberly", scope=SCOPE)
        memory.upkeep.hold(self.kept["decision"].id, scope=SCOPE, by="court")
        memory.admin.flush()


def open_held(store: Store, folder: Path, **how: Any) -> Held:
    """A memory in which everything that upkeep may do is due at once."""
    clock = Clock(tick=0.001)
    settings = Settings(
        retention=(Retention(scope="**", then="delete", days=1),),
        upkeep=Upkeep(forget_below=0.9, short_age_days=1.0, archive=str(folder / "archive")),
    )
    memory = Memory(store, embedder="hashing:16", settings=settings, clock=clock, **how)
    held = Held(memory=memory, folder=folder, clock=clock)
    held.prepare()
    return held


def _maintain(case: Held) -> None:
    case.clock.days(4000)
    case.memory.upkeep.maintain()


def _background(case: Held) -> None:
    case.clock.days(4000)
    with case.memory.upkeep.background(every=600) as worker:
        while not worker.stats()["rounds"]:
            worker.nudge()


def _verify_receipt(case: Held) -> None:
    receipt = case.memory.forget("nobody").receipt
    assert receipt is not None
    assert case.memory.trust.verify_receipt(receipt)


def _expire(case: Held) -> None:
    case.clock.days(4000)
    case.memory.upkeep.maintain(only="expire")


def _merge(case: Held) -> None:
    """The same fact again is a use of the one that is held, and a similar one stays by itself."""
    case.memory.remember("the copied fact", scope=SCOPE)
    case.memory.remember("the copied fact!", scope=SCOPE)
    case.memory.upkeep.maintain(only="merge")


def _copy_into(case: Held) -> None:
    from eidet.copy import copy

    with closing(Memory(embedder="hashing:16")) as other:
        other.remember("something else entirely", id=HELD, scope=SCOPE)
        copy(other, case.memory)


Verb = Callable[[Held], object]

REFUSED: dict[str, Verb] = {  # all of it: nothing else of the call is done either
    "remember": lambda c: c.memory.remember("anything else", id=HELD, scope=SCOPE),
    "remember, a list": lambda c: c.memory.remember(["new", Draft(text="x", id=HELD)], scope=SCOPE),
    "revise": lambda c: c.memory.revise(HELD, scope=SCOPE, text="Ann signed nothing"),
    "revise, its meta": lambda c: c.memory.revise(HELD, scope=SCOPE, meta={"seen": True}),
    "forget": lambda c: c.memory.forget(HELD, scope=SCOPE),
    "forget, by filter": lambda c: c.memory.forget(["other", HELD], scope=SCOPE),
    "forget, the scope": lambda c: c.memory.forget(everything=True, scope=SCOPE),
    "forget, no promise": lambda c: c.memory.forget(HELD, scope=SCOPE, for_good=False),
    "forget, the scope, no promise": lambda c: c.memory.forget(everything=True, scope=SCOPE, for_good=False),
    "promote, as a move": lambda c: c.memory.promote(HELD, scope=SCOPE, to="elsewhere", move=True),
    "upkeep.pin": lambda c: c.memory.upkeep.pin(HELD, scope=SCOPE),
    "upkeep.restore": lambda c: c.memory.upkeep.restore(HELD, scope=SCOPE),
    "trust.quarantine": lambda c: c.memory.trust.quarantine(HELD, scope=SCOPE),
    "trust.approve": lambda c: c.memory.trust.approve(HELD, scope=SCOPE),
    "trust.reject": lambda c: c.memory.trust.reject(HELD, scope=SCOPE),
    "trust.preview_forget": lambda c: c.memory.trust.preview_forget(HELD, scope=SCOPE),
}
REFUSED["facts.undo"] = lambda c: c.memory.facts.undo(c.kept["decision"], scope=SCOPE)
SEALED_REFUSED: dict[str, Verb] = {
    "keys.shred": lambda c: c.memory.keys.shred(SCOPE),
}
LEAVES: dict[str, Verb] = {  # does its work, and leaves the record as it is
    "recall": lambda c: c.memory.recall("contract", scope=SCOPE),
    "recall_all": lambda c: c.memory.recall_all("contract", scope=SCOPE),
    "promote": lambda c: c.memory.promote(HELD, scope=SCOPE, to="elsewhere"),
    "context": lambda c: c.memory.context("contract", scope=SCOPE),
    "feedback": lambda c: c.memory.feedback(HELD, useful=True, scope=SCOPE),
    "get": lambda c: c.memory.get(HELD, scope=SCOPE),
    "find": lambda c: c.memory.find(scope=SCOPE),
    "count": lambda c: c.memory.count(scope=SCOPE),
    "history": lambda c: c.memory.history(HELD, scope=SCOPE),
    "scopes": lambda c: c.memory.scopes(),
    "export": lambda c: c.memory.export(c.file("after.jsonl"), scope=SCOPE, plain=True),
    "load": lambda c: c.memory.load(c.file("before.jsonl")),
    "upkeep.hold": lambda c: c.memory.upkeep.hold(HELD, scope=SCOPE, by="another court"),
    "upkeep.maintain": _maintain,
    "upkeep.maintain, expiry": _expire,
    "upkeep.maintain, merging": _merge,
    "upkeep.background": _background,
    "upkeep.retention": lambda c: c.memory.upkeep.retention(),
    "upkeep.end_session": lambda c: c.memory.upkeep.end_session(SESSION, scope=SCOPE),
    "upkeep.unarchive": lambda c: c.memory.upkeep.unarchive(c.file("archive")),
    "upkeep.claim_archive": lambda c: c.memory.upkeep.claim_archive(c.file("archive")),
    "upkeep.detail": lambda c: c.memory.upkeep.detail(HELD, scope=SCOPE),
    "upkeep.unpin": lambda c: c.memory.upkeep.unpin(HELD, scope=SCOPE),  # it is not pinned
    "trust.review": lambda c: c.memory.trust.review(scope=SCOPE),
    "trust.verify_receipt": _verify_receipt,
    "watch": lambda c: list(c.memory.watch(scope=SCOPE, since=0, wait=0)),
    "admin.changes": lambda c: c.memory.admin.changes(scope=SCOPE, since=0),
    "admin.stats": lambda c: c.memory.admin.stats(),
    "admin.sessions": lambda c: c.memory.admin.sessions(),
    "admin.explain": lambda c: c.memory.admin.explain("Ann", scope=SCOPE),
    "admin.health": lambda c: c.memory.admin.health(),
    "admin.metrics": lambda c: c.memory.admin.metrics(),
    "admin.check": lambda c: c.memory.admin.check(),
    "admin.flush": lambda c: c.memory.admin.flush(),
    "admin.rebuild": lambda c: c.memory.admin.rebuild(language="de"),
    "admin.reembed": lambda c: c.memory.admin.reembed(Hashing(24)),
    "eidet.copy": _copy_into,
}


def _on_facts(verb: FactVerb) -> Verb:
    return lambda case: verb(case.facts)


def _list_held(case: Held) -> Sequence[Fact]:
    """What the held record states."""
    return case.memory.facts.match(subject="Ann", relation="lives_in", scope=SCOPE)[0].facts[:1]


FACTS_LEAVE: dict[str, Verb] = {f"facts.{name}": _on_facts(verb) for name, verb in FACT_VERBS.items()} | {
    "facts.retract, of the held": lambda c: c.memory.facts.retract(_list_held(c)[0], scope=SCOPE),
    "facts.add, from the held": lambda c: c.memory.facts.add(
        "Ann", "likes", "tea", sources=[HELD], scope=SCOPE
    ),
    "facts.read, of the held": lambda c: c.memory.facts.read(c.facts.llm, [HELD], scope=SCOPE),
}
SEALED_LEAVES: dict[str, Verb] = {
    "keys.rotate": lambda c: c.memory.keys.rotate("cd" * 32),
}
ENDS_IT = ("upkeep.release",)
LAST = ("close",)
