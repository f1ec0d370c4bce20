"""Failures inside the shipped contracts are shown in detail; what ran is remembered for the coverage page."""

from __future__ import annotations

import pytest
from tests.ran import RAN

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

LAST = "test_coverage.py"  # it looks back at what the others did


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RAN] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == LAST)


class _Noting:
    def __init__(self, config: pytest.Config) -> None:
        self._ran = config.stash[RAN]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._ran.setdefault(report.nodeid.partition("[")[0], set()).add(report.outcome)


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(_Noting(session.config))
