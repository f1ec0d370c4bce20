"""What all models over HTTP share, against a real server that can be told to misbehave."""

from __future__ import annotations

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

from eidet.core.errors import Misconfigured, Unavailable
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
        handler.give_json(200, {"data": [{"index": 0, "embedding": [1.0]}]})
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
