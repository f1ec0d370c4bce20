"""Callables as LLMs."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import subprocess
import sys
import threading
from typing import Any

import pytest
from tests.timing import raised_within

from eidet.core.errors import Misconfigured, Unavailable
from eidet.models.adapt import adapt_llm
from eidet.models.llm import Answer, Request, Turn, llm_of
from eidet.models.llm.consult import consult
from eidet.net.http import TooSlow

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ASK = Request(prompt="Three?", system="Be kind.", before=(Turn("user", "One?"), Turn("assistant", "Two.")))


def echo(prompt: str) -> str:
    return prompt


async def later(prompt: str) -> str:
    await asyncio.sleep(0)
    return prompt


class Talks:
    def __call__(self, prompt: str) -> str:
        return prompt


class TalksLater:
    async def __call__(self, prompt: str) -> str:
        return prompt


@pytest.mark.parametrize(
    "function",
    [echo, later, Talks(), TalksLater(), functools.partial(later), lambda text: later(text + "")],
    ids=["function", "coroutine", "object", "async object", "partial", "lambda of a coroutine"],
)
def test_any_callable_gets_the_whole_prompt(function: Any) -> None:
    answer = adapt_llm(function).ask(ASK)
    assert answer.text == "Be kind.\n\nuser: One?\n\nassistant: Two.\n\nThree?"
    assert (answer.tokens_in, answer.tokens_out, answer.stop) == (None, None, "end")


def by_name(messages: Any) -> str:
    return repr(messages)


async def by_name_later(messages: Any) -> str:
    return repr(messages)


@pytest.mark.parametrize("function", [by_name, by_name_later])
def test_a_callable_for_messages_gets_messages(function: Any) -> None:
    assert adapt_llm(function).ask(ASK).text == repr(
        [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "One?"},
            {"role": "assistant", "content": "Two."},
            {"role": "user", "content": "Three?"},
        ]
    )


def by_request(request: Request) -> Answer:
    return Answer(text=request.purpose, tokens_in=3, tokens_out=4, model="mine", stop="length")


def test_a_callable_for_requests_gets_the_request_and_may_give_an_answer() -> None:
    answer = adapt_llm(by_request).ask(ASK)
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("ask", 3, 4)
    assert (answer.model, answer.stop) == ("mine", "length")


def test_a_schema_is_written_into_the_prompt_and_a_dict_is_an_answer() -> None:
    asked: list[str] = []

    def ask(prompt: str) -> dict[str, int]:
        asked.append(prompt)
        return {"n": 3}

    request = Request(prompt="How many?", schema=SCHEMA)
    assert consult(adapt_llm(ask), request, lambda answer: answer.value["n"]) == 3
    assert '"required":["n"]' in asked[0]


def test_an_asynchronous_callable_may_be_asked_inside_a_running_loop() -> None:
    async def outside() -> str:
        return adapt_llm(later).ask(Request(prompt="hi")).text

    assert asyncio.run(outside()) == "hi"


def test_an_asynchronous_callable_that_waits_for_another_is_refused_instead_of_hanging() -> None:
    inner = adapt_llm(later)

    async def outer(prompt: str) -> str:
        return inner.ask(Request(prompt=prompt)).text

    with pytest.raises(Misconfigured, match="await that one"):
        adapt_llm(outer, timeout=5).ask(Request(prompt="hi"))


def test_a_coroutine_that_takes_too_long_is_cancelled() -> None:
    ended = threading.Event()

    async def slow(prompt: str) -> str:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return prompt

    def ask() -> object:
        return adapt_llm(slow, timeout=0.1).ask(Request(prompt="hi"))

    raised_within(2, TooSlow, ask, match=r"slow did not answer within 0\.1 s")
    assert ended.wait(20)


def test_a_function_that_takes_too_long_is_not_waited_for() -> None:
    let_go = threading.Event()

    def hangs(prompt: str) -> str:
        let_go.wait(10)
        return prompt

    def ask() -> object:
        return adapt_llm(hangs, timeout=0.1).ask(Request(prompt="hi"))

    raised_within(2, TooSlow, ask, match=r"within 0\.1 s")
    let_go.set()


def test_a_callable_that_fails_again_and_again_is_left_alone_for_a_while() -> None:
    called = []

    def breaks(prompt: str) -> str:
        called.append(prompt)
        raise RuntimeError("no quota")

    llm = adapt_llm(breaks)
    for _ in range(9):
        with pytest.raises(Unavailable) as caught:
            llm.ask(Request(prompt="hi"))
    assert len(called) == 5
    assert "is down" in str(caught.value)
    assert (caught.value.retry_after or 0) > 20


def test_what_a_callable_raises_is_unavailable_with_its_words() -> None:
    def breaks(prompt: str) -> str:
        raise RuntimeError("no quota")

    with pytest.raises(Unavailable, match="breaks raised RuntimeError: no quota") as caught:
        adapt_llm(breaks).ask(ASK)
    assert caught.value.__cause__ is not None
    assert isinstance(caught.value.__cause__.__cause__, RuntimeError)


@pytest.mark.parametrize("result", [7, ["a"], b"bytes", object()])
def test_an_answer_of_another_kind_is_misconfigured(result: Any) -> None:
    with pytest.raises(Misconfigured, match="has to give a string"):
        adapt_llm(lambda prompt: result).ask(ASK)


def test_context_variables_reach_a_function() -> None:
    trace: contextvars.ContextVar[str] = contextvars.ContextVar("trace")
    trace.set("span 7")
    assert adapt_llm(lambda prompt: trace.get()).ask(ASK).text == "span 7"


@pytest.mark.parametrize("thing", [7, None, object(), {"model": "x"}])
def test_what_cannot_be_called_is_refused(thing: Any) -> None:
    with pytest.raises(Misconfigured, match="is no LLM"):
        llm_of(thing)


def test_a_function_without_parameters_is_refused() -> None:
    with pytest.raises(Misconfigured, match="takes no argument"):
        adapt_llm(lambda: "hi")


def test_a_class_is_refused_with_advice() -> None:
    with pytest.raises(Misconfigured, match=r"give an instance: Talks\(\)"):
        llm_of(Talks)


def test_a_callable_is_named_for_what_it_is() -> None:
    assert adapt_llm(echo).name.endswith("test_llm_adapt.echo")
    assert adapt_llm(functools.partial(echo)).name == adapt_llm(echo).name
    assert adapt_llm(Talks()).name.endswith("test_llm_adapt.Talks")
    assert adapt_llm(echo, name="mine").name == "mine"
    assert repr(adapt_llm(echo, name="mine")) == "<LLM mine>"


AFTER_A_FORK = """
import os
from eidet.models.llm import Request
from eidet.models.adapt import adapt_llm

async def later(prompt):
    return prompt

llm = adapt_llm(later, timeout=5)
assert llm.ask(Request(prompt="parent")).text == "parent"
child = os.fork()
if child == 0:
    os._exit(0 if llm.ask(Request(prompt="child")).text == "child" else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_gets_a_loop_of_its_own() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", AFTER_A_FORK], check=True, timeout=30)
