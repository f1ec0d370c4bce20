"""Imported once by the process that the children of the fault tests are forked from: they find it done.

Nothing is opened here: what a child opens is its own.
"""

from __future__ import annotations

import importlib
import warnings

USED = (
    "alembic.command",
    "eidet.auditing",
    "eidet.cli.copy",
    "eidet.copying",
    "eidet.embed.hashing",
    "eidet.erasing",
    "eidet.feedback",
    "eidet.guarding",
    "eidet.index.embedded",
    "eidet.memory",
    "eidet.store.postgres",
    "eidet.store.redis",
    "eidet.store.sqlite",
    "eidet.store.tiered",
    "eidet.upkeep.run",
)

warnings.simplefilter("error")
for module in USED:
    importlib.import_module(module)
