"""The game: tenants take turns at random; after each move nothing of the others may have changed or shown."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from ..core.errors import BadInput, EidetError
from ..memory import Memory
from . import checks, moves
from .moves import Done, Move, Stage
from .seen import LogLines, scopes_told, strings
from .tenants import Tenant, tenants_of

_MOST: Final = 20  # leaks that are told before the game is given up
READS: Final[tuple[Move, ...]] = (
    *(moves.recall, moves.recall, moves.context, moves.find, moves.get, moves.history, moves.detail),
    *(moves.review, moves.export, moves.preview_forget, moves.verify_forgotten),
    *(checks.count, checks.stats, checks.metrics, checks.scopes, checks.check_phrased, checks.check_refusals),
)
WRITES: Final[tuple[Move, ...]] = (
    *(moves.remember, moves.remember, moves.remember_messages, moves.remember_named, moves.remember_drafts),
    *(moves.revise, moves.forget, moves.forget_where, moves.forget_old, moves.forget_everything),
    *(moves.feedback, moves.mark, moves.restore, moves.end_session, moves.maintain, moves.load),
    *(moves.unarchive, moves.rebuild),
)
_COUNTED: Final = ("recalls", "listings", "contexts", "forgotten", "judged_by", "hits_per_recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """What of `owner` reached `seen_by`, by which verb, at which move of the game."""

    verb: str
    seen_by: str
    owner: str
    what: str
    move: int

    def __str__(self) -> str:
        return f"move {self.move}, {self.verb} by {self.seen_by!r:.80}: {self.what} (of {self.owner!r:.80})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzReport:
    """How a game went. `verbs` counts the moves; `refusals` those that ended in an error."""

    tenants: int
    seed: int
    operations: int = 0
    verbs: Mapping[str, int] = field(default_factory=dict)
    refusals: int = 0
    leaks: tuple[Leak, ...] = ()

    def __bool__(self) -> bool:
        """Tells whether anything leaked."""
        return bool(self.leaks)

    def __str__(self) -> str:
        played = f"{self.operations:,} moves of {self.tenants} tenants (seed {self.seed})"
        leaks = "\n".join(map(str, self.leaks))
        return f"{played}: {len(self.leaks)} leaks\n{leaks}" if leaks else f"{played}: no leaks"


def leaks(
    make: Callable[[], Memory],
    *,
    tenants: int = 8,
    operations: int = 2000,
    seed: int = 0,
    most: int = _MOST,
) -> FuzzReport:
    """Plays on a memory that `make` opens (empty, and closed afterwards); what leaked is in the report.

    After each move no answer, explanation, error, export or log line may hold anything of another
    tenant, and no record, history or count of another may have changed. The same seed plays the same
    game. Gives up after `most` leaks.
    """
    if isinstance(operations, bool) or not isinstance(operations, int) or operations < 1:
        raise BadInput(f"operations must be a whole number from 1 up, not {operations!r}")
    random = Random(seed)  # noqa: S311  a game, no secret
    players = tenants_of(tenants, random)
    with tempfile.TemporaryDirectory(prefix="eidet-leaks-") as folder, make() as memory:
        if memory.scopes():
            raise BadInput("the memory already has records: the fuzzer needs an empty one")
        stage = Stage(memory, random, players, Path(folder))
        return _Game(stage, most).play(operations, seed)


def assert_no_leaks(make: Callable[[], Memory], **how: Any) -> None:
    """Runs `leaks` for a test: fails with the report."""
    if report := leaks(make, **how):
        raise AssertionError(str(report))


class _Game:
    def __init__(self, stage: Stage, most: int) -> None:
        self._stage = stage
        self._most = most
        self._found: list[Leak] = []
        self._verbs: Counter[str] = Counter()
        self._refusals = 0
        self._records: dict[str, object] = {}  # of each tenant, as they were when last looked at
        self._lines = LogLines()

    def play(self, operations: int, seed: int) -> FuzzReport:
        log = logging.getLogger("eidet")
        level = log.level
        log.addHandler(self._lines)
        log.setLevel(logging.DEBUG)
        try:
            done = self._play(operations)
        finally:
            log.removeHandler(self._lines)
            log.setLevel(level)
        return FuzzReport(
            tenants=len(self._stage.tenants),
            seed=seed,
            operations=done,
            verbs=dict(self._verbs),
            refusals=self._refusals,
            leaks=tuple(self._found),
        )

    def _play(self, operations: int) -> int:
        for me in self._stage.tenants:  # all have something to lose
            for _ in range(3):
                moves.remember_messages(self._stage, me)
                moves.remember(self._stage, me)
        self._stage.memory.admin.flush()
        self._records = {one.scope: self._living_records(one) for one in self._stage.tenants}
        for number in range(operations):
            self._move(number)
            if len(self._found) >= self._most:
                return number + 1
        return operations

    def _move(self, number: int) -> None:
        stage = self._stage
        me = stage.random.choice(stage.tenants)
        writes = stage.random.random() < 0.5
        move = stage.random.choice(WRITES if writes else READS)
        watched = stage.other(me)
        before = self._count_tenant(watched)
        done = self._make_move(move, me)
        stage.memory.admin.flush()
        others = [one for one in stage.tenants if not me.may_see(one, below=done.below)]
        looked_at = [one for one in others if writes or one is watched]
        leaks = [*self._find_told(done, others), *self._find_changes(looked_at, before, watched)]
        verb = move.__name__
        self._found += [
            Leak(verb=verb, seen_by=me.scope, owner=owner, what=what, move=number) for owner, what in leaks
        ]
        self._found += [
            Leak(verb=verb, seen_by=me.scope, owner="others", what=w, move=number) for w in done.wrong
        ]
        for one in stage.tenants:
            if one not in others or leaks:
                self._records[one.scope] = self._living_records(one)

    def _make_move(self, move: Move, me: Tenant) -> Done:
        """Makes the move; one that is refused answers with its error."""
        self._verbs[move.__name__] += 1
        try:
            return move(self._stage, me)
        except EidetError as error:
            self._refusals += 1
            return Done(error)

    def _find_told(self, done: Done, others: list[Tenant]) -> Iterator[tuple[str, str]]:
        """Finds what of others is in the answer and in the log."""
        strings_found = list(strings(done.answer))
        for where, lines in (("the answer", strings_found), ("the log", self._lines.take())):
            whole = "\n".join(lines).casefold()
            yield from ((one.scope, f"{where} holds its words") for one in others if one.secret in whole)
        named = set(scopes_told(done.answer))
        yield from ((one.scope, "the answer names its scope") for one in others if one.scope in named)
        foreign = self._foreign_ids(others)
        yield from ((foreign[id], "the answer names an id") for id in {*strings_found} & foreign.keys())

    def _foreign_ids(self, others: list[Tenant]) -> dict[str, str]:
        """Returns ids that only others can know: made for them, and never tried by the observer."""
        seen = [one for one in self._stage.tenants if one not in others]
        tried: set[str] = set()
        for one in seen:
            tried.update(self._stage.tried.get(one.scope, ()))
        foreign: dict[str, str] = {}
        for other in others:
            made = self._stage.made.get(other.scope, ())
            foreign |= {id: other.scope for id in made if id not in tried}
        return foreign

    def _find_changes(
        self, looked_at: list[Tenant], counted: object, watched: Tenant
    ) -> Iterator[tuple[str, str]]:
        for one in looked_at:
            if self._living_records(one) != self._records[one.scope]:
                yield one.scope, "its records were changed"
        if watched in looked_at and self._count_tenant(watched) != counted:
            yield watched.scope, "its counts or its history were changed"

    def _living_records(self, one: Tenant) -> object:
        return sorted(self._stage.alive(one), key=lambda record: record.id)

    def _count_tenant(self, one: Tenant) -> object:
        """Returns the counts of a tenant, and the history of one of its records."""
        memory, stage = self._stage.memory, self._stage
        retrieval = memory.admin.stats(one.scope)["retrieval"]
        known = stage.ids.get(one.scope) or ["none"]
        events = memory.history(known[-1], scope=one.scope)
        return {name: retrieval.get(name) for name in _COUNTED}, events
