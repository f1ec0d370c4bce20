"""Failures inside the shipped contracts are shown in detail; the coverage page is held against what ran."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings
from tests.ran import unproved

# The same examples in every run, however busy the machine is.
settings.register_profile(
    "eidet",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("eidet")

# A shell that runs the tests in the background lets them, and all that they start, ignore an interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.servers.fixtures", "tests.servers.s3"]

pytest.register_assert_rewrite(
    "eidet.embed.contract",
    "eidet.index.contract",
    "eidet.llm.contract",
    "eidet.rerank.contract",
    "eidet.store.contract",
    "eidet.text.contract",
    "eidet.upkeep.archive_contract",
)

RAN: dict[str, set[str]] = {}  # test, without its parameters -> how its runs ended


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        absent = report.outcome == "skipped" and "pip install" in str(report.longrepr)
        RAN.setdefault(report.nodeid.partition("[")[0], set()).add("absent" if absent else report.outcome)


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
        reporter.write_line(f"\ndocs/coverage.md names tests that did not pass:\n{told}", red=True)
