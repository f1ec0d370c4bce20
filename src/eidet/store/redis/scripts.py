"""The Lua scripts: each runs on the server as a whole or not at all."""

from __future__ import annotations

from hashlib import sha1
from importlib.resources import files
from typing import Final


class Script:
    """A script's text, made of files, and the name that servers know it by."""

    __slots__ = ("sha", "text")

    def __init__(self, *names: str) -> None:
        folder = files(__package__) / "lua"
        self.text: str = "".join((folder / f"{name}.lua").read_text("utf-8") for name in names)
        self.sha: str = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


COMMIT: Final = Script("places", "commit")
LOOK: Final = Script("places", "look")
GET: Final = Script("get")
SELECT: Final = Script("select")
LIGHT: Final = Script("light")
CHANGES: Final = Script("changes")
RESERVE: Final = Script("reserve")
SCRIPTS: Final = {script.sha: script.text for script in (COMMIT, LOOK, GET, SELECT, LIGHT, CHANGES, RESERVE)}
