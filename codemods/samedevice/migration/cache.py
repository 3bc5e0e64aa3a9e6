"""What was found in programs whose files have not changed since, on disk, from run to run.

One JSON file for each project and its settings, in the user's cache directory: what each file
imports, by the hash of its text, and what was found in each program, by the hashes of its files.
A second one has the texts of the larger programs as they were then, and what their parts say of
each other: for a program of which little has changed since. All is good for one version of
samedevice and of Python only.

A cache is never worth an error: one that cannot be read, written or understood is no cache. Only
what this user wrote is read, as it says how files are to be changed.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..finding import Finding
from ..reading.project import Imported, Project
from . import plain

if TYPE_CHECKING:
    from ..inference.focus import ProgramSummary, Target
    from ..verify.beside import Told
    from .earlier import Earlier

FORMAT = 6
LARGEST = 100_000_000  # bytes of one project
LIMIT = 300_000_000  # bytes of all; of more, the oldest entries go
#: Characters of a program of which the texts are kept: of a smaller one all is soon judged again.
WORTHWHILE = 50_000
_VARIABLE = "SAMEDEVICE_CACHE_DIR"


def folder() -> Path:
    """Return where caches are kept: $SAMEDEVICE_CACHE_DIR, or the system's place for caches."""
    if chosen := os.environ.get(_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "samedevice"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/samedevice"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "samedevice"


def entries() -> list[Path]:
    """Return the files of the cache, the least recently used first."""
    with contextlib.suppress(OSError):
        return sorted(folder().glob("*.json"), key=lambda path: path.stat().st_mtime)
    return []


def clear() -> int:
    """Remove the cache; returns how many bytes that frees. Raises `OSError` when it cannot."""
    freed = 0
    for path in [*entries(), *folder().glob("*.new")]:
        size = path.stat().st_size
        path.unlink(missing_ok=True)
        freed += size
    return freed


class Cache:
    """What is known of one project from earlier runs, and what this one adds."""

    def __init__(self, project: Project, settings: object) -> None:
        """Read what is known of `project` under `settings`, whose `repr` tells them apart."""
        self._hashes: dict[str, tuple[str, str]] = {}
        about = (_maker(), repr(settings), os.getcwd(), _top(project.sources), project.asks)
        self._key = _hash(repr(about))
        self._part: Project | None = None
        self._names = ""
        self._path: Path | None = None
        with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: there is no home
            self._path = folder() / f"{self._key}.json"
        self._files: dict[str, Any] = {}
        self._found: dict[str, Any] = {}
        self._used: set[str] = set()
        self._changed = False
        known = self._read(self._path)
        with contextlib.suppress(TypeError, KeyError):
            if isinstance(known["files"], dict) and isinstance(known["found"], dict):
                self._files, self._found = known["files"], known["found"]
        #: For the files of a program: the key of what it was when all of it was judged, and that.
        self._texts: dict[str, Any] = {}
        self._texts_known = False

    def tell_imports(self, part: Project) -> None:
        """Tell a part of the project what its unchanged files import, so that none is parsed."""
        for path in part.about_torch:
            known: Any = self._files.get(path)
            try:
                digest, imported = known
                if digest == self._hash_of(part, path):
                    part.imported[path] = [
                        plain.load(Imported, statement) for statement in imported
                    ]
            except (TypeError, ValueError):
                continue

    def knows(self, part: Project, program: frozenset[str]) -> bool:
        """Tell whether anything is known of a program as it is now."""
        return self._program(part, program) in self._found

    def recall(self, part: Project, program: frozenset[str]) -> list[Finding] | None:
        """Return what was found in a program; None when it is not known."""
        key = self._program(part, program)
        known = self._found.get(key)
        if known is None:
            return None
        try:
            findings, _, _ = known
            found = [plain.load(Finding, item) for item in findings]
        except (TypeError, ValueError, LookupError):
            return None
        self._used.add(key)
        return found

    def keep(
        self,
        part: Project,
        program: frozenset[str],
        found: Iterable[Finding],
        told: Told,
        placed: Mapping[Target, int],
        rest: ProgramSummary | None = None,
    ) -> None:
        """Remember what was found in a program, what was told beside, and what was counted.

        With the `rest`, also what its texts were.
        """
        from .earlier import Texts

        key = self._program(part, program)
        self._found[key] = [plain.dump(list(found)), plain.dump(told), plain.dump(placed)]
        self._used.add(key)
        self._changed = True
        if rest is not None:
            texts = {path: part.sources[path].text for path in sorted(program)}
            self._earlier()[self._members(part, program)] = [
                key, _packed(plain.dump(Texts(texts, rest)))
            ]  # fmt: skip

    @staticmethod
    def keeps_texts(part: Project, program: frozenset[str]) -> bool:
        """Tell whether the texts of a program are kept."""
        if len(program) < 2 or program & part.converted:
            return False
        return sum(len(part.sources[path].text) for path in program) >= WORTHWHILE

    def earlier(self, part: Project, program: frozenset[str]) -> Earlier | None:
        """Return what was found in a program of these files when its texts were others."""
        from .earlier import Earlier, Texts

        if not self.keeps_texts(part, program):
            return None
        try:
            key, packed = self._earlier()[self._members(part, program)]
            findings, _, counted = self._found[key]
            kept = plain.load(Texts, _unpacked(packed))
            found = [plain.load(Finding, item) for item in findings]
            placed = plain.load(dict[tuple[str, str], int], counted)
        except (TypeError, ValueError, LookupError, zlib.error, RecursionError):
            return None
        self._used.add(key)
        return Earlier(kept, found, placed)

    def rest(self, part: Project, program: frozenset[str]) -> ProgramSummary | None:
        """Return what the parts of a program as it is now say of each other, where that is kept."""
        from .earlier import Texts

        if not self.keeps_texts(part, program):
            return None
        try:
            key, packed = self._earlier()[self._members(part, program)]
            if key == self._program(part, program):
                return plain.load(Texts, _unpacked(packed)).rest
        except (TypeError, ValueError, LookupError, zlib.error, RecursionError):
            pass
        return None

    def _earlier(self) -> dict[str, Any]:
        if not self._texts_known:
            self._texts_known = True
            known = self._read(self._beside())
            if isinstance(known, dict) and isinstance(known.get("texts"), dict):
                self._texts = known["texts"]
        return self._texts

    def _beside(self) -> Path | None:
        return self._path.with_suffix(".texts.json") if self._path is not None else None

    def _members(self, part: Project, program: frozenset[str]) -> str:
        return _hash(repr((self._others(part), sorted(program))))

    def told(self, part: Project, program: frozenset[str]) -> Told | None:
        """Return what is known of a program beside what was found; None when nothing is."""
        from ..verify.beside import Told  # a check does not ask

        try:
            _, known, _ = self._found[self._program(part, program)]
            return plain.load(Told, known)
        except (TypeError, ValueError, LookupError):
            return None

    def placed(self, part: Project, program: frozenset[str]) -> dict[Target, int]:
        """Return how many values of each definition of a known program have a known place."""
        try:
            _, _, known = self._found[self._program(part, program)]
            return plain.load(dict[tuple[str, str], int], known)
        except (TypeError, ValueError, LookupError):
            return {}

    def learn_imports(self, part: Project) -> None:
        """Remember what the files of a part import."""
        for path, imported in part.imported.items():
            digest = self._hash_of(part, path)
            known = self._files.get(path)
            if not (isinstance(known, list) and known[:1] == [digest]):
                self._files[path] = [digest, plain.dump(imported)]
                self._changed = True

    def write(self) -> None:
        """Write what is known now; what was not used in this run is forgotten."""
        if self._path is None or not self._changed:
            return
        found = {key: self._found[key] for key in self._used}
        self._write(self._path, {"files": self._files, "found": found})
        beside = self._beside()
        if beside is not None and self._texts_known:
            texts = {names: kept for names, kept in self._texts.items() if kept[0] in found}
            self._write(beside, {"texts": texts})

    def _write(self, path: Path, known: dict[str, Any]) -> None:
        temporary = ""
        try:
            if not _is_ours(path.parent, make=True):
                return
            handle, temporary = tempfile.mkstemp(".new", dir=path.parent)  # mode 0600
            with open(handle, "w", encoding="ascii") as file:
                about = {"format": FORMAT, "key": self._key}
                json.dump(about | known, file, separators=(",", ":"))
            os.replace(temporary, path)
            _trim(keep=path)
        except OSError:  # a full disk, a directory that may not be written
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def _read(self, path: Path | None) -> Any:
        """Return what this has written for the same project under the same settings, else None."""
        try:
            if path is None or not _is_ours(path.parent):
                return None
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with open(handle, "rb") as file:
                status = os.fstat(file.fileno())
                if not _is_owned(status) or status.st_size > LARGEST:
                    return None
                known = json.loads(file.read())
            os.utime(path)
            if known["format"] == FORMAT and known["key"] == self._key:
                return known
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            pass  # not there, or nothing that this wrote
        return None

    def _hash_of(self, part: Project, path: str) -> str:
        text = part.sources[path].text
        known = self._hashes.get(path)
        if known is None or known[0] is not text:  # a fix gives a file another text
            known = self._hashes[path] = text, _hash(text)
        return known[1]

    def _program(self, part: Project, program: frozenset[str]) -> str:
        """Return the key of a program: its files, which others there are, and what it was.

        Of the others counts whether they say where they compute.
        """
        files = sorted((path, self._hash_of(part, path)) for path in program)
        files += [(each.path, _hash(each.text)) for each in part.settings.of(program)]
        beside = bool(part.computing - program)
        return _hash(repr((self._others(part), beside, files, sorted(program & part.converted))))

    def _others(self, part: Project) -> str:
        if self._part is not part:
            self._part, self._names = part, _hash(repr(sorted(part.sources)))
        return self._names


def _packed(data: Any) -> str:
    text = json.dumps(data, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 1)).decode("ascii")


def _unpacked(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _maker() -> tuple[object, ...]:
    """Return what tells this samedevice from others, also from one whose code is being changed."""
    code = Path(__file__).parents[1]
    latest = max(
        os.stat(os.path.join(folder, name)).st_mtime_ns
        for folder, _, names in os.walk(code)
        for name in names
        if name.endswith((".py", ".json"))
    )
    return __version__, str(code), latest, sys.version_info[:2]


def _top(paths: Iterable[str]) -> str:
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])
    except ValueError:  # absolute and relative ones, or none
        return ""


def _is_ours(directory: Path, make: bool = False) -> bool:
    """Tell whether a directory belongs to this user, and nobody else may write to it."""
    if make:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = os.stat(directory)
    return _is_owned(status) and stat.S_ISDIR(status.st_mode)


def _is_owned(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _trim(keep: Path) -> None:
    """Remove the least recently used entries until the rest is small enough."""
    known = [(path, path.stat().st_size) for path in entries()]
    size = sum(each for _, each in known)
    for path, each in known:
        if size > LIMIT and path != keep:
            path.unlink(missing_ok=True)
            size -= each
