"""What ran in this session: each test, without its parameters, and how its runs ended."""

from __future__ import annotations

import pytest

RAN = pytest.StashKey[dict[str, set[str]]]()
