"""The options of all commands that name a memory, and opening that memory."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, ParamSpec, TypeVar

import typer

from ..core.errors import BadInput, Misconfigured, NotFound
from ..core.scope import ALL, Scope
from ..core.settings import Settings, read_choices, read_settings
from ..core.verb_table import SCOPE, Argument, Form
from ..net.url import is_server
from .parse import end_of, json_of, meta_of, place_of
from .show import FOLD, Column, console, emit_each, plain, tell_table

if TYPE_CHECKING:
    from rich.text import Text

    from ..aio import AsyncMemory
    from ..memory import Memory

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=Any)
Given = dict[str, Any]  # arguments of a verb that were given
USUAL = "eidet.db"
FILE: Final = Path("eidet.toml")
ROOT: Final = 0  # the id of the user root
NAMED: Final = 3  # scopes that a hint names at most

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_shared: Final = partial(typer.Option, rich_help_panel="Which memory, and how to print")


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """The options of every command on a memory, as they were given."""

    at: Annotated[
        str,
        _shared(
            "--at",
            "-m",
            envvar="EIDET_MEMORY",
            metavar="PATH",
            help="The memory: a file or a URL; http://… is a server.",
            show_default=USUAL,
        ),
    ] = ""
    scopes: Annotated[
        list[str] | None,
        _shared("--scope", "-s", help=f"{SCOPE} Commands that read take it more than once."),
    ] = None
    embedder: Annotated[
        str | None, _shared(envvar="EIDET_EMBEDDER", help="Such as hashing:256; default: the memory's own.")
    ] = None
    language: Annotated[str | None, _shared(help="Language of the texts, such as de.")] = None
    config: Annotated[
        Path | None,
        _shared(
            envvar="EIDET_CONFIG",
            help="A TOML file with settings; default: eidet.toml here, if there is one.",
        ),
    ] = None
    key_file: Annotated[
        Path | None,
        _shared(
            envvar="EIDET_KEY_FILE",
            help="File with the master key of a sealed memory; or set EIDET_KEY to the key.",
        ),
    ] = None
    json: Annotated[bool, _shared("--json", help="Print JSON.")] = False

    def complete(self) -> Which:
        """Fills in options that were not given from the configuration."""
        file = choose_file(self.config)
        configured = {} if file is None else read_choices(file)
        at = self.at or configured.get("memory") or USUAL
        embedder = self.embedder or configured.get("embedder")
        if is_server(at) and self.embedder in (None, os.environ.get("EIDET_EMBEDDER")):
            embedder = None  # the usual one is for memories that are opened here
        return replace(self, at=at, embedder=embedder, config=file)

    @property
    def scope(self) -> str | None:
        """The scope that --scope names, or None; raises `BadInput` if it is given more than once."""
        if self.scopes and len(self.scopes) > 1:
            raise BadInput("this command works in one scope: give --scope once")
        return self.scopes[0] if self.scopes else None

    @property
    def one_scope(self) -> str:
        return Scope().path if self.scope is None else self.scope

    def reach(self) -> Scope:
        """Returns the scopes that --scope names, or the default one."""
        return Scope.among(self.scopes or Scope())

    def reach_or_all(self) -> Scope | None:
        """Returns the scopes that --scope names, or None for every scope if it names none."""
        return None if self.scopes in (None, [], [ALL]) else self.reach()

    def settings(self) -> Settings:
        found = read_settings(os.environ, self.config)
        return found if self.key_file is None else replace(found, key=f"file:{self.key_file}")

    def _own_settings(self) -> Settings | None:
        """Returns the settings, or None for a memory on a server, which has its own."""
        if not is_server(self.at):
            return self.settings()
        if self.key_file is not None:
            raise Misconfigured(
                f"the server {self.at} opens its sealed memory itself: leave --key-file and EIDET_KEY_FILE "
                "out; EIDET_API_KEY is the key that a caller needs"
            )
        return None

    def open_memory(self, *, creates: bool = False) -> Memory:
        """Opens the memory, ready to embed; it must exist unless the command `creates` it."""
        from ..memory import Memory

        if not creates:
            self.check_exists()
        return Memory(self.at, embedder=self.embedder, language=self.language, settings=self._own_settings())

    def ask(self, question: Callable[[Memory], T]) -> T:
        """Asks the memory; after an empty answer, names scopes that hold records."""
        with self.open_memory() as memory:
            answer = question(memory)
            if not getattr(answer, "hits", answer):
                self._tell_elsewhere(memory)
        return answer

    def _tell_elsewhere(self, memory: Memory) -> None:
        """Prints scopes that hold records, if the one that was named holds none."""
        scope = self.reach()
        if self.json or any(one.below for one in scope.members):
            return
        counts = memory.scopes()
        if not counts or any(one.path in counts for one in scope.members):
            return
        names = sorted(counts, key=counts.__getitem__, reverse=True)
        listed = ", ".join(plain(name) for name in names[:NAMED])
        if len(names) > NAMED:
            listed += f" and {len(names) - NAMED:,} more (`eidet scopes`)"
        console(stderr=True).print(
            f"the scope {plain(str(scope))} has no records; --scope names another one: {listed}",
            soft_wrap=True,
        )

    def tell_each(
        self,
        found: Sequence[E],
        columns: Sequence[Column],
        cells: Callable[[E], Sequence[str | Text]],
        empty: str,
    ) -> None:
        """Prints a table with a row for each, or a line of JSON for each; `empty` if there is none.

        Where several scopes were asked, the scope of each stands in the second column.
        """
        if self.json:
            emit_each(one.to_dict() for one in found)
        elif not found:
            console(stderr=True).print(empty)
        elif self.reach().is_one:
            tell_table(columns, map(cells, found))
        else:
            rows = ((one.scope, *cells(one)) for one in found)
            head, *rest = columns
            wide = [head, ("scope", FOLD | {"max_width": 24}), *rest]
            tell_table(wide, ((first, scope, *others) for scope, first, *others in rows))

    def open_async(self) -> AsyncMemory:
        """Returns the memory for asyncio; its first verb opens it."""
        from ..aio import AsyncMemory

        settings = self._own_settings()
        return AsyncMemory(self.at, embedder=self.embedder, language=self.language, settings=settings)

    def open_for_change(self) -> Memory:
        """Opens the memory with its own embedder and language, for commands that change them."""
        from ..memory import Memory

        if is_server(self.at):
            return Memory(self.at)
        self.check_exists()
        return Memory(self.at, settings=replace(self.settings(), language=None))

    def check_local(self, command: str, instead: str) -> None:
        """Raises `Misconfigured` if --at names a server, since the command needs a store."""
        if is_server(self.at):
            raise Misconfigured(f"`eidet {command}` works on a store, and {self.at} is a server: {instead}")

    def missing_file(self) -> Path | None:
        """Returns the file of the memory if it does not exist yet; None if it does, or for other stores."""
        from ..store.sql.inspect_file import file_of

        file = file_of(self.at)
        return None if file is None or file.exists() else file

    def check_exists(self) -> None:
        file = self.missing_file()
        if file is not None:
            raise NotFound(
                f"there is no memory {file}; `eidet remember` creates one, --at or EIDET_MEMORY names another"
            )


def option(argument: Argument, *flags: str, about: str = "", **how: Any) -> Any:
    """Makes an option as the table of verbs describes it; `about` is added to its help."""
    metavar = _METAVARS.get(argument.form)
    return typer.Option(*flags, **({"metavar": metavar} | how), help=f"{argument.about} {about}".strip())


class Options:
    """Options of a command that the table of verbs describes; the command gets those that were given.

    A command takes a group of them by one parameter: `filters: Annotated[Given, Options(FILTERS, "who")]`.
    """

    def __init__(self, table: Mapping[str, Argument], *names: str, **flags: str | tuple[str, ...]) -> None:
        """`flags` names options whose name is not that of the argument: `kinds="--kind"`."""
        self.names = names
        self._table, self._flags = table, flags

    def parameters(self) -> Iterator[inspect.Parameter]:
        """Yields a parameter for each option, as typer reads it."""
        for name in self.names:
            argument = self._table[name]
            kind: Any = _TYPES.get(argument.form, str)
            if argument.several or argument.form is Form.LABELS:
                kind = list[str]
            flags = self._flags.get(name, f"--{name.replace('_', '-')}")
            if argument.default is True:
                flags = f"{flags}/--no-{name}"
            usual = argument.default
            how = {} if usual in (None, ..., (), False) else {"show_default": str(usual)}
            yield inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    kind | None,
                    option(
                        argument,
                        *((flags,) if isinstance(flags, str) else flags),
                        about=_NOTES.get(name, ""),
                        **how,
                    ),
                ],
            )

    def read(self, typed: Mapping[str, Any]) -> Given:
        """Parses the values that were given to the form that verbs take."""
        given = {name: self._parse_value(name, value) for name, value in typed.items()}
        return {name: value for name, value in given.items() if value is not None}

    def _parse_value(self, name: str, typed: Any) -> Any:
        readers: Mapping[Form, Callable[[Any], Any]] = {
            Form.LABELS: lambda pairs: meta_of(pairs or ()),
            Form.JSON: lambda text: json_of(text, f"--{name}"),
            Form.PLACE: place_of,
            Form.TIME: end_of if name == "expires" else str,
        }
        read = readers.get(self._table[name].form)
        if typed is None or typed == []:
            return None
        return typed if read is None else read(typed)


_TYPES: Final[Mapping[Form, Any]] = {Form.NUMBER: float, Form.WHOLE: int, Form.FLAG: bool}
_METAVARS: Final = {
    Form.TIME: "TIME",
    Form.PLACE: "X,Y",
    Form.JSON: "JSON",
    Form.LABELS: "KEY=VALUE",
    Form.NUMBER: "NUMBER",
}
_NOTES: Final = {"expires": "Or in 45m, 12h, 30d.", "place": "Or X,Y,Z."}


def command(
    app: typer.Typer, *, scoped: bool = True
) -> Callable[[Callable[Concatenate[Which, P], None]], Callable[Concatenate[Which, P], None]]:
    """Makes a function a command: its first argument is filled from the options of `Which`.

    A command that is not `scoped` concerns the whole memory, and does not take --scope.
    """

    def add(run: Callable[Concatenate[Which, P], None]) -> Callable[Concatenate[Which, P], None]:
        app.command(run.__name__.strip("_").replace("_", "-"))(_with_options(run, scoped))
        return run

    return add


def _with_options(run: Callable[..., None], scoped: bool) -> Callable[..., None]:
    _, *own = inspect.signature(run, eval_str=True).parameters.values()
    shared = dict(inspect.signature(Which, eval_str=True).parameters)
    if not scoped:
        del shared["scopes"]
    groups = {p.name: group for p in own for group in getattr(p.annotation, "__metadata__", ())}
    groups = {name: group for name, group in groups.items() if isinstance(group, Options)}

    @wraps(run)
    def start(**given: Any) -> None:
        on = Which(**{name: given.pop(name) for name in shared})
        for name, group in groups.items():
            given[name] = group.read({option: given.pop(option) for option in group.names})
        run(on.complete(), **given)

    declared = [q for p in own for q in (groups[p.name].parameters() if p.name in groups else (p,))]
    every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*declared, *shared.values())]
    start.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    start.__annotations__ = {p.name: p.annotation for p in every}
    return start


def choose_file(named: Path | None) -> Path | None:
    """Returns the settings file: the one named, else eidet.toml here, which the user must own, else None."""
    if named is not None or not FILE.is_file():
        return named
    _check_own(FILE)
    return FILE


def read_choices_here() -> dict[str, str]:
    """Reads `memory` and `embedder` from the file here, for commands that open no memory of the user's."""
    file = choose_file(None)
    return {} if file is None else read_choices(file)


def read_settings_here() -> Settings:
    """Reads the settings of the file here and of the environment."""
    return read_settings(os.environ, choose_file(None))


def _check_own(file: Path) -> None:
    """Raises `Misconfigured` for another user's file, which could send memories elsewhere."""
    if os.name != "posix":
        return
    owner = file.stat().st_uid
    if owner not in (os.geteuid(), ROOT):
        raise Misconfigured(
            f"{file.absolute()} belongs to another user: read it, then name it with --config {file}"
        )
