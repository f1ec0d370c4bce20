"""Builds the memory that `eidet demo --serve` shows, the same every time for the same last day.

The story is in examples.json: half a year of a small company that builds inspection boats. Days count from
the first one; `{+9}` in a text is the date nine days after it was said. The lists of Monday's reports have
different lengths, so that no two Mondays are the same.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.draft import Draft, Message

if TYPE_CHECKING:
    from ..memory import Memory

DAYS: Final = 182
MARA: Final = "tidewater/mara"
FLEET: Final = "tidewater/fleet"
HOUR: Final = 3600.0
DAY: Final = 86_400.0
AHEAD = re.compile(r"\{\+(\d+)\}")
SEED: Final = 1789
_Work = Callable[["Memory", float], None]  # something that happens at a moment of the story


def load_story(name: str) -> dict[str, Any]:
    """One of the stories of examples.json: `demo` or `tidewater`."""
    text = files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
    story: dict[str, Any] = json.loads(text)[name]
    return story


def build_example(place: str | Path, end: float) -> int:
    """Fills a new memory with half a year of conversations, facts, states and recalls; how many records."""
    from ..memory import Memory

    now = start = _next_monday(end - DAYS * DAY)
    with Memory(place, clock=lambda: now) as memory:
        for at, write in sorted(_works(load_story("tidewater"), start), key=lambda work: work[0]):
            if at < end:
                now = at
                write(memory, at)
        now = end
        return sum(memory.scopes().values())


def _next_monday(at: float) -> float:
    """Midnight, UTC, of the Monday that comes: the first day of 1970 was a Thursday."""
    return -((-at - 3 * DAY) // (7 * DAY)) * 7 * DAY - 3 * DAY


def _talk(
    memory: Memory, at: float, *, scope: str, session: str, turns: Sequence[str], summed_up: bool = True
) -> None:
    memory.remember(list(_messages(turns, at)), scope=scope, session=session, agent="assistant")
    if summed_up:
        memory.upkeep.end_session(session, scope=scope)


def _note(memory: Memory, at: float, *, scope: str, text: str, **given: Any) -> None:
    fields: dict[str, Any] = {"kind": "fact", "importance": 0.5, "trust": "user"} | given
    memory.remember(Draft(text=_with_dates(text, at), occurred=at, agent="assistant", **fields), scope=scope)


def _report_state(memory: Memory, at: float, *, boat: str, step: int, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    battery, speed = round(dice.uniform(0.2, 1.0), 2), round(dice.uniform(0.0, 4.2), 1)
    place = (round(40.63 + dice.gauss(0, 0.01), 4), round(-8.74 + dice.gauss(0, 0.02), 4))
    data = {"boat": boat, "battery": battery, "speed": speed, "sonar": dice.random() > 0.1}
    memory.remember(
        Draft(data=data, kind="state", place=place, step=step, importance=0.2, occurred=at),
        scope=FLEET,
        agent=boat,
        session=f"{boat} week {step // 2 + 1}",
    )


def _recall(memory: Memory, _at: float, *, query: str, useful: bool | None) -> None:
    hits = memory.recall(query, scope=MARA, limit=5)
    if useful is not None:
        memory.feedback(hits, useful=useful, by="Mara")


def _works(story: dict[str, Any], start: float) -> Iterator[tuple[float, _Work]]:
    for talk in story["talks"]:
        at = start + talk["day"] * DAY + talk["hour"] * HOUR
        yield at, partial(_talk, scope=talk["scope"], session=talk["session"], turns=talk["turns"])
    for note in story["notes"]:
        day = note.pop("day")
        yield start + day * DAY + (18 + day % 5) * HOUR, partial(_note, **note)
    yield from _meetings(story, start)
    yield from _states(story["boats"], start)
    yield from _recalls(story["questions"], start)


def _meetings(story: dict[str, Any], start: float) -> Iterator[tuple[float, _Work]]:
    """Every Monday each of three says what they did and what is in the way."""
    for week in range(DAYS // 7):
        dice = random.Random(SEED + week)  # noqa: S311
        customer = _take(story["customers"], week)
        lines = []
        for place, (who, done) in enumerate(story["done"].items()):
            figures = {"kilos": dice.randrange(310, 420), "gigabytes": dice.randrange(2, 9)}
            figures |= {"tests": dice.randrange(9, 60), "calls": dice.randrange(6, 40)}
            boat = _take(story["boats"], week + place)
            thing = _take(done, week).format(boat=boat, customer=customer, **figures)
            trouble = _take(story["trouble"], 3 * week + place).format(customer=customer)
            lines += [f"{who}: Last week I {thing}.", f"{who}: In the way: {trouble}."]
        lines.append(f"assistant: Noted, week {week + 1}.")
        at = start + 7 * week * DAY + 8.5 * HOUR
        yield at, partial(_talk, scope=MARA, session=f"monday-{week + 1:02}", turns=lines, summed_up=False)


def _take(choices: Sequence[str], number: int) -> str:
    return choices[number % len(choices)]


def _states(boats: Sequence[str], start: float) -> Iterator[tuple[float, _Work]]:
    dice = random.Random(SEED)  # noqa: S311
    for step in range(DAYS // 7 * 2):
        for boat in boats:
            day = step * 3.5 + dice.random()
            write = partial(_report_state, boat=boat, step=step, seed=dice.randrange(1 << 30))
            yield start + (day + 0.2) * DAY, write


def _recalls(questions: Sequence[str], start: float) -> Iterator[tuple[float, _Work]]:
    """A few questions a day, more of them lately; about one in five is judged."""
    dice = random.Random(SEED + 1)  # noqa: S311
    for day in range(3, DAYS):
        for _ in range(dice.choice((0, 0, 1, 2, 3)) + (9 if day > DAYS - 42 else 0)):
            query = dice.choice(questions)
            useful = "wifi" not in query and dice.random() < 0.9 if dice.random() < 0.25 else None
            at = start + (day + dice.uniform(0.35, 0.8)) * DAY
            yield at, partial(_recall, query=query, useful=useful)


def _messages(turns: Sequence[str], at: float) -> Iterator[Message]:
    minutes = 0.0
    for line in turns:
        who, _, text = line.partition(": ")
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
