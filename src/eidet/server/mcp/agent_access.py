"""Finds the caller of an MCP request and checks its access, with the keys, scopes and rights of REST."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ConfigDict

from ...core.actor import acts
from ...core.errors import NotFound
from ...core.scope import Scope
from ..access import Caller, KeyRing, Right

SOURCE: Final = (
    "mcp"  # what the audit names as the source of a change over stdio; over HTTP it is the address
)


class _CallerToken(AccessToken):
    """The token of a verified key. It holds no secret: `token` is empty."""

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    caller: Caller


class KeyVerifier:
    """The SDK's `TokenVerifier` over the keys file, which is reloaded when it changes."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    async def verify_token(self, token: str) -> AccessToken | None:
        caller = self._keys.find(token)
        if caller is None or caller.name is None:
            return None
        return _CallerToken(token="", client_id=caller.name, scopes=sorted(caller.rights), caller=caller)


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """Finds the caller and the scope of every tool call.

    `local` is the caller without a key; None where a key is needed.
    """

    local: Caller | None
    home: str = Scope().path  # the scope of calls that name none

    @property
    def caller(self) -> Caller:
        """The caller of the current request."""
        token = get_access_token()
        if isinstance(token, _CallerToken):
            return token.caller
        if self.local is None:
            raise ToolError("this memory needs a key, and the request has none that is valid")
        return self.local

    def may(self, right: Right) -> bool:
        return self.caller.may(right)

    def require(self, *rights: Right) -> None:
        """Raises `ToolError` if the caller lacks one of these rights."""
        for right in rights:
            if not self.may(right):
                raise ToolError(
                    f"this needs the right {right.value!r}, which the key does not have. "
                    "Do not try again; tell the user that whoever runs the server can add it to the key."
                )

    @contextmanager
    def enter(self, scope: str | None = None) -> Iterator[str]:
        """Yields the path of the scope that a call names or implies; attributes changes to the caller.

        The server has checked the right that the tool, resource or prompt needs.
        """
        with self.enter_all(scope) as place:
            yield place.path

    @contextmanager
    def enter_all(self, scopes: str | list[str] | None) -> Iterator[Scope]:
        """Works like `enter` for tools that read, which take several scopes; yields all as a `Scope`."""
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
