"""What files are called on a map, and the addresses of their lines in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import quote

from ..report.shell import visible


class Names:
    """The names of files under a folder `root`, and their numbers in the data of the page."""

    def __init__(self, root: str, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        self._root = root.replace("\\", "/").rstrip("/") + "/"
        self._numbers = {path: number for number, path in enumerate(self.paths)}

    def number(self, path: str) -> int:
        """Return the place of a file in `paths`; raises `KeyError` for one that is not there."""
        return self._numbers[path]

    def name(self, path: str) -> str:
        """Return what people call a file."""
        return path.replace(os.sep, "/").removeprefix(self._root).removeprefix("./")

    def shown(self, path: str) -> str:
        """Return the same with what is not seen written out."""
        return visible(self.name(path))

    def id(self, path: str) -> str:
        """Return the id of a file: its name, as an address may have it."""
        return quote(self.name(path), safe="/~", errors="surrogatepass")

    def line(self, path: str, line: int, side: str = "b") -> str:
        """Return the id of a line; side "a" is after the fix."""
        return f"{'after:' if side == 'a' else ''}{self.id(path)}:{line}"
