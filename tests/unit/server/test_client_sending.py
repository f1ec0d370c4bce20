"""When a client sends a request again, against a server that can be told to misbehave."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.servers.scripted import Behaviour, ScriptedServer, cut, hung_up, raw, silent, status

from eidet.client import AsyncClient, Client, sending
from eidet.core.errors import EidetError, Misconfigured, MissingExtra, Unavailable
from eidet.net.http import TooSlow

KEY = "secret-key-123456"
COUNTED = raw(b'{"count": 7}')
Ask = Callable[..., Any]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setattr(sending, "FIRST_PAUSE", 0.01)
    with ScriptedServer(COUNTED).running() as running:
        yield running


def ask(url: str, verb: Ask, timeout: float = 20.0) -> Any:
    with Client(url.removesuffix("/v1"), key=KEY, timeout=timeout) as client:
        return verb(client)


def ask_async(url: str, verb: Ask, timeout: float = 20.0) -> Any:
    async def run() -> Any:
        async with AsyncClient(url.removesuffix("/v1"), key=KEY, timeout=timeout) as client:
            return await verb(client)

    return asyncio.run(run())


every_client = pytest.mark.parametrize("run", [ask, ask_async], ids=["sync", "async"])


def count(client: Any) -> Any:
    return client.count()


def forget(client: Any) -> Any:
    return client.forget("one")


@every_client
@pytest.mark.parametrize(
    "fault",
    [status(503), status(429), status(504), hung_up, cut],
    ids=["503", "429", "504", "hung up", "cut"],
)
def test_a_question_is_sent_again(server: ScriptedServer, run: Ask, fault: Behaviour) -> None:
    server.script = [fault, fault]
    assert run(server.url, count) == 7
    assert len(server.asked) == 3


@every_client
def test_what_may_have_been_done_is_not_sent_again(server: ScriptedServer, run: Ask) -> None:
    server.script = [cut]
    with pytest.raises(Unavailable, match="broke off"):
        run(server.url, forget)
    assert len(server.asked) == 1


@every_client
def test_what_the_server_put_off_is_sent_again_whatever_it_is(server: ScriptedServer, run: Ask) -> None:
    server.script = [status(503), status(400)]
    with pytest.raises(EidetError):
        run(server.url, forget)
    assert len(server.asked) == 2


@every_client
def test_storing_is_sent_again_under_the_same_key(server: ScriptedServer, run: Ask) -> None:
    server.script = [hung_up, status(400)]
    with pytest.raises(EidetError):
        run(server.url, lambda client: client.remember("Ann lives in Lisbon"))
    first, again = (headers["idempotency-key"] for _, headers in server.seen)
    assert first == again


@every_client
def test_retry_after_is_obeyed(server: ScriptedServer, run: Ask) -> None:
    server.script = [status(503, Retry_After="0.5")]
    started = time.monotonic()
    assert run(server.url, count) == 7
    assert time.monotonic() - started >= 0.5


@every_client
def test_a_retry_after_beyond_the_timeout_is_told_at_once(server: ScriptedServer, run: Ask) -> None:
    server.script = [status(503, Retry_After="60")]
    started = time.monotonic()
    with pytest.raises(Unavailable) as told:
        run(server.url, count)
    assert told.value.retry_after == 60
    assert time.monotonic() - started < 20
    assert len(server.asked) == 1


@every_client
def test_an_error_of_the_server_is_told_at_once(server: ScriptedServer, run: Ask) -> None:
    server.script = [status(500)] * 9
    with pytest.raises(Unavailable, match="500"):
        run(server.url, count)
    assert len(server.asked) == 1


@every_client
def test_a_server_that_keeps_silent_is_too_slow(server: ScriptedServer, run: Ask) -> None:
    server.script = [silent] * 9
    with pytest.raises(TooSlow, match="did not answer in time"):
        run(server.url, count, timeout=0.1)


@every_client
def test_a_redirect_carries_the_key_nowhere(server: ScriptedServer, run: Ask) -> None:
    with ScriptedServer(COUNTED).running() as elsewhere:
        server.script = [status(307, Location=f"{elsewhere.url}/count")]
        with pytest.raises(Misconfigured, match="307") as told:
            run(server.url, count)
        assert elsewhere.seen == []
    assert KEY not in str(told.value)


@every_client
def test_no_log_shows_the_key(server: ScriptedServer, run: Ask, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    server.script = [status(503)]
    assert run(server.url, count) == 7
    assert caplog.records
    assert KEY not in caplog.text + "".join(str(vars(line)) for line in caplog.records)


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"eidet\[client\]"):
        Client("http://127.0.0.1:1")


ALONE = """
import eidet
try:
    eidet.connect("http://127.0.0.1:1", timeout=0.3).count()
except eidet.Unavailable as error:
    print(error)
"""


def test_a_client_that_waits_for_its_server_writes_nothing_beside() -> None:
    made = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, check=True, timeout=60
    )
    assert "http://127.0.0.1:1 cannot be reached" in made.stdout
    assert made.stderr == ""
