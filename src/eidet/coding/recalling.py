"""Recalls a context for an event of a coding agent: within a budget, no record twice in a session."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.private_files import write_private
from ..core.where import Where

if TYPE_CHECKING:
    from ..memory import Memory

_USER: Final = "default"  # the scope of the user's own memories
_LEAST: Final = 0.1  # the lowest score of a hit that a prompt gets
_QUERY_CHARS: Final = 2_000
_FRAME: Final = 60  # tokens for the lines around the memories
_KEPT_DAYS: Final = 30  # without a change before the file of a session is removed
_LASTING: Final = ("fact", "procedure", "episode", "summary", "document")


@dataclass(slots=True)
class Session:
    """The state of a session: the records it was shown, and how far its transcript was read."""

    shown: list[str] = field(default_factory=list)
    offset: int = 0

    @classmethod
    def load(cls, file: Path) -> Session:
        try:
            return cls(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # absent, or not ours
            return cls()

    def save(self, file: Path) -> None:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(file, json.dumps(asdict(self)))


def remove_old_sessions(folder: Path) -> None:
    for file in folder.glob("*.json"):
        if file.stat().st_mtime < time.time() - _KEPT_DAYS * 86_400:
            file.unlink(missing_ok=True)


def find_project(cwd: str) -> Path:
    """Returns the nearest folder, from `cwd` upwards, that is a git repository, or else `cwd` itself."""
    folder = Path(cwd).absolute()
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


def scope_of(cwd: str) -> str:
    """Returns the scope of a project, `projects/NAME-…`; two folders of one name have two scopes."""
    project = find_project(cwd)
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in project.name).strip(".") or "root"
    return f"projects/{name[:60]}-{blake2b(str(project).encode(), digest_size=3).hexdigest()}"


def session_of(request: Mapping[str, Any]) -> str:
    """Returns the name of a session in the memory, such as `claude:…`."""
    given = request["input"]
    return f"{request['tool']}:{given.get('session_id') or given.get('conversation_id') or 'unknown'}"


def recall(memory: Memory, request: Mapping[str, Any], session: Session) -> tuple[str, list[str]]:
    """Returns the text for a session's start or a prompt, and the ids of its records; "" if nothing fits.

    Records of the session itself are left out. A session that got nothing at its start, because the
    resident process was not running yet, gets it with its first prompt.
    """
    event, query = request["event"], str(request["input"].get("prompt") or "")
    project, own = scope_of(request["cwd"]), Where(session=session_of(request))
    parts, ids, left = [], list[str](), request["budget"] - _FRAME
    events = (event,) if session.shown or event == "start" else ("prompt", "start")
    for name in events:
        for scopes, kinds, share in _list_portions(name, project):
            context = memory.context(
                query[:_QUERY_CHARS] if name == "prompt" else "",
                scope=scopes,
                budget=max(int(left * share), 1),
                where=~own,
                seen=[*session.shown, *ids],
                least=_LEAST if name == "prompt" else None,
                neighbours=0,
                kinds=kinds or None,
            )
            if context.records and left > 0:
                parts.append(context.text)
                ids += [record.id for record in context.records]
                left -= context.tokens
    if not parts:
        return "", []
    head = f"From earlier sessions, by Eidet. The memory scope of this project is {project}."
    return "\n\n".join([head, *parts]), ids


def _list_portions(event: str, project: str) -> list[tuple[list[str], tuple[str, ...], float]]:
    """Lists portions in order: scopes, kinds (none: all), and the share of the remaining budget."""
    if event == "prompt":
        return [([project, _USER], (), 1.0)]
    return [([project], _LASTING, 0.5), ([_USER], _LASTING, 0.5), ([project], (), 1.0)]


def write_answer(tool: str, text: str, given: Mapping[str, Any]) -> str:
    """Formats the text as the JSON that an agent reads."""
    if tool in ("cursor", "opencode"):
        return json.dumps({"additional_context": text})
    output = {"hookEventName": given.get("hook_event_name"), "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output})
