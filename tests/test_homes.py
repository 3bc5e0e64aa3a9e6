"""Which files take their device from a new module."""

from __future__ import annotations

from samedevice.finding import Finding, Fix, Resolver, Span
from samedevice.migration import homes
from samedevice.reading import source
from samedevice.reading.project import Project

_PACKAGE = ("layers/__init__.py", "layers/blocks.py", "examples/small.py", "scripts/wide.py")


def _finding(path: str, home: str) -> Finding:
    resolver = Resolver(path, "device", home.removesuffix(".py").replace("/", "."), home)
    return Finding(path, Span(1, 0, 1, 1), "rule", "message", fix=Fix((), resolvers=(resolver,)))


def _needless(found: list[Finding], project: Project) -> bool:
    places = homes.Homes(project)
    again = places.settle(found)
    assert all(_at_home(places, finding) is again for finding in found)
    return again


def _at_home(places: homes.Homes, finding: Finding) -> bool:
    fix = places.of(finding).fix
    return fix is not None and fix.resolvers[0].module_path is None


def _project(*paths: str, **imports: str) -> Project:
    """Return a project of files, of which some import a module."""
    stems = {path: path.rpartition("/")[2].removesuffix(".py") for path in paths}
    texts = {path: f"import {imports[s]}\n" if s in imports else "" for path, s in stems.items()}
    return Project([source.from_text(text, path) for path, text in texts.items()])


def test_one_file_needs_no_module() -> None:
    project = _project("train.py")
    assert _needless([_finding("train.py", "device.py")], project)


def test_two_scripts_need_no_module() -> None:
    found = [_finding("train.py", "device.py"), _finding("test.py", "device.py")]
    assert _needless(found, _project("train.py", "test.py"))


def test_what_runs_together_has_one_device() -> None:
    found = [_finding("train.py", "device.py"), _finding("loss.py", "device.py")]
    assert not _needless(found, _project("train.py", "loss.py", train="loss"))
    assert not _needless(found, _project("train.py", "loss.py", "all.py", all="train, loss"))


def test_many_scripts_share_a_module() -> None:
    found = [_finding(path, "device.py") for path in ("train.py", "test.py", "export.py")]
    assert not _needless(found, _project("train.py", "test.py", "export.py"))


def test_scripts_outside_a_package_put_nothing_into_it() -> None:
    home = "layers/device.py"
    found = [_finding("examples/small.py", home), _finding("scripts/wide.py", home)]
    assert _needless(found, _project(*_PACKAGE))
    found.append(_finding("layers/blocks.py", home))
    assert not _needless(found, _project(*_PACKAGE))


def test_all_files_are_in_a_root_that_is_a_package() -> None:
    found = [_finding("train.py", "device.py"), _finding("parts/noise.py", "device.py")]
    project = _project("__init__.py", "train.py", "parts/noise.py", train="parts.noise")
    assert not _needless(found, project)


def test_that_one_file_uses_it_is_seen_in_the_first_round() -> None:
    places = homes.Homes(_project("train.py"))
    finding = _finding("train.py", "device.py")
    places.begin()
    assert places.foresee([finding])
    places.begin()
    assert not places.foresee([finding])
    assert _at_home(places, finding)
    assert not places.settle([places.of(finding)])


def test_a_file_that_a_later_round_repairs_shares_the_module() -> None:
    found = [_finding("train.py", "device.py"), _finding("loss.py", "device.py")]
    places = homes.Homes(_project("train.py", "loss.py", train="loss"))
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
    found = [_finding("train.py", "device.py"), _finding("loss.py", "device.py")]
    places = homes.Homes(_project("train.py", "loss.py", train="loss"))
    places.foresee(found[:1])
    places.foresee(found[1:])
    assert places.settle(map(places.of, found))
    places.begin()
    assert not places.foresee(found[:1])
    assert places.settle(found[:1])
    assert _at_home(places, found[0])
