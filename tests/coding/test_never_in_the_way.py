"""Whatever is wrong with the memory, the machine or the event: a hook exits with 0 and says nothing."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.coding.agents import Said, User
from tests.timing import until, within

LIMIT = 0.3  # seconds that a hook may take
PROMPT = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "How is the cache cleared?"}


def silent(said: Said) -> bool:
    return (said.code, said.out, said.err) == (0, "", "")


def impatient(user: User) -> User:
    """The same user, with the limit that hooks have outside of tests."""
    return User(user.home, user.project, {"EIDET_HOOKS_WAIT_SECONDS": "0.27"})


def prompt(user: User, **more: Any) -> Said:
    return user.hook("claude", "prompt", {**PROMPT, "cwd": str(user.project), **more})


def folder_of(user: User) -> Path:
    [folder] = (user.home / ".eidet").glob("hooks-*")
    return folder


def test_without_a_memory_there_is_silence_and_none_is_made(user: User) -> None:
    assert "no memory yet" in user.check()
    assert silent(prompt(user))
    assert not user.at.exists()
    assert user.log == ""


def test_a_damaged_memory_is_a_line_in_the_log(user: User) -> None:
    user.at.parent.mkdir()
    user.at.write_bytes(b"this is no database" * 100)
    assert user.check().startswith("error: ")
    before = user.log
    assert silent(prompt(user))
    assert len(user.log.removeprefix(before).splitlines()) == 1
    assert "claude prompt" in user.log
    assert user.at.read_bytes() == b"this is no database" * 100


def test_a_locked_memory_holds_nobody_up_and_the_event_is_kept_for_later(user: User) -> None:
    user.remember("The cache of the shop is cleared by a nightly job.")
    user.check()
    quick = impatient(user)
    turn = {
        "session_id": "s1",
        "cwd": str(user.project),
        "last_assistant_message": "The cache is now in RAM.",
    }
    with sqlite3.connect(user.at, isolation_level=None) as other:
        other.execute("begin exclusive")
        for event, given in (("prompt", {**PROMPT, "cwd": str(user.project)}), ("turn", turn)):
            said = within(LIMIT * 4, partial(quick.hook, "claude", event, given))
            assert (said.code, said.err) == (0, "")
        other.execute("rollback")
    other.close()
    user.wait_for("now in RAM")


def test_an_event_that_is_not_understood_is_passed_over(user: User) -> None:
    user.check()
    for given in ("", "not JSON", "[]", '"text"', "{}", '{"cwd": 7}', '{"prompt": null}', '{"messages": 3}'):
        for tool, event in (
            ("claude", "prompt"),
            ("claude", "turn"),
            ("opencode", "turn"),
            ("cursor", "note"),
        ):
            assert silent(user.hook(tool, event, given)), given
    user.hook("claude", "turn", {"cwd": str(user.project), "last_assistant_message": "All is well."})
    user.wait_for("All is well.")


@pytest.mark.parametrize("words", [(), ("claude",), ("claude", "prompt", "--budget", "many"), ("x", "y")])
def test_bad_words_are_passed_over(user: User, words: tuple[str, ...]) -> None:
    said = user.run("eidet.coding.hook", *words, given="{}")
    assert silent(said)


@contextmanager
def hung_process(user: User) -> Iterator[None]:
    """A process that takes every call and never answers."""
    user.check()
    folder = folder_of(user)
    code = f"""
        import os, time
        from multiprocessing.connection import Listener
        os.chdir({str(folder)!r})
        os.path.exists("socket") and os.unlink("socket")
        listener = Listener("socket", authkey=open("key", "rb").read())
        open("hung", "w").close()
        while True:
            kept = listener.accept()
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)]) as child:
        until((folder / "hung").exists)
        yield
        child.kill()


def test_a_hung_process_is_given_up(user: User) -> None:
    with hung_process(user):
        said = within(LIMIT * 4, lambda: prompt(impatient(user)))
        assert silent(said)
        assert "no answer within 270 ms" in user.log


def test_the_start_of_python_counts(user: User) -> None:
    """Here it takes longer than a hook may live: there is no answer, and what was said is kept."""
    user.remember("The cache of the shop is cleared by a nightly job.")
    user.check()
    slow = user.home / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text("import time; time.sleep(0.3)")
    late = User(user.home, user.project, {**impatient(user).env, "PYTHONPATH": str(slow)})
    assert silent(prompt(late))
    assert "Python's start" in user.log
    event = {"session_id": "s1", "cwd": str(user.project), "last_assistant_message": "All is well."}
    assert silent(late.hook("claude", "turn", event))
    assert "nightly" in prompt(user).context
    user.hook("claude", "turn", {**event, "last_assistant_message": "Still well."})
    user.wait_for("All is well.")


def test_a_killed_process_is_replaced(user: User) -> None:
    user.remember("The cache of the shop is cleared by a nightly job.")
    user.check()
    until(lambda: len(_processes_in(folder_of(user))) == 1)
    [process] = _processes_in(folder_of(user))
    os.kill(process, signal.SIGKILL)
    until(lambda: not _processes_in(folder_of(user)))
    assert silent(prompt(user))
    assert user.check().startswith("ok")
    assert "nightly" in prompt(user).context


def _processes_in(folder: Path) -> list[int]:
    """The processes that work in a folder: the resident process of its memory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder and (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_many_hooks_at_once_share_one_process(user: User) -> None:
    user.remember("The cache of the shop is cleared by a nightly job.")
    command = [sys.executable, "-P", "-m", "eidet.coding.hook", "claude", "turn"]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, env=user.environment, cwd=user.project)
        for _ in range(6)
    ]
    for number, child in enumerate(children):
        event = {"session_id": f"s{number}", "cwd": str(user.project)}
        child.communicate(json.dumps({**event, "last_assistant_message": f"Said {number}."}).encode())
        assert child.returncode == 0
    for number in range(6):
        user.wait_for(f"Said {number}.")
    until(lambda: len(_processes_in(folder_of(user))) == 1)


def test_a_home_that_cannot_be_written_is_silence(user: User) -> None:
    (user.home / ".eidet").write_text("a file where the folder should be")
    assert silent(prompt(user))


def test_a_memory_that_was_deleted_is_not_told_any_more(user: User) -> None:
    user.remember("The cache of the shop is cleared by a nightly job.")
    user.check()
    assert "nightly" in prompt(user).context
    for file in user.at.parent.glob("memory.db*"):
        file.unlink() if file.is_file() else None
    assert silent(prompt(user, session_id="s2"))


def test_a_folder_that_was_deleted_does_not_come_back(user: User) -> None:
    user.check()
    folder = folder_of(user)
    until(lambda: len(_processes_in(folder)) == 1)
    [process] = _processes_in(folder)
    shutil.rmtree(user.home / ".eidet")
    until(lambda: not Path("/proc", str(process), "cwd").exists(), 30)
    assert not (user.home / ".eidet").exists()


def test_files_of_hooks_are_the_users_own(user: User) -> None:
    user.check()
    folder = folder_of(user)
    assert {path.stat().st_mode & 0o077 for path in (user.home / ".eidet", folder, folder / "key")} == {0}


def test_a_hook_costs_little_more_than_the_start_of_python(user: User) -> None:
    user.remember(*(f"Cache {n} of the shop is cleared by job {n}." for n in range(200)))
    user.check()

    def cost(ask: Callable[[int], object]) -> float:
        """The least CPU seconds of a child; the clock on the wall belongs to other processes, too."""
        took = []
        for number in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            ask(number)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(took)

    start = cost(lambda _: subprocess.run([sys.executable, "-c", "pass"], check=True))
    assert cost(lambda number: prompt(user, session_id=str(number))) < start + 0.1
