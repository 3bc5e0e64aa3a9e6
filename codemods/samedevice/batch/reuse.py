"""What an attempt may take over from an earlier one: what depends on nothing that has changed."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterable

from .. import __version__
from .policy import Policy
from .record import Record
from .trees import Entry

_FIX = (
    *("select", "ignore", "safe", "unsafe-rule", "unsafe", "exclude", "resolver", "modernize"),
    *("leave-alone", "map", "file-size"),
)
_PROOF = ("proof", "python", "proof-seconds", "proof-memory", "proof-disk", "network", "gpu")
"""What of a policy the fix and the proof depend on."""

FOUND_OUT = (
    *("own", "files", "lines", "found", "fixed", "left", "not_fixed", "problems", "changed"),
    *("added", "removed", "patch", "changes", "map", "mapped", "owners", "cut"),
)
"""What of a record the fix makes."""


def fix_key(policy: Policy, read: Iterable[Entry], there: Iterable[Entry]) -> str:
    """Return a name for all that a fix depends on: the files it reads, and which are there."""
    settings = policy.to_json()
    told = {
        "versions": [__version__, platform.python_version()],
        "policy": {name: settings[name] for name in _FIX if name in settings},
        "files": sorted((one.path, one.mode, one.blob) for one in read),
        "there": sorted(one.path for one in there if one.path.endswith(".py")),
    }
    return _digest(told)


def proof_key(policy: Policy, before: str, after: str) -> str:
    """Return a name for what a proof depends on, as far as it lies in the two trees."""
    settings = policy.to_json()
    told = {name: settings[name] for name in _PROOF if name in settings}
    return _digest([told, before, after, policy.python or sys.executable])


def proves(earlier: Record, key: str) -> bool:
    """Tell whether the proof of an earlier attempt stands for one with this key.

    Only one that passed: what failed may have failed for want of a package that is there now.
    """
    return earlier.proof_key == key and earlier.proof is not None and earlier.proof.passed


def _digest(told: object) -> str:
    return hashlib.sha256(json.dumps(told).encode("utf-8", "backslashreplace")).hexdigest()
