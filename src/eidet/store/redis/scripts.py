"""The Lua scripts: each runs on the server as a whole or not at all."""

from __future__ import annotations

from hashlib import sha1
from importlib.resources import files
from typing import Final


class Script:
    """A script's text and the name that servers know it by."""

    __slots__ = ("sha", "text")

    def __init__(self, name: str) -> None:
        self.text: str = (files(__package__) / "lua" / f"{name}.lua").read_text("utf-8")
        self.sha: str = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


COMMIT: Final = Script("commit")
LOOK: Final = Script("look")
GET: Final = Script("get")
SELECT: Final = Script("select")
LIGHT: Final = Script("light")
CHANGES: Final = Script("changes")
RESERVE: Final = Script("reserve")
ELEMENTS: Final = Script("elements")
SCRIPTS: Final = {
    script.sha: script.text for script in (COMMIT, LOOK, GET, SELECT, LIGHT, CHANGES, RESERVE, ELEMENTS)
}
