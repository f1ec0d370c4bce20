"""`eidet demo`: a process remembers three conversations and ends; another one answers from the file."""

from __future__ import annotations

import json as json_lines
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Option

from ..core.draft import Draft, Message
from ..core.errors import BadInput, MissingExtra
from ..core.record import Kind
from .example_memory import build_example, load_story
from .memory_options import AsJson
from .show import console, context_json, emit, grid, hits_json, style_text, tell_heading

if TYPE_CHECKING:
    from rich.text import Text

    from ..core.hit import Hit, Hits

BUDGET: Final = 150
STORY: Final = load_story("demo")  # three conversations of an invented person who plans a spring
SCOPE: Final[str] = STORY["scope"]
SESSIONS: Final[dict[str, Any]] = STORY["sessions"]
QUESTIONS: Final[list[str]] = STORY["questions"]


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
    """Builds the example memory and serves it until somebody stops it; without a file, it is gone then."""
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
    from ..core.environment import settings_of
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
    return [Draft(**fact, kind=Kind.FACT, occurred=start) for fact in STORY["facts"]]


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
        packed = memory.context(STORY["prompt"], scope=SCOPE, budget=BUDGET, headings=False)
    if json:
        rows = [hits_json(question, hits) for question, hits in answers.items()]
        emit({"process": os.getpid(), "answers": rows, "context": context_json(packed)})
        return
    tell_heading(f"Process {os.getpid()} opens the file and answers; it has seen no conversation")
    for question, hits in answers.items():
        _tell_answer(question, hits)
    tell_heading(f"A block for a prompt: {packed.tokens} of at most {packed.budget} tokens")
    console().print(style_text((f"\n{STORY['prompt']}", "bold cyan")))
    lines = (line.partition(" ") for line in packed.text.splitlines())
    console().print(grid(("dim", ""), ((date, text) for date, _, text in lines)))


def _tell_remembered(first: _Remembered) -> None:
    tell_heading(f"Process {first.process} remembers, and exits")
    out = console()
    kept = f"{len(SESSIONS)} conversations and {len(STORY['facts'])} facts: {first.records} records"
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
    """Commands that work as they stand; without a file of its own, the demo has left nothing to ask."""
    tell_heading("What to try next")
    tries = ["eidet demo --at demo.db", f"eidet find --at demo.db --scope {SCOPE}"]
    if file is not None:
        where = f"--at {shlex.quote(str(file))} --scope {SCOPE}"
        tries = [f'eidet recall "{QUESTIONS[0]}" {where} --explain', f"eidet find --kind fact {where}"]
    console().print()
    for one in (*tries, 'eidet remember "My own first memory"', 'eidet recall "first"', "eidet --help"):
        console().print(style_text(("  $ ", "dim"), one), soft_wrap=True)
