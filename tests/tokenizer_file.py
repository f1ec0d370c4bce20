"""A real tokenizer for the tests, from a package that is installed anyway: Llama 2's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import wordllama

LLAMA: Final = f"file:{Path(wordllama.__file__).parent}/tokenizers/l2_supercat_tokenizer_config.json"
