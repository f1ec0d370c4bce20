"""Whoever waits too long is cut off, and told that it was not the server."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from eidet.core.errors import Misconfigured, Unavailable
from eidet.store.watchdog import Watchdog


@pytest.fixture
def line() -> Iterator[socket.socket]:
    here, there = socket.socketpair()
    with here, there:
        yield here


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    watchdog = Watchdog()
    yield watchdog
    watchdog.stop()


def wait_for_an_answer(line: socket.socket) -> None:
    """As drivers put it."""
    if not line.recv(1):
        raise ConnectionError("server closed the connection unexpectedly")


def wait_and_find_fault(line: socket.socket) -> None:
    line.recv(1)
    raise Misconfigured("another fault")


def test_whoever_is_cut_off_is_told_by_whom(watchdog: Watchdog, line: socket.socket) -> None:
    said = r"no answer within 0\.05 s.*eidet_deadline_seconds"
    with pytest.raises(Unavailable, match=said) as told, watchdog.over(line, 0.05):
        wait_for_an_answer(line)
    assert isinstance(told.value.__cause__, ConnectionError)


def test_a_server_that_closes_the_line_is_told_as_such(watchdog: Watchdog, line: socket.socket) -> None:
    line.shutdown(socket.SHUT_RDWR)
    with pytest.raises(ConnectionError), watchdog.over(line, 60.0):
        wait_for_an_answer(line)


def test_an_error_of_ours_stays_what_it_is(watchdog: Watchdog, line: socket.socket) -> None:
    with pytest.raises(Misconfigured), watchdog.over(line, 0.05):
        wait_and_find_fault(line)
