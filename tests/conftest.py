"""Failures inside the shipped contracts are shown in detail; the coverage page is held against what ran."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.making import rounds
from tests.needs import leave_out_what_cannot_run
from tests.ran import unproved

# The same examples in every run, however busy the machine is; EIDET_TEST_ROUNDS=full makes more of them.
CALM = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
for profile, most in (("quick", 35), ("full", 100)):
    settings.register_profile(
        profile, derandomize=True, deadline=None, max_examples=most, suppress_health_check=CALM
    )
settings.load_profile(rounds("quick", "full"))

# A shell that runs the tests in the background lets them, and all that they start, ignore an interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files and databases of tests are made by the thousand: in RAM where there is plenty of it, unless the
# environment names another place. A process that is killed loses no more there than on a disk.
QUICK = Path("/dev/shm")
ROOM = 8 << 30  # bytes, several times what all tests together leave behind until they end
NAME = "eidet-pytest-"  # and whose it is; short, because paths of sockets may have a hundred letters


def _move_to(quick: Path) -> None:
    """Decided once, by the process that starts the workers; all others are told by the environment."""
    if "TMPDIR" in os.environ or not quick.is_dir() or shutil.disk_usage(quick).free < ROOM:
        return
    for left in quick.glob(f"{NAME}*"):
        maker = left.name.removeprefix(NAME).partition("-")[0]
        if maker.isdigit() and not Path("/proc", maker).exists():  # of tests that were killed
            shutil.rmtree(left, ignore_errors=True)
    own = tempfile.mkdtemp(prefix=f"{NAME}{os.getpid()}-", dir=quick)
    Path(own).chmod(0o1777)
    atexit.register(_remove, own, os.getpid())
    os.environ["TMPDIR"], tempfile.tempdir = own, None
    if sys.dont_write_bytecode and sys.pycache_prefix is None:
        _keep_bytecode(Path(own, "bytecode"))


def _keep_bytecode(folder: Path) -> None:
    """Hundreds of processes import the same: where nothing may be kept beside the files, it is kept here."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(folder)
    sys.dont_write_bytecode = False


def _remove(own: str, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(own, ignore_errors=True)


_move_to(QUICK)

# What is collected stays until the end: looking through it for garbage again and again finds none.
gc.disable()

pytest_plugins = ["tests.servers.fixtures", "tests.servers.s3"]

pytest.register_assert_rewrite(  # a package stands for all of its modules
    "eidet.index.contract",
    "eidet.models.contract",
    "eidet.store.contract",
)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    gc.freeze()
    gc.enable()


WATCHED = (logging.root, logging.getLogger("eidet"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """A handler that a test leaves behind writes to a closed stream, in the middle of another test."""
    yield
    left = []
    for log in WATCHED:
        for handler in list(log.handlers):
            if not type(handler).__module__.startswith("_pytest"):
                left.append(f"{handler} of {log}")
                log.removeHandler(handler)
        if not log.propagate:
            left.append(f"{log} does not propagate")
            log.propagate = True
    if left:
        raise AssertionError(f"{item.nodeid} leaves behind: {'; '.join(left)}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out_what_cannot_run(config, items)


RAN: dict[str, set[str]] = {}  # test, without its parameters -> how its runs ended


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        absent = report.outcome == "skipped" and "pip install" in str(report.longrepr)
        RAN.setdefault(report.nodeid.partition("[")[0], set()).add("absent" if absent else report.outcome)
    for name, tests in report.user_properties:
        if name == "absent":
            for test in tests:  # type: ignore[attr-defined]
                RAN.setdefault(test.partition("[")[0], set()).add("absent")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """After the whole suite, a test that the coverage page names and that did not pass is a failure.

    With several workers this is decided where all reports come together.
    """
    config = session.config
    narrowed = config.getoption("keyword") or config.getoption("markexpr") or config.getoption("collectonly")
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not narrowed
    if hasattr(config, "workerinput") or not whole or session.exitstatus != pytest.ExitCode.OK:
        return
    if missing := unproved(RAN, whole=True):
        told = "\n".join(f"  {number}: {test}" for test, number in missing.items())
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        assert reporter is not None
        reporter.write_line(f"\ntests/coverage.md names tests that did not pass:\n{told}", red=True)
