"""Parses what was said and done in a turn from the transcripts and events of each coding agent.

Every agent has its own format; all of them become `Said` and `Done`. A line that cannot be parsed is skipped,
because the format may be newer than this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

_LONGEST_READ: Final = 20_000_000  # bytes of a transcript that one turn may add
_SHELLS: Final = frozenset(
    (
        *("bash", "shell", "exec_command", "local_shell", "container.exec"),
        *("run_shell_command", "run_terminal_cmd"),
    )
)
_EDITS: Final = frozenset(
    ("edit", "write", "multiedit", "notebookedit", "apply_patch", "replace", "write_file", "patch")
)
_WEB: Final = re.compile(r"web|fetch|browser|^mcp_", re.IGNORECASE)
_SCAFFOLD: Final = re.compile(r"\s*(?:<[a-z]|# AGENTS\.md|Caveat: )")  # added in the name of the user
_ADDED: Final = re.compile(r"<(system-reminder|hook_context)>.*?</\1>", re.DOTALL)  # by an agent or by us
_EXIT: Final = re.compile(r'(?im:^(?:process exited with code|exit code:?)|"exit_code":)\s*(-?\d+)')
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of the user or the assistant; `key` identifies it within its session."""

    key: str
    who: str
    text: str
    when: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A call of a tool: a command, an edit of a file, or something from the web (`sort`)."""

    key: str
    sort: str
    what: str  # the command line, the file or the address
    output: str = ""
    failed: bool | None = None  # None: unknown
    when: str | None = None


Step = Said | Done


def find_steps(tool: str, given: Mapping[str, Any], offset: int) -> tuple[list[Step], int]:
    """Returns what was said and done since `offset` of the transcript, and the new offset."""
    if tool == "opencode":
        return list(_parse_opencode(given.get("messages") or ())), offset
    parse = {"claude": _parse_claude, "codex": _parse_codex, "gemini": _parse_gemini}.get(tool)
    if parse is None:
        return list(_parse_event(given)), offset
    path = given.get("transcript_path")
    lines, end = _read_lines(path, offset)
    steps = list(parse(lines))
    if given.get("hook_event_name") != "SessionEnd":
        steps, end = _hold_unanswered(steps, end)
    return [*steps, *(_parse_event(given) if tool == "gemini" or not path else ())], end


def _hold_unanswered(steps: list[Step], end: int) -> tuple[list[Step], int]:
    """Leaves out a last turn whose answer is not written yet; the next event reads it."""
    asked = [n for n, step in enumerate(steps) if isinstance(step, Said) and step.who == "user"]
    if not asked or (isinstance(steps[-1], Said) and asked[-1] < len(steps) - 1):
        return steps, end
    return steps[: asked[-1]], int(steps[asked[-1]].key.partition(".")[0])


def _read_lines(path: Any, offset: int) -> tuple[list[tuple[int, Any]], int]:
    """Reads the JSON lines after an offset, each with its own; leaves an unfinished last line."""
    file = Path(path) if isinstance(path, str) and path else None
    if file is None or not file.is_file():
        return [], offset
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        at = stream.seek(max(offset if offset <= size else 0, size - _LONGEST_READ))
        text = stream.read()
    whole, _, rest = text.rpartition(b"\n")
    lines: list[tuple[int, Any]] = []
    for line in whole.split(b"\n") if whole else ():
        lines.append((at, _load(line)))
        at += len(line) + 1
    return [(where, line) for where, line in lines if isinstance(line, dict)], size - len(rest)


def _load(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _parse_claude(lines: Iterable[tuple[int, Any]]) -> Iterator[Step]:
    calls: dict[str, Done] = {}
    for at, line in lines:
        hidden = line.get("isMeta") or line.get("isSidechain") or line.get("isCompactSummary")
        message = line.get("message")
        if hidden or line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            continue
        content, when = message.get("content"), line.get("timestamp")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        for number, block in enumerate(blocks):
            key, kind = f"{at}.{number}", block.get("type") if isinstance(block, dict) else None
            if kind == "text":
                yield from _said(key, line["type"], block.get("text"), when)
            elif kind == "tool_use" and (call := _called(key, block.get("name"), block.get("input"), when)):
                calls[block.get("id", "")] = call
            elif kind == "tool_result" and (call := calls.pop(block.get("tool_use_id", ""), None)):
                yield _answered(call, _text_of(block.get("content")), block.get("is_error"))


def _parse_codex(lines: Iterable[tuple[int, Any]]) -> Iterator[Step]:
    calls: dict[str, Done] = {}
    for at, line in lines:
        item, when = line.get("payload"), line.get("timestamp")
        if line.get("type") != "response_item" or not isinstance(item, dict):
            continue
        kind = item.get("type")
        if kind == "message" and item.get("role") in ("user", "assistant"):
            yield from _said(str(at), item["role"], _text_of(item.get("content")), when)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            asked = item.get("arguments") or item.get("input") or item.get("action")
            if call := _called(str(at), item.get("name") or "local_shell", asked, when):
                calls[item.get("call_id", "")] = call
        elif str(kind).endswith("_output") and (call := calls.pop(item.get("call_id", ""), None)):
            yield _answered(call, _text_of(item.get("output")), None)


def _parse_gemini(lines: Iterable[tuple[int, Any]]) -> Iterator[Step]:
    """Yields tool calls only: Gemini's events hold the messages. A rewritten message replaces the old one."""
    messages = {line.get("id"): line for _, line in lines if line.get("toolCalls")}
    for id, message in messages.items():
        for number, call in enumerate(message["toolCalls"]):
            if done := _called(
                f"{id}.{number}", call.get("name"), call.get("args"), message.get("timestamp")
            ):
                failed = None if call.get("status") == "success" else True
                yield _answered(done, _text_of(call.get("result") or call.get("resultDisplay")), failed)


def _parse_opencode(messages: Iterable[Any]) -> Iterator[Step]:
    for message in messages:
        info = message.get("info", {})
        for number, part in enumerate(message.get("parts") or ()):
            key = part.get("id") or f"{info.get('id')}.{number}"
            if part.get("type") == "text" and not part.get("synthetic"):
                yield from _said(key, info.get("role"), part.get("text"), None)
            elif part.get("type") == "tool":
                state = part.get("state") or {}
                if call := _called(key, part.get("tool"), state.get("input"), None):
                    exit = (state.get("metadata") or {}).get("exit")
                    failed = state.get("status") == "error" or (None if exit is None else exit != 0)
                    yield _answered(call, _text_of(state.get("output") or state.get("error")), failed)


def _parse_event(given: Mapping[str, Any]) -> Iterator[Step]:
    """Yields the messages and the command of one event, for agents that report a turn in events."""
    key = str(given.get("generation_id") or given.get("turn_id") or given.get("timestamp") or "")
    yield from _said(f"{key}.prompt", "user", given.get("prompt"), None)
    for name in ("last_assistant_message", "prompt_response", "text"):
        yield from _said(f"{key}.answer", "assistant", given.get(name), None)
    if isinstance(command := given.get("command"), str):
        yield Done(key=f"{key}.{command}", sort="command", what=command, output=str(given.get("output", "")))


def _said(key: str, who: Any, text: Any, when: Any) -> Iterator[Said]:
    plain = _ADDED.sub("", text).strip() if isinstance(text, str) else ""
    if plain and not (who == "user" and _SCAFFOLD.match(plain)):
        yield Said(key=key, who=str(who), text=plain, when=when)


def _called(key: str, tool: Any, asked: Any, when: Any) -> Done | None:
    """Returns a call whose output is not known yet, or None if it is not worth remembering."""
    tool = str(tool or "").lower()
    if isinstance(asked, str) and asked.startswith("{"):
        asked = _load(asked.encode())
    if tool in _SHELLS:
        return Done(key=key, sort="command", what=_command_of(asked), when=when)
    if tool in _EDITS:
        return Done(key=key, sort="edit", what=_file_of(asked), when=when)
    if _WEB.search(tool):
        return Done(key=key, sort="web", what=str(_first(asked, "url", "query") or tool), when=when)
    return None


def _answered(call: Done, output: str, failed: Any) -> Done:
    code = _EXIT.search(f"{output[:300]}\n{output[-300:]}") if call.sort == "command" else None
    if not failed and code is not None:
        failed = code[1] != "0"
    elif failed is None and call.sort == "command":
        failed = False
    return replace(call, output=output, failed=failed)


def _command_of(asked: Any) -> str:
    found = asked if isinstance(asked, str) else _first(asked, "command", "cmd")
    if not isinstance(found, list):
        return str(found or "")
    return str(found[-1]) if found[:1] in (["bash"], ["sh"], ["zsh"]) else " ".join(map(str, found))


def _file_of(asked: Any) -> str:
    patch = asked if isinstance(asked, str) else _first(asked, "input", "patch", "patchText")
    if isinstance(patch, str) and (files := _PATCHED.findall(patch)):
        return ", ".join(files)
    return str(_first(asked, "file_path", "filePath", "path", "notebook_path") or "a file")


def _first(asked: Any, *names: str) -> Any:
    return next((asked[name] for name in names if asked.get(name)), None) if isinstance(asked, dict) else None


def _text_of(content: Any) -> str:
    """Extracts the text of message content: a string, a list of parts, or an object with one."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text_of, content)))
    if isinstance(content, dict):
        found = (content.get(name) for name in ("text", "output", "content", "functionResponse", "response"))
        return next((_text_of(part) for part in found if part), "")
    return content if isinstance(content, str) else ""
