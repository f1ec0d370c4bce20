"""Builds the memory that `eidet demo --serve` shows, the same every time for the same last day."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from ..core.draft import Draft, Message
from ..memory import Memory
from . import example_story as story
from .example_talks import TALKS

HOUR: Final = 3600.0
DAY: Final = 86_400.0
AHEAD = re.compile(r"\{\+(\d+)\}")
SEED: Final = 1789
_Work = Callable[[Memory, float], None]  # something that happens at a moment of the story


@dataclass(slots=True)
class StoryClock:
    """The time in the story: whatever was set last."""

    now: float

    def __call__(self) -> float:
        return self.now


def build_example(place: str | Path, end: float) -> int:
    """Fills a new memory with half a year of conversations, facts, states and recalls; how many records."""
    start = _next_monday(end - story.DAYS * DAY)
    clock = StoryClock(start)
    with Memory(place, clock=clock) as memory:
        for at, write in sorted(_works(start), key=lambda work: work[0]):
            if at < end:
                clock.now = at
                write(memory, at)
        clock.now = end
        return sum(memory.scopes().values())


def _next_monday(at: float) -> float:
    """Midnight, UTC, of the Monday that comes: the first day of 1970 was a Thursday."""
    return -((-at - 3 * DAY) // (7 * DAY)) * 7 * DAY - 3 * DAY


@dataclass(frozen=True, slots=True)
class _TalkWork:
    talk: story.StoryTalk
    summed_up: bool = True

    def __call__(self, memory: Memory, at: float) -> None:
        turns = list(_messages(self.talk.turns, at))
        memory.remember(turns, scope=self.talk.scope, session=self.talk.session, agent="assistant")
        if self.summed_up:
            memory.upkeep.end_session(self.talk.session, scope=self.talk.scope)


@dataclass(frozen=True, slots=True)
class _NoteWork:
    note: story.StoryNote

    def __call__(self, memory: Memory, at: float) -> None:
        note = self.note
        draft = Draft(
            text=_with_dates(note.text, at),
            kind=note.kind,
            importance=note.importance,
            who=note.who,
            source=note.source,
            trust=note.trust,
            key=note.key,
            occurred=at,
            agent="assistant",
        )
        memory.remember(draft, scope=note.scope)


@dataclass(frozen=True, slots=True)
class _StateWork:
    boat: str
    step: int
    seed: int

    def __call__(self, memory: Memory, at: float) -> None:
        dice = random.Random(self.seed)  # noqa: S311
        battery, speed = round(dice.uniform(0.2, 1.0), 2), round(dice.uniform(0.0, 4.2), 1)
        place = (round(40.63 + dice.gauss(0, 0.01), 4), round(-8.74 + dice.gauss(0, 0.02), 4))
        data = {"boat": self.boat, "battery": battery, "speed": speed, "sonar": dice.random() > 0.1}
        memory.remember(
            Draft(data=data, kind="state", place=place, step=self.step, importance=0.2, occurred=at),
            scope=story.FLEET,
            agent=self.boat,
            session=f"{self.boat} week {self.step // 2 + 1}",
        )


@dataclass(frozen=True, slots=True)
class _RecallWork:
    query: str
    useful: bool | None

    def __call__(self, memory: Memory, _at: float) -> None:
        hits = memory.recall(self.query, scope=story.MARA, limit=5)
        if self.useful is not None:
            memory.feedback(hits, useful=self.useful, by="Mara")


def _works(start: float) -> Iterator[tuple[float, _Work]]:
    for talk in TALKS:
        yield start + talk.day * DAY + talk.hour * HOUR, _TalkWork(talk)
    for note in story.NOTES:
        yield start + note.day * DAY + (18 + note.day % 5) * HOUR, _NoteWork(note)
    yield from _meetings(start)
    yield from _states(start)
    yield from _recalls(start)


def _meetings(start: float) -> Iterator[tuple[float, _Work]]:
    """Every Monday each of three says what they did and what is in the way."""
    for week in range(story.DAYS // 7):
        dice = random.Random(SEED + week)  # noqa: S311
        customer = story.CUSTOMERS[week % len(story.CUSTOMERS)]
        lines = []
        for place, (who, done) in enumerate(story.DONE.items()):
            figures = {"kilos": dice.randrange(310, 420), "gigabytes": dice.randrange(2, 9)}
            figures |= {"tests": dice.randrange(9, 60), "calls": dice.randrange(6, 40)}
            boat = story.BOATS[(week + place) % len(story.BOATS)]
            thing = done[week % len(done)].format(boat=boat, customer=customer, **figures)
            trouble = story.TROUBLE[(3 * week + place) % len(story.TROUBLE)].format(customer=customer)
            lines.append(f"{who}: Last week I {thing}.")
            lines.append(f"{who}: In the way: {trouble}.")
        lines.append(f"assistant: Noted, week {week + 1}.")
        talk = story.StoryTalk(story.MARA, f"monday-{week + 1:02}", 7 * week, 8.5, "\n".join(lines))
        yield start + talk.day * DAY + talk.hour * HOUR, _TalkWork(talk, summed_up=False)


def _states(start: float) -> Iterator[tuple[float, _Work]]:
    dice = random.Random(SEED)  # noqa: S311
    for step in range(story.DAYS // 7 * 2):
        for boat in story.BOATS:
            day = step * 3.5 + dice.random()
            yield start + (day + 0.2) * DAY, _StateWork(boat, step, dice.randrange(1 << 30))


def _recalls(start: float) -> Iterator[tuple[float, _Work]]:
    """A few questions a day, more of them lately; about one in five is judged."""
    dice = random.Random(SEED + 1)  # noqa: S311
    for day in range(3, story.DAYS):
        for _ in range(dice.choice((0, 0, 1, 2, 3)) + (9 if day > story.DAYS - 42 else 0)):
            query = dice.choice(story.QUESTIONS)
            useful = None
            if dice.random() < 0.25:
                useful = "wifi" not in query and dice.random() < 0.9
            yield start + (day + dice.uniform(0.35, 0.8)) * DAY, _RecallWork(query, useful)


def _messages(turns: str, at: float) -> Iterator[Message]:
    minutes = 0.0
    for line in turns.strip().splitlines():
        who, _, text = line.strip().partition(": ")
        role = "assistant" if who == "assistant" else "user"
        moment = datetime.fromtimestamp(at, UTC) + timedelta(minutes=minutes)
        name = None if role == "assistant" else who
        yield Message(role=role, content=_with_dates(text, at), name=name, timestamp=moment)
        minutes += 1.5 + len(text) / 90


def _with_dates(text: str, at: float) -> str:
    """`{+9}` becomes the day and month nine days later."""

    def date_of(found: re.Match[str]) -> str:
        day = datetime.fromtimestamp(at + int(found.group(1)) * DAY, UTC)
        return f"{day.day} {day:%B}"

    return AHEAD.sub(date_of, text)
