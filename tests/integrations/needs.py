"""Skips tests of a framework that is not installed, and names the command that runs them."""

from __future__ import annotations

import importlib.util

import pytest


def need(module: str, name: str) -> None:
    """At the top of a test module: without the framework, all of it is skipped."""
    if not _is_there(module):
        pytest.skip(
            f"needs {module}: `.ci/integrations {name}` installs and runs it", allow_module_level=True
        )


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is part of
        return False
