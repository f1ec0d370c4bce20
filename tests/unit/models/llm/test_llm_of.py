"""What a user may say for a model, and where keys come from and go."""

from __future__ import annotations

import pytest
from tests.making import Clock
from tests.unit.models.llm.server import KEY, Server

from eidet.core.errors import Misconfigured, Unavailable
from eidet.models.llm import Answer, Request, llm_of
from eidet.models.llm.cooldown import LONGEST, PAUSE, Resting
from eidet.models.llm.http import HttpLLM

ASK = Request(prompt="hi")


def endpoint(llm: object) -> str:
    assert isinstance(llm, Resting)
    assert isinstance(llm.inner, HttpLLM)
    return llm.inner._http.endpoint


@pytest.mark.parametrize(
    ("spec", "name", "address"),
    [
        ("anthropic:claude-x", "anthropic:claude-x", "https://api.anthropic.com/v1/messages"),
        ("openai:gpt-x", "openai:gpt-x", "https://api.openai.com/v1/chat/completions"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b", "http://localhost:11434/v1/chat/completions"),
        ("openai:m@http://h:1/v1", "openai:m@http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("openai:m@http://h/v1/", "openai:m@http://h/v1/", "http://h/v1/chat/completions"),
        ("openai:m@2024@https://h", "openai:m@2024@https://h", "https://h/chat/completions"),
        ("openai:m@2024", "openai:m@2024", "https://api.openai.com/v1/chat/completions"),
        ("openai:org/m:free@http://[::1]:8/v1", "openai:org/m:free@http://[::1]:8/v1", "http://[::1]:8/v1/chat/completions"),
        ("anthropic:m@https://h", "anthropic:m@https://h", "https://h/v1/messages"),
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
        ("gpt-x", "no LLM provider is called 'gpt-x'; say anthropic:model, openai:model"),
        ("mistral:large", "no LLM provider is called 'mistral'"),
        ("openai", "'openai' needs a model"),
        ("openai:", "'openai' needs a model"),
        ("openai:@http://h/v1", "'openai' needs a model"),
        ("openai:http://h/v1", "'openai' needs a model"),
        ("openai:m@ftp://h/v1", "starts with http:// or https://, not 'ftp://'"),
        ("openai:m@file:///etc", "starts with http"),
        ("openai:m@http://", "has no host"),
        ("openai:m@http://h:port/v1", "is not an address"),
        ("openai:m@http://h:99999/v1", "is not an address"),
        ("openai:m@http://[::1/v1", "is not an address"),
        ("openai:m@http://a b/v1", "has spaces"),
        ("openai:m@http://h/v1?key=1", r"holds a \? or #"),
    ],
)
def test_a_bad_string_says_what_is_wrong(spec: str, complaint: str) -> None:
    with pytest.raises(Misconfigured, match=complaint):
        llm_of(spec, key=KEY, environment={})


def test_a_password_in_an_address_is_refused_without_being_shown() -> None:
    with pytest.raises(Misconfigured, match="holds a user or password") as caught:
        llm_of("openai:m@http://ann:geheim@h/v1", environment={})
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_without_a_key_it_says_what_to_set(provider: str) -> None:
    with pytest.raises(Misconfigured, match=f"set {provider.upper()}_API_KEY"):
        llm_of(f"{provider}:m", environment={})
    with pytest.raises(Misconfigured, match="needs a key"):
        llm_of(f"{provider}:m", environment={f"{provider.upper()}_API_KEY": "  "})


@pytest.mark.parametrize(("provider", "header"), [("anthropic", "x-api-key"), ("openai", "authorization")])
def test_the_environment_gives_key_and_address(server: Server, provider: str, header: str) -> None:
    prefix = provider.upper()
    environment = {f"{prefix}_API_KEY": f" {KEY}\n", f"{prefix}_BASE_URL": server.url}
    assert llm_of(f"{provider}:m", environment=environment).ask(ASK).text == "hello"
    assert server.seen[0][1][header].endswith(KEY)


def test_the_environment_is_that_of_the_process(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    llm_of("openai:m").ask(ASK)
    assert server.seen[0][1]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_key_of_the_environment_goes_to_no_address_of_the_string(server: Server, provider: str) -> None:
    environment = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    llm_of(f"{provider}:m@{server.url}", environment=environment).ask(ASK)
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


class Moody:
    """Answers, or says when to come back."""

    name = "moody"

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = Unavailable("busy")

    def ask(self, request: Request) -> Answer:
        self.asked += 1
        if self.error:
            raise self.error
        return Answer(text="fine")


def fail(llm: Resting, times: int = 1) -> Unavailable:
    for _ in range(times):
        with pytest.raises(Unavailable) as caught:
            llm.ask(ASK)
    return caught.value


def test_a_model_that_failed_three_times_running_is_left_alone_for_a_while() -> None:
    moody, clock = Moody(), Clock(1000.0)
    llm = Resting(moody, clock=clock)
    fail(llm, times=3)
    error = fail(llm, times=5)
    assert moody.asked == 3
    assert "moody failed 3 times running; the next try is in 30 s" in str(error)
    assert error.retry_after == PAUSE
    clock.now += PAUSE
    fail(llm, times=2)
    assert moody.asked == 4
    clock.now += PAUSE
    moody.error = None
    assert llm.ask(ASK).text == "fine"
    moody.error = Unavailable("busy")
    fail(llm, times=2)
    assert moody.asked == 7


@pytest.mark.parametrize(("asked", "rests"), [(120.0, 120.0), (1.0, PAUSE), (1e9, LONGEST)])
def test_it_is_left_alone_as_long_as_it_asks_for_within_reason(asked: float, rests: float) -> None:
    moody, clock = Moody(), Clock(1000.0)
    moody.error = Unavailable("busy", retry_after=asked)
    llm = Resting(moody, clock=clock)
    fail(llm, times=3)
    assert fail(llm).retry_after == rests


def test_other_errors_are_no_reason_to_rest() -> None:
    moody = Moody()
    moody.error = Misconfigured("wrong key")
    llm = Resting(moody, clock=Clock(1000.0))
    for _ in range(9):
        with pytest.raises(Misconfigured):
            llm.ask(ASK)
    assert moody.asked == 9


def test_while_one_question_finds_out_the_others_are_not_let_through() -> None:
    moody, clock = Moody(), Clock(1000.0)
    llm = Resting(moody, clock=clock)
    fail(llm, times=3)
    clock.now += PAUSE
    refused: list[Unavailable] = []

    class Meanwhile(Moody):
        def ask(self, request: Request) -> Answer:
            refused.append(fail(llm))
            return Answer(text="fine")

    llm.inner = Meanwhile()
    assert llm.ask(ASK).text == "fine"
    assert "failed 3 times running" in str(refused[0])
