"""The background worker starts when needed, sleeps and wakes, survives errors and forks, and ends in time."""

from __future__ import annotations

import os
import threading
import time

import pytest
from tests.timing import until

from eidet.core.errors import EidetError, Unavailable
from eidet.net.worker import UNTIL_WOKEN, BackgroundWorker


class Steps:
    """Counts steps, and answers what it is told to."""

    def __init__(self, answer: float | None) -> None:
        self.answer = answer
        self.count = 0

    def __call__(self) -> float | None:
        self.count += 1
        return self.answer


def test_it_starts_when_first_needed_and_sleeps_until_woken() -> None:
    steps = Steps(UNTIL_WOKEN)
    worker = BackgroundWorker("test", steps)
    assert not worker.running
    worker.start()
    until(lambda: steps.count == 1)
    worker.start()
    time.sleep(0.05)
    assert steps.count == 1, "starting does not wake"
    worker.wake()
    until(lambda: steps.count == 2)
    assert worker.stop(60)
    assert not worker.running


def test_the_thread_ends_when_nothing_is_left_and_begins_again() -> None:
    steps = Steps(None)
    worker = BackgroundWorker("test", steps)
    worker.start()
    assert worker.join(60)
    assert (steps.count, worker.running) == (1, False)
    worker.start()
    assert worker.join(60)
    assert steps.count == 2


def test_what_is_asked_for_during_the_last_step_is_not_lost() -> None:
    asked: list[int] = []
    enough = threading.Event()

    def step() -> None:
        asked.append(len(asked))
        if len(asked) < 5:
            worker.start()
        else:
            enough.set()

    worker = BackgroundWorker("test", step)
    worker.start()
    assert enough.wait(60)
    assert worker.join(60)
    assert asked == [0, 1, 2, 3, 4]


def test_an_error_of_ours_is_told_and_the_work_goes_on() -> None:
    told: list[str] = []
    failed = threading.Event()

    def step() -> float:
        if not failed.is_set():
            failed.set()
            raise Unavailable("away")
        return UNTIL_WOKEN

    def tell(error: EidetError) -> None:
        told.append(str(error))

    worker = BackgroundWorker("test", step, pause_seconds=0.01, on_error=tell)
    worker.start()
    until(lambda: told == ["away"])
    assert worker.running
    worker.stop(60)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_the_program_ends_the_thread_and_not_the_worker(caplog: pytest.LogCaptureFixture) -> None:
    answers = [ZeroDivisionError("oops")]
    done = threading.Event()

    def step() -> None:
        if answers:
            raise answers.pop()
        done.set()

    worker = BackgroundWorker("test", step)
    worker.start()
    worker.join(60)
    assert "test ended by an error of the program" in caplog.text
    worker.start()
    assert done.wait(60)
    worker.stop(60)


def test_a_delay_comes_before_the_first_step_and_can_be_cut_short() -> None:
    steps = Steps(None)
    worker = BackgroundWorker("test", steps, delay_seconds=60.0)
    worker.start()
    time.sleep(0.05)
    assert steps.count == 0
    worker.wake()
    assert worker.join(60)
    assert steps.count == 1


def test_stopping_waits_for_the_step_no_longer_than_it_may() -> None:
    go, inside = threading.Event(), threading.Event()

    def step() -> None:
        inside.set()
        go.wait(30)

    worker = BackgroundWorker("test", step)
    worker.start()
    inside.wait(60)
    began = time.monotonic()
    assert not worker.stop(0.1)
    assert time.monotonic() - began < 5
    go.set()
    assert worker.join(60)


def test_a_rest_inside_a_step_ends_when_it_is_to_stop() -> None:
    inside = threading.Event()
    rested: list[bool] = []

    def step() -> None:
        inside.set()
        rested.append(worker.rest(60))

    worker = BackgroundWorker("test", step)
    worker.start()
    inside.wait(60)
    assert worker.stop(60)
    assert rested == [True]


def test_once_stopped_it_stays_stopped() -> None:
    steps = Steps(UNTIL_WOKEN)
    worker = BackgroundWorker("test", steps)
    worker.stop()
    worker.start()
    worker.wake()
    assert not worker.running
    assert steps.count == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_begins_a_thread_of_its_own() -> None:
    steps = Steps(UNTIL_WOKEN)
    worker = BackgroundWorker("test", steps)
    worker.start()
    until(lambda: steps.count == 1)
    child = os.fork()
    if child == 0:  # pragma: no cover - coverage does not follow it
        good = not worker.running
        worker.start()
        ends = time.monotonic() + 60
        while steps.count < 2 and time.monotonic() < ends:
            time.sleep(0.005)
        os._exit(0 if good and steps.count == 2 and worker.stop(60) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert worker.running
    worker.stop(60)
