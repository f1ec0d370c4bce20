"""What a store holds, as mappings that read from the memory and write to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, Protocol

from ...core.record import Record


class MappedStore(Protocol):
    """What the mappings need of a store."""

    def add(self, key: str, value: str, meta: Mapping[str, Any] | None = None) -> None: ...
    def get(self, key: str) -> str | None: ...
    def forget(self, key: str) -> bool: ...
    def record(self, key: str) -> Record | None: ...
    def records(self) -> list[Record]: ...
    def show(self, record: Record) -> str: ...
    def key(self, record: Record) -> str: ...
    def describe(self, record: Record) -> dict[str, Any]: ...
    def __len__(self) -> int: ...


class Texts(MutableMapping[str, str]):
    """Texts by key, in the order they were added."""

    def __init__(self, shelf: MappedStore) -> None:
        self._shelf = shelf

    def __getitem__(self, key: str) -> str:
        if not isinstance(key, str) or (found := self._shelf.get(key)) is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, value: str) -> None:
        self._shelf.add(key, value)

    def __delitem__(self, key: str) -> None:
        if not self._shelf.forget(key):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter([self._shelf.key(record) for record in self._shelf.records()])

    def __len__(self) -> int:
        return len(self._shelf)

    def _read(self) -> dict[str, str]:
        return {self._shelf.key(one): self._shelf.show(one) for one in self._shelf.records()}

    def items(self) -> Any:
        """All at one moment, in one reading."""
        return self._read().items()

    def values(self) -> Any:
        return self._read().values()

    def __repr__(self) -> str:
        return repr(self._read())


class Metas(MutableMapping[str, Mapping[str, Any]]):
    """Metadata by key. Each is read-only: assign a new one to change it."""

    def __init__(self, shelf: MappedStore) -> None:
        self._shelf = shelf

    def __getitem__(self, key: str) -> Mapping[str, Any]:
        found = None
        if isinstance(key, str) and key:
            found = self._shelf.record(key)
        return MappingProxyType(self._shelf.describe(found) if found else {})

    def __setitem__(self, key: str, meta: Mapping[str, Any]) -> None:
        value = self._shelf.get(key)
        if value is None:
            raise KeyError(f"{key!r} is not in the store: add it with its metadata")
        self._shelf.add(key, value, meta)

    def __delitem__(self, key: str) -> None:
        raise KeyError(f"metadata belongs to a stored entry: forget({key!r}) removes both")

    def __iter__(self) -> Iterator[str]:
        return iter([self._shelf.key(one) for one in self._shelf.records() if self._shelf.describe(one)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self[key])

    def __repr__(self) -> str:
        return repr({key: dict(self[key]) for key in self})
