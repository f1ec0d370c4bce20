"""Plans an erasure: the records to delete, their copies, and the records derived from them.

Pure except for `Reader`, which reads the store within the write that applies the plan.
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

SHORTEST: Final = 8  # characters: shorter texts occur in too many others by chance


def _remake_record(old: Record, gone: Mapping[str, str]) -> Record | None:
    """Returns the record without the forgotten sources (texts by id).

    None if the record must be deleted too, which is no loss, because upkeep can derive it again.
    """
    new = _without_links(old, gone)
    rest = tuple(id for id in new.derived_from if id not in gone)
    if len(rest) < len(new.derived_from):
        if new.kind is not Kind.TRIPLE or not rest:
            return None
        new = new.but(derived_from=rest)  # another source still states the fact
    return None if _tells(new, gone.values()) else new


def _without_links(old: Record, gone: Mapping[str, str]) -> Record:
    """Removes forgotten parts that upkeep merged into the record."""
    state = old.state
    loose = {part.id for part in state.merged if part.id in gone}
    if not loose:
        return old
    state = state.but(merged=tuple(part for part in state.merged if part.id not in loose))
    return old.but(state=state, derived_from=tuple(id for id in old.derived_from if id not in loose))


def _tells(record: Record, texts: Iterable[str]) -> bool:
    """Returns whether the record contains a forgotten text word for word."""
    whole = record.whole
    values = (whole.data, dict(whole.meta), whole.state.to_json())
    content = fold_text("\n".join((whole.text, *map(dump_json, values))))
    return any(len(text) >= SHORTEST and text in content for text in map(fold_text, texts))


# Planning.

WHOLESALE: Final = 5_000  # a whole scope with more records than this is deleted unread
Key = tuple[str, str]  # scope, id


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A request to forget the records that match `where`, which is confined to `scope`.

    `entombs`: their content may not be stored again. `ends`: nothing that the scope held so far may return.
    `wholesale`: the records are deleted unread, because they are many, or damaged.
    """

    where: Where
    scope: Scope
    ids: tuple[str, ...] = ()
    entombs: bool = True
    ends: bool = False
    wholesale: bool = False


@dataclass(slots=True)
class Doom:
    """The plan of an erasure. Records are held without vectors and terms."""

    asked: list[Record] = field(default_factory=list)
    copies: list[Record] = field(default_factory=list)
    dropped: list[Record] = field(default_factory=list)
    anew: list[tuple[Record, Record]] = field(default_factory=list)
    parts: list[Record] = field(default_factory=list)  # that upkeep had merged into other records
    earlier: list[Record] = field(default_factory=list)  # earlier versions of the deleted records
    archived: list[Record] = field(default_factory=list)
    stones: list[Tombstone] = field(default_factory=list)

    @property
    def gone(self) -> list[Record]:
        return [*self.asked, *self.copies, *self.dropped]

    @property
    def said(self) -> Iterator[Record]:
        """Yields every record, part and earlier version whose content must not remain anywhere."""
        yield from (record.whole for record in (*self.gone, *self.archived))
        yield from self.parts
        yield from self.earlier

    def erasure(self, wish: Wish) -> Erasure:
        if wish.wholesale or wish.ends:  # by its filter, a scope also loses its tallies
            return Erasure(where=wish.where, stones=self.stones)
        return Erasure(gone=self.gone, anew=self.anew, stones=self.stones)


def doom_of(look: Reader, wish: Wish, marker: Marker, archived: Sequence[Record]) -> Doom:
    """Plans an erasure. Raises `Held` if any record is under a legal hold. `archived`: matches in archives.

    Does not read records that are deleted wholesale: the store looks for holds while it deletes.
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
    """Drops vector and terms, so that a hundred thousand records fit into memory."""
    return record.but(vector=None, terms=b"")


def _check_free(records: Sequence[Record]) -> None:
    """Raises `Held` if one of the records is under a legal hold."""
    if held := [(record.scope, record.id) for record in records if record.state.hold is not None]:
        raise Held(held, "forgotten")


def _add_copies(doom: Doom, look: Reader, wish: Wish, marker: Marker) -> None:
    """Adds other records of the scope with exactly the same content."""
    if not wish.entombs or wish.ends:
        return
    telling = [record for record in doom.asked if marker.of_record(record) is not None]
    doom.copies = [_slim(record) for record in look.twins(telling)] if telling else []


def _add_derived(doom: Doom, look: Reader, wish: Wish) -> None:
    """Adds derived records, transitively: those to delete and those to change."""
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
    ):  # a derived record may be derived again, but its old form may not return
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
