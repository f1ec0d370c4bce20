"""Receipts of forgetting: what was deleted, where, by whom and when, signed so that no word can change."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from ...core.errors import Corrupt, Misconfigured, Unavailable
from ...core.private_files import write_private
from ...core.validate import dump_json

_KIND: Final = {"eidet": "receipt", "format": 1, "method": "hmac-sha256", "key": ""}  # signed, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A record of an erasure without its content. `marks` are keyed hashes that only its store can make.

    `counts` are by place; `pending` says what could not be cleaned at once, and why: the next upkeep, or
    opening or closing the memory, cleans it. `kept` says what stays on purpose.
    """

    store: str
    scope: str
    ids: tuple[str, ...]
    marks: tuple[str, ...]
    counts: Mapping[str, int]
    by: str | None = None
    at: float = 0.0
    why: str | None = None
    pending: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    signature: str = field(default="", repr=False)

    def sign(self, secret: bytes) -> Receipt:
        """Returns the receipt with a signature that only a holder of the secret can make."""
        said = _KIND | asdict(self)
        del said["signature"]
        text = dump_json(said, sort_keys=True).encode()
        return replace(self, signature=hmac.digest(secret, text, "sha256").hex())

    def save(self, path: str | Path) -> None:
        try:
            write_private(Path(path), json.dumps(_KIND | asdict(self), indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise Unavailable(f"the receipt {path} cannot be written: {error.strerror}") from error

    @classmethod
    def load(cls, path: str | Path) -> Receipt:
        """Loads a receipt; raises `Corrupt` if it is none. Verify it with `memory.trust.verify_receipt`."""
        try:
            fields = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise Misconfigured(f"the receipt {path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise Corrupt(f"{path} is not a receipt: {error}") from error
        if not isinstance(fields, dict) or {name: fields.pop(name, None) for name in _KIND} != _KIND:
            raise Corrupt(f"{path} is not a receipt of this version of Eidet")
        return _receipt(fields, str(path))


def _receipt(values: dict[str, Any], where: str) -> Receipt:
    names = {f.name for f in fields(Receipt)}
    lists = ("ids", "marks", "pending", "kept")
    kinds = dict.fromkeys(lists, list) | {"counts": dict, "store": str, "scope": str, "signature": str}
    if values.keys() != names or any(not isinstance(values[name], kind) for name, kind in kinds.items()):
        raise Corrupt(f"{where} is not a receipt: it lacks fields, or has others")
    return Receipt(**{**values, **{name: tuple(values[name]) for name in lists}})
