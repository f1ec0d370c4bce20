"""Writes settings.md of the reference: every setting with its variable, type, default and meaning."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from eidet import Retention, Settings, Upkeep

HEAD = """# Settings

Pass `Memory(settings=Settings(…))` in code. Without `settings`, a memory takes them from the environment,
as the command line does: `EIDET_…` variables, which win, and the TOML file that `EIDET_CONFIG` (or
`--config`) names. Settings in code take the place of all variables; if one of those is about security
(`EIDET_KEY`, `EIDET_GUARD`, `EIDET_AUDIT` …), `UnusedVariable` warns of it, as it does of misspelt names.
`EIDET_MEMORY`, `EIDET_EMBEDDER` and `EIDET_AUDIT_KEY` are for the command line only.

```toml
[eidet]
durability = "power"

[eidet.upkeep]
short_age_days = 14

[[eidet.retention]]
scope = "support/**"
then = "delete"
days = 90
```

The same as variables: `EIDET_DURABILITY=power`, `EIDET_UPKEEP_SHORT_AGE_DAYS=14`. A value of the wrong type
or out of its range raises `Misconfigured`, which names what is allowed.
"""
PARTS = (
    (Settings, "A memory", "EIDET_", "Keys of the table `[eidet]`, fields of `Settings`."),
    (Upkeep, "Upkeep", "EIDET_UPKEEP_", "Keys of the table `[eidet.upkeep]`, fields of `Upkeep`."),
    (Retention, "Retention", "", "Keys of each table `[[eidet.retention]]`, fields of `Retention`."),
)
NO_VARIABLE = ("retention", "upkeep")

Meanings = Callable[[type], dict[str, str]]
Default = Callable[[Any], str]


def page(meanings: Meanings, default: Default) -> str:
    parts = [HEAD.rstrip()]
    for kind, heading, prefix, said in PARTS:
        parts += [f"## {heading}", said, _table(kind, prefix, meanings(kind), default)]
    return "\n\n".join(parts) + "\n"


def _table(kind: Any, prefix: str, meanings: dict[str, str], default: Default) -> str:
    lines = ["| setting | type and default | meaning |", "|---|---|---|"]
    for one in dataclasses.fields(kind):
        name = f"`{one.name}`"
        if prefix and one.name not in NO_VARIABLE:
            name = f"`{one.name}` `{prefix}{one.name.upper()}`"
        given = _cell(f"{one.type}{default(one)}")
        lines.append(f"| {name} | `{given}` | {_cell(meanings.get(one.name, ''))} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return re.sub(r"\|", r"\\|", text)
