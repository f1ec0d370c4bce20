"""Which scopes the server searches: those with a copy that can be read."""

from __future__ import annotations

import logging
from typing import Any

from ...store import Head
from ...store.sql.postgres.searchable import SearchableDatabase
from .integrity import Damaged, check_held
from .remote_scope import ServerScope
from .tables import Build, read_build

log = logging.getLogger("eidet.index")


class ServerScopes:
    """What is known of scopes, by their paths. Threads may take out what others have just put in."""

    def __init__(self, store: SearchableDatabase, width: int, ef_search: int) -> None:
        self._store, self._width, self._ef_search = store, width, ef_search
        self._served: dict[str, ServerScope | None] = {}  # None: it is in RAM
        self._broken: dict[str, int | None] = {}  # the codes of copies that cannot be read

    def find(self, path: str, head: Head) -> ServerScope | None:
        """What the server has of a scope, if that can be used."""
        try:
            return self._served[path]
        except KeyError:
            found = self._served[path] = self._open(path, head)
            return found

    def find_known(self, path: str) -> ServerScope | None:
        return self._served.get(path)

    def list_all(self) -> list[ServerScope]:
        return [served for served in list(self._served.values()) if served is not None]

    def is_broken(self, path: str) -> bool:
        return path in self._broken

    def forget(self, path: str) -> None:
        """It is looked for again when it is asked for."""
        self._served.pop(path, None)

    def mark_mended(self, path: str) -> None:
        self._broken.pop(path, None)
        self.forget(path)

    def clear(self) -> None:
        self._served.clear()

    def pass_over(self, path: str, served: ServerScope, damage: Damaged) -> None:
        """Somebody made the copy anew; if nobody did, it is not asked any more."""
        self.forget(path)
        there = self.read_build_of(path)
        if there is not None and there.code == served.build.code:
            self._break(path, there.code, damage)

    def read_build_of(self, path: str) -> Build | None:
        """What the server has of a scope and can be read."""
        try:
            build = self._store.ask(lambda c: self._read_sound(c, path))
        except Damaged as damage:
            self._break(path, None, damage)
            return None
        return None if build is None or build.code == self._broken.get(path) else build

    def _open(self, path: str, head: Head) -> ServerScope | None:
        reign, build = self._store.reigns, self.read_build_of(path)
        if build is None or not build.version or build.epoch != head.epoch:
            return None
        return ServerScope(self._store, path, self._width, build, self._ef_search, reign)

    def _read_sound(self, connection: Any, path: str) -> Build | None:
        build = read_build(connection, path, self._width)
        if build is not None:
            check_held(connection, build)
        return build

    def _break(self, path: str, code: int | None, damage: Damaged) -> None:
        if path not in self._broken:
            log.warning(
                "scope %s: its index on the server is damaged and will be made anew: %s", path, damage
            )
        self._broken[path] = code
