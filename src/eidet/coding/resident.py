"""The process that keeps a memory open between the events of coding agents.

The first hook starts it; it ends by itself after some idle minutes. It listens on a socket in a private
folder, for callers with the key stored there, and answers recalls at once. Events to remember are files in
that folder, which it removes once they are remembered. If the memory cannot be opened, it logs a line and
gives no answer.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any, Final

from .. import __version__
from ..core.errors import EidetError, Unavailable
from ..core.settings import Settings, read_choices, read_settings
from ..memory import Memory
from ..store.sql.inspect_file import file_of
from .capturing import RETENTION, forget_unreviewed, make_drafts
from .hook import KEY, address_in, home, write_log
from .recalling import Session, recall, remove_old_sessions, scope_of, session_of, write_answer
from .transcripts import find_steps

_IDLE_SECONDS: Final = 900.0
_IDLE: Final = "EIDET_HOOKS_IDLE_SECONDS"
_ARRIVAL_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.5  # between two looks for events that wait
_OPENING_SECONDS: Final = 0.2  # how long a recall waits for another thread that opens the memory
_MAINTAIN_SECONDS: Final = 86_400.0
_MOST_TRIES: Final = 3  # attempts to remember an event, unless the memory is only locked or full
_CONFIG: Final = "eidet.toml"  # settings for this memory, in ~/.eidet
_Request = dict[str, Any]


class _Resident:
    """The server of one memory: answers recalls, and remembers other events."""

    def __init__(self, at: str, folder: Path) -> None:
        self._at, self._folder = at, folder
        self._memory: Memory | None = None
        self._file_id: int | None = None
        self._warm = False
        self._opening, self._sessions = threading.Lock(), threading.Lock()
        self._tries: Counter[str] = Counter()  # by file of an event
        self._last = time.monotonic()
        self.ended = threading.Event()

    def run(self, idle: float) -> None:
        """Serves until nothing has happened for `idle` seconds and no upkeep is due."""
        key = self._folder / KEY
        if not key.exists():
            key.touch(mode=0o600)
            key.write_bytes(os.urandom(32))
        address = address_in(self._folder)
        with suppress(OSError):
            Path(address).unlink()  # left by a process that was killed
        with Listener(address, backlog=16, authkey=key.read_bytes()) as listener:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            remove_old_sessions(self._folder / "sessions")
            self._warm_up()
            while self._folder.exists() and not self.ended.wait(_LOOK_SECONDS):
                self._remember()
                if time.monotonic() > self._last + idle and not self._maintain():
                    break
        if self._memory is not None:
            self._memory.close()

    def _warm_up(self) -> None:
        """Loads what the first recall needs."""
        with suppress(EidetError, OSError):
            if not self._warm and (memory := self._open(False)) is not None:
                memory.context("what was decided?", scope="projects/**", budget=100)
                self._warm = True

    def _maintain(self) -> bool:
        """Runs upkeep if the last run was a day ago; returns whether it was due."""
        stamp = self._folder / "maintained"
        if stamp.exists() and stamp.stat().st_mtime > time.time() - _MAINTAIN_SECONDS:
            return False
        stamp.touch()
        try:
            if (memory := self._open(False)) is not None:
                memory.upkeep.maintain()
                forget_unreviewed(memory, time.time())
        except (EidetError, OSError) as error:
            write_log(f"upkeep: {error}")
        return True

    def _accept(self, listener: Listener) -> None:
        while True:
            try:
                line: Any = listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):
                continue  # a caller that disconnected, or has no key
            except OSError:
                return
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: Connection) -> None:
        with line, suppress(EOFError, ConnectionError):
            request = json.loads(line.recv_bytes())
            self._last = time.monotonic()
            if request["version"] != __version__:
                self.ended.set()  # Eidet was upgraded: the next event starts the new one
                return
            answer, ids = self._answer(request)
            line.send_bytes(answer.encode())
            if ids and line.poll(_ARRIVAL_SECONDS):
                with self._sessions:
                    session = Session.load(self._session_file(request))
                    session.shown += ids
                    session.save(self._session_file(request))

    def _answer(self, request: _Request) -> tuple[str, list[str]]:
        """Returns the answer, and the ids of its records."""
        event = request["event"]
        try:
            memory = self._open(False)
            if event == "check":
                found = "no memory yet" if memory is None else f"{sum(memory.scopes().values()):,} records"
                return f"ok: eidet {__version__}, {found}", []
            if memory is None:
                return "", []
            text, ids = recall(memory, request, Session.load(self._session_file(request)))
        except (EidetError, OSError, LookupError) as error:
            write_log(f"{request['tool']} {event}: {error}")
            return f"error: {error}" if event == "check" else "", []
        return text and write_answer(request["tool"], text, request["input"]), ids

    def _remember(self) -> None:
        """Remembers the events that wait, in order; leaves those of another version to the next process."""
        for file in sorted((self._folder / "spool").glob("*.json")):
            request = dict[str, Any]()
            try:
                request = json.loads(file.read_text(encoding="utf-8"))
                if request["version"] != __version__:
                    self.ended.set()
                    return
                self._capture(request)
            except Exception as error:  # noqa: BLE001  a failure must not stop the next event
                write_log(f"{request.get('tool')} {request.get('event')}: not remembered: {error}")
                self._tries[file.name] += not isinstance(error, Unavailable)
                if self._tries[file.name] < _MOST_TRIES:
                    return  # it is tried again before those after it
            file.unlink(missing_ok=True)
            self._last = time.monotonic()

    def _capture(self, request: _Request) -> None:
        file = self._session_file(request)
        session = Session.load(file)
        steps, offset = find_steps(request["tool"], request["input"], session.offset)
        drafts = make_drafts(steps, request["tool"], session_of(request))
        if drafts and (memory := self._open(True)) is not None:
            memory.remember(drafts, scope=scope_of(request["cwd"]))
            self._warm_up()
        if offset != session.offset:
            with self._sessions:
                session = Session.load(file)
                session.offset = offset
                session.save(file)

    def _session_file(self, request: _Request) -> Path:
        name = blake2b(session_of(request).encode(), digest_size=12).hexdigest()
        return self._folder / "sessions" / f"{name}.json"

    def _open(self, creates: bool) -> Memory | None:
        """Opens (or reopens) the memory; returns None if its file is absent and not to be created."""
        if not self._opening.acquire(timeout=30.0 if creates else _OPENING_SECONDS):
            raise TimeoutError("the memory is still being opened")
        try:
            file = file_of(self._at)
            here = None if file is None or not file.exists() else file.stat().st_ino
            if file is not None and here is None and not creates:
                return None
            if self._memory is not None and here != self._file_id:
                self._memory.close()
                self._memory = None
            if self._memory is None:
                self._memory = Memory(self._at, **_read_configuration())
                self._file_id = None if file is None else file.stat().st_ino
            return self._memory
        finally:
            self._opening.release()


def _read_configuration() -> dict[str, Any]:
    """Reads the settings of ~/.eidet/eidet.toml and the environment.

    By default, personal data and secrets are redacted, and turns are deleted after a while.
    """
    file = home() / _CONFIG
    config = file if file.is_file() else None
    found: Settings = read_settings(os.environ, config)
    settings = replace(found, guard=found.guard or "redact", retention=found.retention or RETENTION)
    chosen = {} if config is None else read_choices(config)
    return {"settings": settings, "embedder": os.environ.get("EIDET_EMBEDDER") or chosen.get("embedder")}


def serve(at: str, folder: Path) -> None:
    """Serves a memory until nothing has happened for a while; logs an error that ends it."""
    try:
        _Resident(at, folder).run(float(os.environ.get(_IDLE, _IDLE_SECONDS)))
    except Exception as error:  # noqa: BLE001  # no caller is left to handle it
        if folder.exists():
            write_log(f"the resident process ended: {type(error).__name__}: {error}")
