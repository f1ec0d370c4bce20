"""The text of a configuration: what was chosen, and other settings that matter, ready to be changed."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from typing import Final

HEAD: Final = """\
# Settings of Eidet. Every `eidet` command that runs in this folder reads this file.
# Python programs read it if EIDET_CONFIG names it: EIDET_CONFIG=eidet.toml python agent.py
# Options (--at, --language …) and EIDET_* variables win over this file.
# A line that begins with "# " and a name is a default: remove the "# " to change it.
# `eidet doctor` checks the result. Paths start at the folder where a command runs.

[eidet]
"""

REST: Final = """\
# Durability.
# durability = "process"  # survives kill -9; "power" also survives a power cut, and writes slower

# What is remembered.
# facts = true  # read facts out of texts: who lives where, since when
# weigh = false  # estimate importance from the text where you give none
# keep_duplicates = false  # store a fact again even if its scope has it word for word

# Trust. See `eidet review --help` and `eidet mark --help`.
# poison = "untrusted"  # scan texts for injected instructions: "untrusted", "all" or "off"
# audit_recalls = false  # with an audit log: note reads, too

# How memories age. `eidet maintain` applies it.
[eidet.upkeep]
# short_age_days = 30.0  # unused for this long, a memory keeps less detail
# middle_age_days = 180.0  # unused for this long, only its gist is shown
# half_life_days = 30.0  # how fast unused memories fade

# How long memories are kept; the first policy that matches decides. Remove the "#" signs to use it.
#[[eidet.retention]]
#scope = "**"
#kinds = ["message"]
#then = "delete"
#days = 365
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What `eidet init` asks."""

    memory: str
    language: str
    guard: str
    embedder: str | None = None


def make_text(choices: Choices) -> str:
    """The whole file."""
    lines = [
        "# Where memories live: a file, or a URL such as postgresql://user@host/name or redis://host.",
        f"memory = {quote(choices.memory)}",
        "",
        "# The language of the texts, for the forms of words: en, de, fr, es … or none.",
        f"language = {quote(choices.language)}",
        "",
        "# What turns texts into vectors; `eidet rebuild --reembed` changes it later.",
        _describe_embedder(choices.embedder),
        "",
        "# Personal data and secrets in texts: off (stored as they are), redact, mask, label or refuse.",
        f"guard = {quote(choices.guard)}",
        "",
    ]
    return HEAD + "\n".join(lines) + "\n" + REST


def _describe_embedder(name: str | None) -> str:
    if name is None:
        return '# embedder = "wordllama"'
    return f"embedder = {quote(name)}"


def quote(text: str) -> str:
    """A text as TOML writes it; JSON's form is one of them."""
    return dumps(text, ensure_ascii=False)
