"""Tenants play at random on one memory: nothing of one may reach another, or be changed by another.

Their scopes are easily taken for one another; they share ids, keys and sessions. After each move, neither
the answer, an error, an export nor the log may hold a word, an id or a scope of the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.making import rounds

from eidet import BadInput, EidetError, Hits, Memory, Message, Record, Scope, Settings, Where
from eidet.core.hit import Hit
from eidet.core.record import Event, Trust
from eidet.store.ram import RamStore

SCOPES = (
    *("a", "a/b", "ab", "A", "a_", "a%", "a/../b", "' OR 1=1 --", "a/b/c", "a*", "é", "e\u0301", "ａ", "а"),
    *("..", "NULL", "default", "🦊", "a; DROP TABLE record; --"),
)
SESSIONS, SHARED = ("s1", "s2"), ("shared-1", "shared-2", "k' OR 1=1")
TOPICS = ("the garden", "a train to Lisbon", "the blue door")
EVERY = Where(trust=tuple(Trust))
MANY, DAY = 100_000, 86_400.0


@dataclass(frozen=True)
class Tenant:
    """Others may say `bait` and `name`; only the owner says `secret`."""

    scope: str
    secret: str
    bait: str
    name: str


def make_tenant(scope: str, random: Random) -> Tenant:
    """Words that no stemmer shortens, and that no text has by chance."""
    words = ["".join(random.choices("bcdfghjklmnpqrtvwz", k=10)) + "x" for _ in range(3)]
    return Tenant(scope, f"zq{words[0]}", f"by{words[1]}", f"Jo{words[2]}")


class LogLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@dataclass
class Game:
    """What moves share: `ids` that a tenant had, those `made` for it alone, and those that it has `tried`."""

    memory: Memory
    random: Random
    folder: Path
    tenants: list[Tenant]
    ids: dict[str, list[str]] = field(default_factory=dict)
    made: dict[str, set[str]] = field(default_factory=dict)
    tried: dict[str, set[str]] = field(default_factory=dict)
    below: bool = False  # whether the last move may have reached below its scope

    def other(self, me: Tenant) -> Tenant:
        return self.random.choice([one for one in self.tenants if one is not me])

    def any_id(self, me: Tenant) -> str:
        """An id: mine, another's, or one that several have."""
        whose = self.random.choice((me, self.other(me)))
        id: str = self.random.choice((*self.ids.get(whose.scope, ())[-12:], *SHARED))
        self.tried.setdefault(me.scope, set()).add(id)
        return id

    def reach(self, me: Tenant) -> Scope:
        self.below = self.random.random() < 0.3
        return Scope(me.scope, below=self.below)

    def text(self, me: Tenant) -> str:
        number = self.random.randrange(1000)
        return f"{me.name} spoke of {self.random.choice(TOPICS)}, {me.bait} and {me.secret} {number}"

    def question(self, me: Tenant) -> str:
        other = self.other(me)
        asked = (f"what about {self.random.choice(TOPICS)}?", other.bait, f"what did {other.name} say?", "")
        return self.random.choice(asked)

    def filter(self, me: Tenant) -> Where | None:
        """Filters that name another tenant, or everybody."""
        other = self.other(me)
        ways = (None, Where(who=other.name), Where(scope=Scope(other.scope)), ~Where(who=me.name), EVERY)
        return self.random.choice(ways)

    def note(self, me: Tenant, records: Record | Iterable[Record], *, made: bool = True) -> Any:
        ids = [one.id for one in ([records] if isinstance(records, Record) else records)]
        self.ids.setdefault(me.scope, []).extend(ids)
        if made:
            self.made.setdefault(me.scope, set()).update(ids)
        return records

    def alive(self, one: Tenant) -> list[Record]:
        return sorted(self.memory.find(EVERY, scope=one.scope, limit=MANY), key=lambda record: record.id)


def remember(game: Game, me: Tenant) -> Any:
    pick = game.random.choice
    details: dict[str, Any] = {
        "kind": pick(("fact", "episode", "working", None)),
        "session": pick((*SESSIONS, None)),
        "who": pick((me.name, "user", None)),
        "agent": pick((f"agent {me.secret}", None)),
        "source": pick((f"source {me.secret}", None)),
        "meta": pick(({"note": me.secret}, None)),
        "trust": pick((None, None, "web")),
        "tier": pick((None, None, "middle")),
        "importance": pick((None, 0.2, 0.8)),
    }
    return game.note(me, game.memory.remember(game.text(me), scope=me.scope, **details))


def remember_messages(game: Game, me: Tenant) -> Any:
    turns = [Message(role=role, content=game.text(me)) for role in ("user", "assistant")]
    session = game.random.choice(SESSIONS)
    return game.note(me, game.memory.remember(turns, scope=me.scope, session=session))


def remember_named(game: Game, me: Tenant) -> Any:
    name: Any = {game.random.choice(("id", "key")): game.random.choice(SHARED)}
    return game.note(me, game.memory.remember(game.text(me), scope=me.scope, **name), made=False)


def recall(game: Game, me: Tenant) -> Any:
    pick = game.random.choice
    how: dict[str, Any] = {
        "where": game.filter(me),
        "unit": pick(("record", "session", "scope")),
        "recipe": pick(("auto", "dialogue", "facts", "exact")),
        "limit": pick((1, 100)),
    }
    return game.memory.recall(game.question(me), scope=game.reach(me), explain=True, least=0, **how)


def mark(game: Game, me: Tenant) -> Any:
    upkeep, trust = game.memory.upkeep, game.memory.trust
    verbs = (upkeep.pin, upkeep.unpin, upkeep.hold, upkeep.release, trust.quarantine, trust.approve)
    verb: Callable[..., Record] = game.random.choice(verbs)
    return verb(game.any_id(me), scope=me.scope, by=me.name)


def maintain(game: Game, me: Tenant) -> Any:
    newest = max((record.created for record in game.alive(me)), default=0.0)
    done = game.memory.upkeep.maintain(
        Scope(me.scope),
        now=newest + game.random.choice((0, 40, 400)) * DAY + 1,
        only=game.random.choice((None, "move", "merge", "summarise", "expire")),
        archive=game.folder / f"archive{game.tenants.index(me)}",
    )
    game.note(me, game.alive(me), made=False)
    return done


def export_and_load(game: Game, me: Tenant) -> Any:
    path = game.folder / f"export{game.tenants.index(me)}.jsonl"
    count = game.memory.export(path, scope=me.scope)
    return count, path.read_text(encoding="utf-8"), game.memory.load(path)


def unarchive(game: Game, me: Tenant) -> Any:
    """From another's archive, confined to my scope."""
    folder = game.folder / f"archive{game.tenants.index(game.other(me))}"
    return game.memory.upkeep.unarchive(folder, scope=me.scope) if folder.exists() else None


def count(game: Game, me: Tenant) -> Any:
    own, stats = len(game.alive(me)), game.memory.admin.stats(me.scope)
    foreign = game.memory.count(Where(scope=Scope(game.other(me).scope)), scope=me.scope)
    below = game.memory.scopes(me.scope)
    assert (stats["records"], foreign, below.get(me.scope, 0)) == (own, 0, own)
    assert all(path == me.scope or path.startswith(f"{me.scope}/") for path in below)
    return stats


Move = Callable[[Game, Tenant], Any]
MOVES: Mapping[str, Move] = {
    "remember": remember,
    "remember_messages": remember_messages,
    "remember_named": remember_named,
    "recall": recall,
    "mark": mark,
    "maintain": maintain,
    "export_and_load": export_and_load,
    "unarchive": unarchive,
    "count": count,
    "context": lambda g, me: g.memory.context(g.question(me) or "x", scope=g.reach(me), where=g.filter(me)),
    "find": lambda g, me: g.memory.find(g.filter(me), scope=g.reach(me), limit=MANY),
    "get": lambda g, me: g.memory.get([g.any_id(me) for _ in range(8)], scope=me.scope),
    "get_one": lambda g, me: g.memory.get(g.any_id(me), scope=me.scope),
    "history": lambda g, me: g.memory.history(g.any_id(me), scope=me.scope),
    "detail": lambda g, me: g.memory.upkeep.detail(g.any_id(me), scope=me.scope),
    "restore": lambda g, me: g.memory.upkeep.restore(g.any_id(me), scope=me.scope),
    "revise": lambda g, me: g.memory.revise(g.any_id(me), scope=me.scope, text=g.text(me)),
    "forget": lambda g, me: g.memory.forget([g.any_id(me), g.any_id(me)], scope=me.scope),
    "forget_where": lambda g, me: g.memory.forget(
        where=(g.filter(me) or EVERY) & Where(importance_max=0.3), scope=me.scope, for_good=False
    ),
    "forget_everything": lambda g, me: g.memory.forget(everything=True, scope=me.scope, for_good=False),
    "preview": lambda g, me: g.memory.trust.preview_forget([g.any_id(me)], scope=me.scope),
    "review": lambda g, me: g.memory.trust.review(scope=me.scope),
    "feedback": lambda g, me: g.memory.feedback(g.any_id(me), useful=True, scope=me.scope),
    "end_session": lambda g, me: g.note(
        me, g.memory.upkeep.end_session(g.random.choice(SESSIONS), scope=me.scope), made=False
    ),
    "rebuild": lambda g, me: g.memory.admin.rebuild(me.scope),
}


def strings(value: object) -> Iterator[str]:
    """Every text in an answer, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, BaseException):
        yield from (str(value), repr(value))
    else:
        if isinstance(value, Hit):
            yield value.why()
        for part in parts_of(value):
            yield from strings(part)


def parts_of(value: object) -> Iterable[object]:
    if isinstance(value, Hit):
        return [value.record, value.superseded_by]
    if isinstance(value, Hits):
        return [value.scope, value.trace, *value]
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, one.name) for one in fields(value)]
    return value if isinstance(value, list | tuple | set | frozenset) else ()


def scopes_of(value: object) -> Iterator[str]:
    if isinstance(value, Record | Event):
        yield value.scope
    for part in parts_of(value):
        yield from scopes_of(part)


def play(memory: Memory, folder: Path, seed: int, moves: int, tenants: int) -> None:
    """Fails at the first leak."""
    random, log, told = Random(seed), logging.getLogger("eidet"), LogLines()
    game = Game(memory, random, folder, [make_tenant(scope, random) for scope in SCOPES[:tenants]])
    for me in game.tenants:  # all have something to lose
        remember_messages(game, me)
        remember(game, me)
    memory.admin.flush()
    level = log.level
    log.addHandler(told)
    log.setLevel(logging.DEBUG)
    try:
        for _ in range(moves):
            take_turn(game, told)
    finally:
        log.removeHandler(told)
        log.setLevel(level)


def take_turn(game: Game, told: LogLines) -> None:
    me, name = game.random.choice(game.tenants), game.random.choice(list(MOVES))
    if name == "forget_everything" and game.random.random() < 0.7:
        return
    watched, game.below = game.other(me), False
    before = {one: game.alive(one) for one in game.tenants if one is not me}
    counts = count_tenant(game, watched)
    try:
        answer = MOVES[name](game, me)
    except EidetError as error:
        answer = error
    game.memory.admin.flush()
    others = [one for one in before if not (game.below and one.scope.startswith(f"{me.scope}/"))]
    for one in others:
        assert game.alive(one) == before[one], f"{name} of {me.scope!r} changed {one.scope!r}"
    if watched in others:
        assert count_tenant(game, watched) == counts, f"{name} of {me.scope!r} counted for {watched.scope!r}"
    said = [*strings(answer), *told.lines]
    told.lines.clear()
    whole, named = "\n".join(said).casefold(), set(scopes_of(answer))
    leaks = [one.scope for one in others if one.secret in whole or one.scope in named]
    assert not leaks, f"{name} of {me.scope!r} tells of {leaks}"
    foreign = set().union(*(game.made.get(one.scope, set()) for one in others))
    known = game.tried.get(me.scope, set())
    assert not (foreign - known) & set(said), f"{name} of {me.scope!r} tells an id of others"


def count_tenant(game: Game, one: Tenant) -> object:
    retrieval = game.memory.admin.stats(one.scope)["retrieval"]
    counted = {name: retrieval.get(name) for name in ("recalls", "listings", "contexts", "forgotten")}
    events = game.memory.history((game.ids.get(one.scope) or ["none"])[-1], scope=one.scope)
    return counted, [event for event in events if event.what != "moved"]  # old moves go with any upkeep


@pytest.mark.parametrize("seed", range(rounds(2, 12)))
def test_nothing_of_one_tenant_reaches_another_in_ram(seed: int, tmp_path: Path) -> None:
    with Memory(embedder="hashing:32") as memory:
        play(memory, tmp_path, seed, 250, len(SCOPES))


def test_nothing_of_one_tenant_reaches_another_in_a_file(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:32") as memory:
        play(memory, tmp_path, 0, 200, 8)


def test_nor_with_weights(tmp_path: Path) -> None:
    settings = Settings(weigh=True, flush_uses=1, guard="label", poison="all")
    with Memory(embedder="hashing:32", settings=settings) as memory:
        play(memory, tmp_path, 2, 250, 8)


def without_scope(where: Where) -> Where:
    """The filter as a careless backend would read it: whoever asks."""
    every, some = (tuple(map(without_scope, parts)) for parts in (where.every, where.some))
    return replace(where, scope=None, every=every, some=some)


class Finds(RamStore):
    def find(self, where: Where, **how: Any) -> list[Record]:
        return super().find(without_scope(where), **how)


class Folds(RamStore):
    """Takes A for a."""

    def read(self, scope: str, keys: Any) -> list[Record | None]:
        found, others = super().read(scope, keys), super().read(scope.casefold(), keys)
        return [one or other for one, other in zip(found, others, strict=True)]


class Logs(Memory):
    def recall(self, query: Any = "", **how: Any) -> Hits:
        for path in self.scopes():
            logging.getLogger("eidet.x").debug("%s", [one.text for one in self.find(scope=path, limit=1)])
        return super().recall(query, **how)


@pytest.mark.parametrize("make", [lambda: Memory(Finds()), lambda: Memory(Folds()), Logs])
def test_a_memory_that_leaks_is_found(make: Callable[[], Memory], tmp_path: Path) -> None:
    with make() as memory, pytest.raises(AssertionError):
        play(memory, tmp_path, 0, 1000, 6)


@pytest.mark.parametrize(
    "scope", ["", "*", "a/*", "/a", "a//b", " a", "a\x00b", "a\u202eb", "\ud800", "x" * 201]
)
def test_no_verb_takes_what_cannot_be_a_scope(scope: str, tmp_path: Path) -> None:
    with Memory(embedder="hashing:32") as memory:
        verbs: tuple[Callable[[], object], ...] = (
            lambda: memory.remember("x", scope=scope),
            lambda: memory.recall("x", scope=scope),
            lambda: memory.context("x", scope=scope),
            lambda: memory.find(scope=scope),
            lambda: memory.get("x", scope=scope),
            lambda: memory.revise("x", scope=scope, text="y"),
            lambda: memory.forget("x", scope=scope),
            lambda: memory.count(scope=scope),
            lambda: memory.history("x", scope=scope),
            lambda: memory.scopes(scope),
            lambda: memory.admin.stats(scope),
            lambda: memory.export(tmp_path / "bad.jsonl", scope=scope),
        )
        for verb in verbs:
            with pytest.raises(BadInput):
                verb()
