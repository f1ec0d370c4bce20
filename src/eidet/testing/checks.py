"""Moves that know what is right: numbers of the tenant's own records, and scopes that cannot be one."""

from __future__ import annotations

from collections.abc import Callable

from ..core.errors import BadInput
from ..core.where import Where
from .moves import Done, Stage
from .tenants import INVALID, Tenant


def _differ(what: str, told: object, own: object) -> tuple[str, ...]:
    if told == own:
        return ()
    return (f"{what} tells {told}, its own records are {own}",)


def count(stage: Stage, me: Tenant) -> Done:
    own, other = len(stage.alive(me)), stage.other(me)
    told = stage.memory.count(scope=me.scope)
    foreign = stage.memory.count(Where(scope=other.reach(False)), scope=me.scope)
    wrong = (*_differ("count", told, own), *_differ("count of another scope", foreign, 0))
    return Done((told, foreign), wrong=wrong)


def stats(stage: Stage, me: Tenant) -> Done:
    own, told = stage.alive(me), stage.memory.admin.stats(me.scope)
    wrong = (
        *_differ("stats", told["records"], len(own)),
        *_differ("stats of kinds", sum(told["kinds"].values()), len(own)),
    )
    return Done(told, wrong=wrong)


def metrics(stage: Stage, me: Tenant) -> Done:
    own, told = len(stage.alive(me)), stage.memory.admin.metrics(me.scope)
    return Done(told, wrong=_differ("metrics", int(told.get("eidet_records", 0)), own))


def scopes(stage: Stage, me: Tenant) -> Done:
    """`scopes()` without a scope lists all, to whoever runs the memory; under one, only what is below."""
    told = stage.memory.scopes(me.scope)
    outside = []
    for path in told:
        if path != me.scope and not path.startswith(me.scope + "/"):
            outside.append(path)
    wrong = _differ("scopes", told.get(me.scope, 0), len(stage.alive(me)))
    return Done(None, wrong=(*wrong, *(f"scopes lists {path!r}" for path in outside)))


def check_phrased(stage: Stage, me: Tenant) -> Done:
    """Names are left out of a query if they are of somebody who speaks in the scope: nobody else's are."""
    other = stage.other(me)
    told = stage.memory.admin.phrase_query(f"what did {other.name} say about tea?", scope=me.scope)
    wrong = () if other.name in told else ("phrase_query knows who speaks in another scope",)
    return Done(told, wrong=wrong)


def check_refusals(stage: Stage, me: Tenant) -> Done:
    """A scope that cannot be one must be refused by every verb, before anything happens."""
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
