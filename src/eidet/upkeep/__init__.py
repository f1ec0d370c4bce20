"""What keeps a memory in order: moving between tiers, forgetting, merging, summing up.

Planners are pure: they take records, the moment and the settings, and say what should change and why.
One place (`run`) makes the changes, a batch at a time, each only if its record is still as it was read.

    tier_plan.py     expire, forget, promote, move              tier_form.py   what a tier shows and keeps
    retain.py        policies: keep, archive, delete after days
    consolidate.py   repetitions, episodes, facts               archive.py     where the forgotten are kept
    planned.py       what a planner asks for
    model_facts.py   facts that a language model reads          fact_reading.py   how it is asked, and checked
    run.py           walks the store and makes the changes      worker.py      the same in the background
    curve.py, fit.py, importance.py, summary.py, clusters.py, echo.py …: what they judge by
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_names

__all__ = [
    "HOLD",
    "PINNED",
    "WORKS",
    "Ask",
    "Change",
    "Drop",
    "Maintained",
    "Noted",
    "Stay",
    "Write",
    "is_aside",
    "is_protected",
    "resting_time",
    "works_of",
]

if TYPE_CHECKING:
    from .planned import (
        HOLD,
        PINNED,
        WORKS,
        Ask,
        Change,
        Drop,
        Maintained,
        Noted,
        Stay,
        Write,
        is_aside,
        is_protected,
        resting_time,
        works_of,
    )
else:
    __getattr__ = lazy_names(__name__, {"planned": tuple(__all__)})
