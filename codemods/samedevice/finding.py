"""Plain data that all rooms speak: where (`Span`), what to change (`Edit`, `Fix`), why (`Finding`).

Nothing here knows about `ast`, libcst or torch, so findings travel through process pools, JSON and
editors as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

#: The rule that tells of values whose place is not known.
UNDECIDED = "undecided"

RENAMED = {
    "host-boundary": "not-moved-to-cpu",
    "lengths-on-host": "lengths-on-device",
    "pinned-to-host": "pinned-to-cpu",
    "tensor-not-following": "tensor-not-on-input-device",
}
"""What rules were called before. Settings, flags, comments and baselines may still say so."""


def current_rule(name: str) -> str:
    """Return what a rule is called today."""
    return RENAMED.get(name, name)


@dataclass(frozen=True, order=True)
class Span:
    """A range of characters in one file.

    Lines count from 1 and columns from 0, as `ast` does, but columns are characters, not UTF-8
    bytes. The end is exclusive. In a notebook, lines count through the joined code cells.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, order=True)
class Origin:
    """A place in the code that explains a finding: "x was created on the CPU here"."""

    path: str
    span: Span
    text: str


#: A device's name in the code of an edit: neither that of a value (`x.device`) nor a keyword.
_NAMED = re.compile(r"cuda|(?<![.\w])\w*device\w*\b(?!\s*=[^=])|torch\.device")
#: An edit that gives an expression a name, in its first line.
_GIVEN = re.compile(r"(\w+) = (.+)(?:\n|$)")

Verb = Literal[
    # on an expression
    "keyword",  # call: set keyword `name` to `value`, in place or after the last argument
    "drop_keyword",  # call: remove keyword `name`
    "method",  # expression: append `code` (".to(device)"), in parentheses where precedence asks
    "callee",  # call: replace the called expression by `code`; `{}` in it stands for the old one
    "unwrap",  # `receiver.method(...)` -> `receiver`
    "unwrap_argument",  # `f(x, ...)` -> `x`
    "replace",  # expression: replace by `code`; `{}` in it stands for the edited old expression
    "body",  # conditional expression or `if` statement: keep the branch that is taken when true
    "orelse",  # the same: keep the other branch
    # on a statement
    "before",  # insert the statements `code` before it
    "after",  # insert the statements `code` after it
    "head",  # compound statement: insert the statements `code` at the head of its body
    "delete",  # remove it (`pass` where a body would be empty)
    "replace_statement",  # replace by the statements `code`
    # on a function
    "parameter",  # def: add a parameter `name` at the end, with `default` and `annotation` if given
]


@dataclass(frozen=True)
class Edit:
    """One change at one node: the node is the one that `ast` reports at `span`.

    `args` are the verb's arguments as named in `Verb`, as pairs so that an edit can be hashed.
    """

    path: str
    span: Span
    verb: Verb
    args: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str:
        """Return the argument `name`; raises `KeyError` when the edit has none."""
        return dict(self.args)[name]


@dataclass(frozen=True)
class Import:
    """A name that edited code needs: `from module import name`, or `import module` without one."""

    path: str
    module: str
    name: str | None = None


@dataclass(frozen=True)
class Resolver:
    """The file `path` needs the name `name` bound to the project's one device.

    With `module`, the `device` of that is imported (and the module is written if it does not
    exist); without, it is defined in the file, after the imports. `gpu` is the number of the one
    that the program names throughout, "" for the current one, "mps" for that of a Mac. `moves`:
    the name is that of a function instead, which moves a batch; the file may have it already.
    """

    path: str
    name: str
    module: str | None = None
    module_path: str | None = None
    gpu: str = ""
    moves: bool = False


@dataclass(frozen=True)
class DeviceExpression:
    """An expression for a device, and what the file needs for it."""

    code: str
    resolvers: tuple[Resolver, ...] = ()
    imports: tuple[Import, ...] = ()
    edits: tuple[Edit, ...] = ()
    text: bool = False


@dataclass(frozen=True)
class Fix:
    """A repair: all of its edits or none.

    `safe`: on a CPU-only machine the program computes bit for bit what it computed before. When it
    is not, `reason` says why.

    `erasure` names what the fix changes beside device handling ("legacy-constructor", ...; see
    `erase.DECLARED`), which the rewrite's proof then leaves out of account. `types` are names that
    stand for tensor types of PyTorch 0.x in the file, each with its dtype ("float32").

    `last`: it is right only if nothing in its program is left to repair behind it.

    `missing` are the places that keep a conversion to the device from being complete which it is a
    part of, and which would be safe otherwise: "main.py:83".
    """

    edits: tuple[Edit, ...]
    safe: bool = True
    reason: str = ""
    imports: tuple[Import, ...] = ()
    resolvers: tuple[Resolver, ...] = ()
    erasure: str = ""
    types: tuple[tuple[str, str], ...] = ()
    last: bool = False
    missing: tuple[str, ...] = ()

    def named_in(self) -> set[str]:
        """Return the files in which the fix names the device, and does not only follow a value.

        What follows a value (`device=x.device`, a buffer) suits those who stay on the CPU as well,
        under a name, too, that the fix itself gives it (`device = x.device`).
        """
        codes = [(edit.path, text) for edit in self.edits for key, text in edit.args
                 if key in ("code", "value")]  # fmt: skip
        given = (_GIVEN.match(text) for _, text in codes)
        following = {match[1] for match in given if match and not _NAMED.search(match[2])}
        return {
            *(each.path for each in self.resolvers),
            *(each.path for each in self.imports),
            *(
                path
                for path, text in codes
                if any(match[0] not in following for match in _NAMED.finditer(text))
            ),
        }


@dataclass(frozen=True)
class Finding:
    """Something that is wrong about a device, at a place in the code.

    `message` is one sentence for a user. `origins` say where the devices come from. `unfixed` says
    why there is no fix. `left_to_callers`: it is undecided, and only by callers who are not seen.
    """

    path: str
    span: Span
    rule: str
    message: str
    origins: tuple[Origin, ...] = ()
    fix: Fix | None = None
    unfixed: str = ""
    level: Literal["error", "warning", "note"] = field(default="warning")
    left_to_callers: bool = False
