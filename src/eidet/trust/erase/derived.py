"""What becomes of a record when something it was made of is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ...core.record import Kind, Record
from ...core.scope import Scope
from ...core.validate import dump_json
from ...core.where import Where
from ...store import Look
from ...store.tombstones import fold_text
from ...text.sentences import sentences

Remake = Callable[[Record, Sequence[Record]], Record]  # an episode, the messages that are left
BY_UPKEEP: Final = "upkeep"
FEWEST_SAYING: Final = 2  # episodes that must still say a fact
SHORTEST: Final = 8  # characters: what is shorter is found in too many texts to mean anything


def remake_record(
    old: Record, gone: Mapping[str, str], news: Mapping[str, Record], look: Look, remake: Remake
) -> Record | None:
    """The record without what is gone (texts by id); None if nothing of it can stay.

    `news` are records of the scope that were made anew before it, by id.
    """
    new = _without_links(old, gone)
    lost = [id for id in new.derived_from if id in gone]
    changed = [id for id in new.derived_from if id in news]
    if lost or (changed and new.kind is Kind.FACT and new.source == BY_UPKEEP):
        made = _from_the_rest(new, lost, news, look, remake)
        if made is None:
            return None
        new = made
    if _tells(new, gone.values()):
        return None
    return new


def _without_links(old: Record, gone: Mapping[str, str]) -> Record:
    """Without the parts that upkeep merged into it."""
    state = old.state
    loose = {part.id for part in state.merged if part.id in gone}
    if not loose:
        return old
    state = state.but(merged=tuple(part for part in state.merged if part.id not in loose))
    return old.but(state=state, derived_from=tuple(id for id in old.derived_from if id not in loose))


def _from_the_rest(
    old: Record, lost: Sequence[str], news: Mapping[str, Record], look: Look, remake: Remake
) -> Record | None:
    """An episode is worded anew from what is left; a fact or a triple stays if it is still said."""
    rest = tuple(id for id in old.derived_from if id not in lost)
    if old.kind is Kind.TRIPLE and rest:
        return old.but(derived_from=rest)  # somebody still says it
    if old.source != BY_UPKEEP or not rest:
        return None
    left = list(look.scan(Where(scope=Scope(old.scope), ids=rest)))
    if old.kind is Kind.EPISODE and left:
        return remake(old.but(derived_from=rest), left)
    if old.kind is Kind.FACT and old.state.worded_by == "rules":
        saying = []
        for source in left:
            if _says(news.get(source.id, source), old.whole.text):
                saying.append(source)
        if len(saying) >= FEWEST_SAYING:
            return old.but(derived_from=tuple(source.id for source in saying))
    return None


def _says(episode: Record, fact: str) -> bool:
    """Whether each sentence of the fact is one of the episode's; who said it stands before it."""
    who, colon, rest = fact.partition(": ")
    spoken = rest if colon and len(who) <= 60 else fact
    text = fold_text(episode.whole.text)
    return all(fold_text(sentence) in text for sentence in sentences(spoken))


def _tells(record: Record, texts: Iterable[str]) -> bool:
    """Whether a forgotten text is in it, word for word."""
    whole = record.whole
    values = (whole.data, dict(whole.meta), whole.state.to_json())
    content = fold_text("\n".join((whole.text, *map(dump_json, values))))
    return any(len(text) >= SHORTEST and text in content for text in map(fold_text, texts))
