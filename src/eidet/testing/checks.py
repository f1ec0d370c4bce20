"""Moves that know what is right: numbers of the tenant's own records, and scopes that cannot be one."""

from __future__ import annotations

from collections.abc import Callable

from ..core.errors import BadInput
from ..core.where import Where
from .moves import Done, Stage
from .tenants import INVALID, Tenant


def _differ(what: str, seen: object, own: object) -> tuple[str, ...]:
    return () if seen == own else (f"{what} tells {seen}, its own records are {own}",)


def count(stage: Stage, me: Tenant) -> Done:
    own, other = len(stage.alive(me)), stage.other(me)
    counted = stage.memory.count(scope=me.scope)
    foreign = stage.memory.count(Where(scope=other.reach(False)), scope=me.scope)
    wrong = (*_differ("count", counted, own), *_differ("count of another scope", foreign, 0))
    return Done((counted, foreign), wrong=wrong)


def stats(stage: Stage, me: Tenant) -> Done:
    own, figures = stage.alive(me), stage.memory.admin.stats(me.scope)
    wrong = (
        *_differ("stats", figures["records"], len(own)),
        *_differ("stats of kinds", sum(figures["kinds"].values()), len(own)),
    )
    return Done(figures, wrong=wrong)


def metrics(stage: Stage, me: Tenant) -> Done:
    own, figures = len(stage.alive(me)), stage.memory.admin.metrics(me.scope)
    return Done(figures, wrong=_differ("metrics", int(figures.get("eidet_records", 0)), own))


def scopes(stage: Stage, me: Tenant) -> Done:
    """Checks `scopes()`: without a scope it lists all to the operator; under one, only what is below."""
    counts = stage.memory.scopes(me.scope)
    outside = [path for path in counts if path != me.scope and not path.startswith(me.scope + "/")]
    wrong = _differ("scopes", counts.get(me.scope, 0), len(stage.alive(me)))
    return Done(None, wrong=(*wrong, *(f"scopes lists {path!r}" for path in outside)))


def check_phrased(stage: Stage, me: Tenant) -> Done:
    """Checks that a query drops only names of speakers of its own scope."""
    other = stage.other(me)
    phrased = stage.memory.admin.phrase_query(f"what did {other.name} say about tea?", scope=me.scope)
    wrong = () if other.name in phrased else ("phrase_query knows who speaks in another scope",)
    return Done(phrased, wrong=wrong)


def check_refusals(stage: Stage, me: Tenant) -> Done:
    """Checks that every verb refuses a scope that cannot be one, before anything happens."""
    memory, id, taken = stage.memory, stage.any_id(me), []
    scope = stage.random.choice(INVALID)
    verbs: dict[str, Callable[[], object]] = {
        "remember": lambda: memory.remember(stage.text(me), scope=scope),
        "recall": lambda: memory.recall(stage.question(me), scope=scope),
        "context": lambda: memory.context(stage.question(me), scope=scope),
        "find": lambda: memory.find(scope=scope),
        "get": lambda: memory.get(id, scope=scope),
        "revise": lambda: memory.revise(id, scope=scope, text="x"),
        "forget": lambda: memory.forget(id, scope=scope),
        "forget everything": lambda: memory.forget(scope=scope, everything=True),
        "count": lambda: memory.count(scope=scope),
        "history": lambda: memory.history(id, scope=scope),
        "scopes": lambda: memory.scopes(scope),
        "stats": lambda: memory.admin.stats(scope),
        "export": lambda: memory.export(stage.folder / "bad.jsonl", scope=scope),
    }
    for name, verb in verbs.items():
        try:
            verb()
            taken.append(f"{name} took the scope {scope!r:.60}")
        except BadInput:
            continue
    return Done(wrong=tuple(taken))
