"""The command line: commands call the verbs of `Memory` and print the answers as text or JSON.

    memory_options.py    the options that name a memory, and opening it; eidet.toml
    write_commands.py    remember, mark
    read_commands.py     recall, context, find, show, scopes; facts.py: facts
    erase.py             forget, receipt
    exchange_commands.py export, load, import, sync; copy.py: copy
    upkeep_commands.py   maintain, review, rebuild, stats
    audit.py, key_commands.py    audit, keys
    demo.py, doctor.py, evaluate.py, *_command.py    the commands of these names
    show.py              answers for people, answers as JSON

Exit codes: 0 fine; 1 a fault or nothing to show; 2 bad usage, `BadInput`, `Refused`; 3 `NotFound`;
4 `Conflict`; 5 `Unavailable`; 6 `Corrupt`; 7 `Misconfigured`. Answers go to stdout, all else to stderr.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from .. import __version__
from ..core.errors import Conflict, Corrupt, EidetError, Misconfigured, NotFound, Unavailable
from .show import plain

__all__ = ["app", "main", "make_app"]

# The commands in the order of --help, each with its module: a command loads its own module only.
COMMANDS: Final[dict[str, dict[str, str]]] = {
    "Every day": {
        "remember": "write_commands",
        "recall": "read_commands",
        "context": "read_commands",
        "find": "read_commands",
        "show": "read_commands",
        "forget": "erase",
        "export": "exchange_commands",
        "load": "exchange_commands",
        "serve": "serve_command",
        "doctor": "doctor",
    },
    "Begin and connect": {
        "demo": "demo",
        "mcp": "mcp_command",
        "integrate": "integrate_command",
        "sync": "exchange_commands",
        "import": "exchange_commands",
        "mirror": "mirror_command",
        "copy": "copy",
    },
    "Look after": {
        "scopes": "read_commands",
        "stats": "upkeep_commands",
        "facts": "facts",
        "mark": "write_commands",
        "review": "upkeep_commands",
        "maintain": "upkeep_commands",
        "rebuild": "upkeep_commands",
        "eval": "evaluate",
        "receipt": "erase",
        "audit": "audit",
        "keys": "key_commands",
    },
}
MODULES: Final = {name: module for commands in COMMANDS.values() for name, module in commands.items()}

# Modules of short-lived commands, for which threads of NumPy and the tokenizer would cost more than they
# save.
_ASKING_ONCE: Final = (("read_commands",), ("facts",))

HEAD: Final = "A memory for AI agents, offline and at once. Usage: eidet COMMAND [OPTIONS]"
BEGINNING: Final = (
    "The memory is eidet.db in this folder, unless --at, EIDET_MEMORY or eidet.toml\n"
    "names another. Every command has --help, and most have --json for programs.\n"
    "Options: --version, --help, --install-completion, --show-completion"
)
_EXIT_CODES: Final[dict[type[EidetError], int]] = {
    NotFound: 3,
    Conflict: 4,
    Unavailable: 5,
    Corrupt: 6,
    Misconfigured: 7,
}


_WORDS: Final[tuple[tuple[str, str], ...]] = (
    (r"[;,] in Python, [^;]*", ""),
    (r"[;,] on the command line, ", " or "),
    (r"open it with Memory\(…, key=[^)]*\)( or key='[^']*')?( or EIDET_KEY or --key-file gives the key)?",
     "give the key by EIDET_KEY or --key-file"),
    (r": Memory\(url\) opens it", ": name it with --at"),
    (r"audit=… \(EIDET_AUDIT, or audit in the settings file\)", "EIDET_AUDIT, or audit in the settings file"),
    (r"audit=False \(EIDET_AUDIT=off\)", "EIDET_AUDIT=off"),
    (r"`adapt\(…, name=…\)`, or its attribute `name`", "in Python: `adapt`"),
    (r"`?memory\.admin\.reembed\(…?\)`?", "`eidet rebuild --reembed`"),
    (r"`?memory\.(?:\w+\.)*(\w+)\(…?\)`?", r"`eidet \1`"),
    (r"recall\(words, recipe='exact'\)", "`eidet recall WORDS --recipe exact`"),
    (r", and record\.text of what find\(…\) returns can be compared", ""),
    (r"Settings\((\w+)=…\)", r"the setting \1"),
    (r", such as secrets\.\w+\(32\)|: secrets\.\w+\(32\) makes one", ""),
    (r" eidet\.connect\(.*\) opens a server, too", ""),
    (r"a Where\(…\) or ", ""),
    (r"index_unsealed=True", "the setting index_unsealed"),
    (r"\b([a-z_]+)=(?:True|…)", r"--\1"),
    (r"\bdict\b", "JSON object"),
    (r"\bTrue\b", "true"),
    (r"\bFalse\b", "false"),
    (r"\bNone\b", "null"),
)  # fmt: skip
_TABLE: Final = tuple((re.compile(pattern), words) for pattern, words in _WORDS)


def say_plainly(message: str) -> str:
    """Rewords a library message for a person at a command line."""
    for pattern, words in _TABLE:
        message = pattern.sub(words, message)
    return message


class _Commands(TyperGroup):
    """The commands in the order of the table; errors end in one line and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=list(MODULES).index)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes one screen, without boxes: a line for each command."""
        formatter.write(f"{HEAD}\n")
        for heading, names in COMMANDS.items():
            formatter.write(f"\n{heading}\n")
            for name in [name for name in self.list_commands(ctx) if name in names]:
                formatter.write(f"  {name:<17}{self.commands[name].get_short_help_str(61)}\n")
        formatter.write(f"\n{BEGINNING}\n")

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except EidetError as error:
            _fail(error, _exit_code(error))
        except BrokenPipeError:
            raise  # typer exits quietly: the reader has closed the pipe
        except OSError as error:
            _fail(Unavailable(_describe_fault(error)), _EXIT_CODES[Unavailable])


def _exit_code(error: EidetError) -> int:
    return next((code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)), 2)


def _describe_fault(error: OSError) -> str:
    """Returns the system's error message, without its number."""
    message = error.strerror or str(error)
    return message if error.filename is None else f"{error.filename}: {message}"


def _fail(error: Exception, code: int) -> NoReturn:
    if os.environ.get("EIDET_TRACEBACK") == "1":
        raise error
    typer.echo(f"error: {plain(say_plainly(str(error)))}", err=True)
    raise typer.Exit(code) from error


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"eidet {__version__}")
        raise typer.Exit


def _eidet(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """A memory for AI agents: remembers across turns, tasks and restarts; works out of the box, offline."""


def make_app(modules: Iterable[str]) -> typer.Typer:
    """Builds the command line with the commands of some modules."""
    made = typer.Typer(
        name="eidet",
        cls=_Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_eidet)
    for module in modules:
        made.add_typer(import_module(f".{module}", __name__).commands)
    return made


def modules_for(words: Sequence[str]) -> tuple[str, ...]:
    """Returns the module of the command named first, or all modules without one, as for --help."""
    if words and words[0] in MODULES:
        return (MODULES[words[0]],)
    return tuple(dict.fromkeys(MODULES.values()))


def main() -> None:
    modules = modules_for(sys.argv[1:])
    if modules in _ASKING_ONCE:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    make_app(modules)(prog_name="eidet")


if TYPE_CHECKING:
    app: typer.Typer
else:

    def __getattr__(name: str) -> typer.Typer:
        """Builds `app`, the command line with every command, on first access."""
        if name != "app":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()["app"] = make_app(modules_for([]))
        return globals()["app"]
