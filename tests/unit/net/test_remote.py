"""A line to a server tries again, gives up in time, and leaves a server alone that is down."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from eidet.core.errors import BadInput, Misconfigured, Unavailable
from eidet.net.retry import Busy, Full, OutcomeUnknown, Retrier, RetryPolicy


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def line(time: Time, **retry_policy: Any) -> Retrier:
    return Retrier(
        "the server", RetryPolicy(**retry_policy), clock=lambda: time.now, sleep=time.sleep, dice=lambda: 1.0
    )


def refused() -> Exception:
    return Unavailable("refused")


def failing(times: int, error: Callable[[], BaseException] = refused) -> Callable[[float], str]:
    left = [times]

    def job(_: float) -> str:
        if left[0]:
            left[0] -= 1
            raise error()
        return "done"

    return job


def test_a_failure_that_passes_is_not_seen() -> None:
    time = Time()
    assert line(time, longest_pause_seconds=0.15, break_after=9).call(failing(5)) == "done"
    assert time.slept == [0.05, 0.1, 0.15, 0.15, 0.15]


def test_pauses_differ_between_callers() -> None:
    rolled = iter([0.0, 0.5, 1.0])
    time = Time()
    one = Retrier("x", clock=lambda: time.now, sleep=time.sleep, dice=lambda: next(rolled))
    one.call(failing(3))
    assert time.slept == pytest.approx([0.025, 0.075, 0.2])


def test_a_server_that_asks_for_time_gets_it() -> None:
    time = Time()
    line(time).call(failing(1, lambda: Unavailable("busy", retry_after=3.0)))
    assert time.slept == [3.0]


def test_it_gives_up_before_the_deadline_and_says_how_often_it_tried() -> None:
    time = Time()
    with pytest.raises(Unavailable, match="was tried 4 times and did not answer: refused") as told:
        line(time, deadline_seconds=0.5, break_after=99).call(failing(99))
    assert time.now <= 0.5
    assert told.value.retry_after == pytest.approx(0.4)


def test_a_job_is_told_how_much_time_is_left() -> None:
    time, left = Time(), []

    def job(seconds: float) -> None:
        left.append(seconds)
        time.now += 1
        raise Unavailable("slow")

    with pytest.raises(Unavailable):
        line(time, deadline_seconds=2.5, break_after=99).call(job)
    assert left == pytest.approx([2.5, 1.45, 0.35])


def test_what_may_have_taken_effect_is_not_sent_again_unless_it_may_be() -> None:
    cut = lambda: OutcomeUnknown("cut")  # noqa: E731
    assert line(Time()).call(failing(1, cut)) == "done"
    with pytest.raises(OutcomeUnknown, match="whether it took effect is not known"):
        line(Time()).call(failing(1, cut), idempotent=False)
    assert line(Time()).call(failing(2), idempotent=False) == "done"  # refused means it was never sent


def test_one_attempt_that_may_have_taken_effect_makes_the_call_unsure() -> None:
    errors = [OutcomeUnknown("cut"), *(Unavailable("refused") for _ in range(50))]

    def job(_: float) -> None:
        raise errors.pop(0)

    with pytest.raises(OutcomeUnknown, match="refused; an earlier attempt may have taken effect"):
        line(Time(), break_after=100).call(job)


def test_a_server_that_is_down_is_not_asked_until_it_has_rested() -> None:
    time, asked = Time(), []
    one = line(time, break_after=3, rest_seconds=10, deadline_seconds=0.2)

    def job(_: float) -> None:
        asked.append(time.now)
        raise Unavailable("refused")

    with pytest.raises(Unavailable):
        one.call(job)
    assert one.health()["state"] == "down"
    with pytest.raises(Unavailable, match=r"the server is down \(refused\); it is asked again in \d") as told:
        one.call(job)
    assert len(asked) == 3
    assert 9 < (told.value.retry_after or 0) <= 10
    time.now += 10
    assert one.call(failing(0)) == "done"
    assert one.health()["state"] == "up"


def test_one_caller_at_a_time_tries_a_server_that_was_down() -> None:
    time = Time()
    one = line(time, break_after=1, rest_seconds=1, deadline_seconds=0.01)
    with pytest.raises(Unavailable):
        one.call(failing(1))
    time.now += 2
    inside, go = threading.Event(), threading.Event()

    def probe(_: float) -> str:
        inside.set()
        assert go.wait(60)
        return "done"

    answers: list[str] = []
    first = threading.Thread(target=lambda: answers.append(one.call(probe)))
    first.start()
    assert inside.wait(60)
    with pytest.raises(Unavailable, match="is down"):
        one.call(failing(0))
    go.set()
    first.join(60)
    assert answers == ["done"]
    assert one.call(failing(0)) == "done"


def test_a_probe_that_ends_in_any_error_lets_others_try() -> None:
    time = Time()
    one = line(time, break_after=1, rest_seconds=1, deadline_seconds=0.01)
    with pytest.raises(Unavailable):
        one.call(failing(1))
    time.now += 2
    with pytest.raises(KeyboardInterrupt):
        one.call(failing(1, KeyboardInterrupt))
    assert one.call(failing(0)) == "done"


def test_an_answer_that_refuses_counts_as_up() -> None:
    one = line(Time(), break_after=2)
    with pytest.raises(BadInput):
        one.call(failing(1, lambda: BadInput("no")))
    assert one.health()["failed_in_a_row"] == 0


def test_health_tells_what_happened() -> None:
    one = line(Time())
    one.call(failing(2))
    told = one.health()
    assert (told["calls"], told["retries"], told["failures"], told["state"]) == (1, 2, 2, "up")
    assert told["last_error"] == "refused"


def test_a_retry_policy_has_numbers_above_zero() -> None:
    with pytest.raises(Misconfigured, match="deadline_seconds"):
        RetryPolicy(deadline_seconds=0)


def test_a_server_that_is_busy_is_not_down() -> None:
    time = Time()
    one = line(time, break_after=2, deadline_seconds=5)
    with pytest.raises(Busy, match="was tried"):
        one.call(failing(1000, lambda: Busy("too many requests")))
    assert (one.health()["state"], one.health()["last_error"]) == ("up", "too many requests")
    assert one.health()["failures"] > 2
    assert one.call(failing(0)) == "done"


def test_a_server_that_is_full_is_not_asked_again_and_is_not_down() -> None:
    time = Time()
    one = line(time, break_after=1)
    for _ in range(3):
        with pytest.raises(Full, match="no room"):
            one.call(failing(1, lambda: Full("no room")))
    assert (one.health()["state"], time.slept) == ("up", [])


def test_a_call_may_be_tried_only_so_often() -> None:
    time = Time()
    one = line(time, break_after=100)
    assert one.call(failing(2), max_attempts=3) == "done"
    with pytest.raises(Unavailable, match="tried 3 times"):
        one.call(failing(3), max_attempts=3)
