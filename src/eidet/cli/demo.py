"""`eidet demo`: a process remembers three conversations and ends; another one answers from the file."""

from __future__ import annotations

import json as json_lines
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
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
from .memory_options import AsJson
from .show import console, context_json, emit, grid, hits_json, style_text, tell_heading

if TYPE_CHECKING:
    from rich.text import Text

    from ..core.hit import Hit, Hits
    from ..memory import Memory


def _load_story(name: str) -> dict[str, Any]:
    """Loads one of the stories of examples.json: `demo` or `tidewater`."""
    text = files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
    story: dict[str, Any] = json_lines.loads(text)[name]
    return story


BUDGET: Final = 150
_STORY: Final = _load_story("demo")  # three conversations of an invented person who plans a spring
SCOPE: Final[str] = _STORY["scope"]
SESSIONS: Final[dict[str, Any]] = _STORY["sessions"]
QUESTIONS: Final[list[str]] = _STORY["questions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    """The result of the first process."""

    process: int
    file: str
    records: int
    millis: float


commands: Final = typer.Typer()


@commands.command("demo")
def _demo(
    at: Annotated[Path | None, Option("--at", "-m", help="Keep the memory in this new file.")] = None,
    json: AsJson = False,
    serve: Annotated[
        bool, Option("--serve", help="Serve a larger example with its dashboard; Ctrl-C stops it.")
    ] = False,
    port: Annotated[int, Option(min=0, max=65_535, help="With --serve: where to listen.")] = 8765,
    ask: Annotated[bool, Option("--ask", hidden=True)] = False,
) -> None:
    """See it work: one process remembers, another answers.

    With --serve, half a year of a small company in the dashboard.
    """
    if serve:
        _serve_example(at, port)
        return
    if ask and at is not None:
        _answer(at, json=json)
    elif at is not None:
        _check_new(at)
        _run(at, json=json)
    else:
        with tempfile.TemporaryDirectory(prefix="eidet-demo-") as folder:
            _run(Path(folder, "demo.db"), json=json)
    if not json and not ask:
        _tell_next(at)


def _serve_example(at: Path | None, port: int) -> None:
    """Builds the example memory and serves it until stopped; without a file, it is gone then."""
    if at is not None:
        _check_new(at)
        _build_and_serve(at, port)
        return
    with tempfile.TemporaryDirectory(prefix="eidet-demo-") as folder:
        _build_and_serve(Path(folder, "example.db"), port)


def _build_and_serve(file: Path, port: int) -> None:
    try:
        from ..server.serve import Opening, listen, serve_on
        from ..server.server_settings import ServerSettings
    except ImportError as error:
        raise MissingExtra("`eidet demo --serve`", extra="server") from error
    from ..core.settings import settings_of
    from .serve_command import tell_addresses

    server = ServerSettings(port=port)
    with listen(server) as listener:
        typer.echo("writing half a year of the company Tidewater …", err=True)
        count = build_example(file, time.time())
        typer.echo(f"{count:,} records in {file}", err=True)
        opening = Opening(place=str(file), embedder=None, settings=settings_of(None), server=server)
        serve_on(listener, opening, partial(tell_addresses, server, str(file)))


def _check_new(file: Path) -> None:
    if file.exists():
        raise BadInput(f"{file} exists already: the demo creates a new file, so name another")


def _run(file: Path, *, json: bool) -> None:
    first = _remember(file)
    if not json:
        _tell_remembered(first)
    other = [sys.executable, "-m", "eidet.cli", "demo", "--ask", "--at", str(file)]
    if json:
        output = subprocess.run([*other, "--json"], check=True, stdout=subprocess.PIPE).stdout  # noqa: S603
        emit({"remembered": asdict(first), **json_lines.loads(output)})
    else:
        subprocess.run(other, check=True)  # noqa: S603


def _remember(file: Path) -> _Remembered:
    from ..memory import Memory

    start = time.perf_counter()
    with Memory(file) as memory:
        memory.remember(_make_facts(), scope=SCOPE)
        for session in SESSIONS:
            memory.remember(_make_messages(session), scope=SCOPE, session=session)
        count = memory.admin.stats(SCOPE)["records"]
    millis = (time.perf_counter() - start) * 1000
    return _Remembered(process=os.getpid(), file=str(file), records=count, millis=millis)


def _make_facts() -> list[Draft]:
    start = datetime.fromisoformat(SESSIONS["shed"]["start"])
    return [Draft(**fact, kind=Kind.FACT, occurred=start) for fact in _STORY["facts"]]


def _make_messages(session: str) -> list[Message]:
    start = datetime.fromisoformat(SESSIONS[session]["start"])
    turns = [line.partition(": ") for line in SESSIONS[session]["turns"]]
    return [
        Message(
            role="assistant" if who == "assistant" else "user",
            name=who,
            content=words,
            timestamp=start + timedelta(minutes=number),
        )
        for number, (who, _, words) in enumerate(turns)
    ]


def _answer(file: Path, *, json: bool) -> None:
    """Answers in the second process, which has only the file."""
    from ..memory import Memory

    with Memory(file) as memory:
        answers = {q: memory.recall(q, scope=SCOPE, limit=2) for q in QUESTIONS}
        packed = memory.context(_STORY["prompt"], scope=SCOPE, budget=BUDGET, headings=False)
    if json:
        rows = [hits_json(question, hits) for question, hits in answers.items()]
        emit({"process": os.getpid(), "answers": rows, "context": context_json(packed)})
        return
    tell_heading(f"Process {os.getpid()} opens the file and answers; it has seen no conversation")
    for question, hits in answers.items():
        _tell_answer(question, hits)
    tell_heading(f"A block for a prompt: {packed.tokens} of at most {packed.budget} tokens")
    console().print(style_text((f"\n{_STORY['prompt']}", "bold cyan")))
    lines = (line.partition(" ") for line in packed.text.splitlines())
    console().print(grid(("dim", ""), ((date, text) for date, _, text in lines)))


def _tell_remembered(first: _Remembered) -> None:
    tell_heading(f"Process {first.process} remembers, and exits")
    out = console()
    kept = f"{len(SESSIONS)} conversations and {len(_STORY['facts'])} facts: {first.records} records"
    out.print(f"\n{kept} in {first.millis:.0f} ms. Two of them:")
    turns = _make_messages("walk")[4:7:2]
    said = (style_text((f"{turn.name}: ", "bold"), turn.content or "") for turn in turns)
    out.print(grid(("dim", ""), zip((f"{turn.timestamp:%Y-%m-%d}" for turn in turns), said, strict=True)))
    out.print(f"The file: {first.file}", soft_wrap=True)


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
# days after it was said. The lists of Monday's reports differ in length, so that no two Mondays are alike.

DAYS: Final = 182
MARA: Final = "tidewater/mara"
_FLEET: Final = "tidewater/fleet"
HOUR: Final = 3600.0
DAY: Final = 86_400.0
AHEAD = re.compile(r"\{\+(\d+)\}")
SEED: Final = 1789
_Work = Callable[["Memory", float], None]  # an event at a moment of the story


def build_example(place: str | Path, end: float) -> int:
    """Fills a new memory with half a year of conversations, facts, states and recalls; counts them."""
    from ..memory import Memory

    now = start = _next_monday(end - DAYS * DAY)
    with Memory(place, clock=lambda: now) as memory:
        for at, write in sorted(_works(_load_story("tidewater"), start), key=lambda work: work[0]):
            if at < end:
                now = at
                write(memory, at)
        now = end
        return sum(memory.scopes().values())


def _next_monday(at: float) -> float:
    """Returns midnight, UTC, of the first Monday from `at` on; 1970 began on a Thursday."""
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
        scope=_FLEET,
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
    """Yields a meeting for each Monday: what three people did, and what is in the way."""
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
    """Yields a few recalls a day, more of them lately; about one in four gets feedback."""
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
    """Replaces `{+9}` with the day and month nine days later."""

    def date_of(found: re.Match[str]) -> str:
        day = datetime.fromtimestamp(at + int(found.group(1)) * DAY, UTC)
        return f"{day.day} {day:%B}"

    return AHEAD.sub(date_of, text)
