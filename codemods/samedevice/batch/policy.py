"""What may be done to a repository: the operator's settings, and what a repository may say itself.

From weak to strong: the defaults here, the file of `--policy`, the flags, the entry of the list,
and last the `[tool.samedevice]` table of the repository, which wins where it is about its own code:
rules, safety, excluded files, and in `[tool.samedevice.batch]` the keys of `OWN`.
"""

from __future__ import annotations

import string
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..outside import git
from ..reading import requirements
from ..reading.config import RESOLVER, Config, ConfigError
from ..reading.patterns import Matching

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OWN = ("proof", "require-proof", "max-lines", "max-files", "leave-alone", "skip")
"""What a repository may set in `[tool.samedevice.batch]`."""

BRANCH = "samedevice/one-device"
TITLE = "Put tensors and modules on one device"
MESSAGE = """\
{title}

{changes}
"""
PLACEHOLDERS = ("title", "name", "version", "changes", "files", "added", "removed", "proof")
"""What a message may name in braces."""


@dataclass(frozen=True)
class Policy:
    """All settings of a batch that a repository's entry in the list can change.

    Rules, as `[tool.samedevice]` has them: `select`, `ignore`, `safe`, `unsafe_rule`, `unsafe`,
    `exclude`, `resolver`. `modernize` turns Python 2 into Python 3 first.

    Proof: `proof` is "none", "tests" (the repository's own, with pytest), "auto" (the command that
    the repository names, else its tests), "prove: main.py --epochs 1" (`samedevice prove`), or a
    command. It runs with the interpreter `python`, in `proof_seconds`, `proof_memory` and
    `proof_disk` (MiB), with `network` and `gpu` only if so set. A command that fails after the
    change and not before always holds a repository back; with `require_proof`, so does one that
    shows nothing.

    Held back for a person to look at: more than `max_lines` changed lines or `max_files` files.
    `leave_alone` are paths, as in .gitignore, that are read but not changed. `skip` leaves the
    repository out. `map` draws where the tensors of its changed files live, for the report.

    The commit: `branch`, `title`, `message` (with `PLACEHOLDERS`), `author` ("Name <mail>"),
    `sign_off`. The pull request: `title`, `labels`, `reviewers`, `draft`; with `fork` from a fork
    that `fork_owner` has ("": who the token is of).

    Bounds: `clone_seconds`, `clone_size` (MiB of packs and of files to write), `file_size` (MiB of
    one file; larger ones are left out), `fix_seconds`, `fix_memory` (MiB).
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    safe: tuple[str, ...] = ()
    unsafe_rule: tuple[str, ...] = ()
    unsafe: bool = False
    exclude: tuple[str, ...] = ()
    resolver: str = ""
    modernize: bool = False

    proof: str = "none"
    require_proof: bool = False
    python: str = ""
    proof_seconds: float = 900.0
    proof_memory: int = 8192
    proof_disk: int = 4096
    network: bool = False
    gpu: bool = False

    max_lines: int | None = None
    max_files: int | None = None
    leave_alone: tuple[str, ...] = ()
    skip: bool = False
    map: bool = True

    branch: str = BRANCH
    title: str = TITLE
    message: str = MESSAGE
    author: str = ""
    sign_off: bool = False
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    draft: bool = False
    fork: bool = False
    fork_owner: str = ""

    clone_seconds: float = 600.0
    clone_size: int = 2048
    file_size: int = 100
    fix_seconds: float = 600.0
    fix_memory: int = 4096

    def with_table(
        self, table: Mapping[str, Any], where: str, only: Collection[str] = ()
    ) -> Policy:
        """Return it with the settings of a TOML table, of which `only` these if any are given.

        Raises `ConfigError` for a key or a value that there is not; `where` names the table.
        """
        known = {item.name.replace("_", "-"): item for item in fields(Policy)}
        allowed = only or known
        changed: dict[str, Any] = {}
        for key, value in table.items():
            if key not in allowed:
                there = ", ".join(sorted(allowed))
                raise ConfigError(f"{where}: {key}: no such setting; there are {there}")
            name = known[key].name
            try:
                changed[name] = _typed(value, str(known[key].type))
            except TypeError as error:
                raise ConfigError(f"{where}: {key}: expected {error}") from None
        policy = replace(self, **changed)
        policy._check(where)
        return policy

    def _check(self, where: str) -> None:
        if self.resolver and not RESOLVER.fullmatch(self.resolver):
            forms = "cuda, accelerator, xla or module:function"
            raise ConfigError(f"{where}: resolver: expected {forms}")
        try:
            names = {name for _, name, _, _ in string.Formatter().parse(self.message) if name}
        except ValueError as error:
            raise ConfigError(f"{where}: message: {error}") from None
        unknown = names - set(PLACEHOLDERS)
        if unknown:
            there = ", ".join(PLACEHOLDERS)
            raise ConfigError(f"{where}: message: {{{min(unknown)}}} is none of {there}")
        if self.author and not _author(self.author):
            raise ConfigError(f'{where}: author: expected "Name <mail@example.org>"')
        if not _is_branch(self.branch):
            raise ConfigError(f"{where}: branch: {self.branch!r} is no name of a branch")

    @property
    def author_parts(self) -> tuple[str, str]:
        """Name and mail address of the author."""
        return _author(self.author) or ("samedevice", "samedevice@localhost")

    def config(self, root: str) -> Config:
        """Return these settings for the fix of a repository at `root`."""
        return Config(
            select=self.select,
            ignore=self.ignore,
            safe=self.safe,
            unsafe_rule=self.unsafe_rule,
            unsafe=self.unsafe,
            resolver=self.resolver,
            exclude=(Matching(root, self.exclude),) if self.exclude else (),
        )

    def with_own(self, table: Mapping[str, Any]) -> Policy:
        """Return it with what a repository's own table says; raises `ConfigError`."""
        return self.with_table(table, "pyproject.toml: [tool.samedevice.batch]", OWN)

    def to_json(self) -> dict[str, Any]:
        """Return the settings that are not the defaults, by their names in TOML."""
        default = asdict(Policy())
        return {
            name.replace("_", "-"): list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value != default[name]
        }


def read(path: str) -> Policy:
    """Read the file of `--policy`; raises `ConfigError`."""
    table = read_toml(path)
    table.pop("rollout", None)  # of the batch, not of a repository: see `rollout`
    return Policy().with_table(table, path)


def of_repository(root: Path) -> dict[str, Any]:
    """Return the `[tool.samedevice.batch]` table of the repository at `root`, {} for none.

    Raises `ConfigError` when it holds what a repository cannot set.
    """
    try:
        table: Any = tomllib.loads((root / "pyproject.toml").read_bytes().decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}  # none, or none that can be read, which `config.load` speaks of
    for name in ("tool", "samedevice", "batch"):
        table = table.get(name) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        return {}
    Policy().with_own(table)
    return table


def read_toml(path: str) -> dict[str, Any]:
    """Read a TOML file that the user named; raises `ConfigError`."""
    try:
        table: dict[str, Any] = tomllib.loads(requirements.contents(path).decode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not a TOML file: {error}") from None
    return table


def _typed(value: Any, type_: str) -> Any:
    """Return a TOML value as a field of that type has it; raises `TypeError` with what it wants."""
    if type_.startswith("tuple"):
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise TypeError("a list of strings")
    if type_ == "bool":
        if isinstance(value, bool):
            return value
        raise TypeError("true or false")
    if type_ == "str":
        if isinstance(value, str):
            return value
        raise TypeError("a string")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise TypeError("a number above 0")
    if type_ == "float":
        return float(value)
    if not isinstance(value, int):
        raise TypeError("a whole number")
    return value


def _author(text: str) -> tuple[str, str] | None:
    name, opened, rest = text.partition("<")
    mail, closed, end = rest.partition(">")
    whole = bool(opened and closed and name.strip() and mail.strip() and not end.strip())
    if not whole or any(ord(letter) < 32 for letter in text):
        return None
    return name.strip(), mail.strip()


def _is_branch(name: str) -> bool:
    """Tell whether git takes `name` for a branch (git-check-ref-format)."""
    parts = name.split("/")
    return (
        all(part and not part.startswith(".") and not part.endswith(".lock") for part in parts)
        and not name.startswith("-")
        and not name.endswith(".")
        and not {"..", "@{"} & {name[i : i + 2] for i in range(len(name))}
        and not any(ord(letter) < 33 or letter in "~^:?*[\\\x7f" for letter in name)
        and name != "@"
    )


def users_author() -> str:
    """Return who commits where the policy does not say: the user, as git knows them."""
    name, mail = (
        git.ask_user("config", "--global", "--get", f"user.{key}") for key in ("name", "email")
    )
    author = f"{name} <{mail}>"
    return author if _author(author) else ""
