"""The fields of hashes that jobs read and write: ids, digests, histories and small values alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .commit_plan import CommitPlan
from .known import Known, Stored
from .tables import Hash, Place


class Fields:
    """Guards what is read, and shows a job what it has set itself.

    With `guess`, nothing is read: fields are taken to be as this process last knew them. `guessed` tells
    that a job asked for one that nobody has read, `unsure` that it needed more than can be guessed.
    """

    def __init__(self, known: Known, plan: CommitPlan, *, guess: bool) -> None:
        self._known, self._plan = known, plan
        self.guess, self.guessed, self.unsure = guess, False, False
        self._own: dict[Hash, dict[Any, bytes | None]] = {}
        self._cleared: set[Hash] = set()

    def want(self, places: Iterable[Place]) -> None:
        """Reads those that are not known yet, and all that was wanted before, in one round trip."""
        wanted = dict.fromkeys(places)
        self._known.wanted.update(wanted)
        if not self.guess and not wanted.keys() <= self._known.fields.keys():
            self._known.fetch()

    def read(self, places: Sequence[Place]) -> list[Stored]:
        self.want(place for place in places if not self._is_own(place))
        return [self.at(place) for place in places]

    def at(self, place: Place) -> Stored:
        """A field that was wanted before, or is guessed."""
        if self._own and self._is_own(place):
            return Stored(self._own.get(place[:2], {}).get(place[2]))
        found = self._known.fields.get(place)
        if found is None:
            found, self.guessed = self._known.guess(place), True
        self._plan.guard(place, found.value or b"")
        return found

    def read_hashes(self, hashes: Sequence[Hash], versions: Sequence[Place]) -> list[dict[bytes, bytes]]:
        """All fields of hashes. `versions` are fields that rise when somebody changes one."""
        self._known.wanted.update(dict.fromkeys((*one, None) for one in hashes))
        if not self.guess:
            self._known.wanted.update(dict.fromkeys(versions))
            self._known.fetch()
        self.read(versions)
        self.unsure = self.unsure or self.guess
        return [self.merge(one) for one in hashes]

    def merge(self, one: Hash) -> dict[bytes, bytes]:
        """A hash as it was read, with what was set here."""
        fields: dict[bytes, bytes] = {}
        if one not in self._cleared:
            fields.update(self._known.hashes.get(one, {}))
        for field, value in self._own.get(one, {}).items():
            name = field.encode() if isinstance(field, str) else field
            if value is None:
                fields.pop(name, None)
            else:
                fields[name] = value
        return fields

    def show(self, place: Place, value: bytes) -> None:
        """A job sees this from now on; whoever calls writes it."""
        self._own.setdefault(place[:2], {})[place[2]] = value

    def set(self, scope: str, letter: str, fields: Mapping[Any, bytes | None]) -> None:
        """Sets fields of a hash; None removes one."""
        self._own.setdefault((scope, letter), {}).update(fields)
        pairs: list[Any] = []
        gone = []
        for field, value in fields.items():
            if value is None:
                gone.append(field)
            else:
                pairs += (field, value)
        if pairs:
            self._plan.run(scope, "HSET", letter, *pairs)
        if gone:
            self._plan.run(scope, "HDEL", letter, *gone)

    def clear(self, scope: str, letter: str) -> None:
        self._cleared.add((scope, letter))
        self._own[scope, letter] = {}
        self._plan.run(scope, "DEL", letter)

    def _is_own(self, place: Place) -> bool:
        one = place[:2]
        return place[2] in self._own.get(one, ()) or one in self._cleared
