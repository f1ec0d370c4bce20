"""What goes when something is forgotten for good: the records, their copies, and what was made of them.

Pure but for `Reader`, which reads the store inside of the write that makes it happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from ...core.record import Kind, Record
from ...core.scope import Scope
from ...core.validate import dump_json
from ...core.where import Where
from ...store import BELOW_MARK, SCOPE_MARK, Erasure, Reader, Tombstone
from ...store.rules import Held
from ...store.tombstones import Marker, fold_text, list_absorbed, list_earlier
from ...store.verbs.erasing import DERIVED

SHORTEST: Final = 8  # characters: what is shorter is found in too many texts to mean anything


def _remake_record(old: Record, gone: Mapping[str, str]) -> Record | None:
    """The record without what is gone (texts by id); None if it goes too, as upkeep can make it again."""
    new = _without_links(old, gone)
    rest = tuple(id for id in new.derived_from if id not in gone)
    if len(rest) < len(new.derived_from):
        if new.kind is not Kind.TRIPLE or not rest:
            return None
        new = new.but(derived_from=rest)  # somebody still says it
    return None if _tells(new, gone.values()) else new


def _without_links(old: Record, gone: Mapping[str, str]) -> Record:
    """Removes the parts that upkeep merged into it."""
    state = old.state
    loose = {part.id for part in state.merged if part.id in gone}
    if not loose:
        return old
    state = state.but(merged=tuple(part for part in state.merged if part.id not in loose))
    return old.but(state=state, derived_from=tuple(id for id in old.derived_from if id not in loose))


def _tells(record: Record, texts: Iterable[str]) -> bool:
    """Tells whether it contains a forgotten text word for word."""
    whole = record.whole
    values = (whole.data, dict(whole.meta), whole.state.to_json())
    content = fold_text("\n".join((whole.text, *map(dump_json, values))))
    return any(len(text) >= SHORTEST and text in content for text in map(fold_text, texts))


# What becomes of a record when something it was made of is forgotten.

WHOLESALE: Final = 5_000  # records of a whole scope that are deleted without being read first
Key = tuple[str, str]  # scope, id


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a caller wants forgotten: `where` is confined to `scope`.

    `entombs`: what it says may not come back. `ends`: nor may anything the scope held until now.
    `wholesale`: it is deleted without being read, because it is much, or damaged.
    """

    where: Where
    scope: Scope
    ids: tuple[str, ...] = ()
    entombs: bool = True
    ends: bool = False
    wholesale: bool = False


@dataclass(slots=True)
class Doom:
    """What will go, as it is found. Records are kept without vectors and terms."""

    asked: list[Record] = field(default_factory=list)
    copies: list[Record] = field(default_factory=list)
    dropped: list[Record] = field(default_factory=list)
    anew: list[tuple[Record, Record]] = field(default_factory=list)
    parts: list[Record] = field(default_factory=list)  # that upkeep had made part of others
    earlier: list[Record] = field(default_factory=list)  # what they said in versions before
    archived: list[Record] = field(default_factory=list)
    stones: list[Tombstone] = field(default_factory=list)

    @property
    def gone(self) -> list[Record]:
        return [*self.asked, *self.copies, *self.dropped]

    @property
    def said(self) -> Iterator[Record]:
        """Yields everything whose words must not remain anywhere."""
        yield from (record.whole for record in (*self.gone, *self.archived))
        yield from self.parts
        yield from self.earlier

    def erasure(self, wish: Wish) -> Erasure:
        if wish.wholesale or wish.ends:  # by its filter, a scope also loses its tallies
            return Erasure(where=wish.where, stones=self.stones)
        return Erasure(gone=self.gone, anew=self.anew, stones=self.stones)


def doom_of(look: Reader, wish: Wish, marker: Marker, archived: Sequence[Record]) -> Doom:
    """`Held` if anything of it is under a legal hold. `archived` is what archives hold of it.

    What is deleted wholesale is not read here: the store looks for holds while it deletes.
    """
    doom = Doom(archived=[_slim(record) for record in archived])
    if not wish.wholesale:
        doom.asked = [_slim(record) for record in look.scan(wish.where)]
        _add_copies(doom, look, wish, marker)
        _add_derived(doom, look, wish)
        _check_free([*doom.gone, *(old for old, _ in doom.anew)])
    for record in doom.gone:
        if record.version > 1:
            doom.earlier += list_earlier(record, look.history(record.scope, record.id))
    doom.stones = list(dict.fromkeys(_stones(doom, wish, marker)))
    return doom


def _slim(record: Record) -> Record:
    """A hundred thousand of them must fit into memory."""
    return record.but(vector=None, terms=b"")


def _check_free(records: Sequence[Record]) -> None:
    """Checks for holds, derived records included."""
    if held := [(record.scope, record.id) for record in records if record.state.hold is not None]:
        raise Held(held, "forgotten")


def _add_copies(doom: Doom, look: Reader, wish: Wish, marker: Marker) -> None:
    """Other records of the scope that say the very same."""
    if not wish.entombs or wish.ends:
        return
    telling = [record for record in doom.asked if marker.of_record(record) is not None]
    doom.copies = [_slim(record) for record in look.twins(telling)] if telling else []


def _add_derived(doom: Doom, look: Reader, wish: Wish) -> None:
    """Adds derived records until nothing more follows from what went."""
    known = {(record.scope, record.id) for record in doom.gone}
    made = Where(scope=wish.scope, conditions=(DERIVED,))
    derived = [one for one in look.scan(made) if (one.scope, one.id) not in known]
    absorbed = chain.from_iterable(map(list_absorbed, derived))
    doom.parts = [part for part in absorbed if wish.where.matches(part)]
    texts = {(r.scope, r.id): r.whole.text for r in (*doom.gone, *doom.parts)}
    if not wish.scope.below:
        texts |= {(wish.scope.path, id): texts.get((wish.scope.path, id), "") for id in wish.ids}
    news: dict[Key, tuple[Record, Record]] = {}
    left = {(record.scope, record.id): record for record in derived}
    before = 0
    while before < len(texts):
        before = len(texts)
        for key, old in list(left.items()):
            gone = {id: texts[old.scope, id] for id in old.derived_from if (old.scope, id) in texts}
            new = _remake_record(old, gone) if gone else None
            if new is not None:
                news[key] = (old, new)
            elif gone:
                texts[key] = old.whole.text
                news.pop(key, None)
                del left[key]
    doom.dropped = [_slim(record) for record in derived if (record.scope, record.id) not in left]
    doom.anew = list(news.values())


def _stones(doom: Doom, wish: Wish, marker: Marker) -> Iterator[Tombstone]:
    if wish.ends:
        yield Tombstone(wish.scope.path, BELOW_MARK if wish.scope.below else SCOPE_MARK)
    if not wish.entombs:
        return
    if wish.wholesale and not wish.scope.below:
        yield from (Tombstone(wish.scope.path, marker.of_id(wish.scope.path, id)) for id in wish.ids)
    for record in (
        *doom.gone,
        *doom.archived,
    ):  # what was made of others may be made again, but not come back as it was
        yield Tombstone(record.scope, marker.of_id(record.scope, record.id))
    own = (*doom.asked, *doom.copies, *doom.archived)
    within = chain.from_iterable(map(list_absorbed, own))
    ids = {(record.scope, record.id) for record in own}
    earlier = (record for record in doom.earlier if (record.scope, record.id) in ids)
    for record in (*own, *doom.parts, *within, *earlier):
        if (mark := marker.of_record(record)) is not None:
            yield Tombstone(record.scope, mark)
    for part in doom.parts:
        yield Tombstone(part.scope, marker.of_id(part.scope, part.id))
