"""The laws of `LLM` as tests. Subclass it in a test file and say how yours is made:

class TestMine(LLMContract):
    def make(self) -> LLM:
        return Mine()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import get_args

from . import LLM, Answer, Request, Stop, Turn
from .answer_json import find_misfit
from .consult import consult

PLAIN = Request(prompt="Say hello.", system="Be brief.", max_tokens=200)
CITY = Request(
    prompt='Ann moved to Lisbon. Which city is that? Answer as {"city": "…"}.',
    max_tokens=200,
    schema={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
ODD = ["?", "x" * 20_000, "Привет, мир! 👋🏽\n\t\x00", '{"city": ', "</think>```json"]


class LLMContract:
    """Every LLM passes these. `make` gives one that answers any prompt, and a schema by what fits it."""

    def make(self) -> LLM:
        raise NotImplementedError

    def test_it_has_a_name(self) -> None:
        name = self.make().name
        assert isinstance(name, str)
        assert name

    def test_it_answers_a_prompt(self) -> None:
        _check(self.make().ask(PLAIN))

    def test_it_takes_earlier_turns(self) -> None:
        before = (Turn("user", "I am Ann."), Turn("assistant", "Hello, Ann."))
        _check(self.make().ask(Request(prompt="Who am I?", before=before, temperature=None)))

    def test_it_takes_odd_prompts(self) -> None:
        llm = self.make()
        for prompt in ODD:
            _check(llm.ask(Request(prompt=prompt, max_tokens=50)))

    def test_it_leaves_the_value_to_those_who_judge(self) -> None:
        assert self.make().ask(CITY).value is None

    def test_a_schema_is_answered_by_what_fits_it(self) -> None:
        value = consult(self.make(), CITY).value
        assert CITY.schema is not None
        assert find_misfit(value, CITY.schema) == ""

    def test_it_may_be_asked_by_many_threads_at_once(self) -> None:
        llm = self.make()
        with ThreadPoolExecutor(4) as pool:
            for answer in pool.map(lambda _: consult(llm, CITY), range(8)):
                _check(answer)


def _check(answer: Answer) -> None:
    assert isinstance(answer.text, str)
    assert answer.stop in get_args(Stop)
    for tokens in (answer.tokens_in, answer.tokens_out):
        assert tokens is None or tokens >= 0
