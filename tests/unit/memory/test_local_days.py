"""The zone of the machine, in which the days of a text are meant."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from eidet.core.validate import local
from eidet.write.ingest import _local_moment

SPRING, AUTUMN = 1_711_846_800, 1_729_990_800  # when clocks in Berlin were set in 2024


@pytest.fixture(params=["Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Monrovia"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("moment", [SPRING, AUTUMN, 0, 63_593_070, 1e8, -2_000_000_000, 253_402_300_799])
@pytest.mark.parametrize("off", [-0.25, 0, 0.5, 59.75])
def test_a_moment_has_the_offset_that_the_machine_knows_for_it(moment: float, off: float) -> None:
    seconds = min(moment + off, 253_402_300_799)
    found, known = _local_moment(seconds, time.tzname), local(seconds)
    assert found == known
    assert found.utcoffset() == known.utcoffset()
