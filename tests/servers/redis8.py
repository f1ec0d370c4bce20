"""Redis from 8 on, with vector sets: a program that the environment names, or the one on the path."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .valkey import Valkey

VARIABLE = "EIDET_TEST_REDIS8"
WANTED = f"needs a Redis with vector sets: export {VARIABLE}=$(.ci/redis8 FOLDER) gets one on Debian"


def find() -> str | None:
    return os.environ.get(VARIABLE) or shutil.which("redis-server")


class Redis8(Valkey):
    """One server. Tests that start one are marked with what they need, or use the fixture `redis8`."""

    def binary(self) -> Path:
        return Path(find() or WANTED)
