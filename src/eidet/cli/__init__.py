"""The command line: words of a shell become the verbs of `Memory`, and what they answer becomes text.

    memory_options.py    which memory is meant, and opening it; configuration.py: eidet.toml
    init_command.py      init, which writes eidet.toml; tour_command.py: tour
    write_commands.py    remember
    read_commands.py     recall, context, find, show, history, scopes, sessions, stats
    fact_commands.py     facts about, timeline, match, why …
    upkeep_commands.py   maintain, detail, restore, pin, hold, fit …
    review.py            review, quarantine, approve, reveal, forget-value
    erase.py             forget, verify-forgotten, verify-receipt
    mcp_command.py       mcp
    key_commands.py      keys new, rotate, check, shred; seal
    serve_command.py     serve; keys api, revoke, callers
    admin_commands.py    load, rebuild, reembed, doctor
    exchange_commands.py import, export
    audit.py, retention.py, copy.py, bench.py, demo.py, evaluate.py    the commands of these names
    show.py, json_output.py, panels.py    answers for people, answers as JSON, the headings of --help

Exit codes: 0 fine; 1 a fault or nothing to show; 2 bad usage, `BadInput`, `Refused`; 3 `NotFound`;
4 `Conflict`; 5 `Unavailable`; 6 `Corrupt`; 7 `Misconfigured`. Answers go to stdout, all else to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from .. import __version__
from ..core.errors import Conflict, Corrupt, EidetError, Misconfigured, NotFound, Unavailable
from .panels import place_of
from .plain_values import take_plain_values
from .show import plain

__all__ = ["app", "main", "make_app"]

# The commands of each module: a command loads its own module only. The order is that of --help.
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "demo": ("demo",),
    "tour_command": ("tour",),
    "init_command": ("init",),
    "serve_command": ("serve",),
    "write_commands": ("remember",),
    "erase": ("forget", "verify-forgotten", "verify-receipt"),
    "read_commands": ("recall", "context", "find", "show", "history", "stats", "scopes", "sessions"),
    "fact_commands": ("facts",),
    "upkeep_commands": (
        *("maintain", "detail", "restore", "pin", "unpin", "hold", "release", "end-session"),
        *("unarchive", "fit"),
    ),
    "review": ("review", "quarantine", "approve", "reveal", "forget-value"),
    "audit": ("audit",),
    "retention": ("retention",),
    "key_commands": ("keys",),
    "mcp_command": ("mcp",),
    "exchange_commands": ("import", "export"),
    "admin_commands": ("load", "rebuild", "reembed", "doctor"),
    "copy": ("copy",),
    "bench": ("bench",),
    "evaluate": ("eval",),
}

# Modules whose commands ask a question and end: starting threads for NumPy would take longer than they save.
ASKING_ONCE: Final = (("read_commands",), ("fact_commands",))

BEGINNING: Final = (
    "The memory is the file eidet.db in this folder, unless --at, EIDET_MEMORY or eidet.toml (see `eidet "
    "init`) names another one. "
    "Every command has --help, and most have --json for programs."
)
COMPLETING: Final = "_EIDET_COMPLETE"  # set by the script that completes commands in a shell
EXIT_CODES: Final[dict[type[EidetError], int]] = {
    NotFound: 3,
    Conflict: 4,
    Unavailable: 5,
    Corrupt: 6,
    Misconfigured: 7,
}


class Commands(TyperGroup):
    """The commands, in the order of their panels; errors end in one line and an exit code."""

    def get_params(self, ctx: Any) -> Any:
        return take_plain_values(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=self._place)

    def _place(self, name: str) -> int:
        return place_of(getattr(self.commands[name], "rich_help_panel", None))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except EidetError as error:
            fail(error, exit_code(error))
        except BrokenPipeError:
            raise  # typer ends quietly: whoever was reading has seen enough
        except OSError as error:
            fail(Unavailable(describe_fault(error)), EXIT_CODES[Unavailable])


def exit_code(error: EidetError) -> int:
    return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 2)


def describe_fault(error: OSError) -> str:
    """What the system says, without its number."""
    message = error.strerror or str(error)
    if error.filename is None:
        return message
    return f"{error.filename}: {message}"


def fail(error: Exception, code: int) -> NoReturn:
    if os.environ.get("EIDET_TRACEBACK") == "1":
        raise error
    from .plain_messages import say_plainly

    typer.echo(f"error: {plain(say_plainly(str(error)))}", err=True)
    raise typer.Exit(code) from error


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"eidet {__version__}")
        raise typer.Exit


def eidet(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """A memory for AI agents: remembers across turns, tasks and restarts; works out of the box, offline."""


def make_app(modules: Iterable[str]) -> typer.Typer:
    """The command line with the commands of some modules."""
    made = typer.Typer(
        name="eidet",
        cls=Commands,
        no_args_is_help=True,
        epilog=BEGINNING,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(eidet)
    for module in modules:
        import_module(f".{module}", __name__).add_to(made)
    return made


def modules_for(words: Sequence[str]) -> tuple[str, ...]:
    """The module of the command that is named first; all of them where none is, as for --help."""
    for module, commands in COMMANDS.items():
        if words and words[0] in commands:
            return (module,)
    return tuple(COMMANDS)


def read_words(given: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The words of the command line; while a shell completes, those before the one that is being typed."""
    if COMPLETING not in environment:
        return list(given)
    typed = environment.get("_TYPER_COMPLETE_ARGS") or environment.get("COMP_WORDS") or ""
    words = typed.split()[1:]
    if len(words) < 2 and not typed.endswith(" "):
        return []
    return words


def main() -> None:
    modules = modules_for(read_words(sys.argv[1:], os.environ))
    if modules in ASKING_ONCE:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    make_app(modules)(prog_name="eidet")


if TYPE_CHECKING:
    app: typer.Typer
else:

    def __getattr__(name: str) -> typer.Typer:
        """`app`, the command line with every command, is made when somebody asks for it."""
        if name != "app":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()["app"] = make_app(COMMANDS)
        return globals()["app"]
