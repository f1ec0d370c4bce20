"""`eidet demo`: a process remembers three conversations and ends; another one answers from the file.

examples.json has what is said, for this demo and for the larger example of `--serve`.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Option

from ..core.draft import Draft, Message
from ..core.errors import BadInput, MissingExtra
from ..core.record import Kind
from .show import console, grid, style_text, tell_heading

if TYPE_CHECKING:
    from rich.text import Text

    from ..core.hit import Hit, Hits
    from ..memory import Memory


def _load_story(name: str) -> dict[str, Any]:
    """Loads one of the stories of examples.json: `demo` or `tidewater`."""
    text = files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
    story: dict[str, Any] = json.loads(text)[name]
    return story


BUDGET: Final = 150
_STORY: Final = _load_story("demo")  # three conversations of an invented person who plans a spring
SCOPE: Final[str] = _STORY["scope"]
SESSIONS: Final[dict[str, Any]] = _STORY["sessions"]
QUESTIONS: Final[list[str]] = _STORY["questions"]


commands: Final = typer.Typer()


@commands.command("demo")
def _demo(
    at: Annotated[Path | None, Option("--at", "-m", help="Keep the memory in this new file.")] = None,
    serve: Annotated[
        bool, Option("--serve", help="Serve a larger example with its dashboard; Ctrl-C stops it.")
    ] = False,
    port: Annotated[int, Option(min=0, max=65_535, help="With --serve: where to listen.")] = 8765,
    ask: Annotated[bool, Option("--ask", hidden=True)] = False,
) -> None:
    """See it work: one process remembers, another answers.

    With --serve, half a year of a small company in the dashboard.
    """
    if ask and at is not None:
        _answer(at)
        return
    if at is not None and at.exists():
        raise BadInput(f"{at} exists already: the demo creates a new file, so name another")
    with tempfile.TemporaryDirectory(prefix="eidet-demo-") as folder:
        file = at or Path(folder, "demo.db")
        if serve:
            _build_and_serve(file, port)
            return
        _remember(file)
        other = [sys.executable, "-m", "eidet.cli", "demo", "--ask", "--at", str(file)]
        subprocess.run(other, check=True)  # noqa: S603
    _tell_next(at)


def _build_and_serve(file: Path, port: int) -> None:
    """Builds the example memory and serves it until stopped."""
    try:
        from ..server.serve import Opening
        from ..server.serve import serve as run
        from ..server.server_settings import ServerSettings
    except ImportError as error:
        raise MissingExtra("`eidet demo --serve`", extra="server") from error
    from ..core.settings import settings_of
    from .serve_command import tell_addresses

    server = ServerSettings(port=port)

    def begin(listening: int) -> None:
        typer.echo("writing half a year of the company Tidewater …", err=True)
        count = build_example(file, time.time())
        typer.echo(f"{count:,} records in {file}", err=True)
        tell_addresses(server, str(file), listening)

    run(Opening(place=str(file), embedder=None, settings=settings_of(None), server=server), begin)


def _remember(file: Path) -> None:
    from ..memory import Memory

    begun = time.perf_counter()
    facts = [Draft(**fact, kind=Kind.FACT, occurred=_start_of("shed")) for fact in _STORY["facts"]]
    with Memory(file) as memory:
        memory.remember(facts, scope=SCOPE)
        for name, session in SESSIONS.items():
            turns = list(_messages(session["turns"], _start_of(name)))
            memory.remember(turns, scope=SCOPE, session=name)
        count = memory.admin.stats(SCOPE)["records"]
    millis = (time.perf_counter() - begun) * 1000
    tell_heading(f"Process {os.getpid()} remembers, and exits")
    out = console()
    kept = f"{len(SESSIONS)} conversations and {len(facts)} facts: {count} records"
    out.print(f"\n{kept} in {millis:.0f} ms. Two of them:")
    said = (line.partition(" ") for line in SESSIONS["walk"]["turns"][4:7:2])
    out.print(grid(("bold", ""), ((who, words) for who, _, words in said)))
    out.print(f"The file: {file}", soft_wrap=True)


def _start_of(session: str) -> float:
    return datetime.fromisoformat(SESSIONS[session]["start"]).timestamp()


def _answer(file: Path) -> None:
    """Answers in the second process, which has only the file."""
    from ..memory import Memory

    with Memory(file) as memory:
        answers = {q: memory.recall(q, scope=SCOPE, limit=2) for q in QUESTIONS}
        packed = memory.context(_STORY["prompt"], scope=SCOPE, budget=BUDGET, headings=False)
    tell_heading(f"Process {os.getpid()} opens the file and answers; it has seen no conversation")
    for question, hits in answers.items():
        _tell_answer(question, hits)
    tell_heading(f"A block for a prompt: {packed.tokens} of at most {packed.budget} tokens")
    console().print(style_text((f"\n{_STORY['prompt']}", "bold cyan")))
    lines = (line.partition(" ") for line in packed.text.splitlines())
    console().print(grid(("dim", ""), ((date, text) for date, _, text in lines)))


def _tell_answer(question: str, hits: Hits) -> None:
    console().print(style_text((f"\n{question}", "bold cyan")))
    rows = ((f"{hit.score:.2f}", f"{hit.record.when:%Y-%m-%d}", _show_hit(hit)) for hit in hits)
    console().print(grid(("", "dim", ""), rows))


def _show_hit(hit: Hit) -> Text:
    who = (f"{hit.record.who}: ", "bold") if hit.record.who else ""
    return style_text(who, hit.text, (f"\n{hit.why()}", "green"))


def _tell_next(file: Path | None) -> None:
    """Prints commands to try next; two of them query the file of the demo if it was kept."""
    tell_heading("What to try next")
    tries = ["eidet demo --at demo.db", f"eidet find --at demo.db --scope {SCOPE}"]
    if file is not None:
        where = f"--at {shlex.quote(str(file))} --scope {SCOPE}"
        tries = [f'eidet recall "{QUESTIONS[0]}" {where} --explain', f"eidet find --kind fact {where}"]
    console().print()
    for one in (*tries, 'eidet remember "My own first memory"', 'eidet recall "first"', "eidet --help"):
        console().print(style_text(("  $ ", "dim"), one), soft_wrap=True)


# `eidet demo --serve`: half a year of a small company that builds inspection boats, from examples.json; the
# same every time for the same last day. Days count from the first one; `{+9}` in a text is the date nine
# days after it was said.

_DAYS: Final = 182
_MARA: Final = "tidewater/mara"
_FLEET: Final = "tidewater/fleet"
_HOUR: Final = 3600.0
_DAY: Final = 86_400.0
_AHEAD: Final = re.compile(r"\{\+(\d+)\}")
_Work = Callable[["Memory", float], None]  # an event at a moment of the story


def build_example(place: str | Path, end: float) -> int:
    """Fills a new memory with half a year of conversations, facts, states and recalls; counts them."""
    from ..memory import Memory

    now = start = _next_monday(end - _DAYS * _DAY)
    with Memory(place, clock=lambda: now) as memory:
        for at, write in sorted(_works(_load_story("tidewater"), start), key=lambda work: work[0]):
            if at < end:
                now = at
                write(memory, at)
        now = end
        return sum(memory.scopes().values())


def _next_monday(at: float) -> float:
    """Returns midnight, UTC, of the first Monday from `at` on; 1970 began on a Thursday."""
    return -((-at - 3 * _DAY) // (7 * _DAY)) * 7 * _DAY - 3 * _DAY


def _works(story: dict[str, Any], start: float) -> Iterator[tuple[float, _Work]]:
    for talk in story["talks"]:
        yield start + talk["day"] * _DAY + talk["hour"] * _HOUR, partial(_talk, talk)
    for note in story["notes"]:
        day = note.pop("day")
        yield start + day * _DAY + (18 + day % 5) * _HOUR, partial(_note, note)
    dice = random.Random(1789)  # noqa: S311
    for half_week in range(_DAYS // 7 * 2):
        for boat in story["boats"]:
            at = start + (half_week * 3.5 + dice.random()) * _DAY
            yield at, partial(_report_state, dice, boat, half_week)
    for day in range(3, _DAYS):
        for _ in range(dice.choice((0, 0, 1, 2, 3)) + (9 if day > _DAYS - 42 else 0)):
            at = start + (day + dice.uniform(0.35, 0.8)) * _DAY
            yield at, partial(_recall, dice, dice.choice(story["questions"]))


def _talk(talk: dict[str, Any], memory: Memory, at: float) -> None:
    where = {"scope": talk["scope"], "session": talk["session"]}
    memory.remember(list(_messages(talk["turns"], at)), **where, agent="assistant")
    if not talk.get("brief"):
        memory.upkeep.end_session(talk["session"], scope=talk["scope"])


def _note(note: dict[str, Any], memory: Memory, at: float) -> None:
    given: dict[str, Any] = {"kind": "fact", "importance": 0.5, "trust": "user"} | note
    given["text"] = _with_dates(given["text"], at)
    scope = given.pop("scope")
    memory.remember(Draft(**given, occurred=at, agent="assistant"), scope=scope)


def _report_state(dice: random.Random, boat: str, half_week: int, memory: Memory, at: float) -> None:
    battery, speed = round(dice.uniform(0.2, 1.0), 2), round(dice.uniform(0.0, 4.2), 1)
    place = (round(40.63 + dice.gauss(0, 0.01), 4), round(-8.74 + dice.gauss(0, 0.02), 4))
    data = {"boat": boat, "battery": battery, "speed": speed, "sonar": dice.random() > 0.1}
    memory.remember(
        Draft(data=data, kind="state", place=place, step=half_week, importance=0.2, occurred=at),
        scope=_FLEET,
        agent=boat,
        session=f"{boat} week {half_week // 2 + 1}",
    )


def _recall(dice: random.Random, query: str, memory: Memory, _at: float) -> None:
    """Recalls a question of Mara's; about one in four gets feedback."""
    hits = memory.recall(query, scope=_MARA, limit=5)
    if dice.random() < 0.25:
        memory.feedback(hits, useful="wifi" not in query and dice.random() < 0.9, by="Mara")


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
    """Replaces `{+9}` with the day and month nine days later."""

    def date_of(found: re.Match[str]) -> str:
        day = datetime.fromtimestamp(at + int(found.group(1)) * _DAY, UTC)
        return f"{day.day} {day:%B}"

    return _AHEAD.sub(date_of, text)
