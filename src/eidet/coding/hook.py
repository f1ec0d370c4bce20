"""The program that a coding agent starts at each event, with the event as JSON on stdin.

    python -P -m eidet.coding.hook claude prompt --at ~/.eidet/memory.db

An event to remember goes into a folder that the resident process empties. For any other it asks that process
and prints the answer. Without one within 300 ms of its start, that of Python included, it prints nothing; any
failure is one line in ~/.eidet/hooks.log, and the exit code is 0. Of Eidet it imports only the version.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from .. import __version__

_LIMIT_SECONDS: Final = 0.27  # that this process may live; ending it takes the rest of the 300 ms
_LIMIT: Final = "EIDET_HOOKS_WAIT_SECONDS"  # another limit, for a slow machine
_READ_SECONDS: Final = 0.02  # to keep an event that comes late
_USUAL_START: Final = 0.1  # seconds, where the system does not say when a process was started
_CHECK_SECONDS: Final = 10.0
CAPTURES: Final = ("note", "turn", "end")
BUDGET: Final = 800  # tokens
_SWITCH: Final = "EIDET_HOOKS"  # "off" switches hooks off for a session
_OFF_FILE: Final = Path(".eidet", "off")  # in a project: switches them off there
_LOG_BYTES: Final = 1_000_000
KEY: Final = "key"  # the file with the key that authenticates the two processes


def main() -> None:
    words, seconds = sys.argv[1:], _LIMIT_SECONDS
    with suppress(ValueError):
        seconds = float(os.environ.get(_LIMIT, _LIMIT_SECONDS))
    if words[:1] == ["resident"]:
        _become_resident(words[1])
    if words[1:2] == ["check"]:
        _check(words)
    left = seconds - _measure_start()
    why = f"no answer within {seconds * 1000:.0f} ms"
    watchdog = threading.Timer(max(left, _READ_SECONDS), _give_up, (why,))
    watchdog.daemon = True
    watchdog.start()
    try:
        answer = _run(words, left)
    except Exception as error:  # noqa: BLE001  # no failure here may stop the agent's session
        _give_up(f"{type(error).__name__}: {error}")
    watchdog.cancel()
    if answer:
        os.write(1, answer.encode())
    os._exit(0)  # skips Python's own shutdown


def _measure_start() -> float:
    """Returns the seconds since this process started, most of which Python may take on a busy machine."""
    with suppress(OSError, AttributeError, ValueError, LookupError):
        words = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        lived = time.clock_gettime(time.CLOCK_BOOTTIME) - int(words[19]) / os.sysconf("SC_CLK_TCK")
        if 0.0 <= lived < 60.0:
            return lived
    return _USUAL_START


def _give_up(why: str) -> NoReturn:
    """Exits without an answer."""
    write_log(f"{' '.join(sys.argv[1:3])}: {why}")
    os._exit(0)


def _run(words: list[str], left: float) -> str:
    request = _read_request(words)
    if request is None:
        return ""
    if request["event"] in CAPTURES:
        leave_event(request)
    elif left <= 0:
        raise TimeoutError("the machine is busy: Python's start took all the time")
    elif (answer := ask(request)) is not None:
        return answer
    start_resident(request["at"])
    return ""


def _read_request(words: list[str]) -> dict[str, Any] | None:
    """Reads the event from stdin; returns None where hooks are switched off."""
    request = _parse_words(words)
    event = json.loads(sys.stdin.buffer.read())
    if not isinstance(event, dict):
        raise TypeError("the event on stdin is not a JSON object")
    roots = event.get("workspace_roots") or [None]
    cwd = event.get("cwd") or roots[0] or str(Path.cwd())
    if os.environ.get(_SWITCH, "").lower() in ("off", "0", "false", "no") or _is_off(cwd):
        return None
    return {**request, "input": {"timestamp": time.time(), **event}, "cwd": cwd}


def _parse_words(words: list[str]) -> dict[str, Any]:
    """Parses `claude prompt --at PLACE --budget 800` as a request."""
    tool, event, *rest = words
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    return {
        "tool": tool,
        "event": event,
        "at": options.get("--at") or str(home() / "memory.db"),
        "budget": int(options.get("--budget", BUDGET)),
        "version": __version__,
    }


def home() -> Path:
    """Returns the user's folder for hooks and their memory."""
    return Path.home() / ".eidet"


def _is_off(cwd: str) -> bool:
    """Returns whether a project is switched off: its folder, or one above it, has `.eidet/off`."""
    folder = Path(cwd).absolute()
    return any((above / _OFF_FILE).exists() for above in (folder, *folder.parents))


def folder_for(at: str) -> Path:
    """Returns a private folder for a memory's resident process; creates it if absent."""
    from hashlib import blake2b

    folder = home() / f"hooks-{blake2b(at.encode(), digest_size=4).hexdigest()}"
    for path in (home(), folder):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def address_in(folder: Path) -> str:
    """Returns the resident's address, relative to the folder: the path of a socket must be short."""
    return rf"\\.\pipe\eidet-{folder.name}" if os.name == "nt" else "socket"


def ask(request: dict[str, Any]) -> str | None:
    """Asks the resident process; returns "" if it has no answer, None if there is no such process.

    Confirms the arrival of an answer: records of one that arrives too late do not count as shown.
    """
    from multiprocessing.connection import Client

    folder = folder_for(request["at"])
    os.chdir(folder)
    try:
        line = Client(address_in(folder), authkey=(folder / KEY).read_bytes())
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    with line:
        line.send_bytes(json.dumps(request).encode())
        answer = ""
        with suppress(EOFError, ConnectionError):
            answer = line.recv_bytes().decode()
            line.send_bytes(b"arrived")
        return answer


def leave_event(request: dict[str, Any]) -> None:
    """Writes an event to remember into the folder that the resident process empties."""
    spool = folder_for(request["at"]) / "spool"
    spool.mkdir(mode=0o700, exist_ok=True)
    path = spool / f"{time.time_ns()}-{os.getpid()}.json"
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(request), encoding="utf-8")
    partial.replace(path)


def take_lock(folder: Path) -> BinaryIO | None:
    """Takes the lock of the only resident process of a memory; returns None if another holds it."""
    file = (folder / "lock").open("wb")
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def start_resident(at: str) -> None:
    """Starts the resident process, unless one runs or is starting."""
    import subprocess

    lock = take_lock(folder_for(at))
    if lock is None:
        return
    lock.close()
    how: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    how |= {"creationflags": 0x208} if os.name == "nt" else {"start_new_session": True}  # 0x208: detached
    command = [sys.executable, "-P", "-m", "eidet.coding.hook", "resident", at]
    subprocess.Popen(command, close_fds=True, **how)  # noqa: S603  # our own program


def _become_resident(at: str) -> NoReturn:
    """Serves a memory in this process; takes the lock before any slow work, or exits without it."""
    folder = folder_for(at)
    os.chdir(folder)
    lock = take_lock(folder)  # held as long as it is referenced
    if lock is not None:
        from .resident import serve

        serve(at, folder)
    os._exit(0)  # even if threads still wait


def write_log(line: str) -> None:
    """Appends a line to ~/.eidet/hooks.log; ignores failure."""
    path, stamp = home() / "hooks.log", time.strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        home().mkdir(mode=0o700, exist_ok=True)
        if path.exists() and path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".log.old"))
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{stamp} {' '.join(line.split())[:500]}\n")


def _check(words: list[str]) -> None:
    """Prints the answer of the resident process, which it starts and waits for if need be; exits."""
    request = {**_parse_words(words), "input": {}, "cwd": str(Path.cwd())}
    end, answer = time.monotonic() + _CHECK_SECONDS, ask(request)
    while answer is None and time.monotonic() < end:
        start_resident(request["at"])
        time.sleep(0.5)
        answer = ask(request)
    print(answer or "the resident process does not start: see ~/.eidet/hooks.log")
    raise SystemExit(0 if answer and answer.startswith("ok") else 1)


if __name__ == "__main__":
    main()
