"""Exact token counters: the tokenizers of language models, from files that are on this machine."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sized
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..core.errors import Misconfigured, MissingExtra
from .tokens import TokenCounter

LLAMA = "tokenizers/l2_supercat_tokenizer_config.json"


@dataclass(frozen=True, slots=True)
class Exact:
    """The number of tokens a tokenizer makes; what looks like one of its control tokens is plain text.

    (Tokenizers of the Hugging Face format, "llama" and "file:", count a control token as one.)
    """

    name: str
    encode: Callable[[str], Sized]

    def count(self, text: str) -> int:
        return len(self.encode(_without_halves(text)))


@functools.cache
def exact(spec: str) -> TokenCounter:
    """The counter of that name, loaded once per process (in 0.05 to 0.5 s); see `counter_of`."""
    name, _, setting = spec.partition(":")
    if spec in ("llama", "llama2"):
        return Exact("llama", _hugging_face(_llama_file()))
    if name not in _MAKERS or not setting:
        raise Misconfigured(
            f"there is no token counter named {spec!r}; there are estimate, words, llama, splintr:NAME "
            "and file:PATH, or give a function"
        )
    return Exact(spec, _MAKERS[name](setting))


def _without_halves(text: str) -> str:
    """Half a surrogate pair is no text to a tokenizer; a question mark costs about the same."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def _llama_file() -> Path:
    spec = find_spec("wordllama")
    folders = (spec and spec.submodule_search_locations) or []
    for folder in folders:
        if (path := Path(folder) / LLAMA).is_file():
            return path
    raise Misconfigured(
        "the counter 'llama' reads the tokenizer of the wordllama package, which is not installed: "
        "pip install --force-reinstall wordllama==0.2.2.post0"
    )


def _file(path: str) -> Callable[[str], Sized]:
    if not Path(path).is_file():
        raise Misconfigured(f"there is no tokenizer file {path!r}; it is usually named tokenizer.json")
    return _hugging_face(Path(path))


def _hugging_face(path: Path) -> Callable[[str], Sized]:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as bad:  # the package raises bare Exception for files it cannot read
        raise Misconfigured(f"{path} is not a tokenizer in Hugging Face format: {bad}") from bad
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: tokenizer.encode(text, add_special_tokens=False)


def _splintr(name: str) -> Callable[[str], Sized]:
    if find_spec("splintr") is None:
        raise MissingExtra("the counter 'splintr'", extra="splintr")
    from splintr import Tokenizer

    try:
        encode: Callable[[str], Sized] = Tokenizer.from_pretrained(name).encode_ordinary
    except ValueError as unknown:
        raise Misconfigured(str(unknown)) from unknown
    return encode


_MAKERS = {"file": _file, "splintr": _splintr}
