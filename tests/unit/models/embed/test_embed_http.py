"""`HttpEmbedder` against a real server on the loopback that can be told to misbehave."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from tests.servers.scripted import Behaviour, Handler, ScriptedServer, status
from tests.timing import within

from eidet.core.errors import BadInput, Misconfigured, Unavailable
from eidet.models.embed import embed_checked, embedder_of
from eidet.models.http import HttpEmbedder
from eidet.net import http as wire

KEY = "sk-secret-123"


@pytest.fixture
def server(short_pauses: None) -> Iterator[ScriptedServer]:
    with ScriptedServer(well).running() as server:
        yield server


def items(body: Any) -> list[dict[str, Any]]:
    width = body.get("dimensions", 3)
    return [
        {"object": "embedding", "index": at, "embedding": [float(len(text))] * width}
        for at, text in enumerate(body["input"])
    ]


def answer(data: list[dict[str, Any]]) -> bytes:
    return json.dumps({"object": "list", "data": data, "model": "m"}).encode()


def well(handler: Handler, body: Any) -> None:
    handler.give(200, answer(items(body)))


def shuffled(handler: Handler, body: Any) -> None:
    handler.give(200, answer(items(body)[::-1]))


def short(handler: Handler, body: Any) -> None:
    handler.give(200, answer(items(body)[:-1]))


def twice_the_same(handler: Handler, body: Any) -> None:
    handler.give(200, answer([items(body)[0]] * len(body["input"])))


def something_else(handler: Handler, body: Any) -> None:
    handler.give(200, b'{"result": "hello"}')


def test_rows_come_in_order(server: ScriptedServer) -> None:
    embedder = HttpEmbedder("m", url=server.url, key=KEY)
    assert embed_checked(embedder, ["a", "abc"]).tolist() == [[1, 1, 1], [3, 3, 3]]
    assert server.asked == [{"model": "m", "input": ["a", "abc"]}]
    path, headers = server.seen[0]
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"


def test_shuffled_answers_are_put_in_order(server: ScriptedServer) -> None:
    server.script = [shuffled]
    assert HttpEmbedder(url=server.url).embed(["a", "abc", "ab"])[:, 0].tolist() == [1, 3, 2]


def test_many_texts_go_in_batches(server: ScriptedServer) -> None:
    rows = HttpEmbedder(url=server.url, batch=4).embed(["x" * number for number in range(1, 11)])
    assert rows[:, 0].tolist() == list(range(1, 11))
    assert [len(body["input"]) for body in server.asked] == [4, 4, 2]


def test_dimensions_are_asked_for_only_when_given(server: ScriptedServer) -> None:
    embedder = HttpEmbedder("m", url=server.url, width=5)
    assert (embedder.name, embedder.width) == ("openai:m@5", 5)
    assert embedder.embed(["a"]).shape == (1, 5)
    assert server.asked == [{"model": "m", "input": ["a"], "dimensions": 5}]


def test_the_width_is_learned_from_the_first_answer(server: ScriptedServer) -> None:
    embedder = HttpEmbedder(url=server.url)
    embedder.embed(["a"])
    assert embedder.width == 3
    assert embedder.embed([]).shape == (0, 3)
    assert len(server.asked) == 1
    assert HttpEmbedder(url=server.url).width == 3


def test_an_empty_text_is_sent_as_a_space(server: ScriptedServer) -> None:
    assert HttpEmbedder(url=server.url).embed(["", "a"]).shape == (2, 3)
    assert server.asked[0]["input"] == [" ", "a"]


def test_retry_after_is_honoured(server: ScriptedServer) -> None:
    def ask() -> None:
        server.script = [status(429, Retry_After="1")]
        started = time.monotonic()
        HttpEmbedder(url=server.url).embed(["a"])
        assert time.monotonic() - started >= 1

    within(2, ask)


def test_a_retry_after_beyond_the_deadline_is_reported_at_once(server: ScriptedServer) -> None:
    server.script = [status(429, "slow down", Retry_After="60")]
    started = time.monotonic()
    with pytest.raises(Unavailable, match="429: slow down") as caught:
        HttpEmbedder(url=server.url, timeout=30).embed(["a"])
    assert caught.value.retry_after == 60
    assert time.monotonic() - started < 30
    assert len(server.asked) == 1


def test_retry_after_may_be_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < (wire.parse_retry_after(soon) or 0) <= 30
    assert wire.parse_retry_after("Thu, 01 Jan 1970 00:00:00 GMT") == 0
    assert wire.parse_retry_after("soon") is None
    assert wire.parse_retry_after("0.5") == 0.5
    assert wire.parse_retry_after("inf") is None
    assert wire.parse_retry_after("-1") is None


def test_a_refused_text_is_bad_input_with_the_servers_words(server: ScriptedServer) -> None:
    server.script = [status(400, "too many tokens")]
    with pytest.raises(BadInput, match="400: too many tokens"):
        HttpEmbedder(url=server.url).embed(["a"])
    assert len(server.asked) == 1


@pytest.mark.parametrize("fault", [short, twice_the_same])
def test_rows_that_do_not_fit_the_texts_are_refused(server: ScriptedServer, fault: Behaviour) -> None:
    server.script = [fault]
    with pytest.raises(Misconfigured, match=r"rows for 3 texts"):
        HttpEmbedder(url=server.url).embed(["a", "b", "c"])


def test_json_of_another_kind_is_refused(server: ScriptedServer) -> None:
    server.script = [something_else]
    with pytest.raises(Misconfigured, match="is it OpenAI-compatible"):
        HttpEmbedder(url=server.url).embed(["a"])


def test_the_environment_gives_key_and_address(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    np.testing.assert_array_equal(embedder_of("openai:m").embed(["ab"]), [[2, 2, 2]])
    assert server.asked[0]["model"] == "m"
    assert server.seen[0][1]["authorization"] == f"Bearer {KEY}"


def test_an_environment_without_key_and_address_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Misconfigured, match="OPENAI_API_KEY"):
        embedder_of("openai")
