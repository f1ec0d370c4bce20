"""A plugin of the command-line tool `llm`: what you said to any model is remembered and can be recalled.

`llm` logs each prompt and each response. Whenever the plugin is used, it first takes in what was logged since
the last time. So a run that was cancelled, or a memory that was out of reach, loses nothing, and nothing is
stored twice. Everything heavy is imported when used: `llm` loads its plugins at every start.
"""

from __future__ import annotations

import contextlib
import getpass
import io
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from .extras import STEP, make_missing, quote_label

try:
    import click
    import llm
except ModuleNotFoundError as error:
    raise make_missing("the command-line tool llm", "llm") from error

if TYPE_CHECKING:
    from ..core.draft import Draft
    from ..memory import Memory

MEMORY: Final = "EIDET_MEMORY"  # names the memory, as for the command `eidet`
SCOPE: Final = "LLM_EIDET_SCOPE"
BATCH: Final = 500
LATE: Final = timedelta(hours=1)  # a run may log so much later than one that began after it
BUDGET: Final = 1000  # tokens of a fragment
_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # of the ids in llm's log: 10 for the time, 16 for chance
_TIME_DIGITS, _CHANCE_DIGITS = 10, 16
_CURSOR: Final = "llm cursor"
_READING: Final = threading.Lock()

INSTRUCTIONS: Final = (
    "You have a long-term memory of earlier conversations with this user. Use Eidet_recall before you answer "
    "a question that they may help with. Use Eidet_remember for facts that will matter later. "
    "Use Eidet_forget only if the user asks for it."
)


class LoggedMemory:
    """A memory that knows what llm has logged. It is open inside a `with` block.

    The log goes to the user's own scope: the one that LLM_EIDET_SCOPE names, or else `llm/` and the name of
    the account. Any other scope has only what is remembered in it.
    """

    def __init__(self, scope: str | None = None, at: str | None = None) -> None:
        own = os.environ.get(SCOPE) or f"llm/{quote_label(_name_user())}"
        self.scope: str = scope or own
        self.is_own: bool = self.scope == own
        self.place: str = at or os.environ.get(MEMORY) or str(llm.user_dir() / "eidet.db")

    def open(self) -> Memory:
        from ..memory import Memory

        return Memory(self.place)

    @contextlib.contextmanager
    def read(self) -> Iterator[Memory]:
        """The open memory; the user's own scope with all that llm has logged."""
        with self.open() as memory:
            if self.is_own:
                self.sync(memory)
            yield memory

    def sync(self, memory: Memory) -> int:
        """Takes in the prompts and responses logged since the last time; how many records are new."""
        from ..core.record import key_id

        place = f"{self.scope}/cursor"
        cursor = memory.get(key_id(_CURSOR), scope=place)
        state: dict[str, Any] = {"after": "", "seen": []}
        if cursor is not None:
            state.update(cursor.whole.data)
        rows = read_log(state["after"])
        seen = set(state["seen"])
        drafts: list[Draft] = []
        for row in rows:
            if row["id"] not in seen:
                drafts += _draft_row(row, memory.parts.settings.text_chars)
        stored = self._store(memory, drafts)
        if drafts:
            memory.remember(
                key=_CURSOR, kind="working", data=move_cursor(state["after"], rows), scope=place, again=True
            )
        return stored

    def _store(self, memory: Memory, drafts: Sequence[Draft]) -> int:
        """Stores drafts and counts them; what was forgotten for good stays forgotten."""
        stored = 0
        for start in range(0, len(drafts), BATCH):
            kept = memory.remember(list(drafts[start : start + BATCH]), scope=self.scope)
            stored += len(kept)
        return stored


def _name_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "user"


def read_log(after: str) -> list[dict[str, Any]]:
    """The rows of llm's log with a greater id, oldest first, by its documented command."""
    if not (llm.user_dir() / "logs.db").exists():
        return []
    from llm.cli import cli

    command = ["logs", "list", "--json", "--expand", "-n", "0"]
    if after:
        command += ["--id-gt", after]
    printed = io.StringIO()
    with _READING, contextlib.redirect_stdout(printed):
        cli.main(command, standalone_mode=False)
    return list(json.loads(printed.getvalue() or "[]"))


def _draft_row(row: Mapping[str, Any], most: int) -> list[Draft]:
    """The prompt and the response of a row, as messages of its conversation; `most` characters of each."""
    from ..core.draft import Draft

    at = _time_of(row)
    drafts = []
    turns = (("user", _strip_fragments(row), at), ("assistant", row["response"] or "", at + STEP))
    for who, text, when in turns:
        if text.strip():
            drafts.append(
                Draft(
                    key=f"llm {row['id']} {who}",
                    kind="message",
                    text=text[:most],
                    who=who,
                    session=row["conversation_id"],
                    occurred=when,
                    meta={"llm": {"id": row["id"], "model": row["model"]}},
                )
            )
    return drafts


def _strip_fragments(row: Mapping[str, Any]) -> str:
    """The prompt that the user typed, without the fragments that the log puts before it."""
    text = str(row["prompt"] or "")
    for fragment in row.get("prompt_fragments") or ():
        content = fragment["content"]
        if content and text.startswith(content):
            text = text.removeprefix(content).lstrip("\n")
    return text


def move_cursor(after: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The cursor for the next reading: an hour before the latest row, and the known rows since then."""
    latest = max(_time_of(row) for row in rows)
    after = max(after, make_id(latest - LATE.total_seconds()))
    seen = [row["id"] for row in rows if row["id"] > after]
    return {"after": after, "seen": seen}


def make_id(at: float) -> str:
    """The least id that llm's log can have at a time."""
    left, digits = int(at * 1000), ""
    for _ in range(_TIME_DIGITS):
        left, digit = divmod(left, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits + _DIGITS[0] * _CHANCE_DIGITS


def _time_of(row: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(row["datetime_utc"]).timestamp()


class Eidet(llm.Toolbox):
    """A long-term memory: `llm -T Eidet '…'`, or `-T 'Eidet("work")'` for another scope."""

    def __init__(self, scope: str | None = None, at: str | None = None) -> None:
        self._memory = LoggedMemory(scope, at)

    def recall(self, query: str, limit: int = 5) -> list[dict[str, Any]]:
        """Searches the long-term memory: what was said in earlier conversations, and facts remembered."""
        with self._memory.read() as memory:
            hits = memory.recall(query, scope=self._memory.scope, limit=limit)
            return [
                {
                    "id": hit.id,
                    "text": hit.record.whole.text,
                    "who": hit.record.who,
                    "when": hit.record.when.isoformat(),
                    "score": round(hit.score, 3),
                }
                for hit in hits
            ]

    def remember(self, text: str) -> str:
        """Stores a fact in the long-term memory, as one short sentence that can be understood by itself."""
        with self._memory.open() as memory:
            record = memory.remember(text, scope=self._memory.scope)
            return f"remembered as {record.id}"

    def forget(self, id: str) -> str:
        """Deletes one entry of the long-term memory for good, by the id that recall gave."""
        with self._memory.read() as memory:
            return f"forgot {int(memory.forget(id, scope=self._memory.scope))}"


def _load_fragment(argument: str) -> llm.Fragment:
    """What is remembered about a topic: `llm -f 'eidet:travel plans' 'Where should I go?'`"""
    logged = LoggedMemory()
    with logged.read() as memory:
        found = memory.context(argument, scope=logged.scope, budget=BUDGET)
    text = found.text or f"Nothing is remembered about: {argument}"
    return llm.Fragment(text, source=f"eidet:{argument}")


def load_template(argument: str) -> llm.Template:
    """A model that uses its memory: `llm chat -t eidet:`; `-t eidet:work` for the scope `work`."""
    tool = f"Eidet({json.dumps(argument)})" if argument else "Eidet"
    return llm.Template(name=f"eidet:{argument}", system=INSTRUCTIONS, tools=[tool])


@llm.hookimpl  # type: ignore[untyped-decorator]
def register_tools(register: Any) -> None:
    register(Eidet)


@llm.hookimpl  # type: ignore[untyped-decorator]
def register_fragment_loaders(register: Any) -> None:
    register("eidet", _load_fragment)


@llm.hookimpl  # type: ignore[untyped-decorator]
def register_template_loaders(register: Any) -> None:
    register("eidet", load_template)


@llm.hookimpl  # type: ignore[untyped-decorator]
def register_commands(cli: Any) -> None:
    cli.add_command(commands)


@click.group(name="eidet")
def commands() -> None:
    """What llm remembers of all conversations."""


@commands.command(name="sync")
def sync_command() -> None:
    """Take in what was logged since the last time."""
    from ..core.errors import EidetError

    logged = LoggedMemory()
    try:
        with logged.open() as memory:
            click.echo(f"{logged.sync(memory)} new in {logged.place}, scope {logged.scope}")
    except EidetError as error:
        raise click.ClickException(str(error)) from error
