"""Finds the caller of an MCP request and checks its access, with the keys, scopes and rights of REST."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from mcp.server.auth.provider import AccessToken

from ...core.actor import acts
from ...core.errors import NotFound, Refused
from ...core.scope import Scope
from ..access import Caller, KeyRing, Right, current_caller

SOURCE: Final = (
    "mcp"  # what the audit names as the source of a change over stdio; over HTTP it is the address
)


class KeyVerifier:
    """The SDK's `TokenVerifier` over the keys file, which is reloaded when it changes."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    async def verify_token(self, token: str) -> AccessToken | None:
        """Returns who has the key, without the key."""
        caller = self._keys.find(token.strip())
        if caller is None or caller.name is None:
            return None
        return AccessToken(token="", client_id=caller.name, scopes=sorted(caller.rights))


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """Finds the caller and the scope of every tool call.

    Over HTTP, the caller is the one of the request; else it is `local`, None where a key is needed.
    """

    local: Caller | None
    home: str = Scope().path  # the scope of calls that name none

    @property
    def caller(self) -> Caller:
        """The caller of the current request."""
        caller = current_caller() or self.local
        if caller is None:
            raise Refused("this needs a key")
        return caller

    def may(self, right: Right) -> bool:
        return self.caller.may(right)

    def require(self, *rights: Right) -> None:
        """Raises `Refused` if the caller lacks one of these rights."""
        for right in rights:
            if not self.may(right):
                raise Refused(
                    f"this needs the right {right.value!r}, which the key does not have; whoever runs the "
                    "server can add it to the key"
                )

    @contextmanager
    def enter(self, scopes: str | list[str] | None = None) -> Iterator[Scope]:
        """Yields what a call names or implies, several scopes if it reads; attributes changes to the caller.

        The server has checked the right that the tool needs.
        """
        caller = self.caller
        place = self._find_scopes(caller, scopes)
        with caller.act(acts().source or SOURCE):
            yield place

    def _find_scopes(self, caller: Caller, scopes: str | list[str] | None) -> Scope:
        if scopes is None:
            return Scope.of(caller.choose_home(self.home))
        named = [scopes] if isinstance(scopes, str) else scopes
        meant = Scope.among([Scope.exactly(one) for one in named])
        for one in meant.members:
            if not caller.reaches(one):
                raise NotFound(f"there is no scope {one.path!r} here")
        return meant
