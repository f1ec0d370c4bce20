"""Every verb of a memory as a call that can be made again, each on a record of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fact_verbs import FACT_VERBS, FactCase, FactVerb, FindsOne

from eidet.memory import Memory
from eidet.models.embed import Embedder

RECEIPT = "receipt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A memory that was filled while all was well, and what the verbs need beside it."""

    memory: Memory
    folder: Path
    embedder: Embedder
    how: dict[str, Any] = field(default_factory=dict)  # what some verbs are given, by name
    kept: dict[str, Any] = field(default_factory=dict)

    def prepare(self) -> None:
        """Can be made again."""
        memory = self.memory
        for verb in VERBS:
            memory.remember(f"the note about {verb}", id=verb, who="ann", session="today")
        memory.remember("said today", kind="message", session="today")
        self.facts.prepare()
        self.renew()
        memory.remember("the note about receipts", id=RECEIPT, again=True)
        self.kept[RECEIPT] = memory.forget(RECEIPT).receipt
        memory.export(self.folder / "before.jsonl")
        memory.recall("note")
        memory.admin.flush()

    def renew(self) -> None:
        """So that every verb has something to do again."""
        self.memory.upkeep.release("hold")
        self.memory.upkeep.hold("release")
        self.memory.trust.quarantine("approve")
        self.memory.remember("the note about reject", id="reject", again=True)
        self.memory.trust.quarantine("reject")
        self.memory.upkeep.pin("unpin")
        self.memory.remember("the note about forget", id="forget", again=True)
        if "fact" in self.kept:
            self.facts.renew()

    @property
    def facts(self) -> FactCase:
        """The same memory for the verbs of facts."""
        llm = self.how.get("maintain", {}).get("llm") or FindsOne()
        return FactCase(memory=self.memory, llm=llm, kept=self.kept)

    def file(self, name: str) -> Path:
        return self.folder / name


Verb = Callable[[Case, str], object]


def _upkeep(case: Case, _: str) -> None:
    with case.memory.upkeep.background(every=600):
        pass


def _feedback(case: Case, id: str) -> None:
    case.memory.feedback(id, useful=True, scope="default")


VERBS: dict[str, Verb] = {
    "remember": lambda c, mine: c.memory.remember("a new note", id=f"{mine} anew"),
    "recall": lambda c, _: c.memory.recall("note", **c.how.get("recall", {})),
    "recall_all": lambda c, _: c.memory.recall_all("note"),
    "explain": lambda c, _: c.memory.admin.explain("what did ann say?"),
    "context": lambda c, _: c.memory.context("note"),
    "feedback": _feedback,
    "get": lambda c, mine: c.memory.get(mine),
    "find": lambda c, _: c.memory.find(),
    "revise": lambda c, mine: c.memory.revise(mine, text="another note"),
    "promote": lambda c, mine: c.memory.promote(mine, to="others"),
    "forget": lambda c, mine: c.memory.forget(mine),
    "preview_forget": lambda c, mine: c.memory.trust.preview_forget(mine),
    "verify_receipt": lambda c, _: c.memory.trust.verify_receipt(c.kept[RECEIPT]),
    "history": lambda c, mine: c.memory.history(mine),
    "scopes": lambda c, _: c.memory.scopes(),
    "count": lambda c, _: c.memory.count(),
    "watch": lambda c, _: list(c.memory.watch(since=0, wait=0)),
    "changes": lambda c, _: c.memory.admin.changes(since=0),
    "stats": lambda c, _: c.memory.admin.stats(),
    "health": lambda c, _: c.memory.admin.health(),
    "metrics": lambda c, _: c.memory.admin.metrics(),
    "sessions": lambda c, _: c.memory.admin.sessions(),
    "export": lambda c, _: c.memory.export(c.file("after.jsonl")),
    "load": lambda c, _: c.memory.load(c.file("before.jsonl")),
    "maintain": lambda c, _: c.memory.upkeep.maintain(**c.how.get("maintain", {})),
    "retention": lambda c, _: c.memory.upkeep.retention(),
    "background": _upkeep,
    "detail": lambda c, mine: c.memory.upkeep.detail(mine),
    "restore": lambda c, mine: c.memory.upkeep.restore(mine),
    "pin": lambda c, mine: c.memory.upkeep.pin(mine),
    "unpin": lambda c, mine: c.memory.upkeep.unpin(mine),
    "hold": lambda c, mine: c.memory.upkeep.hold(mine),
    "release": lambda c, mine: c.memory.upkeep.release(mine),
    "quarantine": lambda c, mine: c.memory.trust.quarantine(mine),
    "approve": lambda c, mine: c.memory.trust.approve(mine),
    "reject": lambda c, mine: c.memory.trust.reject(mine),
    "review": lambda c, _: c.memory.trust.review(),
    "end_session": lambda c, _: c.memory.upkeep.end_session("today", **c.how.get("end_session", {})),
    "claim_archive": lambda c, _: c.memory.upkeep.claim_archive(c.how.get("archive", c.file("archive"))),
    "unarchive": lambda c, _: c.memory.upkeep.unarchive(c.how.get("archive", c.file("archive"))),
    "flush": lambda c, _: c.memory.admin.flush(),
    "rebuild": lambda c, _: c.memory.admin.rebuild(),
    "reembed": lambda c, _: c.memory.admin.reembed(c.embedder),
    "check": lambda c, _: c.memory.admin.check(),
}


def _on_facts(verb: FactVerb) -> Verb:
    return lambda case, _: verb(case.facts)


for _name, _verb in FACT_VERBS.items():
    VERBS[f"facts.{_name}"] = _on_facts(_verb)
SEALED: dict[str, Verb] = {
    "rotate": lambda c, _: c.memory.keys.rotate("cd" * 32),
    "shred": lambda c, _: c.memory.keys.shred("other"),
}
LAST = ("close",)
