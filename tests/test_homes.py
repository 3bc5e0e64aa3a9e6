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


def _needless(found: list[Finding], project: Project) -> set[str]:
    return homes.needless(found, project.sources, project.importers)


def _project(*paths: str, **imports: str) -> Project:
    """Return a project of files, of which some import a module."""
    stems = {path: path.rpartition("/")[2].removesuffix(".py") for path in paths}
    texts = {path: f"import {imports[s]}\n" if s in imports else "" for path, s in stems.items()}
    return Project([source.from_text(text, path) for path, text in texts.items()])


def test_one_file_needs_no_module() -> None:
    project = _project("train.py")
    assert _needless([_finding("train.py", "device.py")], project) == {"device.py"}


def test_two_scripts_need_no_module() -> None:
    found = [_finding("train.py", "device.py"), _finding("test.py", "device.py")]
    assert _needless(found, _project("train.py", "test.py")) == {"device.py"}


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
    assert _needless(found, _project(*_PACKAGE)) == {home}
    found.append(_finding("layers/blocks.py", home))
    assert not _needless(found, _project(*_PACKAGE))


def test_all_files_are_in_a_root_that_is_a_package() -> None:
    found = [_finding("train.py", "device.py"), _finding("parts/noise.py", "device.py")]
    project = _project("__init__.py", "train.py", "parts/noise.py", train="parts.noise")
    assert not _needless(found, project)
