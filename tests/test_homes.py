"""Which files take their device from a new module."""

from __future__ import annotations

from samedevice.finding import Finding, Fix, Resolver, Span
from samedevice.migration import homes

_PACKAGE = ("layers/__init__.py", "layers/blocks.py", "examples/small.py", "scripts/wide.py")


def _finding(path: str, home: str) -> Finding:
    resolver = Resolver(path, "device", home.removesuffix(".py").replace("/", "."), home)
    return Finding(path, Span(1, 0, 1, 1), "rule", "message", fix=Fix((), resolvers=(resolver,)))


def test_one_file_needs_no_module() -> None:
    assert homes.needless([_finding("train.py", "device.py")], ["train.py"]) == {"device.py"}


def test_scripts_beside_a_module_share_it() -> None:
    found = [_finding("train.py", "device.py"), _finding("test.py", "device.py")]
    assert not homes.needless(found, ["train.py", "test.py"])


def test_scripts_outside_a_package_put_nothing_into_it() -> None:
    home = "layers/device.py"
    found = [_finding("examples/small.py", home), _finding("scripts/wide.py", home)]
    assert homes.needless(found, _PACKAGE) == {home}
    found.append(_finding("layers/blocks.py", home))
    assert not homes.needless(found, _PACKAGE)


def test_all_files_are_in_a_root_that_is_a_package() -> None:
    found = [_finding("train.py", "device.py"), _finding("parts/noise.py", "device.py")]
    assert not homes.needless(found, ["__init__.py", "train.py", "parts/noise.py"])
