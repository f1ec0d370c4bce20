"""Model files that are shipped in a package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from ..core.errors import Corrupt, EidetError, Misconfigured


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file in a package, with the SHA-256 digest of its content in the release that Eidet depends on.

    `absent` makes the error for a package that is not installed; `mend` is the command that repairs it.
    """

    package: str
    path: str
    digest: str
    mend: str
    absent: Callable[[], EidetError]

    def read(self) -> bytes:
        """Returns the bytes of the file; raises `Corrupt` if they are not those of that release."""
        path = self.folder() / self.path
        if not path.is_file():
            raise Misconfigured(f"the package {self.package} lacks {self.path}; {self.mend}")
        content = path.read_bytes()
        if (found := sha256(content).hexdigest()) != self.digest:
            raise Corrupt(
                f"{path} is damaged or of an unknown version (sha256 {found}, not {self.digest}); {self.mend}"
            )
        return content

    def folder(self) -> Path:
        """Returns the package's folder without importing the package: only its data is needed."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise self.absent()
        return Path(spec.submodule_search_locations[0])
