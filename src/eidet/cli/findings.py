"""What the doctor finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report."""

    check: str
    level: Literal["ok", "warning", "fault"]
    message: str
    todo: str = ""


def ok(check: str, message: str) -> Finding:
    return Finding(check=check, level="ok", message=message)


def warning(check: str, message: str, todo: str) -> Finding:
    return Finding(check=check, level="warning", message=message, todo=todo)


def fault(check: str, message: str, todo: str) -> Finding:
    return Finding(check=check, level="fault", message=message, todo=todo)
