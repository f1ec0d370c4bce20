from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.models.llm.server import KEY, Server, running

from eidet.models.adapt import adapt_llm
from eidet.models.contract import LLMContract
from eidet.models.llm import LLM, Answer, Request, llm_of

REPLY = '{"city": "Lisbon"}'


class TestOverHttp(LLMContract):
    server: Server

    @pytest.fixture(autouse=True)
    def _serve(self) -> Iterator[None]:
        with running() as self.server:
            self.server.default = REPLY
            yield

    def make(self) -> LLM:
        return llm_of(f"openai:m-1@{self.server.url}", key=KEY)


class TestFunction(LLMContract):
    def make(self) -> LLM:
        return adapt_llm(lambda prompt: REPLY)


class TestCoroutine(LLMContract):
    def make(self) -> LLM:
        async def ask(messages: list[dict[str, str]]) -> str:
            return REPLY

        return llm_of(ask)


class TestOwn(LLMContract):
    def make(self) -> LLM:
        return Own()


class Own:
    name = "own"

    def ask(self, request: Request) -> Answer:
        return Answer(text=REPLY)
