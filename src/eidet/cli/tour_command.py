"""`eidet tour`: the main ideas in three minutes, with real calls on a memory that is gone afterwards."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..core.errors import EidetError, Unavailable
from .panels import START
from .show import console, style_text, tell_heading

if TYPE_CHECKING:
    from .tour_steps import TourStep

STARTING_SECONDS: Final = 30.0
SERVER: Final = (
    "`eidet serve` gives the same memory to other programs: REST, MCP for desktop agents, metrics, and a "
    "dashboard. The client has the same verbs."
)
NEXT: Final = (
    ("eidet init", "set up this folder with three questions"),
    ('eidet remember "My own first memory"', "write to eidet.db in this folder"),
    ("eidet demo --serve", "half a year of a small company in the dashboard"),
    ("eidet --help", "all commands"),
)


class Stop(Exception):  # no error: somebody has seen enough
    """Somebody ends the tour."""


def add_to(app: typer.Typer) -> None:
    app.command(rich_help_panel=START)(tour)


def tour(
    fast: Annotated[bool, typer.Option("--fast", help="Do not wait for Enter between steps.")] = False,
) -> None:
    """Walk through the main ideas in three minutes: real calls on a memory that is gone afterwards.

    Press Enter to go on, q and Enter to stop.
    """
    from .tour_steps import STEPS

    waits = not fast and sys.stdin.isatty() and sys.stdout.isatty()
    count = len(STEPS) + 1
    with tempfile.TemporaryDirectory(prefix="eidet-tour-") as folder, contextlib.suppress(Stop):
        file = Path(folder, "tour.db")
        with open_quietly(file) as memory:
            for number, step in enumerate(STEPS, 1):
                show_step(step, f"{number}/{count}", memory)
                pause(waits)
        show_server(file, f"{count}/{count}")
    show_next()


@contextlib.contextmanager
def open_quietly(file: Path) -> Iterator[Any]:
    """A memory with the default settings: neither EIDET_* variables nor a user's audit log are used."""
    from ..core.settings import Settings
    from ..memory import Memory

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        memory = Memory(file, settings=Settings())
    with memory:
        yield memory


def show_step(step: TourStep, place: str, memory: Any) -> None:
    show_heading(f"{place}  {step.title}", step.words)
    show_code(f"{step.before}\n{read_body(step.run)}".strip())
    show_output(capture(step.run, memory))
    console().print(style_text((f"More: {step.more}", "dim")))


def show_heading(title: str, words: str) -> None:
    tell_heading(title)
    console().print(style_text(words))
    console().print()


def read_body(run: Callable[..., None]) -> str:
    """The code of a step, without the line that names it."""
    lines = inspect.getsource(run).splitlines()
    return textwrap.dedent("\n".join(lines[1:]))


def show_code(code: str) -> None:
    from rich.padding import Padding
    from rich.syntax import Syntax

    shown = Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)
    console().print(Padding(shown, (0, 0, 1, 2), expand=False))


def capture(run: Callable[[Any], None], given: Any) -> str:
    """What a step prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run(given)
    return printed.getvalue().rstrip()


def show_output(text: str) -> None:
    from rich.padding import Padding

    lines = style_text((text, "green"))
    console().print(Padding(lines, (0, 0, 1, 2), expand=False))


def pause(waits: bool) -> None:
    """Waits for Enter where somebody is there to press it."""
    if not waits:
        return
    typer.secho("Enter goes on, q stops ", dim=True, nl=False)
    try:
        typed = input()
    except EOFError:
        raise Stop from None
    if typed.strip().lower() in ("q", "quit", "exit"):
        raise Stop


# The server.


def show_server(file: Path, place: str) -> None:
    show_heading(f"{place}  The server", SERVER)
    missing = find_missing()
    if missing:
        show_output(
            f"It is an extra, and {missing} is not installed: pip install 'eidet[server]'\n"
            "Then: eidet serve, or eidet demo --serve for an example with its dashboard."
        )
        return
    from .tour_steps import ask_server

    port = find_port()
    show_code(f"$ eidet serve --at tour.db --port {port}\n\n{read_body(ask_server)}")
    url = f"http://127.0.0.1:{port}"
    try:
        with serve_file(file, url, port):
            show_output(capture(ask_server, url))
    except EidetError as error:
        show_output(f"The server did not start here: {error}")


def find_missing() -> str | None:
    """The first package of the server that is not installed."""
    for name in ("fastapi", "uvicorn", "mcp", "httpx", "prometheus_client"):
        if importlib.util.find_spec(name) is None:
            return name
    return None


def find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def serve_file(file: Path, url: str, port: int) -> Iterator[None]:
    """A server of its own process, which is stopped afterwards."""
    command = [sys.executable, "-m", "eidet.cli", "serve", "--at", str(file), "--port", str(port)]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(  # noqa: S603
        command, stdin=quiet, stdout=quiet, stderr=quiet, env=plain_environment(), cwd=file.parent
    )
    try:
        wait_until_ready(server, url)
        yield
    finally:
        server.terminate()
        server.wait()


def plain_environment() -> dict[str, str]:
    """Without EIDET_* variables: they are about another memory."""
    kept = {}
    for name, value in os.environ.items():
        if not name.startswith("EIDET_"):
            kept[name] = value
    return kept


def wait_until_ready(server: subprocess.Popen[bytes], url: str) -> None:
    from ..client import connect

    end = time.monotonic() + STARTING_SECONDS
    with connect(url) as client:
        while time.monotonic() < end and server.poll() is None:
            try:
                client.scopes()
            except Unavailable:
                time.sleep(0.1)
            else:
                return
    raise Unavailable("it did not answer in time")


def show_next() -> None:
    from .show import grid

    show_heading("What to try next", "The memory of this tour is gone. Yours starts here:")
    steps = grid("", "dim")
    for command, what in NEXT:
        steps.add_row(command, what)
    console().print(steps)
