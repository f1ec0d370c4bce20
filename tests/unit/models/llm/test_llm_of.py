"""What a user may say for a model, and where keys come from and go."""

from __future__ import annotations

import pytest
from tests.unit.models.llm.server import KEY, Server

from eidet.core.errors import Misconfigured
from eidet.models.http import HttpLLM
from eidet.models.llm import Answer, Request, llm_of

ASK = Request(prompt="hi")
BAD_ADDRESSES = [
    *("ftp://h/v1", "file:///etc", "http://", "http://h:port/v1", "http://h:99999/v1", "http://[::1/v1"),
    *("http://a b/v1", "http://h/v1?key=1"),
]


def endpoint(llm: object) -> str:
    assert isinstance(llm, HttpLLM)
    return llm._http.endpoint


@pytest.mark.parametrize(
    ("spec", "name", "address"),
    [
        ("openai:gpt-x", "openai:gpt-x", "https://api.openai.com/v1/chat/completions"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b", "http://localhost:11434/v1/chat/completions"),
        ("openai:m@http://h:1/v1", "openai:m@http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("openai:m@http://h/v1/", "openai:m@http://h/v1/", "http://h/v1/chat/completions"),
        ("openai:m@2024@https://h", "openai:m@2024@https://h", "https://h/chat/completions"),
        ("openai:m@2024", "openai:m@2024", "https://api.openai.com/v1/chat/completions"),
        ("openai:org/m:free@http://[::1]:8/v1", "openai:org/m:free@http://[::1]:8/v1", "http://[::1]:8/v1/chat/completions"),
    ],
)  # fmt: skip
def test_a_string_names_provider_model_and_address(spec: str, name: str, address: str) -> None:
    llm = llm_of(spec, key=KEY, environment={})
    assert (llm.name, endpoint(llm)) == (name, address)
    assert repr(llm) == f"<LLM {name}>"


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("", "no LLM provider is called ''"),
        ("gpt-x", "no LLM provider is called 'gpt-x'; say openai:model, ollama:model"),
        ("anthropic:claude-x", "no LLM provider is called 'anthropic'; .* around the provider's own package"),
        ("openai", "'openai' needs a model"),
        ("openai:", "'openai' needs a model"),
        ("openai:@http://h/v1", "'openai' needs a model"),
        ("openai:http://h/v1", "'openai' needs a model"),
        *((f"openai:m@{url}", "is http:// or https://, a host and a path") for url in BAD_ADDRESSES),
    ],
)
def test_a_bad_string_says_what_is_wrong(spec: str, complaint: str) -> None:
    with pytest.raises(Misconfigured, match=complaint):
        llm_of(spec, key=KEY, environment={})


def test_a_password_in_an_address_is_refused_without_being_shown() -> None:
    with pytest.raises(Misconfigured, match="without a user or password") as caught:
        llm_of("openai:m@http://ann:geheim@h/v1", environment={})
    assert "geheim" not in str(caught.value)


def test_without_a_key_it_says_what_to_set() -> None:
    for environment in ({}, {"OPENAI_API_KEY": "  "}):
        with pytest.raises(Misconfigured, match="needs a key: give key=… or set OPENAI_API_KEY"):
            llm_of("openai:m", environment=environment)


def test_the_environment_is_that_of_the_process(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    llm_of("openai:m").ask(ASK)
    assert server.seen[0][1]["authorization"] == f"Bearer {KEY}"


def test_a_key_of_the_environment_goes_to_no_address_of_the_string(server: Server) -> None:
    llm_of(f"openai:m@{server.url}", environment={"OPENAI_API_KEY": KEY}).ask(ASK)
    assert KEY not in repr(server.seen)


def test_a_key_that_is_given_goes_before_that_of_the_environment(server: Server) -> None:
    environment = {"OPENAI_API_KEY": "another", "OPENAI_BASE_URL": server.url}
    llm_of("openai:m", key=KEY, environment=environment).ask(ASK)
    assert server.seen[0][1]["authorization"] == f"Bearer {KEY}"


class Mine:
    name = "mine"

    def ask(self, request: Request) -> Answer:
        return Answer(text="mine")


def test_an_llm_is_itself() -> None:
    llm = Mine()
    assert llm_of(llm) is llm
