"""Asking and judging, and falling back to the rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.servers.scripted import Behaviour, cut, raw, silent, status
from tests.unit.models.llm.server import KEY, Server, says

from eidet.core.errors import EidetError, Misconfigured, Unavailable
from eidet.models.adapt import adapt_llm
from eidet.models.llm import LLM, Answer, BadAnswer, Request, llm_of
from eidet.models.llm.consult import Outcome, consult, consult_or_fall_back

SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
FACTS = Request(prompt="Facts?", schema=SCHEMA, purpose="facts", max_tokens=77)
PLAIN = Request(prompt="Sum it up.", purpose="summary", max_tokens=77)
GOOD, BAD = '{"facts": ["Ann lives in Lisbon"]}', '{"facts": "Ann lives in Lisbon"}'


def llm_at(server: Server, timeout: float = 5.0) -> LLM:
    return llm_of(f"openai:m-1@{server.url}", key=KEY, timeout=timeout)


def facts_of(answer: Answer) -> list[str]:
    found: list[str] = answer.value["facts"]
    if not isinstance(found, list) or not all(isinstance(fact, str) for fact in found):
        raise TypeError("facts is a list of texts")
    return found


def text_of(answer: Answer) -> str:
    return answer.text


def facts(llm: LLM | None) -> Outcome[list[str]]:
    return consult_or_fall_back(llm, FACTS, read=facts_of, otherwise=lambda: ["by rule"])


def test_an_answer_that_fits_has_a_value(server: Server) -> None:
    server.default = GOOD
    assert facts(llm_at(server)).value == ["Ann lives in Lisbon"]
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"Here you are:\n```json\n{GOOD}\n```\nAnything else?",
        f"```\n{GOOD}\n```",
        f"The facts {{in braces}} are {GOOD}.",
        f'<think>Perhaps {{"facts": ["wrong"]}}?</think>\n{GOOD}',
        f'An {{"example": 1}} first, then {GOOD}',
    ],
    ids=["fence", "bare fence", "prose", "thoughts", "example"],
)
def test_json_is_found_amid_other_words(server: Server, text: str) -> None:
    server.default = text
    assert facts(llm_at(server)).value == ["Ann lives in Lisbon"]
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        (BAD, "TypeError: facts is a list of texts"),
        ("{}", "KeyError: 'facts'"),
        ("I found no facts.", "no complete JSON object"),
        ('{"facts": ["a", {"x": 1}', "no complete JSON object"),
        ('{"facts": [NaN]}', "no complete JSON object"),
        ('{"facts": ["\\ud800"]}', "no complete JSON object"),
        ("", "it is empty"),
    ],
)
def test_what_does_not_fit_is_repaired_by_asking_again(server: Server, first: str, complaint: str) -> None:
    server.script = [says(first), says(GOOD)]
    outcome = facts(llm_at(server))
    assert (outcome.by, outcome.value) == ("llm", ["Ann lives in Lisbon"])
    *_, question, bad, again = server.asked[1]["messages"]
    assert question["content"] == "Facts?"
    assert bad["role"] == "assistant"
    assert complaint in again["content"]
    assert json.dumps(SCHEMA, separators=(",", ":")) in again["content"]


@pytest.mark.parametrize(
    ("script", "cause", "asks"),
    [
        ([status(500)] * 9, "unavailable", 4),
        ([status(429, Retry_After="60")], "unavailable", 1),
        ([cut] * 9, "unavailable", 4),
        ([raw(b"{")] * 9, "unavailable", 4),
        ([raw(b"<html>", "text/html")], "misconfigured", 1),
        ([status(401)], "misconfigured", 1),
        ([status(400)] * 9, "rejected", 2),
        ([says(BAD)] * 9, "unusable", 2),
        ([says("no JSON at all")] * 9, "malformed", 2),
        ([says("")] * 9, "empty", 2),
        ([says("no", refusal="I'd rather not")], "refused", 1),
        ([says("half of", stop="content_filter")], "refused", 1),
        ([says(BAD), says("no", refusal="I'd rather not")], "refused", 2),
        ([says(BAD), status(401)], "misconfigured", 2),
    ],
)
def test_whatever_goes_wrong_the_rules_decide_and_it_is_logged(
    server: Server, script: list[Behaviour], cause: str, asks: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = list(script)
    outcome = facts(llm_at(server))
    assert (outcome.value, outcome.by, outcome.cause) == (["by rule"], "rules", cause)
    assert outcome.why
    assert len(server.asked) == asks
    [line] = [line.getMessage() for line in caplog.records if line.name == "eidet.llm"]
    assert line.startswith(f"facts: the rules decided, because the model failed ({cause}): ")
    assert KEY not in repr(outcome) + caplog.text


@pytest.mark.parametrize("request_", [FACTS, PLAIN], ids=["facts", "plain"])
def test_an_answer_cut_by_the_limit_is_not_used_and_not_asked_for_again(
    server: Server, request_: Request
) -> None:
    server.script = [says(GOOD, stop="length")]
    with pytest.raises(BadAnswer, match="cut off after 77 tokens") as caught:
        consult(llm_at(server), request_, text_of)
    assert caught.value.cause == "truncated"
    assert len(server.asked) == 1


def test_a_slow_answer_is_told_as_slow(server: Server) -> None:
    server.script = [silent]
    assert facts(llm_at(server, timeout=0.15)).cause == "slow"


def test_an_empty_text_is_no_answer(server: Server) -> None:
    server.default = "<think>hm</think>  "
    with pytest.raises(BadAnswer, match="answered nothing"):
        consult(llm_at(server), PLAIN, text_of)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<think>\nWhat to say?\n</think>\n\nAnn moved.", "Ann moved."),
        (" <think>a</think> <b>", "<b>"),
        ("<think>hm", "<think>hm"),
        ("a <think>b</think>", "a <think>b</think>"),
    ],
)
def test_thoughts_in_front_are_not_part_of_an_answer(said: str, kept: str) -> None:
    assert consult(adapt_llm(lambda prompt: said), PLAIN, text_of) == kept


def test_a_text_that_utf8_cannot_carry_is_no_answer() -> None:
    with pytest.raises(BadAnswer, match="lone surrogate") as caught:
        consult(adapt_llm(lambda prompt: "a \ud800 b"), PLAIN, text_of)
    assert caught.value.cause == "malformed"


def test_a_long_bad_answer_is_shown_to_the_model_only_in_part(server: Server) -> None:
    server.script = [says("x" * 100_000), says(GOOD)]
    assert facts(llm_at(server)).by == "llm"
    assert len(server.asked[1]["messages"][-2]["content"]) == 4_000


def test_without_a_model_the_rules_decide_and_nothing_failed() -> None:
    outcome = facts(None)
    assert (outcome.value, outcome.by, outcome.cause) == (["by rule"], "rules", "none")


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyError("facts"), TypeError("no"), ZeroDivisionError(), Misconfigured("no")]
)
def test_an_answer_its_reader_cannot_use_is_left_to_the_rules(server: Server, error: Exception) -> None:
    def read(answer: Answer) -> str:
        raise error

    outcome = consult_or_fall_back(llm_at(server), PLAIN, read=read, otherwise=lambda: "rule")
    assert (outcome.value, outcome.by, outcome.cause) == ("rule", "rules", "unusable")
    assert type(error).__name__ in outcome.why


def test_the_rules_are_not_asked_when_the_model_answered(server: Server) -> None:
    def otherwise() -> str:
        raise AssertionError("not wanted")

    outcome = consult_or_fall_back(llm_at(server), PLAIN, read=text_of, otherwise=otherwise)
    assert (outcome.value, outcome.by, outcome.cause, outcome.why) == ("hello", "llm", "", "")


def test_an_error_of_the_rules_is_the_callers_own() -> None:
    def otherwise() -> str:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        consult_or_fall_back(None, PLAIN, read=text_of, otherwise=otherwise)
    with pytest.raises(LookupError, match="mine"):
        consult_or_fall_back(adapt_llm(lambda prompt: ""), PLAIN, read=text_of, otherwise=otherwise)


class Rude:
    """An LLM of a user that keeps to no law."""

    name = "rude"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def ask(self, request: Request) -> Answer:
        if isinstance(self.answer, Exception):
            raise self.answer
        given: Answer = self.answer
        return given


@pytest.mark.parametrize(
    ("thrown", "cause"),
    [
        (RuntimeError("boom"), "unavailable"),
        (OSError("boom"), "unavailable"),
        (EidetError("boom"), "error"),
        (Unavailable("boom", retry_after=3), "unavailable"),
    ],
)
def test_what_an_llm_throws_never_gets_out(thrown: Exception, cause: str) -> None:
    outcome = facts(Rude(thrown))
    assert (outcome.by, outcome.cause) == ("rules", cause)
    assert "boom" in outcome.why


def test_a_repair_asks_for_the_same_purpose_model_and_limit() -> None:
    seen: list[Request] = []

    def ask(request: Request) -> str:
        seen.append(request)
        return BAD

    assert facts(adapt_llm(ask)).cause == "unusable"
    first, second = seen
    assert second == replace(first, before=second.before, prompt=second.prompt)
    assert second.before[:-1] == first.turns
