"""Redis from 8 on, with vector sets: a program that the environment names, or the one on the path."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Self

import pytest

from .valkey import Valkey

VARIABLE = "EIDET_TEST_REDIS8"
WANTED = f"needs a Redis with vector sets: export {VARIABLE}=$(.ci/redis8 FOLDER) gets one on Debian"


class Redis8(Valkey):
    """One server. The test is skipped where there is none that knows VADD."""

    def binary(self) -> Path:
        found = os.environ.get(VARIABLE) or shutil.which("redis-server")
        if found is None:
            pytest.skip(WANTED)
        return Path(found)

    def start(self) -> Self:
        super().start()
        if b"unknown command" in self.ask("VADD"):
            self.stop()
            pytest.skip(WANTED)
        return self
