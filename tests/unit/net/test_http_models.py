"""What all models over HTTP share, against a real server that can be told to misbehave."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.servers.scripted import (
    SILENCE,
    Behaviour,
    Handler,
    ScriptedServer,
    cut,
    cut_in_a_chunk,
    drop_by_drop,
    hung_up,
    raw,
    silent,
    status,
)
from tests.timing import raised_within

from eidet.core.errors import Misconfigured, MissingExtra, Unavailable
from eidet.memory import Memory
from eidet.models.embed.vector_cache import Cached
from eidet.models.http import HttpEmbedder, HttpLLM
from eidet.models.llm import Request

KEY = "sk-secret-123456"
ASK: dict[Any, Callable[[Any], object]] = {
    HttpEmbedder: lambda model: model.embed(["a"]).tolist(),
    HttpLLM: lambda model: model.ask(Request(prompt="Say hello.")).text,
}
SAID = {HttpEmbedder: [[1.0]], HttpLLM: "hello"}
every_kind = pytest.mark.parametrize("kind", ASK, ids=lambda kind: kind.__name__)


def well(handler: Handler, body: Any) -> None:
    if "input" in body:
        rows = [{"index": index, "embedding": [1.0]} for index, _ in enumerate(body["input"])]
        handler.give_json(200, {"data": rows})
    else:
        handler.give_json(200, {"choices": [{"message": {"content": "hello"}}]})


@pytest.fixture
def server(short_pauses: None) -> Iterator[ScriptedServer]:
    with ScriptedServer(well).running() as server:
        yield server


@every_kind
@pytest.mark.parametrize(
    "fault",
    [
        *(status(500), status(503), status(529), status(429)),
        *(raw(b'{"data": [{'), raw(b"[" * 200_000), cut, cut_in_a_chunk, hung_up),
    ],
    ids=["500", "503", "529", "429", "malformed", "nested without end", "cut", "cut in a chunk", "hung up"],
)
def test_what_may_pass_is_tried_again(server: ScriptedServer, kind: Any, fault: Behaviour) -> None:
    server.script = [fault, fault]
    assert ASK[kind](kind("m", url=server.url)) == SAID[kind]
    assert len(server.asked) == 3


@every_kind
@pytest.mark.parametrize("fault", [silent, drop_by_drop, status(500)], ids=["silent", "drop by drop", "500"])
def test_the_deadline_holds(server: ScriptedServer, kind: Any, fault: Behaviour) -> None:
    server.script = [fault] * 100
    model = kind("m", url=server.url, timeout=0.2)
    error = raised_within(SILENCE / 2, Unavailable, lambda: ASK[kind](model), match="did not answer")
    assert error.retry_after is not None


@every_kind
@pytest.mark.parametrize("code", [401, 403, 404, 405])
def test_what_will_not_pass_is_misconfigured_at_once_and_shows_no_key(
    server: ScriptedServer, kind: Any, code: int
) -> None:
    server.script = [status(code, f"the key {KEY} is not for m")]
    model = kind("m", url=server.url, key=KEY)
    with pytest.raises(Misconfigured, match=rf"{code}: the key \*\*\* is not for m") as caught:
        ASK[kind](model)
    assert len(server.asked) == 1
    assert server.seen[0][1]["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(caught.value) + repr(caught.value) + repr(model) + repr(vars(model))


@every_kind
@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nX: y", "schlüssel", "\x00key"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(kind: Any, key: str) -> None:
    with pytest.raises(Misconfigured, match="no header can carry") as caught:
        kind("m", url="http://127.0.0.1:1", key=key)
    assert key.strip() not in str(caught.value)


@every_kind
@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_a_redirect_carries_the_key_nowhere(server: ScriptedServer, kind: Any, code: int) -> None:
    with ScriptedServer(well).running() as elsewhere:
        server.script = [status(code, "moved", Location=f"{elsewhere.url}/there")]
        with pytest.raises(Misconfigured, match=f"{code}: moved"):
            ASK[kind](kind("m", url=server.url, key=KEY))
        assert elsewhere.seen == []
    assert len(server.seen) == 1


@every_kind
def test_headers_of_the_caller_are_sent_and_stay_secret(server: ScriptedServer, kind: Any) -> None:
    server.script = [status(401, "azure-secret is wrong")]
    with pytest.raises(Misconfigured, match=r"\*\*\* is wrong"):
        ASK[kind](kind("m", url=server.url, headers={"Api-Key": "azure-secret"}))
    assert server.seen[0][1]["api-key"] == "azure-secret"
    assert "authorization" not in server.seen[0][1]


@every_kind
def test_a_page_instead_of_json_says_so_and_is_not_tried_again(server: ScriptedServer, kind: Any) -> None:
    server.script = [raw(b"<html>Welcome to the hotel</html>", "text/html; charset=utf-8")]
    with pytest.raises(Misconfigured, match=r"answered text/html.* is the address right"):
        ASK[kind](kind("m", url=server.url))
    assert len(server.asked) == 1


@every_kind
def test_a_server_that_is_not_there_is_unavailable(kind: Any) -> None:
    with ScriptedServer(well) as gone:
        url = gone.url
    with pytest.raises(Unavailable, match="cannot be reached"):
        ASK[kind](kind("m", url=url, timeout=0.1))


@every_kind
def test_a_url_of_another_scheme_is_refused(kind: Any) -> None:
    with pytest.raises(Misconfigured, match="http://"):
        kind("m", url="file:///etc")


@every_kind
def test_a_service_that_is_down_is_left_alone_and_found_again(server: ScriptedServer, kind: Any) -> None:
    model = kind("m", url=server.url, timeout=0.5)
    ASK[kind](model)
    assert model.health()["state"] == "up"
    server.answer = status(503)
    while model.health()["state"] != "down":
        with pytest.raises(Unavailable, match="did not answer"):
            ASK[kind](model)
    before, tries = len(server.asked), model.health()["retries"]
    with pytest.raises(Unavailable, match="is down") as told:
        ASK[kind](model)
    assert (len(server.asked), model.health()["retries"]) == (before, tries), "it was not asked"
    assert told.value.retry_after
    assert model.health()["last_error"]
    server.answer = well
    model._http.retrier._opens = time.monotonic()  # its rest is over
    ASK[kind](model)
    assert model.health()["state"] == "up"


@every_kind
def test_a_service_that_has_too_much_to_do_is_not_down(server: ScriptedServer, kind: Any) -> None:
    model = kind("m", url=server.url, timeout=0.5)
    server.answer = status(429)
    for _ in range(2):
        with pytest.raises(Unavailable):
            ASK[kind](model)
    assert model.health()["failures"] > 5
    assert model.health()["state"] != "down"


@every_kind
def test_without_httpx_a_service_says_what_to_install(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"eidet\[http\]"):
        kind("m", url="http://127.0.0.1:1/v1", key=KEY)


@every_kind
def test_no_log_shows_a_key(server: ScriptedServer, kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    ASK[kind](kind("m", url=server.url, key=KEY))
    assert caplog.records
    assert KEY not in caplog.text + "".join(str(vars(line)) for line in caplog.records)


class Keeping(Handler):
    """Keeps connections open, and notes the port of the client."""

    protocol_version = "HTTP/1.1"

    def note_request(self) -> None:
        super().note_request()
        self.server.seen[-1][1]["port"] = str(self.client_address[1])


AFTER_A_FORK = """
import os, sys
from eidet.models.http import HttpEmbedder

embedder = HttpEmbedder(url=sys.argv[1])
embedder.embed(["before"])
child = os.fork()
if child == 0:
    os._exit(0 if len(embedder.embed(["child"])) == 1 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
embedder.embed(["after"])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_connections_are_kept_and_a_forked_process_opens_its_own() -> None:
    with ScriptedServer(well, Keeping).running() as server:
        program = [sys.executable, "-W", "ignore", "-c", AFTER_A_FORK, server.url]
        subprocess.run(program, check=True, timeout=60)
    before, child, after = (headers["port"] for _, headers in server.seen)
    assert before == after != child


def test_a_memory_tells_how_its_embedder_does(server: ScriptedServer) -> None:
    memory = Memory(embedder=Cached(HttpEmbedder("e", url=server.url, timeout=0.3)))
    assert "store" not in memory.admin.health(), "RAM is no server"
    memory.remember("Ann lives in Lisbon")
    assert (memory.admin.health()["state"], memory.admin.health()["embedder"]["state"]) == ("up", "up")
    server.answer = status(500)
    with pytest.raises(Unavailable):
        memory.remember("Ann lives in Porto")
    told = memory.admin.health()
    assert told["state"] == "degraded"
    assert told["embedder"]["last_error"]
    assert Memory(embedder="hashing:8").admin.health() == {"state": "up"}
