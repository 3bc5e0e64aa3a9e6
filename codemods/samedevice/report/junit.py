"""Findings as JUnit's XML, which most CI servers show as tests: a file is a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as xml

from ..finding import UNDECIDED, Finding
from ..reading.source import Source, SourceError
from .place import place, printable, short_place
from .text import fix_note


def dump(
    findings: Sequence[Finding],
    errors: Sequence[SourceError],
    sources: Mapping[str, Source],
    placed: Mapping[str, int],
) -> str:
    """Return one XML document; a file in which nothing was found is a test that passes.

    What is undecided is a test that was skipped. Other notes ask for nothing: they are not in it.
    `placed`, how many values of a file have a known place, is a property of its suite.
    """
    root = xml.Element("testsuites", name="samedevice")
    by_path: dict[str, list[Finding]] = {path: [] for path in sources}
    for finding in findings:
        if finding.level != "note" or finding.rule == UNDECIDED:
            by_path.setdefault(finding.path, []).append(finding)
    broken = {error.path: error for error in errors}
    for path in sorted({*by_path, *broken}):
        _suite(root, path, by_path.get(path, []), broken.get(path), sources, placed)
    suites = list(root)
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.attrib[count]) for suite in suites)))
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(
    root: xml.Element,
    path: str,
    findings: Sequence[Finding],
    error: SourceError | None,
    sources: Mapping[str, Source],
    placed: Mapping[str, int],
) -> None:
    suite = xml.SubElement(root, "testsuite", name=printable(path))
    if placed.get(path):
        properties = xml.Element("properties")
        xml.SubElement(properties, "property", name="placed", value=str(placed[path]))
    for finding in findings:
        where = place(path, finding.span, sources)
        case = _case(suite, path, f"{finding.rule} {where}", finding.span.line)
        if finding.level == "note":
            xml.SubElement(case, "skipped", message=printable(finding.message))
            continue
        failed = xml.SubElement(case, "failure", type=finding.rule)
        failed.set("message", printable(finding.message))
        said = [
            f"{where}: {finding.message}",
            *(f"{short_place(o.path, o.span, sources)}: {o.text}" for o in finding.origins),
            fix_note(finding),
        ]
        failed.text = "\n".join(printable(line) for line in said if line)
    if error is not None:
        case = _case(suite, path, "parse", error.line or 1)
        xml.SubElement(case, "error", message=printable(str(error)), type="error")
    if not findings and error is None:
        _case(suite, path, "check", 1)
    suite.set("tests", str(len(suite)))
    if placed.get(path):
        suite.insert(0, properties)
    suite.set("failures", str(len(suite.findall("*/failure"))))
    suite.set("errors", str(int(error is not None)))
    suite.set("skipped", str(len(suite.findall("*/skipped"))))


def _case(suite: xml.Element, path: str, name: str, line: int) -> xml.Element:
    case = xml.SubElement(suite, "testcase", classname=printable(path), name=printable(name))
    if not path.endswith(".ipynb"):  # its lines are those of cells, which `name` has
        case.set("line", str(line))
    return case
