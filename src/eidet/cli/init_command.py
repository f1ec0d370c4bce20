"""`eidet init`: asks three questions and writes a commented `eidet.toml`, which the other commands read."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated, Final

import typer
from typer import Option

from ..core.errors import BadInput, EidetError
from ..core.private_files import write_private
from .memory_options import FILE
from .show import console, grid, plain, style_text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices:
    """The answers to `eidet init`."""

    memory: str
    language: str
    guard: str
    embedder: str | None = None


USUAL: Final = _Choices(memory="eidet.db", language="en", guard="off")
ADVICE: Final = "answer the questions in a terminal, or let --yes take the defaults"
EXTRAS: Final = {  # by the scheme of a URL: the package that its store needs, and the extra that installs it
    "postgresql": ("psycopg", "postgres"),
    "postgres": ("psycopg", "postgres"),
    "redis": ("redis", "redis"),
    "rediss": ("redis", "redis"),
}
WHERE: Final = "a file, or a URL such as postgresql://user@host/name or redis://host"
LANGUAGE: Final = "en, de, fr, es, it … (none: any mixture)"
_PERSONAL: Final = "off: stored as it is; redact: [EMAIL] instead of an address; refuse"


commands: Final = typer.Typer()


@commands.command("init")
def _init(
    at: Annotated[
        str | None,
        Option("--at", "-m", envvar="EIDET_MEMORY", metavar="PATH", help="The memory: a file or a URL."),
    ] = None,
    language: Annotated[str | None, Option(help="Language of the texts, such as de.")] = None,
    guard: Annotated[
        str | None, Option(help="Personal data in texts: off, redact, mask, label or refuse.")
    ] = None,
    embedder: Annotated[str | None, Option(envvar="EIDET_EMBEDDER", help="Such as minilm.")] = None,
    file: Annotated[Path, Option(help="The file to write.")] = FILE,
    yes: Annotated[bool, Option("--yes", "-y", help="Ask nothing; defaults for the rest.")] = False,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace a file that exists.")] = False,
) -> None:
    """Set up a folder: three questions, and an eidet.toml.

    Every command reads that file. Each question has an option; with --yes, nothing is asked. An
    existing file is never replaced unasked.
    """
    _check_target(file, yes=yes, overwrite=overwrite)
    choices = _Choices(
        memory=_answer(at, USUAL.memory, "1/3  Where should memories live?", WHERE, _check_memory, yes=yes),
        language=_answer(
            language,
            USUAL.language,
            "2/3  Which language are your texts in?",
            LANGUAGE,
            _check_language,
            yes=yes,
        ),
        guard=_answer(
            guard, USUAL.guard, "3/3  What about personal data in them?", _PERSONAL, _check_guard, yes=yes
        ),
        embedder=embedder,
    )
    if not yes:
        typer.echo(err=True)
    if embedder is not None:
        _check_embedder(embedder)
    write_private(file, _make_text(choices))
    _tell_next(file, choices)


def _check_target(file: Path, *, yes: bool, overwrite: bool) -> None:
    """Asks before replacing an existing file; refuses if nobody can be asked."""
    if overwrite or not file.exists():
        return
    if yes:
        raise BadInput(f"{file} exists already: --overwrite replaces it, --file writes another one")
    if not _ask_whether(f"{file} exists already. Replace it?"):
        typer.echo(f"kept {file}", err=True)
        raise typer.Exit(1)


def _answer(
    given: str | None, usual: str, question: str, hint: str, check: Callable[[str], None], *, yes: bool
) -> str:
    """Takes the option, or asks until the answer is valid; with `yes`, takes the default."""
    if given is not None:
        check(given.strip())
        return given.strip()
    if yes:
        return usual
    err = console(stderr=True)
    err.print(style_text((f"\n{question}", "bold")))
    err.print(style_text((f"     {hint}", "dim")))
    while True:
        typed = _prompt(usual)
        try:
            check(typed)
        except EidetError as error:
            err.print(style_text((f"     {error}", "yellow")), soft_wrap=True)
        else:
            return typed


def _prompt(usual: str) -> str:
    try:
        given: str = typer.prompt("    ", default=usual, err=True)
    except typer.Abort as error:
        typer.echo(err=True)  # the prompt has left the cursor on its line
        raise _no_answer(error) from error
    return given.strip()


def _ask_whether(question: str) -> bool:
    try:
        return typer.confirm(question, default=False, err=True)
    except typer.Abort as error:
        raise _no_answer(error) from error


def _no_answer(error: typer.Abort) -> Exception:
    """Ctrl-C aborts, as everywhere; the end of a pipe is explained."""
    return error if sys.stdin.isatty() else BadInput(f"no answer on stdin: {ADVICE}")


def _check_memory(place: str) -> None:
    """Refuses what other commands would refuse later, before anything is written; so do the next three."""
    if not place:
        raise BadInput("name a file or a URL for the memory")


def _check_language(language: str) -> None:
    from ..text import analyzer_of

    analyzer_of(language)


def _check_guard(guard: str) -> None:
    from ..core.settings import Settings
    from ..trust.privacy.fields import Guard

    Guard.of(Settings(guard=guard))


def _check_embedder(embedder: str) -> None:
    from ..models.embed import embedder_of

    embedder_of(embedder)


def _find_missing_extra(place: str) -> str | None:
    """The extra that the store of a URL needs and that is not installed."""
    scheme = place.partition("://")[0].partition("+")[0]
    if "://" not in place or scheme not in EXTRAS:
        return None
    package, extra = EXTRAS[scheme]
    return None if importlib.util.find_spec(package) is not None else extra


def _tell_next(file: Path, choices: _Choices) -> None:
    from .serve_command import hide_login

    out = console()
    out.print(
        f"wrote {plain(str(file))}; the memory is {plain(hide_login(choices.memory))}\n", soft_wrap=True
    )
    extra = _find_missing_extra(choices.memory)
    steps = [
        ('eidet remember "Ann lives in Lisbon"', "writes the first memory"),
        ('eidet recall "Where does Ann live?"', "finds it, and says why"),
        ("eidet doctor", "checks the setup and says what to mend"),
    ]
    if extra is not None:
        steps.insert(0, (f"pip install 'eidet[{extra}]'", "the driver of this store is not installed yet"))
    out.print(grid(("", "dim"), steps))
    if file != FILE:
        out.print(style_text((f"\nCommands read it with --config {file} or EIDET_CONFIG={file}.", "dim")))
    _hint_variables(choices)


def _hint_variables(choices: _Choices) -> None:
    """A variable of the environment wins over the file: say so where it says something else."""
    variable = os.environ.get("EIDET_MEMORY")
    if variable and variable != choices.memory:
        typer.echo("note: EIDET_MEMORY is set to another memory, and wins over the file", err=True)


_HEAD: Final = """\
# Settings of Eidet. Every `eidet` command that runs in this folder reads this file.
# Python programs read it if EIDET_CONFIG names it: EIDET_CONFIG=eidet.toml python agent.py
# Options (--at, --language …) and EIDET_* variables win over this file.
# A line that begins with "# " and a name is a default: remove the "# " to change it.
# `eidet doctor` checks the result. Paths start at the folder where a command runs.

[eidet]
"""

_REST: Final = """\
# Durability.
# durability = "process"  # survives kill -9; "power" also survives a power cut, and writes slower

# What is remembered.
# facts = true  # read facts out of texts: who lives where, since when
# weigh = false  # estimate importance from the text where you give none
# keep_duplicates = false  # store a fact again even if its scope has it word for word

# Trust. See `eidet review --help` and `eidet mark --help`.
# poison = "untrusted"  # scan texts for injected instructions: "untrusted", "all" or "off"
# audit_recalls = false  # with an audit log: note reads, too

# How memories age. `eidet maintain` applies it.
[eidet.upkeep]
# short_age_days = 30.0  # unused for this long, a memory keeps less detail
# middle_age_days = 180.0  # unused for this long, only its gist is shown
# half_life_days = 30.0  # how fast unused memories fade

# How long memories are kept; the first policy that matches decides. Remove the "#" signs to use it.
#[[eidet.retention]]
#scope = "**"
#kinds = ["message"]
#then = "delete"
#days = 365
"""


def _make_text(choices: _Choices) -> str:
    """The whole file."""
    lines = [
        "# Where memories live: a file, or a URL such as postgresql://user@host/name or redis://host.",
        f"memory = {_quote(choices.memory)}",
        "",
        "# The language of the texts, for the forms of words: en, de, fr, es … or none.",
        f"language = {_quote(choices.language)}",
        "",
        "# What turns texts into vectors; `eidet rebuild --reembed` changes it later.",
        _describe_embedder(choices.embedder),
        "",
        "# Personal data and secrets in texts: off (stored as they are), redact, mask, label or refuse.",
        f"guard = {_quote(choices.guard)}",
        "",
    ]
    return _HEAD + "\n".join(lines) + "\n" + _REST


def _describe_embedder(name: str | None) -> str:
    return '# embedder = "wordllama"' if name is None else f"embedder = {_quote(name)}"


def _quote(text: str) -> str:
    """A text as TOML writes it; JSON's form is one of them."""
    return dumps(text, ensure_ascii=False)
