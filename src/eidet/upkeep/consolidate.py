"""What several records are to each other: duplicates and updates, episodes of sessions, facts of episodes.

Pure but for the embedder that sentences are compared by. Each takes the records of one scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from ..core.record import Kind, Record, key_id
from ..core.settings import Upkeep
from ..core.state import MergedPart
from ..models.embed import Vectors
from ..models.embed.quantise import first_rows
from ..text.analysis import terms_in
from ..text.sentences import sentences
from . import Ask, Change, Write, is_protected
from .clusters import clusters
from .informativeness import telling
from .same_or_update import Likeness, Verdict, relation

WINDOW: Final = 8_192  # facts that are compared with each other; of more, so many at a time
COMPARED: Final = 8  # earlier ones of a group that a record is read against
MOST_OTHER: Final = 6  # words of one that the other lacks
FEWEST: Final = 3  # messages of an episode
LINKED: Final = 2_000  # messages that an episode names; of a longer session, the last ones
SIMILAR: Final = 0.8  # cosine of sentences that say one thing
TELLING: Final = 0.35  # how telling a sentence is that becomes a fact
EPISODES: Final = 1_000  # looked through for facts, the newest
_PREFIX: Final = re.compile(r"^(?:\[[^\]]*\]\s*)?(?:([^:\n]{1,60}):\s)?")

Embed = Callable[[Sequence[str]], Vectors]


# Duplicates and updates.


def merge(
    records: Iterable[Record], settings: Upkeep, width: int, *, language: str = "en", since: int = -1
) -> Iterator[Change]:
    """Facts that say the same become one with its sources; an update is kept and linked as newer.

    Stretches without anything that was written after seq `since` were compared before: they are passed over.
    """
    walk = iter(records)
    while window := sorted(islice(walk, WINDOW), key=lambda record: (record.created, record.id)):
        if max(record.seq for record in window) > since:
            by_id = {record.id: record for record in window}
            for group in clusters(list(by_id), _matrix(window, width), settings.alike):
                yield from _compare_group([by_id[id] for id in group], width, language, settings.alike)


def _matrix(records: Sequence[Record], width: int) -> Vectors:
    return first_rows([record.vector for record in records], [record.level for record in records], width)


def _compare_group(group: Sequence[Record], width: int, language: str, alike: float) -> Iterator[Change]:
    """Each record of a group against those before it, newest first."""
    unit = _matrix(group, width)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    kept: list[tuple[int, Record]] = []
    absorbed: dict[str, list[tuple[Record, str]]] = {}
    for at, new in enumerate(group):
        found = _nearest_kin(at, new, kept, unit, language, alike)
        if found is not None and found[1].relation is Likeness.SAME and _can_merge(found[0], new):
            absorbed.setdefault(found[0].id, []).append((new, found[1].because))
            continue
        if found is not None and found[1].relation is Likeness.UPDATE:
            yield from _link(found[0], new, found[1].because)
        kept.append((at, new))
    for _, old in kept:
        if old.id in absorbed:
            yield _absorbing(old, absorbed[old.id])


def _nearest_kin(
    at: int, new: Record, kept: Sequence[tuple[int, Record]], unit: Vectors, language: str, alike: float
) -> tuple[Record, Verdict] | None:
    for place, old in reversed(kept[-COMPARED:]):
        cosine = float(unit[at] @ unit[place])
        if cosine < alike or not _share_words(old, new):
            continue
        judged = relation(old.whole.text, new.whole.text, cosine, language=language)
        if judged.relation is Likeness.UPDATE and not new.occurred > old.occurred:
            continue  # said at one time, they are two things
        if judged.relation is not Likeness.DIFFERENT and (old.who, old.kind) == (new.who, new.kind):
            return old, judged
    return None


def _share_words(old: Record, new: Record) -> bool:
    """Whether one could be the other in other words: reading closely costs a millisecond."""
    one, other = terms_in(old.terms), terms_in(new.terms)
    return min(len(one - other), len(other - one)) <= MOST_OTHER


def _can_merge(old: Record, new: Record) -> bool:
    """Not what is protected, and not what differs in anything that a part of another would not keep.

    Nobody is trusted more or less for it, and nothing hides what it was made of.
    """
    return (
        _key_apart(old) == _key_apart(new)
        and set(new.derived_from) <= {*old.derived_from, *_links_of(new)}
        and not is_protected(old)
        and not is_protected(new)
    )


def _key_apart(record: Record) -> tuple[object, ...]:
    return (
        record.whole.data,
        record.place,
        record.agent,
        record.step,
        record.trust,
        record.expires,
        record.state.ttl,
    )


def _links_of(record: Record) -> Iterator[str]:
    """What upkeep itself has noted among the sources of a record."""
    if record.state.updates is not None:
        yield record.state.updates
    for part in record.state.merged:
        yield part.id


def _absorbing(old: Record, others: Sequence[tuple[Record, str]]) -> Write:
    parts = tuple(_part_of(new) for new, _ in others)
    record = old.but(
        derived_from=tuple(dict.fromkeys((*old.derived_from, *(new.id for new, _ in others)))),
        importance=max(old.importance, *(new.importance for new, _ in others)),
        state=old.state.but(merged=(*old.state.merged, *parts)),
    )
    ids = ", ".join(new.id for new, _ in others)
    because = f"{ids} said the same ({others[0][1]})"
    return Write(
        what="merge", record=record, because=because, instead=old, absorbs=tuple(new for new, _ in others)
    )


def _part_of(new: Record) -> MergedPart:
    """What is kept of a record that became part of another: all that the other does not say."""
    return MergedPart(
        id=new.id,
        text=new.whole.text,
        occurred=new.occurred,
        source=new.source,
        session=new.session,
        importance=new.importance,
        meta=dict(new.meta),
        state=new.state,
    )


def _link(old: Record, new: Record, because: str) -> Iterator[Change]:
    """Both stay: the newer one says what it is derived from, the older one what it was updated by."""
    if new.state.updates != old.id and not is_protected(new):
        record = new.but(
            state=new.state.but(updates=old.id),
            derived_from=tuple(dict.fromkeys((*new.derived_from, old.id))),
        )
        yield Write(what="merge", record=record, because=f"newer than {old.id}: {because}", instead=new)
    if old.state.updated_by != new.id and not is_protected(old):
        record = old.but(state=old.state.but(updated_by=new.id))
        yield Write(what="merge", record=record, because=f"updated by {new.id}: {because}", instead=old)


# Episodes of sessions.


@dataclass(slots=True)
class Talk:
    """A session so far: how many messages, and when the first and the last were said."""

    count: int = 0
    first: float = float("inf")
    last: float = float("-inf")

    def add(self, record: Record) -> None:
        self.count += 1
        self.first, self.last = min(self.first, record.occurred), max(self.last, record.occurred)


def talks_of(messages: Iterable[Record]) -> dict[str, Talk]:
    found: dict[str, Talk] = {}
    for message in messages:
        if message.session is not None:
            found.setdefault(message.session, Talk()).add(message)
    return found


def episode_id(session: str) -> str:
    return key_id(f"episode\0{session}")


def due_for_episode(talk: Talk, told: Record | None, now: float, settings: Upkeep) -> str | None:
    """Why a session should have an episode now; None if it should not."""
    fresh = talk.count - _messages_in(told)
    if talk.count < FEWEST or fresh <= 0:
        return None
    idle = (now - talk.last) / 3600
    if settings.session_idle_hours is not None and idle >= settings.session_idle_hours:
        return f"the session ended: silent for {idle:.0f} hours"
    if settings.episode_messages is not None and fresh >= settings.episode_messages:
        return f"{fresh} messages since the last summary"
    return None


def _messages_in(told: Record | None) -> int:
    if told is None or not isinstance(told.whole.data, Mapping):
        return 0
    count = told.whole.data.get("messages")
    if isinstance(count, int):
        return count
    return 0


def episode(messages: Sequence[Record], session: str, because: str, now: float) -> Ask:
    """What is to be told of a session, with its messages as sources, oldest first."""
    first, last = messages[0], messages[-1]
    record = Record(
        id=episode_id(session),
        scope=first.scope,
        text="",
        kind=Kind.EPISODE,
        session=session,
        data={"messages": len(messages), "from": first.occurred, "until": last.occurred},
        created=now,
        occurred=first.occurred,
        importance=max(record.importance for record in messages),
        source="upkeep",
        derived_from=tuple(record.id for record in messages[-LINKED:]),
    )
    return Ask(what="summarise", record=record, sources=tuple(messages), because=because)


# Facts of episodes.


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    episode: Record


def consolidate(episodes: Sequence[Record], settings: Upkeep, embed: Embed, now: float) -> Iterator[Change]:
    """What several episodes say becomes a fact, in the words of the newest, with the episodes as sources."""
    newest = sorted(episodes, key=lambda record: record.occurred)[-EPISODES:]
    statements: list[_Said] = []
    for newer in newest:
        statements.extend(_Said(text, newer) for text in _statements(newer.whole.text))
    if not statements:
        return
    ids = [str(at) for at in range(len(statements))]
    for group in clusters(ids, embed([one.text for one in statements]), SIMILAR):
        members = [statements[int(id)] for id in group]
        sources = {one.episode.id: one.episode for one in members}
        if len(sources) >= settings.fact_episodes:
            yield _fact(members[-1], tuple(sources.values()), now)


def _fact(best: _Said, sources: tuple[Record, ...], now: float) -> Ask:
    record = Record(
        id=key_id(f"fact\0{best.text.casefold()}"),
        scope=best.episode.scope,
        text="",
        kind=Kind.FACT,
        created=now,
        occurred=best.episode.occurred,
        importance=max(record.importance for record in sources),
        source="upkeep",
        derived_from=tuple(record.id for record in sources),
    )
    because = f"said in {len(sources)} episodes"
    return Ask(what="consolidate", record=record, sources=sources, because=because, rules=best.text)


def _statements(text: str) -> Iterator[str]:
    """The telling sentences of an episode, each with the name of who said it."""
    for line in text.splitlines():
        found = _PREFIX.match(line)
        who = None
        if found:
            who = found[1]
        for sentence in sentences(line[found.end() :] if found else line):
            if telling(sentence).value >= TELLING and not sentence.endswith("?"):
                yield f"{who}: {sentence}" if who else sentence
