"""Which files take their device from a new module."""

from __future__ import annotations

from samedevice.finding import Finding, Fix, Resolver, Span
from samedevice.migration import homes

_PACKAGE = ("layers/__init__.py", "layers/blocks.py", "examples/small.py", "scripts/wide.py")


def _finding(path: str, home: str) -> Finding:
    resolver = Resolver(path, "device", home.removesuffix(".py").replace("/", "."), home)
    return Finding(path, Span(1, 0, 1, 1), "rule", "message", fix=Fix((), resolvers=(resolver,)))


def _at_home(places: homes.Homes, finding: Finding) -> bool:
    fix = places.of(finding).fix
    return fix is not None and fix.resolvers[0].module_path is None


def test_one_file_needs_no_module() -> None:
    places = homes.Homes(["train.py"])
    finding = _finding("train.py", "device.py")
    assert not _at_home(places, finding)
    assert places.settle([finding])
    assert _at_home(places, finding)
    assert not places.settle([places.of(finding)])


def test_scripts_beside_a_module_share_it() -> None:
    found = [_finding("train.py", "device.py"), _finding("test.py", "device.py")]
    places = homes.Homes(["train.py", "test.py"])
    assert not places.foresee(found)
    assert not places.settle(found)
    assert not _at_home(places, found[0])


def test_scripts_outside_a_package_put_nothing_into_it() -> None:
    home = "layers/device.py"
    found = [_finding("examples/small.py", home), _finding("scripts/wide.py", home)]
    places = homes.Homes(_PACKAGE)
    assert places.settle(found)
    assert all(_at_home(places, finding) for finding in found)
    found.append(_finding("layers/blocks.py", home))
    assert not homes.Homes(_PACKAGE).settle(found)


def test_all_files_are_in_a_root_that_is_a_package() -> None:
    found = [_finding("train.py", "device.py"), _finding("parts/noise.py", "device.py")]
    assert not homes.Homes(["__init__.py", "train.py", "parts/noise.py"]).settle(found)


def test_that_one_file_uses_it_is_seen_in_the_first_round() -> None:
    places = homes.Homes(["train.py", "test.py"])
    finding = _finding("train.py", "device.py")
    places.begin()
    assert places.foresee([finding])
    places.begin()
    assert not places.foresee([finding])
    assert _at_home(places, finding)
    assert not places.settle([places.of(finding)])


def test_a_file_that_a_later_round_repairs_shares_the_module() -> None:
    found = [_finding("train.py", "device.py"), _finding("test.py", "device.py")]
    places = homes.Homes(["train.py", "test.py"])
    places.begin()
    assert places.foresee(found[:1])
    places.begin()
    assert not places.foresee(found[:1])
    assert not places.foresee(found[1:])
    assert places.settle(map(places.of, found)), "all is made anew"
    places.begin()
    assert not places.foresee(found[:1])
    assert not places.foresee(found[1:])
    assert not any(_at_home(places, finding) for finding in found)
    assert not places.settle(found)


def test_what_was_foreseen_wrongly_may_still_be_so_in_the_end() -> None:
    found = [_finding("train.py", "device.py"), _finding("test.py", "device.py")]
    places = homes.Homes(["train.py", "test.py"])
    places.foresee(found[:1])
    places.foresee(found[1:])
    assert places.settle(map(places.of, found))
    places.begin()
    assert not places.foresee(found[:1])
    assert places.settle(found[:1])
    assert _at_home(places, found[0])
