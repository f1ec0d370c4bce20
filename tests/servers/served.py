"""Eidet's own server: in a thread for tests of what it answers, as processes for tests of how it dies."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from . import Child, free_port

for _package in ("fastapi", "uvicorn", "httpx"):
    pytest.importorskip(_package, reason="needs eidet[server]: pip install 'eidet[server]'")

import httpx  # noqa: E402
import jsonschema  # noqa: E402
import uvicorn  # noqa: E402
from fastapi import FastAPI  # noqa: E402

from eidet import AsyncMemory, Settings  # noqa: E402
from eidet.server.serve import create_app  # noqa: E402
from eidet.server.server_settings import ServerSettings  # noqa: E402

# Per method and status: for each path of the schema what knows it, and what checks its answers.
Validators = dict[tuple[str, int], list[tuple[Any, Any]]]


class Running:
    """A server that runs in a thread, and where it is."""

    def __init__(self, memory: AsyncMemory, settings: ServerSettings) -> None:
        self.memory = memory
        self.port = settings.port
        self.url = f"http://127.0.0.1:{self.port}"
        self.app = create_app(memory, settings, closes=True)
        config = uvicorn.Config(
            self.app,
            host="127.0.0.1",
            port=self.port,
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, name="test server")

    def start(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + 60
        while not self._server.started:
            assert self._thread.is_alive(), "the server did not start"
            assert time.monotonic() < deadline, "the server takes too long to start"
            time.sleep(0.01)

    @functools.cached_property
    def shared(self) -> httpx.Client:
        """One client for many requests: to make one takes longer than to ask."""
        return self.http()

    def stop(self) -> None:
        if "shared" in self.__dict__:
            self.shared.close()
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()

    def http(self, key: str | None = None, **how: Any) -> httpx.Client:
        """A client that knows nothing of Eidet; every answer it gets must fit the schema of the server."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        hooks = {"response": [self._check_answer]}
        return httpx.Client(base_url=self.url, headers=headers, timeout=20, event_hooks=hooks, **how)

    def _check_answer(self, answer: httpx.Response) -> None:
        if answer.is_success and answer.headers.get("content-type") == "application/json":
            answer.read()
            path, method = answer.request.url.path, answer.request.method.lower()
            for fits, validator in self._validators.get((method, answer.status_code), ()):
                if fits(path):
                    validator.validate(answer.json())
                    return

    @functools.cached_property
    def _validators(self) -> Validators:
        return find_validators(self.app)


KNOWN: dict[frozenset[str], Validators] = {}  # by the paths of an app: to make a schema takes long


def find_validators(app: FastAPI) -> Validators:
    paths = frozenset(getattr(route, "path", "") for route in app.routes)
    if paths not in KNOWN:
        KNOWN[paths] = make_validators(app.openapi())
    return KNOWN[paths]


def make_validators(schema: dict[str, Any]) -> Validators:
    found: Validators = {}
    for path, methods in sorted(schema["paths"].items(), key=lambda item: "{" in item[0]):
        fits = re.compile(re.sub(r"\\{.*?\\}", "[^/]+", re.escape(path))).fullmatch
        for method, operation in methods.items():
            for status, told in operation.get("responses", {}).items():
                shape = told.get("content", {}).get("application/json", {}).get("schema")
                if shape is not None and status.isdecimal():
                    checker = jsonschema.Draft202012Validator({"components": schema["components"], **shape})
                    found.setdefault((method, int(status)), []).append((fits, checker))
    return found


@contextlib.contextmanager
def serve_in_thread(
    place: object = None,
    *,
    embedder: str = "hashing:64",
    memory_settings: Settings | None = None,
    **settings: Any,
) -> Iterator[Running]:
    """A memory on a server; both are closed at the end."""
    memory = AsyncMemory(place, embedder=embedder, settings=memory_settings)  # type: ignore[arg-type]
    running = Running(memory, ServerSettings(port=free_port(), **settings))
    running.start()
    try:
        yield running
    finally:
        running.stop()
        memory.core.close()


class ServerProcess:
    """`eidet serve` as a process of its own."""

    def __init__(self, place: str, folder: Path, *options: str, env: Sequence[str] = ()) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / f"serve-{self.port}.log"
        words = ["serve", "--at", place, "--port", str(self.port), "--embedder", "hashing:64", *options]
        self.child = Child(["env", *env, sys.executable, "-m", "eidet.cli", *words], self.log)

    def start(self) -> None:
        self.child.start()
        self.child.await_ready(self.is_ready)

    def is_ready(self) -> bool:
        """Asks without a client of its own, which would take longer to make than the server to start."""
        asked = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            asked.request("GET", "/v1/health/ready")
            return asked.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            asked.close()

    def list_workers(self) -> list[int]:
        """The processes of its workers, where there is a /proc to find them."""
        found = []
        for line in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                words = line.read_text().rpartition(")")[2].split()
                command = (line.parent / "cmdline").read_text()
                if int(words[1]) == self.child.pid and "spawn_main" in command:
                    found.append(int(line.parent.name))
        return sorted(found)

    def stop(self) -> None:
        self.child.stop()

    def kill(self) -> None:
        self.child.kill()
