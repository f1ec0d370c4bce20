"""What to do about a memory that cannot be opened, as a command where there is one."""

from __future__ import annotations

import re
from typing import Final

from ..core.errors import EidetError, MissingExtra, Unavailable

_AGAIN: Final = "then run `eidet doctor` again"
_GRANT: Final = "as their owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO the role"
# What a server says, and what helps against it; names in the message fill the gaps.
_CURES: Final[tuple[tuple[str, str], ...]] = (
    (r"permission denied for schema (\w+)", "as its owner: GRANT USAGE, CREATE ON SCHEMA {} TO the role"),
    (r"permission denied for (?:table|relation) \w+", _GRANT),
    (r'database "([^"]+)" does not exist', "createdb {}"),
    (r'role "([^"]+)" does not exist', "createuser {}"),
    (r"password authentication failed|no password supplied", "put the password into ~/.pgpass or PGPASSWORD"),
    (r"NOAUTH|WRONGPASS", "put the password into the address: redis://:PASSWORD@host"),
)


def find_cure(error: EidetError) -> str:
    """The next step; where only the message knows it, says so."""
    message = str(error)
    for pattern, cure in _CURES:
        found = re.search(pattern, message)
        if found is not None:
            return f"{cure.format(*found.groups())}; {_AGAIN}"
    if isinstance(error, MissingExtra):
        return f"pip install 'eidet[{error.extra}]'; {_AGAIN}"
    if isinstance(error, Unavailable):
        return f"start the server, or check the address (--at) and the network; {_AGAIN}"
    return f"mend what the message names, in the address (--at), eidet.toml or EIDET_…; {_AGAIN}"
