"""The progress of a copy, kept in the target, and the settings and tombstones that go along."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Final, Self

from ..core.errors import Conflict
from ..core.scope import Scope
from ..core.validate import dump_json
from ..core.where import Where
from ..store import TOMBSTONES, Store, verbs
from ..store.model import BELOW_MARK, SCOPE_MARK
from ..store.traits import is_sealed
from ..upkeep.archive import SETTING as ARCHIVES

HELD_SECONDS = 10.0
_PAUSE_SECONDS: Final = 0.1
_NUMBERS: Final = "number of "  # series of numbers that are given once
_MARKS: Final = "secret:marks"  # keys the marks by which a store knows what it has forgotten for good
_HIDDEN_NAMES: Final = "secret:names"  # by which doors find scopes of theirs that nobody can guess


class Mark:
    """The seq of a source up to which a scope has been copied."""

    def __init__(self, source: Store, target: Store, scope: Scope | None) -> None:
        self._source, self._target = source, target
        self._all = f"copied:{source.identity}:"
        self._name = self._all + ("" if scope is None else str(scope))

    def since(self) -> int:
        """The seq to go on from; 0 to begin anew, also if the source was restored from an older copy."""
        return max(self._read_seq(name) for name in {self._name, self._all})

    def _read_seq(self, name: str) -> int:
        text = verbs.get_setting(self._target, name)
        if text is None:
            return 0
        seq, witness = json.loads(text)
        there = verbs.fingerprint(self._source, seq)
        other = witness is not None and there is not None and there != witness
        return 0 if other or seq > self._source.head().seq else int(seq)

    def write(self, seq: int) -> None:
        text = dump_json([seq, verbs.fingerprint(self._source, seq)])
        if verbs.get_setting(self._target, self._name) != text:
            verbs.set_settings(self._target, {self._name: text})


class CopyLease:
    """One copy at a time from a source into a target, in whatever process; renewed batch by batch.

    Whoever is killed keeps the next one waiting for `HELD_SECONDS`.
    """

    def __init__(self, source: Store, target: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = target, clock
        self._name, self._owner = f"copy:{source.identity}", uuid.uuid4().hex

    def renew(self) -> bool:
        now = self._clock()
        return verbs.take_lease(self._store, self._name, self._owner, now=now, until=now + HELD_SECONDS)

    def __enter__(self) -> Self:
        deadline = time.monotonic() + 2 * HELD_SECONDS
        while not self.renew():
            if time.monotonic() > deadline:
                raise Conflict("another copy from this source into this target is running: wait for it")
            time.sleep(_PAUSE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        verbs.take_lease(self._store, self._name, self._owner, now=self._clock(), until=0.0)


def copy_settings(source: Store, target: Store) -> None:
    """Numbers that were given stay given, and archives that may have to be cleaned stay known."""
    wanted = {
        name: value
        for name, value in verbs.get_settings(source, _NUMBERS).items()
        if int(value) > int(verbs.get_setting(target, name) or 0)
    }
    ours, theirs = (json.loads(verbs.get_setting(store, ARCHIVES) or "[]") for store in (source, target))
    if unknown := [place for place in ours if place not in theirs]:
        wanted[ARCHIVES] = dump_json([*theirs, *unknown])
    hidden = verbs.get_setting(source, _HIDDEN_NAMES)
    if hidden is not None and verbs.get_setting(target, _HIDDEN_NAMES) is None:
        wanted[_HIDDEN_NAMES] = hidden
    if wanted:
        verbs.set_settings(target, wanted)


def copy_tombstones(source: Store, target: Store, scope: Scope | None) -> None:
    """Lets a target that has forgotten nothing for good yet refuse what the source refuses.

    Marks are keyed: the secret goes along. A target with a secret of its own could not compare them, and one
    that is not sealed does not get to know the secret of a sealed source.
    """
    secret = verbs.get_setting(source, _MARKS)
    exposed = is_sealed(source) and not is_sealed(target)
    if secret is None or exposed:
        return
    verbs.set_settings(target, {_MARKS: secret}, fresh=True)
    if verbs.get_setting(target, _MARKS) != secret:
        return
    ours, there = source.values(TOMBSTONES, within=scope), target.values(TOMBSTONES, within=scope)
    keyed = {key: since for key, since in ours.items() if key[1] not in (SCOPE_MARK, BELOW_MARK)}
    stones = {key: since for key, since in keyed.items() if key not in there or there[key] < since}

    if stones:
        target.write(lambda transaction: transaction.set_values(TOMBSTONES, stones))


def notes_about(source: Store, target: Store, guarded: bool, where: Where) -> tuple[str, ...]:
    """Remarks for whoever reads the result."""
    notes = []
    if not verbs.count(source, where):
        place = "" if where.scope is None else f" in scope {where.scope}"
        notes.append(f"the source holds no memories{place}: is it the one that was meant?")
    if verbs.get_setting(source, _MARKS) not in (None, verbs.get_setting(target, _MARKS)):
        notes.append(
            "the source has forgotten memories for good: the target does not know which, because only "
            "keyed hashes of them are left; what it had of them from an earlier copy is gone there, too"
        )
    if guarded:
        notes.append("the target has a guard, which words records its own way: only ids were compared")
    return tuple(notes)
