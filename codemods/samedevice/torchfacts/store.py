"""Loads the facts at the first look-up and finds names in them.

`torch.json` keeps each distinct fact once, with the names it holds for, by namespace. That keeps
the file small, its differences readable and the load at some milliseconds.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from samedevice.torchfacts import Fact

TORCH_DATA = Path(__file__).with_name("torch.json")

_DEFAULT = asdict(Fact(""))


@dataclass(frozen=True)
class TorchData:
    """The facts about one torch release.

    `facts` by dotted name; `aliases` from a namespace to those its objects are known from;
    `attributes` of a tensor.
    """

    version: str
    facts: dict[str, Fact]
    aliases: dict[str, list[str]]
    attributes: dict[str, str]


def pack(data: TorchData) -> dict[str, Any]:
    """Return `data` as plain data that sorts and groups equal facts."""
    groups: dict[Fact, dict[str, list[str]]] = {}
    for name, fact in sorted(data.facts.items()):
        namespace, _, short = name.rpartition(".")
        groups.setdefault(fact, {}).setdefault(namespace, []).append(short)
    facts = []
    for fact, names in groups.items():
        fields = {
            k: list(v) if isinstance(v, tuple) else v
            for k, v in asdict(fact).items()
            if v != _DEFAULT[k]
        }
        fields["names"] = {namespace: " ".join(shorts) for namespace, shorts in names.items()}
        facts.append(fields)
    facts.sort(key=lambda f: json.dumps(f, sort_keys=True))
    attributes: dict[str, list[str]] = {}
    for name, out in sorted(data.attributes.items()):
        attributes.setdefault(out, []).append(name)
    return {
        "torch": data.version,
        "facts": facts,
        "aliases": {name: " ".join(owners) for name, owners in data.aliases.items()},
        "attributes": {out: " ".join(names) for out, names in attributes.items()},
    }


def unpack(raw: dict[str, Any]) -> TorchData:
    """Return what `pack` packed."""
    facts = {}
    for fields in raw["facts"]:
        names = fields.pop("names")
        for key in ("params", "tensors", "free", "host"):
            if key in fields:
                fields[key] = tuple(fields[key])
        fact = Fact(**fields)
        for namespace, shorts in names.items():
            for short in shorts.split():
                facts[f"{namespace}.{short}"] = fact
    return TorchData(
        version=raw["torch"],
        facts=facts,
        aliases={name: owners.split() for name, owners in raw["aliases"].items()},
        attributes={n: out for out, names in raw["attributes"].items() for n in names.split()},
    )


@cache
def torch_data() -> TorchData:
    """Return the facts about torch, read once."""
    return unpack(json.loads(TORCH_DATA.read_text(encoding="utf-8")))


def lookup(name: str) -> Fact | None:
    """Find a dotted name: torch itself, its aliases, then the libraries and their wildcards."""
    if name.startswith("torch."):
        fact = _lookup_torch(name)
        if fact is not None:
            return fact
    from samedevice.torchfacts import libraries

    return libraries.lookup(name)


def _lookup_torch(name: str) -> Fact | None:
    data = torch_data()
    fact = data.facts.get(name)
    if fact is not None:
        return fact
    namespace, _, short = name.rpartition(".")
    for owner in data.aliases.get(namespace, ()):
        fact = data.facts.get(f"{owner}.{short}")
        if fact is not None:
            return fact
    # The method of a class that is known by another name: torch.nn.modules.x.Linear.forward.
    outer, _, cls = namespace.rpartition(".")
    for owner in data.aliases.get(outer, ()):
        fact = data.facts.get(f"{owner}.{cls}.{short}")
        if fact is not None:
            return fact
    return None


def member(cls: str, name: str) -> Fact | None:
    """Return the fact about a method of the class `cls`."""
    return torch_data().facts.get(f"{cls}.{name}")


def attribute(name: str) -> str | None:
    """Return what an attribute of a tensor is."""
    return torch_data().attributes.get(name)


def library(prefix: str) -> bool:
    """Return whether `prefix` is a package with facts (torch is, for its TensorBoard writer)."""
    from samedevice.torchfacts import libraries

    return prefix in libraries.packages()
