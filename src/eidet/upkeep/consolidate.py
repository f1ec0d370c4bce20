"""Plans over several records: merges repetitions, sums up sessions in episodes, and episodes in facts.

Pure except for the embedder that compares sentences. Each planner takes the records of one scope.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np

from ..core.record import Kind, Record, key_id
from ..core.settings import Upkeep
from ..core.state import MergedPart
from ..models.embed import Vectors
from ..models.embed.quantise import first_rows
from ..text.sentences import sentences
from . import Ask, Change, Write
from .importance import measure_information
from .summary import unit_rows

_FEWEST: Final = 3  # messages of an episode
_LINKED: Final = 2_000  # messages that an episode names; of a longer session, the last ones
_SIMILAR: Final = 0.8  # least cosine of sentences with the same meaning
_EQUAL: Final = 0.85  # least cosine of the vectors of the same words, which a lower tier rounds
_STRIDE: Final = 512  # rows compared at once
_ROUNDING: Final = 1e-6  # equal vectors have a cosine a little off 1
_TELLING: Final = 0.35  # least information of a sentence that becomes a fact
_EPISODES: Final = 1_000  # the newest ones, which are searched for facts
_PREFIX: Final = re.compile(r"^(?:\[[^\]]*\]\s*)?(?:([^:\n]{1,60}):\s)?")

_END_MARKS: Final = ".,;:!…。，、；：！"  # of words; a question mark is not among them

_Embed = Callable[[Sequence[str]], Vectors]


# Facts that say the same.


def merge(
    read: Callable[[], Iterable[Record]],
    width: int,
    periods: Callable[[Record], Hashable] = lambda _: None,
) -> Iterator[Write]:
    """Merges facts with the same words and details into the first, with the others as its parts.

    `read` returns the records and is called twice, so that only repeated ones are held in memory. Protected
    records take no part. `periods` returns the periods in which a record's statements held: a statement
    repeated after another had replaced it is no repetition.
    """
    counts = Counter(map(_key_of, read()))
    repeated: dict[bytes, list[Record]] = {key: [] for key, count in counts.items() if count > 1}
    if not repeated:
        return
    for record in read():
        if (key := _key_of(record)) in repeated and not record.state.is_protected:
            repeated[key].append(record)
    for said in repeated.values():
        groups: dict[Hashable, list[Record]] = {}
        for record in sorted(said, key=lambda one: (one.created, one.id)):
            groups.setdefault(periods(record), []).append(record)
        for group in groups.values():
            yield from _merge_group(group, width)


def _key_of(record: Record) -> bytes:
    """Returns a hash of all that repetitions share: words, speaker, details, and a time that was given."""
    whole, parts = record.whole, {part.id for part in record.state.merged}
    given = None if record.occurred == record.created else record.occurred
    sources = [id for id in record.derived_from if id not in parts]
    said = (_same_words(whole.text), whole.data, record.kind, record.who, record.agent, record.session, given)
    details = (record.step, record.place, record.trust, record.expires, record.state.ttl, sources)
    return blake2b(repr((said, details)).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _same_words(text: str) -> tuple[str, ...]:
    """Returns the words that two facts must share, without punctuation marks at their ends.

    Spacing and the case of the first letter are ignored. Every other letter, sign and digit counts.
    """
    words = (word.rstrip(_END_MARKS) for word in f"{text[:1].lower()}{text[1:]}".split())
    return tuple(filter(None, words)) or (text,)


def _merge_group(group: Sequence[Record], width: int) -> Iterator[Write]:
    """Merges each record into the earliest, unless callers' vectors distinguish equal words."""
    # a record that is moving between tiers may be read twice
    once = list({record.id: record for record in group}.values())
    rows = first_rows([record.vector for record in once], [record.level for record in once], width)
    for first, *others in clusters(rows, _EQUAL):
        yield _absorbing(once[first], [once[row] for row in others])


def _absorbing(old: Record, others: Sequence[Record]) -> Write:
    parts = [part for new in others for part in (_part_of(new), *new.state.merged)]
    record = old.but(
        derived_from=tuple(dict.fromkeys((*old.derived_from, *(part.id for part in parts)))),
        importance=max(record.importance for record in (old, *others)),
        state=old.state.but(merged=(*old.state.merged, *parts)),
    )
    because = f"{', '.join(new.id for new in others)} said the same"
    return Write(what="merge", record=record, because=because, instead=old, absorbs=tuple(others))


def _part_of(new: Record) -> MergedPart:
    """Returns the part of a merged record to keep: everything that the other does not contain."""
    return MergedPart(
        id=new.id,
        text=new.whole.text,
        occurred=new.occurred,
        source=new.source,
        session=new.session,
        importance=new.importance,
        meta=dict(new.meta),
        state=new.state.but(merged=()),
    )


# Episodes of sessions.


class _Talk(NamedTuple):
    """A session so far: the number of its messages, and the time of the last."""

    messages: int = 0
    last: float = -math.inf


def talks_of(messages: Iterable[Record]) -> dict[str, _Talk]:
    found: defaultdict[str, _Talk] = defaultdict(_Talk)
    for message in messages:
        if message.session is not None:
            count, last = found[message.session]
            found[message.session] = _Talk(count + 1, max(last, message.occurred))
    return found


def episode_id(session: str) -> str:
    return key_id(f"episode\0{session}")


def due_for_episode(talk: _Talk, told: Record | None, now: float, settings: Upkeep) -> str | None:
    """Returns the reason why a session is due for an episode, or None if it is not."""
    fresh = talk.messages - _messages_in(told)
    if talk.messages < _FEWEST or fresh <= 0:
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
    return count if isinstance(count, int) else 0


def episode(messages: Sequence[Record], session: str, because: str, now: float) -> Ask:
    """Asks for a session's episode, with its messages as sources, oldest first."""
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
        derived_from=tuple(record.id for record in messages[-_LINKED:]),
    )
    return Ask(what="summarise", record=record, sources=tuple(messages), because=because)


# Facts of episodes.


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    episode: Record


def consolidate(episodes: Sequence[Record], settings: Upkeep, embed: _Embed, now: float) -> Iterator[Change]:
    """Yields a fact for each statement of several episodes, worded as in the newest, with them as sources."""
    newest = sorted(episodes, key=lambda record: record.occurred)[-_EPISODES:]
    statements = [_Said(text, newer) for newer in newest for text in _statements(newer.whole.text)]
    if not statements:
        return
    for group in clusters(embed([one.text for one in statements]), _SIMILAR):
        members = [statements[row] for row in group]
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
    """Yields the informative sentences of an episode, each with the name of its speaker."""
    for line in text.splitlines():
        found = _PREFIX.match(line)
        who = found[1] if found else None
        for sentence in sentences(line[found.end() :] if found else line):
            if measure_information(sentence) >= _TELLING and not sentence.endswith("?"):
                yield f"{who}: {sentence}" if who else sentence


# Near-duplicates by their vectors.


def clusters(vectors: Vectors, threshold: float) -> Iterator[list[int]]:
    """Yields groups of two or more rows, each within `threshold` (cosine) of the first in its group.

    The first is the earliest, so that no chain of small steps joins distant rows, and a row is in one group
    at most. Zero vectors are in no group. For n rows of width d, this takes time n * n * d, and memory for a
    copy of the vectors.
    """
    unit = unit_rows(vectors)
    free = np.asarray(unit.any(axis=1))
    for start in range(0, len(unit), _STRIDE):
        near = unit[start : start + _STRIDE] @ unit[start:].T >= threshold - _ROUNDING
        for row, beside in enumerate(near, start):
            if free[row]:
                group = start + np.flatnonzero(beside & free[start:])
                free[group] = False
                if len(group) > 1:
                    yield group.tolist()
