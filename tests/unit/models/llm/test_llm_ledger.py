from __future__ import annotations

import threading

import pytest

from eidet.core.errors import Misconfigured
from eidet.models.llm import Answer, Request
from eidet.models.llm.adapt import adapt
from eidet.models.llm.consult import consult
from eidet.models.llm.ledger import OTHERS, PURPOSES, RECENT, CallTotals, Ledger, Price

ANSWER = Answer(text="x", model="m-1-2026", tokens_in=1_000_000, tokens_out=500_000, millis=250.0)


def test_cost_follows_from_the_price_per_million_tokens() -> None:
    ledger = Ledger({"m-1-2026": (3.0, 15.0)})
    ledger.count_answer("facts", "anthropic:m-1", ANSWER)
    assert ledger.total().cost == pytest.approx(3.0 + 7.5)


@pytest.mark.parametrize("name", ["m-1-2026", "openai:m-1@http://127.0.0.1:1/v1", "m-1"])
def test_a_price_may_name_the_model_as_it_names_itself_or_as_it_was_asked_for(name: str) -> None:
    ledger = Ledger({name: Price(1.0, 0.0)})
    ledger.count_answer("facts", "openai:m-1@http://127.0.0.1:1/v1", ANSWER)
    assert ledger.total().cost == pytest.approx(1.0)


def test_an_unknown_price_makes_the_cost_unknown_but_not_that_of_others() -> None:
    ledger = Ledger({"m-1-2026": (3.0, 15.0)})
    ledger.count_answer("facts", "openai:m-1", ANSWER)
    ledger.count_answer(
        "summary", "openai:m-12", Answer(text="", model="m-1-2026-mini", tokens_in=1, tokens_out=1)
    )
    tallies = ledger.tallies()
    assert tallies["facts"].cost == pytest.approx(10.5)
    assert (tallies["summary"].cost, tallies["summary"].unpriced) == (None, 1)
    assert ledger.total().cost is None


@pytest.mark.parametrize(("came", "went"), [(5, None), (None, 5), (None, None)])
def test_tokens_that_nobody_counted_make_the_cost_unknown(came: int | None, went: int | None) -> None:
    ledger = Ledger({"m": (1, 1)})
    ledger.count_answer("facts", "m", Answer(text="", model="m", tokens_in=came, tokens_out=went))
    total = ledger.total()
    assert (total.cost, total.unmetered) == (None, 1)
    assert (total.tokens_in, total.tokens_out) == (came or 0, went or 0)


def test_a_ledger_without_answers_has_cost_nothing() -> None:
    ledger = Ledger()
    ledger.count_call("facts")
    ledger.count_failure("facts", "slow", "it took too long")
    assert ledger.total() == CallTotals(calls=1, failures={"slow": 1})
    assert ledger.total().cost == 0


@pytest.mark.parametrize("price", [(-1.0, 0.0), (float("nan"), 0.0), (0.0, float("inf"))])
def test_a_price_that_is_none_is_refused(price: tuple[float, float]) -> None:
    with pytest.raises(Misconfigured, match="a price is a number"):
        Ledger({"m": price})


def test_the_table_shows_each_purpose_and_the_sum() -> None:
    ledger = Ledger({"m-1-2026": (3.0, 15.0)})
    ledger.count_call("facts")
    ledger.count_answer("facts", "m", ANSWER)
    ledger.count_call("summary", repair=True)
    ledger.count_failure("summary", "slow", "…")
    ledger.count_failure("summary", "misfit", "…")
    assert ledger.table().splitlines() == [
        "purpose  calls  repairs  tokens in  tokens out     cost  seconds  failures",
        "facts        1        0  1,000,000     500,000  10.5000      0.2  -",
        "summary      1        1          0           0   0.0000      0.0  misfit 1, slow 1",
        "total        2        1  1,000,000     500,000  10.5000      0.2  misfit 1, slow 1",
    ]


def test_its_size_does_not_grow_with_use() -> None:
    ledger = Ledger()
    for number in range(PURPOSES + 50):
        ledger.count_call(f"purpose {number}")
        ledger.count_failure(f"purpose {number}", "slow", "w" * 10_000)
    assert len(ledger.tallies()) == PURPOSES + 1
    assert ledger.tallies()[OTHERS].calls == 50
    assert ledger.total().calls == PURPOSES + 50
    assert len(ledger.recent_failures()) == RECENT
    assert len(ledger.recent_failures()[-1].why) == 500


def test_many_threads_may_write_at_once() -> None:
    ledger = Ledger({"mine": (1.0, 1.0)})
    llm = adapt(lambda request: Answer(text="x", model="mine", tokens_in=1, tokens_out=2))

    def work() -> None:
        for _ in range(25):
            consult(llm, Request(prompt="x", purpose="facts"), ledger)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = ledger.total()
    assert (total.calls, total.tokens_in, total.tokens_out) == (100, 100, 200)
    assert total.cost == pytest.approx(300 / 1_000_000)


def test_tallies_are_values() -> None:
    ledger = Ledger()
    ledger.count_failure("facts", "slow", "…")
    before = ledger.tallies()
    ledger.count_failure("facts", "slow", "…")
    assert before["facts"].failures == {"slow": 1}
