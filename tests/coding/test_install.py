"""What `eidet integrate` writes, and that taking it out again leaves what others have in each file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.coding.agents import User

from eidet import BadInput, Conflict, Unavailable
from eidet.coding.config_text import add_entries, add_table, parse, remove_entries, remove_table
from eidet.coding.install import Change, apply, plan
from eidet.coding.tools import TOOLS, Commands, hook_entries, server_entry

COMMANDS = Commands(at="/home/ann/.eidet/memory.db")
PLACES = ("user", "project")
OTHERS = {  # what somebody may have in these files already, oddly written
    ".json": """{
\t"version": 1, "model": "m",
\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say hi"}]}]}
}""",
    ".toml": 'model = "m"\n[mcp_servers.other]\ncommand = "x"  # mine',
}


def tree(folder: Path) -> dict[str, Any]:
    """What the files hold: JSON by its values."""
    return {
        str(path.relative_to(folder)): read(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".eidet" not in path.parts
    }


def read(path: Path) -> Any:
    try:
        return json.dumps(json.loads(path.read_bytes()))  # with the order of members
    except ValueError:
        return path.read_bytes()


def files_of(tool: str, user: User, place: str) -> list[Path]:
    base, which = (user.home, 0) if place == "user" else (user.project, 1)
    return [base / TOOLS[tool].hooks[which], base / TOOLS[tool].mcp[which]]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
@pytest.mark.parametrize("tool", TOOLS)
def test_installing_twice_changes_nothing_more_and_removing_leaves_what_others_have(
    tool: str, existing: bool, place: str, user: User
) -> None:
    project = user.project if place == "project" else None
    for file in files_of(tool, user, place) if existing else ():
        if file.suffix in OTHERS:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(OTHERS[file.suffix])
    before = tree(user.home)
    changes = plan(TOOLS[tool], COMMANDS, project)
    apply(changes)
    installed = tree(user.home)
    assert installed != before
    assert plan(TOOLS[tool], COMMANDS, project) == []
    assert [one.path.exists() for one in changes] == [True] * len(changes)
    apply(plan(TOOLS[tool], COMMANDS, project, remove=True))
    assert tree(user.home) == before
    assert plan(TOOLS[tool], COMMANDS, project, remove=True) == []


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_every_event_runs_our_hook_beside_those_of_others(tool: str, user: User) -> None:
    hooks, _ = files_of(tool, user, "user")
    hooks.parent.mkdir()
    hooks.write_text(OTHERS[".json"])
    apply(plan(TOOLS[tool], COMMANDS, None))
    found = json.loads(hooks.read_text())["hooks"]
    for theirs, ours in TOOLS[tool].events.items():
        [entry] = [one for one in found[theirs] if "eidet.coding.hook" in json.dumps(one)]
        [hook] = entry["hooks"]
        assert hook["type"] == "command"
        assert f" {tool} {ours} --at {COMMANDS.at}" in hook["command"]
    if tool != "gemini":
        assert {"hooks": [{"type": "command", "command": "say hi"}]} in found["Stop"]


def test_a_new_memory_or_budget_replaces_the_old_command(user: User) -> None:
    apply(plan(TOOLS["claude"], COMMANDS, None))
    apply(plan(TOOLS["claude"], Commands(at="/elsewhere.db", budget=300), None))
    text = (user.home / ".claude" / "settings.json").read_text()
    assert COMMANDS.at not in text
    assert text.count("--at /elsewhere.db --budget 300") == len(TOOLS["claude"].events)


def test_the_server_of_codex_is_a_table_that_codex_reads(user: User) -> None:
    apply(plan(TOOLS["codex"], COMMANDS, None))
    servers = tomllib.loads((user.home / ".codex" / "config.toml").read_text())["mcp_servers"]
    assert servers["eidet"]["args"] == ["mcp", "--at", COMMANDS.at]


def test_the_rule_of_a_cursor_project_names_its_scope(user: User) -> None:
    apply(plan(TOOLS["cursor"], COMMANDS, user.project))
    assert user.scope in (user.project / ".cursor" / "rules" / "eidet.mdc").read_text()


# The law, over configurations of any content.

KEYS = st.sampled_from(
    ["hooks", "mcpServers", "Stop", "SessionStart", "eidet", "model", "a", "b c", 'q"\\', "é"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
HOOK_LISTS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.just({"command": "x"}))}), min_size=1, max_size=2
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "PreToolUse"]), HOOK_LISTS, min_size=1, max_size=3
)
SERVERS = st.dictionaries(st.sampled_from("ab"), VALUES, min_size=1)
CONFIGS = st.fixed_dictionaries({}, optional={"hooks": HOOKS, "mcpServers": SERVERS, "x": VALUES})
ENTRIES = [*hook_entries(TOOLS["claude"], COMMANDS), server_entry(TOOLS["claude"], COMMANDS)]


@given(CONFIGS, st.sampled_from([None, 2, "\t"]))
def test_what_others_have_in_a_file_is_left_alone(before: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(before, indent=indent) if before else ""
    added = add_entries(text, ENTRIES, {})
    assert add_entries(added, ENTRIES, {}) == added
    left = remove_entries(added, ENTRIES, {})
    assert parse(left) == before
    assert bool(left) == bool(before)
    after = parse(added)
    assert after["mcpServers"].pop("eidet") == ENTRIES[-1].value
    assert after.pop("mcpServers") == before.pop("mcpServers", {})
    hooks, others = after.pop("hooks"), before.pop("hooks", {})
    for entry in ENTRIES[:-1]:
        assert hooks[entry.path[1]].pop(0) == entry.value
    assert {name: one for name, one in hooks.items() if one} == others
    assert after == before


TABLES = st.dictionaries(st.sampled_from(["a", "mcp_servers.b", "mcp_servers.c.env"]), st.integers(0, 3))


@given(TABLES, st.sampled_from(["", "\n", "\n\n", "\n# end", "\n# [mcp_servers.eidet]"]), st.booleans())
def test_a_table_comes_and_goes_without_a_trace(tables: dict[str, int], end: str, begun: bool) -> None:
    text = (
        "m = 1\n" * begun
        + "\n".join(f"[{name}]\n" + "x = 1\n" * bool(count) for name, count in tables.items())
        + end
    )
    added = add_table(text, "mcp_servers.eidet", {"command": "x", "args": ["a", '"b"']})
    assert tomllib.loads(added)["mcp_servers"]["eidet"] == {"command": "x", "args": ["a", '"b"']}
    assert remove_table(added, "mcp_servers.eidet") == text


# What cannot be done is an error, and changes nothing.

BROKEN = {
    "not JSON": (".claude/settings.json", '{"a": 1,, }', "claude"),
    "JSON that ends too soon": (".claude/settings.json", '{"hooks": {', "claude"),
    "comments, which would be lost": (".claude/settings.json", '{"a": 1} /* mine */', "claude"),
    "a mark of byte order": (".claude/settings.json", "\ufeff{}", "claude"),
    "our hook in a group with another": (
        ".claude/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"command": "-m eidet.coding.hook a b"}, {"command": "y"}]}]}}',
        "claude",
    ),
    "somebody else's server": (".claude.json", '{"mcpServers": {"eidet": {"command": "mine"}}}', "claude"),
    "a table that was edited by hand": (
        ".codex/config.toml",
        '[mcp_servers.eidet]\nargs = [\n  "a",\n]\n',
        "codex",
    ),
    "a folder in place of a file": (".gemini/settings.json", None, "gemini"),
    "a link that leads to itself": (".cursor/mcp.json", "@loop", "cursor"),
    "not an object": (".claude/settings.json", "[]", "claude"),
    "hooks of another form": (".claude/settings.json", '{"hooks": []}', "claude"),
    "an event of another form": (".claude/settings.json", '{"hooks": {"Stop": {}}}', "claude"),
    "servers of another form": (".claude.json", '{"mcpServers": 1}', "claude"),
    "not TOML": (".codex/config.toml", "= 1", "codex"),
    "a server in another form": (".codex/config.toml", "mcp_servers = {eidet = {command = 'x'}}\n", "codex"),
    "somebody else's plugin": (".config/opencode/plugins/eidet.js", "export const Mine = 1", "opencode"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_is_not_understood_is_an_error_and_nothing_is_changed(case: str, user: User) -> None:
    name, text, tool = BROKEN[case]
    file = user.home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        file.mkdir()
    elif text == "@loop":
        file.symlink_to(file)
    else:
        file.write_text(text)
    before = tree(user.home)
    with pytest.raises(BadInput, match=str(user.home / name)):
        plan(TOOLS[tool], COMMANDS, None)
    for more in ((), ("--remove",)) if case in ("not JSON", "our hook in a group with another") else ((),):
        said = user.eidet("integrate", tool, "--yes", *more)
        assert (said.code, said.out) == (2, "")
        assert name in said.err
    assert tree(user.home) == before


def test_a_link_to_nowhere_stays_one(user: User) -> None:
    (user.home / ".claude.json").symlink_to(user.home / "dotfiles" / "claude.json")
    apply(plan(TOOLS["claude"], COMMANDS, None))
    assert "eidet" in (user.home / "dotfiles" / "claude.json").read_text()
    apply(plan(TOOLS["claude"], COMMANDS, None, remove=True))
    assert (user.home / ".claude.json").is_symlink()
    assert tree(user.home) == {}


def test_what_was_edited_by_hand_in_our_entries_is_replaced_and_goes(user: User) -> None:
    apply(plan(TOOLS["claude"], COMMANDS, None))
    hooks, server = user.home / ".claude" / "settings.json", user.home / ".claude.json"
    hooks.write_text(hooks.read_text().replace("claude prompt", "claude prompt --budget 5"))
    server.write_text(server.read_text().replace('"stdio"', '"stdio", "env": {"A": "b"}'))
    apply(plan(TOOLS["claude"], COMMANDS, None))
    assert "--budget" not in hooks.read_text()
    apply(plan(TOOLS["claude"], COMMANDS, None, remove=True))
    assert tree(user.home) == {}


def test_a_file_that_changed_meanwhile_is_not_overwritten(user: User) -> None:
    changes = plan(TOOLS["gemini"], COMMANDS, None)
    other = user.home / ".gemini" / "settings.json"
    other.parent.mkdir()
    other.write_text("{}")
    with pytest.raises(Conflict):
        apply(changes)
    assert other.read_text() == "{}"


def test_where_one_file_cannot_be_written_none_is(user: User) -> None:
    (user.home / ".cursor").write_text("a file where a folder should be")
    before = tree(user.home)
    with pytest.raises(Unavailable):
        apply(plan(TOOLS["cursor"], COMMANDS, None))
    good = Change(path=user.home / "good.json", before=None, after="{}")
    bad = Change(path=user.home / ".cursor" / "bad.json", before=None, after="{}")
    with pytest.raises(Unavailable):
        apply([good, bad])
    assert tree(user.home) == before


def test_a_linked_file_stays_a_link_and_permissions_stay(user: User) -> None:
    real = user.home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    (user.home / ".claude.json").symlink_to(real)
    apply(plan(TOOLS["claude"], COMMANDS, None))
    assert (user.home / ".claude.json").is_symlink()
    assert "eidet" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


# The command.


def test_the_command_shows_a_diff_and_asks(user: User) -> None:
    said = user.eidet("integrate", "claude")
    assert said.code == 2
    assert "--yes" in said.err
    assert "+++ " in said.out
    assert tree(user.home) == {}
    said = user.eidet("integrate", "claude", "--yes")
    assert said.code == 0
    assert "+" in said.out
    assert "nothing to change" in user.eidet("integrate", "claude", "--yes").err


def test_list_and_doctor_run_the_installed_command(user: User) -> None:
    assert "none" in user.eidet("integrate", "--list").err
    user.eidet("integrate", "claude", "--yes")
    user.eidet("integrate", "opencode", "--project", "--yes")
    listed = user.eidet("integrate", "--list").out
    assert listed.count("works") == 2
    findings = json.loads(user.eidet("doctor", "--json").out)
    assert [one["level"] for one in findings if one["check"] == "agents"] == ["ok", "ok"]
    settings = user.home / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("/python", "/no-python"))
    assert "does not work" in user.eidet("integrate", "--list").out
    [broken, _] = [one for one in json.loads(user.eidet("doctor", "--json").out) if one["check"] == "agents"]
    assert (broken["level"], broken["todo"]) == ("warning", "eidet integrate claude")


def test_the_server_starts_before_any_hook_has_run(user: User) -> None:
    user.eidet("integrate", "claude", "--yes")
    server = json.loads((user.home / ".claude.json").read_text())["mcpServers"]["eidet"]
    said = user.eidet(*server["args"])
    assert (said.code, said.err) == (0, "")
    assert user.at.parent.stat().st_mode & 0o077 == 0


def test_a_file_of_an_agent_that_cannot_be_read_is_no_fault_of_the_doctor(user: User) -> None:
    (user.home / ".gemini").mkdir()
    (user.home / ".gemini" / "settings.json").write_bytes(b"\xff\xfe")
    findings = json.loads(user.eidet("doctor", "--json").out)
    assert [one["level"] for one in findings if one["check"] == "agents"] == ["warning"]
    assert "file" in {one["check"] for one in findings}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("emacs",), 2, "claude, codex, cursor, gemini, opencode"),
        ((), 2, "--list"),
        (("claude", "--at", "postgresql://ann:secret@host/db"), 2, "password"),
        (("claude", "--at", r"C:\Users\ann\memory.db"), 2, "a path of Windows"),
        (("claude", "--at", "nowhere/memory.db"), 2, "create it first"),
    ],
)
def test_bad_usage_is_told(user: User, words: tuple[str, ...], code: int, told: str) -> None:
    said = user.eidet("integrate", *words)
    assert (said.code, said.out) == (code, "")
    assert told in said.err
