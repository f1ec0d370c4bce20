"""The coding agents that `eidet integrate` supports: their files, their events, and our entries there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .config_text import Entry, Unreadable
from .hook import BUDGET

MCP: Final = "eidet"  # the name of the server in every configuration
_HOOK_SECONDS: Final = 3  # after which an agent would stop a hook by itself
RULE: Final = """---
description: Long-term memory across sessions
alwaysApply: true
---
Eidet keeps the long-term memory of this project in the scope `{scope}`, and that of the user in `default`.
Before a task that may build on earlier work, call its tool `recall` with that scope and a question.
When something is decided, found out or preferred that will matter in a later session, call `remember`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A coding agent. Files are pairs: the user's, below their home, and a project's, below its folder.

    `events` maps its events to ours: start, prompt, note (only remembered), turn, end.
    """

    name: str
    title: str
    hooks: tuple[str, str]
    mcp: tuple[str, str]
    events: Mapping[str, str]
    groups: bool = True  # whether hooks are in groups with a matcher, as in Claude
    timeout: int = _HOOK_SECONDS
    more: Mapping[str, Any] = field(default_factory=dict)  # further members of a hook
    base: Mapping[str, Any] = field(default_factory=dict)  # members that a file of hooks must have
    mcp_path: str = "mcpServers"
    rule: str | None = None  # a file of a project with instructions for the agent
    after: str = ""  # what the user still has to do


_CLAUDE: Final = {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "turn", "SessionEnd": "end"}
TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(
            name="claude",
            title="Claude Code",
            hooks=(".claude/settings.json", ".claude/settings.local.json"),
            mcp=(".claude.json", ".mcp.json"),
            events=_CLAUDE,
        ),
        Tool(
            name="codex",
            title="Codex CLI",
            hooks=(".codex/hooks.json", ".codex/hooks.json"),
            mcp=(".codex/config.toml", ".codex/config.toml"),
            events=_CLAUDE,
            mcp_path="mcp_servers",
            after="Codex asks once whether you trust the hooks: answer it, or type /hooks.",
        ),
        Tool(
            name="cursor",
            title="Cursor",
            hooks=(".cursor/hooks.json", ".cursor/hooks.json"),
            mcp=(".cursor/mcp.json", ".cursor/mcp.json"),
            events={
                "sessionStart": "start",
                "beforeSubmitPrompt": "note",  # it takes no context before a prompt
                "afterShellExecution": "note",
                "afterAgentResponse": "turn",
                "sessionEnd": "end",
            },
            groups=False,
            base={"version": 1},
            rule=".cursor/rules/eidet.mdc",
        ),
        Tool(
            name="gemini",
            title="Gemini CLI",
            hooks=(".gemini/settings.json", ".gemini/settings.json"),
            mcp=(".gemini/settings.json", ".gemini/settings.json"),
            events={
                "SessionStart": "start",
                "BeforeAgent": "prompt",
                "AfterAgent": "turn",
                "SessionEnd": "end",
            },
            timeout=_HOOK_SECONDS * 1000,  # milliseconds
            more={"name": MCP},
        ),
        Tool(
            name="opencode",
            title="OpenCode",
            hooks=(".config/opencode/plugins/eidet.js", ".opencode/plugins/eidet.js"),
            mcp=(".config/opencode/opencode.json", "opencode.json"),
            events={},
            mcp_path="mcp",
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The commands an agent runs: the hook of an event, and the MCP server."""

    at: str
    budget: int = BUDGET

    def hook(self, tool: str, event: str) -> list[str]:
        words = [sys.executable, "-P", "-m", "eidet.coding.hook", tool, event, "--at", self.at]
        return words if self.budget == BUDGET else [*words, "--budget", str(self.budget)]

    @property
    def server(self) -> list[str]:
        return [*find_command(), "mcp", "--at", self.at]


def find_command() -> list[str]:
    """Finds a command that starts `eidet` from any folder."""
    beside = Path(sys.executable).with_name("eidet")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "eidet.cli"]


def hook_entries(tool: Tool, commands: Commands) -> list[Entry]:
    """Returns our entries in an agent's file of hooks."""
    entries, join = [], subprocess.list2cmdline if os.name == "nt" else shlex.join
    for theirs, event in tool.events.items():
        line = join(commands.hook(tool.name, event))
        hook = {**tool.more, "type": "command", "command": line, "timeout": tool.timeout}
        entry = {"hooks": [hook]} if tool.groups else {"command": line, "timeout": tool.timeout}
        entries.append(Entry(("hooks", theirs), None, entry, _is_our_hook))
    return entries


def _is_our_hook(value: Any) -> bool:
    """Returns whether a hook or all of a group run this package; `Unreadable` if only some do."""
    inner = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(inner, list):
        return isinstance(value, dict) and "eidet.coding.hook" in str(value.get("command"))
    ours = [_is_our_hook(one) for one in inner]
    if any(ours) and not all(ours):
        raise Unreadable("it has a hook of Eidet in one group with others: give it a group of its own")
    return any(ours)


def server_entry(tool: Tool, commands: Commands) -> Entry:
    """Returns the entry of our MCP server in an agent's file of servers."""
    command, *args = commands.server
    value: dict[str, Any] = {"command": command, "args": args}
    if tool.name == "opencode":
        value = {"type": "local", "command": commands.server, "enabled": True}
    elif tool.name == "claude":
        value = {"type": "stdio", **value}
    return Entry((tool.mcp_path,), MCP, value, lambda found: "--at" in str(found))
