"""Models over HTTP, against a real server that can be told to misbehave."""

from __future__ import annotations

from typing import Any

from tests.unit.models.llm.server import KEY, Server

from eidet.models.llm import Request, Turn
from eidet.models.llm.http import HttpLLM

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


def test_earlier_turns_come_before_the_prompt(server: Server) -> None:
    before = (Turn("user", "One?"), Turn("assistant", "Two."))
    llm_at(server).ask(Request(prompt="Three?", before=before))
    assert [turn["content"] for turn in server.asked[0]["messages"]] == ["One?", "Two.", "Three?"]
