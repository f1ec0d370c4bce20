"""What the doctor finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of the report of `eidet doctor`."""

    check: str
    level: Literal["ok", "warning", "fault"]
    message: str
    todo: str = ""
    concern: Literal["", "slow", "unsafe", "new"] = ""  # of a warning: what it costs to leave it


def ok(check: str, message: str) -> CheckResult:
    return CheckResult(check=check, level="ok", message=message)


def warning(check: str, message: str, todo: str, concern: Literal["", "slow", "unsafe"] = "") -> CheckResult:
    return CheckResult(check=check, level="warning", message=message, todo=todo, concern=concern)


def new(check: str, message: str, todo: str) -> CheckResult:
    """Nothing is wrong: there is nothing yet."""
    return CheckResult(check=check, level="warning", message=message, todo=todo, concern="new")


def fault(check: str, message: str, todo: str) -> CheckResult:
    return CheckResult(check=check, level="fault", message=message, todo=todo)
