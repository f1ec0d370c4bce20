"""What to say of a verb that a memory has and its client has not."""

from __future__ import annotations

from typing import TYPE_CHECKING


class HostOnly:
    """For the namespaces of a client: whoever asks for another verb is told where it can be asked."""

    if not TYPE_CHECKING:  # else type checkers would take every name for one that exists

        def __getattr__(self, name: str) -> object:
            raise AttributeError(describe_missing(type(self), name), name=name, obj=self)


def describe_missing(owner: type, name: str) -> str:
    """Names the verbs that there are, and where the others work."""
    if name.startswith("_"):
        return f"{owner.__name__!r} object has no attribute {name!r}"
    own = []
    for known in vars(owner):
        if not known.startswith("_"):
            own.append(known)
    return (
        f"{owner.__name__!r} has no {name!r}: over the wire there is {', '.join(own)}. "
        "If a memory has it, open the memory where its store is, with Memory(…) or `eidet`"
    )
