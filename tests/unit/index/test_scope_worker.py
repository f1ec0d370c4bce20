"""One thread works on scopes in the order they were asked for, each once for many requests."""

from __future__ import annotations

import threading

from eidet.index.scope_worker import ScopeWorker


class Gate:
    """A job that notes its scopes and waits at each until it is let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.entered = threading.Semaphore(0)
        self.leave = threading.Semaphore(0)

    def __call__(self, scope: str) -> None:
        self.begun.append(scope)
        self.entered.release()
        assert self.leave.acquire(timeout=10)


def test_a_scope_that_waits_is_worked_on_once_however_often_it_is_asked_for() -> None:
    gate = Gate()
    worker = ScopeWorker("test", gate)
    worker.ask("a")
    assert gate.entered.acquire(timeout=10)
    for scope in ("b", "c", "b"):
        worker.ask(scope)
    assert worker.busy == ["a", "b", "c"]
    assert not worker.wait_until_idle(0.01)
    gate.leave.release(3)
    assert worker.wait_until_idle(10)
    assert gate.begun == ["a", "b", "c"]
    worker.close(10)


def test_without_a_rest_a_scope_asked_for_during_its_job_is_worked_on_again() -> None:
    gate = Gate()
    worker = ScopeWorker("test", gate)
    worker.ask("a")
    assert gate.entered.acquire(timeout=10)
    worker.ask("a")
    gate.leave.release(2)
    assert worker.wait_until_idle(10)
    assert gate.begun == ["a", "a"]
    worker.close(10)


def test_a_scope_that_rests_is_not_worked_on_until_its_rest_is_over() -> None:
    gate, now = Gate(), [100.0]
    worker = ScopeWorker("test", gate, rest_seconds=5.0, clock=lambda: now[0])
    gate.leave.release(2)
    worker.ask("a")
    assert worker.wait_until_idle(10)
    now[0] = 104.9
    worker.ask("a")
    assert worker.busy == []
    now[0] = 105.0
    worker.ask("a")
    assert worker.wait_until_idle(10)
    assert gate.begun == ["a", "a"]
    worker.close(10)


def test_a_closed_worker_leaves_what_waits() -> None:
    gate = Gate()
    worker = ScopeWorker("test", gate)
    worker.ask("a")
    assert gate.entered.acquire(timeout=10)
    worker.ask("b")
    worker.close(0.01)
    gate.leave.release()
    worker.ask("c")
    assert worker.wait_until_idle(10)
    assert gate.begun == ["a"]
