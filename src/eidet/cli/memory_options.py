"""Which memory a command works on: the options all of them share, and opening what they name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from ..core.errors import Misconfigured, NotFound
from ..core.scope import ALL, Scope
from ..net.url import is_server
from .plain_values import PlainCommand

if TYPE_CHECKING:
    from ..aio import AsyncMemory
    from ..core.settings import Settings
    from ..memory import Memory

P = ParamSpec("P")
PANEL = "Which memory, and how to print"
USUAL = "eidet.db"

Below = Annotated[bool, typer.Option("--below", help="Also every scope below the one named.")]
Vectors = Annotated[bool, typer.Option("--vectors", help="With --json: the vectors too.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """The options of every command on a memory, as they were given."""

    at: Annotated[
        str,
        typer.Option(
            "--at",
            "-m",
            envvar="EIDET_MEMORY",
            metavar="PATH",
            help="The memory: a file or a URL; http://… is a server.",
            show_default=USUAL,
            rich_help_panel=PANEL,
        ),
    ] = ""
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope",
            "-s",
            help="Whose memory, such as acme/ann; acme/** is acme and all below.",
            rich_help_panel=PANEL,
        ),
    ] = None
    embedder: Annotated[
        str | None,
        typer.Option(
            envvar="EIDET_EMBEDDER",
            help="Such as hashing:256; default: the memory's own.",
            rich_help_panel=PANEL,
        ),
    ] = None
    language: Annotated[
        str | None, typer.Option(help="Language of the texts, such as de.", rich_help_panel=PANEL)
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="EIDET_CONFIG",
            help="A TOML file with settings; default: eidet.toml here, if there is one.",
            rich_help_panel=PANEL,
        ),
    ] = None
    key_file: Annotated[
        Path | None,
        typer.Option(
            envvar="EIDET_KEY_FILE",
            help="File with the master key of a sealed memory; or set EIDET_KEY to the key.",
            rich_help_panel=PANEL,
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=PANEL)] = False

    def complete(self) -> Which:
        """With what the configuration says of options that were not given."""
        from .configuration import find_configuration, read_configuration

        file = self.config or find_configuration()
        configured: Mapping[str, Any] = {}
        if file is not None:
            configured = read_configuration(file, unasked=self.config is None)
        at = self.at or configured.get("memory") or USUAL
        embedder = self.embedder or configured.get("embedder")
        if is_server(at) and self.embedder in (None, os.environ.get("EIDET_EMBEDDER")):
            embedder = None  # a usual one is for memories that are opened here
        return replace(self, at=at, embedder=embedder, config=file)

    @property
    def one_scope(self) -> str:
        return Scope().path if self.scope is None else self.scope

    def reach(self, below: bool) -> Scope:
        """What --scope and --below name: a scope, or one with all below it."""
        scope = Scope.of(self.one_scope)
        if below:
            return Scope.under(scope.path)
        return scope

    def reach_or_all(self, below: bool) -> Scope | None:
        """For verbs that mean every scope when none is named."""
        if self.scope in (None, ALL) and not below:
            return None
        return self.reach(below)

    def settings(self) -> Settings:
        from ..core.settings import read_settings

        found = read_settings(os.environ, self.config)
        if self.key_file is None:
            return found
        return replace(found, key=f"file:{self.key_file}")

    def _own_settings(self) -> Settings | None:
        """None for a memory on a server: it has settings of its own."""
        if not is_server(self.at):
            return self.settings()
        if self.key_file is not None:
            raise Misconfigured(
                f"the server {self.at} opens its sealed memory itself: leave --key-file and EIDET_KEY_FILE "
                "out; EIDET_API_KEY is the key that a caller needs"
            )
        return None

    def open_memory(self, *, creates: bool = False) -> Memory:
        """The memory, ready to embed; it must exist unless the command `creates` it."""
        from ..memory import Memory

        if not creates:
            self.check_exists()
        return Memory(self.at, embedder=self.embedder, language=self.language, settings=self._own_settings())

    def open_async(self) -> AsyncMemory:
        """The same for asyncio; nothing is opened yet."""
        from ..aio import AsyncMemory

        settings = self._own_settings()
        return AsyncMemory(self.at, embedder=self.embedder, language=self.language, settings=settings)

    def open_for_change(self) -> Memory:
        """The same for commands that change embedder or language: what is asked for does not hinder them."""
        from ..memory import Memory

        if is_server(self.at):
            return Memory(self.at)
        self.check_exists()
        return Memory(self.at, settings=replace(self.settings(), language=None))

    def check_local(self, command: str, instead: str) -> None:
        """Refuses a command that works on a store, where --at names a server; `instead` says what to do."""
        if is_server(self.at):
            raise Misconfigured(f"`eidet {command}` works on a store, and {self.at} is a server: {instead}")

    def missing_file(self) -> Path | None:
        """The file that is not there yet; None if it is, or if the memory lives elsewhere."""
        from ..store.sql.inspect_file import file_of

        file = file_of(self.at)
        if file is None or file.exists():
            return None
        return file

    def check_exists(self) -> None:
        file = self.missing_file()
        if file is not None:
            raise NotFound(
                f"there is no memory {file}; `eidet remember` creates one, --at or EIDET_MEMORY names another"
            )


def command(
    app: typer.Typer, *, name: str | None = None, scoped: bool = True
) -> Callable[[Callable[Concatenate[Which, P], None]], Callable[Concatenate[Which, P], None]]:
    """Makes a function a command: its first argument is filled from the options of `Which`.

    A command that is not `scoped` concerns the whole memory, and does not take --scope.
    """

    def add(run: Callable[Concatenate[Which, P], None]) -> Callable[Concatenate[Which, P], None]:
        app.command(name, cls=PlainCommand)(_with_options(run, scoped))
        return run

    return add


def _with_options(run: Callable[..., None], scoped: bool) -> Callable[..., None]:
    _, *own = inspect.signature(run, eval_str=True).parameters.values()
    shared = dict(inspect.signature(Which, eval_str=True).parameters)
    if not scoped:
        del shared["scope"]

    @wraps(run)
    def start(**given: Any) -> None:
        on = Which(**{name: given.pop(name) for name in shared})
        run(on.complete(), **given)

    every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *shared.values())]
    start.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    start.__annotations__ = {p.name: p.annotation for p in every}
    return start
