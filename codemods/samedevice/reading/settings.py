"""Files of settings that a program reads: JSON, YAML, TOML and INI files of the project.

A name in a program's text is looked for from its file's folder up to the top of the project, also
in the folders that settings are kept in. Only small files of the project itself are read.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .source import Source

#: Longer texts are data.
LONGEST = 20_000
_NAMED = re.compile(r"""["']([\w./ -]{1,200}\.(?:json|ya?ml|toml|ini|cfg|conf))["']""")
_KEPT_IN = ("", "config", "configs", "conf", "cfg", "settings")
#: Names that one file's text is looked through for.
_MOST = 50


@dataclass(frozen=True)
class SettingsFile:
    """A file of settings with its text."""

    path: str
    text: str

    @property
    def kind(self) -> str:
        """The end of its name: json, yaml, toml, ini."""
        kind = self.path.rpartition(".")[2]
        return {"yml": "yaml", "cfg": "ini", "conf": "ini"}.get(kind, kind)

    def line(self, key: str, value: str) -> int:
        """Return the first line that says that a key has a value; 0 if none does."""
        for number, line in enumerate(self.text.splitlines(), 1):
            name, found, said = line.partition(key)
            if found and not name.strip(" \t\"'{,-") and value in said:
                return number
        return 0


class SettingsFiles:
    """The files of settings that sources name, each read once."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._named: dict[str, tuple[str, list[SettingsFile]]] = {}
        self._read: dict[str, SettingsFile | None] = {}

    def of(self, program: Iterable[str]) -> list[SettingsFile]:
        """Return the files of settings that the files of a program name."""
        found: dict[str, SettingsFile] = {}
        for path in sorted(program):
            found.update((each.path, each) for each in self._of_file(path))
        return list(found.values())

    def _of_file(self, path: str) -> list[SettingsFile]:
        text = self._sources[path].text
        known = self._named.get(path)
        if known is None or known[0] is not text:
            names = list(dict.fromkeys(_NAMED.findall(text)))[:_MOST]
            files = [self._find(path, name) for name in names]
            known = self._named[path] = text, [each for each in files if each is not None]
        return known[1]

    def _find(self, path: str, name: str) -> SettingsFile | None:
        folder = os.path.dirname(os.path.abspath(path))
        while folder == self._top or folder.startswith(os.path.join(self._top, "")):
            for kept_in in _KEPT_IN:
                found = self._file(os.path.normpath(os.path.join(folder, kept_in, name)))
                if found is not None:
                    return found
            if folder == self._top:
                break
            folder = os.path.dirname(folder)
        return None

    @cached_property
    def _top(self) -> str:
        try:
            return os.path.commonpath(
                [os.path.dirname(os.path.abspath(path)) for path in self._sources]
            )
        except ValueError:  # on two drives
            return os.path.abspath(os.curdir)

    def _file(self, path: str) -> SettingsFile | None:
        if path not in self._read:
            self._read[path] = None
            with contextlib.suppress(OSError, ValueError):
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode) and status.st_size <= LONGEST:
                    if os.path.realpath(path).startswith(os.path.realpath(self._top) + os.sep):
                        with open(path, encoding="utf-8") as file:
                            self._read[path] = SettingsFile(os.path.relpath(path), file.read())
        return self._read[path]
