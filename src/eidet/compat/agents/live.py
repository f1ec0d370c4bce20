"""Dicts and lists that are parts of something else: a change of theirs is a change of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


class LiveDict(dict[str, Any]):
    """As it was when it was asked for; each change is handed on, whole, to `put`."""

    def __init__(self, content: Mapping[str, Any], put: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(content)
        self._put = put


class LiveList(list[str]):
    """As it was when it was asked for; each change is handed on, whole, to `put`."""

    def __init__(self, content: Iterable[str], put: Callable[[list[str]], None]) -> None:
        super().__init__(content)
        self._put = put


def _hand_on(kind: type, name: str) -> Callable[..., Any]:
    plain = getattr(kind, name)

    def change(self: Any, *args: Any, **kwargs: Any) -> Any:
        answer = plain(self, *args, **kwargs)
        self._put(kind(self))
        return answer

    return change


_CHANGES = {
    LiveDict: (dict, "__setitem__ __delitem__ __ior__ pop popitem clear update setdefault"),
    LiveList: (
        list,
        "__setitem__ __delitem__ __iadd__ __imul__ append extend insert pop remove clear reverse sort",
    ),
}
for _live, (_kind, _names) in _CHANGES.items():
    for _name in _names.split():
        setattr(_live, _name, _hand_on(_kind, _name))
