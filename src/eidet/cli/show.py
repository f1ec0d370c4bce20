"""Prints answers for people, in tables and lines of rich, or as JSON.

In JSON times are ISO 8601 in UTC, and vectors are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from json import dumps
from typing import TYPE_CHECKING, Any, Final

import typer

from ..core.record import Record, Trust
from ..core.validate import dump_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


Column = str | tuple[str, dict[str, Any]]
RIGHT: Final = {"justify": "right"}
FOLD: Final = {"overflow": "fold"}
REST: Final = {"ratio": 1, "overflow": "fold"}  # all the width that other columns leave
WIDE: Final = 90  # columns; on fewer, an id beside a column of reasons would not fit on its line
MINUTE: Final = 16  # columns of a time such as 2026-05-08 09:30
ID_WIDTH: Final = 28  # columns of an id that Eidet made; it is copied, so it is never cut or wrapped
LISTED: Final = 1000  # characters of a text that are shown in a list …
SHOWN: Final = 4000  # … and of a single record
# Characters that control a terminal, or change the direction of text.
_STEERING: Final = (
    *(*range(9), *range(11, 32), *range(127, 160), 0x061C, 0x200E, 0x200F, 0x2028, 0x2029),
    *(*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xE0000, 0xE0080)),
)
_CONTROLS: Final = dict.fromkeys(_STEERING, "\N{REPLACEMENT CHARACTER}")


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def plain(text: str) -> str:
    """Removes control characters, so that a text cannot control the terminal or be shown backwards."""
    return text.translate(_CONTROLS)


def shorten(text: str, most: int = SHOWN) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text):,} characters; --json prints all of them)"


def style_text(*parts: str | tuple[str, str]) -> Text:
    from rich.text import Text

    return Text.assemble(
        *(plain(part) if isinstance(part, str) else (plain(part[0]), part[1]) for part in parts)
    )


def local_time(moment: float | None) -> str:
    if moment is None:
        return ""
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M}"


def table(columns: Iterable[Column], rows: Iterable[Iterable[str | Text]]) -> Table:
    """Makes a table; a column is its heading, or a heading with options of rich."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in columns:
        heading, how = (column, {}) if isinstance(column, str) else column
        made.add_column(heading, **how)
    return _fill(made, rows)


def grid(styles: Iterable[str], rows: Iterable[Iterable[str | Text]]) -> Table:
    """Makes columns without lines; long text wraps within its column."""
    from rich.table import Table

    made = Table.grid(padding=(0, 2))
    for style in styles:
        made.add_column(style=style, overflow="fold")
    return _fill(made, rows)


def _fill(made: Table, rows: Iterable[Iterable[str | Text]]) -> Table:
    for row in rows:
        made.add_row(*(plain(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def tell_table(columns: Iterable[Column], rows: Iterable[Iterable[str | Text]]) -> None:
    console().print(table(columns, rows))


def show_record(record: Record, most: int = LISTED) -> Text:
    """Formats speaker and text, with the id below, and a mark if the record waits for review."""
    from ..recall.prompt_lines import speaker_of

    who = speaker_of(record)
    who = f"{who}: " if who and record.who else ""
    waits = "[waits for review] " if record.trust is Trust.QUARANTINED else ""
    said = shorten(record.text, most)
    return style_text((waits, "yellow"), (who, "bold"), said, (f"\n{record.id}", "dim"))


def reason_columns() -> list[Column]:
    """Returns columns for a record and its reasons; on a narrow terminal they are one."""
    what: Column = ("what", {"ratio": 5, "overflow": "fold"})
    wide = console().width >= WIDE
    return [what, ("why", {"ratio": 3, "style": "cyan", "overflow": "fold"})] if wide else [what]


def with_reasons(record: Record, why: str) -> tuple[Text, ...]:
    """Returns the cells of `reason_columns`."""
    if console().width >= WIDE:
        return show_record(record), style_text(why)
    return (show_record(record) + style_text((f"\n{why}", "cyan")),)


def count_words(counts: Mapping[str, int]) -> str:
    """Words the counts that are not 0: `2 new, 1 changed`."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def tell_note(label: str, text: str, style: str = "yellow", *, stderr: bool = True) -> None:
    """Prints a label in its style, and a text."""
    console(stderr=stderr).print(style_text((f"{label} ", style), text), soft_wrap=True)


def tell_heading(title: str) -> None:
    from rich.rule import Rule

    console().print()
    console().print(Rule(style_text((title, "bold")), align="left", style="dim"))


def size_text(count: int) -> str:
    from rich.filesize import decimal

    return decimal(count)


@contextmanager
def progress_bar(label: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None] | None]:
    """Shows a bar on stderr and yields its update function (done, total); None if stderr is no terminal."""
    err = console(stderr=True)
    if not (shown and err.is_terminal):
        yield None
        return
    from rich.progress import Progress

    with Progress(console=err, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


_ESCAPES: Final = {sign: dumps(chr(sign))[1:-1] for sign in _STEERING if sign > 126} | {127: "\\u007f"}


def emit(answer: object) -> None:
    """Prints one JSON document on one line; escapes characters that control a terminal."""
    typer.echo(dump_json(answer).translate(_ESCAPES))


def emit_each(answers: Iterable[object]) -> None:
    """Prints each answer as a line of JSON."""
    for answer in answers:
        emit(answer)


def emit_or_tell(json: bool, answer: object, line: str) -> None:
    """Prints the answer as JSON if asked for, else a line for people."""
    if json:
        emit(answer)
    else:
        typer.echo(line)
