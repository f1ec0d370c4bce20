"""Makes drafts of a turn, with the trust and the retention of each.

Messages of the user and the assistant are kept as such, and decisions in them as facts. Commands are kept as
the agent wrote them, with their outcome. Text of a tool or the web (of an error, of a page) is quarantined:
a person reviews it with `eidet review`, and until it is approved no answer contains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from ..core.draft import Draft
from ..core.record import Trust
from ..core.settings import Retention
from ..core.where import Where
from ..memory import Memory
from .transcripts import Done, Said, Step

_PROMPT_CHARS: Final = 4_000
_ANSWER_CHARS: Final = 2_000
_COMMAND_CHARS: Final = 200
_OUTPUT_CHARS: Final = 400
_MOST_COMMANDS: Final = 20  # in a turn
_ASIDE: Final = "quarantined"
_DECIDED: Final = 0.8  # the importance of a decision
_UNREVIEWED_DAYS: Final = 30  # that text may wait in quarantine
RETENTION: Final = (  # by then, upkeep has made episodes of them; decisions stay
    Retention(scope="projects/**", kinds=("message", "action"), then="delete", days=180, name="turns"),
)
_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$))+[.!?]?")
_DECISION: Final = re.compile(
    r"\b(?:(?:we|i)(?:'ve| have|'ll| will)? (?:decided|agreed|chose|settled on|go with|went with|stick with)"
    r"|let'?s (?:use|go with|stick with|switch to|keep)|from now on|instead of|rather than"
    r"|(?:always|never) \w+|we (?:use|don'?t use|prefer)|(?:i|we)'?d? prefer|the decision is)\b",
    re.IGNORECASE,
)
_OUTCOMES: Final = {True: " (failed)", False: " (worked)", None: ""}
# Secrets that only their place in a command line reveals; the guard finds all others.
_IN_COMMAND: Final = re.compile(
    r"""\b[A-Z][A-Z0-9_]*(?:PASS|PASSWORD|PASSWD|PWD|SECRET|TOKEN|KEY)=(?P<set>[^\s;&|]+)
    | \s(?:-u|--user)[ =]?[^\s:]+:(?P<user>[^\s'"]+)
    | \b(?:mysql\w*|mariadb\w*|sshpass|(?:docker|podman|az)\s[^|;&]*?login)\b
      [^|;&]*?\s-p\s?(?P<flag>[^\s;&|]+)
    | \b(?:echo|printf)\s+(?P<piped>[^|;&]+?)\s*\|(?=[^;&]*(?:--password-stdin|\bsudo\s+-S))""",
    re.VERBOSE,
)
_LAST_WORD: Final = re.compile(r"[^\s`]*$")
_ERROR: Final = re.compile(r"error|exception|fail|not found|denied|cannot|can't|fatal", re.IGNORECASE)


def make_drafts(steps: Sequence[Step], tool: str, session: str) -> list[Draft]:
    """Makes drafts of a turn, in the order in which it happened."""
    return [draft for turn in _split_turns(steps) for draft in _draft_turn(turn, tool, session)]


def forget_unreviewed(memory: Memory, now: float) -> None:
    """Forgets quarantined text of tools and pages that was not approved within a month."""
    old = Where(trust=(Trust.QUARANTINED,), created_until=now - _UNREVIEWED_DAYS * 86_400)
    for scope in memory.scopes("projects"):
        memory.forget(where=old, scope=scope, for_good=False)


def _split_turns(steps: Sequence[Step]) -> Iterator[list[Step]]:
    turn: list[Step] = []
    for step in steps:
        if isinstance(step, Said) and step.who == "user" and turn:
            yield turn
            turn = []
        turn.append(step)
    if turn:
        yield turn


def _draft_turn(turn: list[Step], tool: str, session: str) -> Iterator[Draft]:
    done = [step for step in turn if isinstance(step, Done)]
    prompts, answers = (
        [step for step in turn if isinstance(step, Said) and step.who == who] for who in ("user", "assistant")
    )
    draft = partial(_draft, tool, session)
    for said in prompts:
        yield draft(said, _shorten(said.text, _PROMPT_CHARS), kind="message")
        yield from _draft_decisions(said, draft)
    commands = [step for step in done if step.sort == "command"][-_MOST_COMMANDS:]
    if commands:
        lines = [f"`{_shorten(one.what, _COMMAND_CHARS)}`{_OUTCOMES[one.failed]}" for one in commands]
        yield draft(commands[0], "Ran " + "; ".join(lines), kind="action")
    for error, fix in _find_fixes(done):
        text = f"`{_shorten(error.what, _COMMAND_CHARS)}` failed: {_error_line(error.output)}"
        text = f"{text} It worked after {fix}."
        yield draft(error, text, part="/error", trust=_ASIDE, source="the output of a command")
    pages = [step for step in done if step.sort == "web"]
    for page in (one for one in pages if one.output):
        text = f"{_shorten(page.what, _COMMAND_CHARS)} said: {_shorten(page.output, _OUTPUT_CHARS)}"
        yield draft(page, text, trust=_ASIDE, source=_shorten(page.what, _COMMAND_CHARS))
    for said in answers[-1:]:
        yield draft(said, _shorten(said.text, _ANSWER_CHARS), kind="message", trust=_ASIDE if pages else None)
        yield from () if pages else _draft_decisions(said, draft)


def _draft_decisions(said: Said, draft: Callable[..., Draft]) -> Iterator[Draft]:
    for number, text in enumerate(_find_decisions(said.text)):
        if text != said.text:
            yield draft(said, text, part=f"/{number}", importance=_DECIDED)


def _draft(tool: str, session: str, step: Step, text: str, *, part: str = "", **more: Any) -> Draft:
    return Draft(
        text=text,
        agent=tool,
        session=session,
        who=step.who if isinstance(step, Said) else None,
        occurred=step.when,
        key=f"{session}/{step.key}{part}",
        **({"kind": "fact", "source": tool} | more),
    )


def _find_decisions(text: str) -> list[str]:
    """Returns the sentences that state a decision; skips code blocks and quotations."""
    plain = re.sub(r"```.*?(?:```|$)|^>.*$", "", text, flags=re.DOTALL | re.MULTILINE)
    sentences = [" ".join(found[0].split()).lstrip("-*# ") for found in _SENTENCE.finditer(plain)]
    return [
        one for one in sentences if 15 <= len(one) <= 300 and not one.endswith("?") and _DECISION.search(one)
    ]


def _find_fixes(done: Sequence[Done]) -> Iterator[tuple[Done, str]]:
    """Yields each command that failed and worked later, with what was done in between."""
    for at, error in enumerate(done):
        if error.sort != "command" or not error.failed:
            continue
        later = done[at + 1 :]
        same = (n for n, step in enumerate(later) if step.what == error.what and step.failed is False)
        between = later[: next(same, 0)]
        fix = [_describe_fix(step) for step in between if step.sort != "web" and not step.failed]
        if fix:
            yield error, "; ".join(dict.fromkeys(fix))


def _describe_fix(step: Done) -> str:
    return f"an edit of {step.what}" if step.sort == "edit" else f"`{_shorten(step.what, _COMMAND_CHARS)}`"


def _error_line(output: str) -> str:
    """Returns the last line that mentions an error, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or [""]
    return _shorten(next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1]), _OUTPUT_CHARS)


def _shorten(text: str, chars: int) -> str:
    """Hides secrets of command lines and shortens a text at a word: half of it could be half a secret."""
    text = _IN_COMMAND.sub(_hide, text)
    return text if len(text) <= chars else f"{_LAST_WORD.sub('', text[:chars]).rstrip()} …"


def _hide(found: re.Match[str]) -> str:
    begin, end = (at - found.start() for at in found.span(str(found.lastgroup)))
    return f"{found[0][:begin]}[SECRET]{found[0][end:]}"
