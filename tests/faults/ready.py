"""Imported once by the process that the children of the fault tests are forked from: they find it done.

Nothing is opened here: what a child opens is its own.
"""

from __future__ import annotations

import importlib
import warnings

USED = (
    "alembic.command",
    "eidet.cli.copy",
    "eidet.copy",
    "eidet.models.embed.hashing",
    "eidet.trust.erase",
    "eidet.recall.feedback",
    "eidet.trust.privacy.service",
    "eidet.index.embedded",
    "eidet.memory",
    "eidet.store.sql.postgres",
    "eidet.store.redis",
    "eidet.store.sql.sqlite",
    "eidet.store.tiered",
    "eidet.upkeep.run",
)

warnings.simplefilter("error")
for module in USED:
    importlib.import_module(module)
