"""Models over HTTP, against a real server that can be told to misbehave."""

from __future__ import annotations

from typing import Any

import pytest
from tests.servers.scripted import Behaviour, raw, status
from tests.unit.models.llm.server import KEY, Server, says

from eidet.core.errors import Misconfigured, Unavailable
from eidet.models.http import HttpLLM
from eidet.models.llm import Request
from eidet.net import http as wire

HELLO = Request(prompt="Say hello.", system="Be kind.", max_tokens=50)


def llm_at(server: Server, **settings: Any) -> HttpLLM:
    return HttpLLM("m-1", url=server.url, key=KEY, **settings)


def test_an_answer_has_text_tokens_and_model(server: Server) -> None:
    answer = llm_at(server).ask(HELLO)
    assert (answer.text, answer.stop, answer.model) == ("hello", "end", "m-1")
    assert (answer.tokens_in, answer.tokens_out) == (100, 20)
    assert answer.value is None


def test_openai_is_spoken_as_its_pages_say(server: Server) -> None:
    llm_at(server).ask(HELLO)
    path, headers = server.seen[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert server.asked == [
        {
            "model": "m-1",
            "max_tokens": 50,
            "temperature": 0.0,
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "Say hello."},
            ],
        }
    ]


def test_what_is_not_given_is_not_sent(server: Server) -> None:
    llm_at(server).ask(Request(prompt="Hi", temperature=None))
    assert server.asked[0].keys() == {"model", "max_tokens", "messages"}
    assert server.asked[0]["messages"] == [{"role": "user", "content": "Hi"}]


def test_a_key_that_is_repeated_across_the_cut_of_a_long_message_is_blotted_out(server: Server) -> None:
    server.script = [status(401, "x" * 290 + KEY)]
    with pytest.raises(Misconfigured) as caught:
        llm_at(server).ask(HELLO)
    assert KEY[:8] not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"[]", b"null", b'{"content": 7, "choices": 7}', b'{"choices": [], "content": [1]}', b'"hi"']
)
def test_json_of_another_shape_is_refused(server: Server, content: bytes) -> None:
    server.script = [raw(content)]
    with pytest.raises(Misconfigured, match="does it speak the chat completions"):
        llm_at(server).ask(HELLO)


def test_a_gateway_that_answers_200_and_an_error_is_unavailable(server: Server) -> None:
    server.script = [raw(b'{"error": {"message": "upstream of %s broke"}}' % KEY.encode())]
    with pytest.raises(Unavailable, match=r"upstream of \*\*\* broke"):
        llm_at(server).ask(HELLO)


def test_an_answer_without_end_is_left(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LARGEST", 1_000)
    server.default = "x" * 5_000
    with pytest.raises(Unavailable, match="larger than 1,000 bytes"):
        llm_at(server).ask(HELLO)


@pytest.mark.parametrize(
    ("behaviour", "stop"),
    [
        (says("half", stop="length"), "length"),
        (says("", refusal="I cannot help with that."), "refusal"),
        (says("", stop="content_filter"), "refusal"),
        (says("done", stop="something_new"), "end"),
    ],
)
def test_why_a_model_stopped_is_understood(server: Server, behaviour: Behaviour, stop: str) -> None:
    server.script = [behaviour]
    assert llm_at(server).ask(HELLO).stop == stop


def test_content_in_parts_is_joined(server: Server) -> None:
    parts = b'{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}'
    server.script = [raw(parts)]
    answer = llm_at(server).ask(HELLO)
    assert (answer.text, answer.model, answer.tokens_in, answer.tokens_out) == ("ab", "m-1", None, None)
