"""What programs read: JSON, SARIF, GitHub."""

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from samedevice.finding import Edit, Finding, Fix, Origin, Span
from samedevice.migration import migrate
from samedevice.migration.check import check
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project
from samedevice.reading.source import Source, SourceError
from samedevice.report import edits as edits_
from samedevice.report import github, gitlab, junit, sarif
from samedevice.report import json as json_report
from samedevice.report.edits import Edits
from samedevice.rules import Rule, load

ORIGIN = Origin("data/b c.py", Span(12, 4, 12, 9), "x was created on the CPU")
FINDING = Finding(
    "a.py",
    Span(3, 4, 3, 18),
    "one",
    "this is 100% wrong:\nreally",
    (ORIGIN,),
    Fix((), safe=False, reason="why"),
    level="error",
)
ERROR = SourceError("bad.py", "invalid syntax", 1, 6)
SOURCES = {"a.py": source.from_text("x\n" * 5, "a.py")}


def edits(sources: dict[str, Source]) -> Edits:
    return Edits(Project(sources.values()), Config())


def test_edits_of_very_many_findings_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\n" + "x = torch.ones(3).cuda()\n" * 5
    project = Project([source.from_text(text, "a.py")])
    findings = check(project, Config())
    monkeypatch.setattr(edits_, "BOUND", 2 * len(text))
    made = Edits(project, Config())
    assert [bool(made.of(finding)) for finding in findings] == [True, True, False, False, False]
    assert made.left_out == {"a.py": 3}


def test_json() -> None:
    document = json.loads(json_report.dump([FINDING], [ERROR], SOURCES, edits(SOURCES), 5))
    assert document == {
        "version": 1,
        "findings": [
            {
                "path": "a.py",
                "cell": None,
                "line": 3,
                "column": 5,
                "end_line": 3,
                "end_column": 19,
                "rule": "one",
                "level": "error",
                "message": "this is 100% wrong:\nreally",
                "origins": [
                    {
                        "path": "data/b c.py",
                        "cell": None,
                        "line": 12,
                        "column": 5,
                        "end_line": 12,
                        "end_column": 10,
                        "message": "x was created on the CPU",
                    }
                ],
                "fix": {"safe": False, "reason": "why", "edits": [], "missing": []},
                "unfixed": "",
            }
        ],
        "errors": [
            {
                "path": "bad.py",
                "cell": None,
                "line": 1,
                "column": 7,
                "message": "invalid syntax",
            }
        ],
        "placed": 5,
        "undecided": 0,
    }


def test_sarif() -> None:
    rules = {"one": Rule("one", "what", "what\n\nwhy", lambda solution: iter(()))}
    document = json.loads(sarif.dump([FINDING], [ERROR], rules, edits(SOURCES), 5))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "one"
    assert rule["shortDescription"] == {"text": "what"}
    (result,) = run["results"]
    assert result["ruleId"] == "one"
    assert result["ruleIndex"] == 0
    assert result["level"] == "error"
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "a.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 19},
    }
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "data/b%20c.py"
    assert related["message"] == {"text": "x was created on the CPU"}
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"] == {"text": "invalid syntax"}


def test_sarif_of_nothing() -> None:
    (run,) = json.loads(sarif.dump([], [], {}, edits({}), 0))["runs"]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"]


def test_github() -> None:
    finding, error = github.dump([FINDING], [ERROR], SOURCES).split("\n")
    assert finding == (
        "::error file=a.py,line=3,endLine=3,col=5,endColumn=19,title=samedevice%3A one::"
        "this is 100%25 wrong:%0Areally%0A"
        "data/b c.py:12: x was created on the CPU%0A"
        "fixed with --unsafe only: why"
    )
    assert error == "::error file=bad.py,line=1,title=samedevice::invalid syntax"


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# é\n"]},
        {"cell_type": "code", "source": ["import torch\n", "device = torch.device('cuda')\n"]},
        {"cell_type": "code", "source": ["x = torch.ones(2)\n", "y = x + torch.ones(2).cuda()"]},
    ],
    "nbformat": 4,
}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_s_fixes_in_sarif_are_edits_of_its_json(indent: int | None) -> None:
    text = json.dumps(NOTEBOOK, indent=indent)
    project = Project([source.from_bytes(text.encode(), "n.ipynb")])
    findings = [finding for finding in check(project, Config()) if finding.fix]
    assert findings
    log = sarif.dump(findings, [], load(), Edits(project, Config()), 5)
    (run,) = json.loads(log)["runs"]
    for finding, result in zip(findings, run["results"], strict=True):
        region = result["locations"][0]["physicalLocation"]["region"]
        code = text.split("\n")[region["startLine"] - 1]
        marked = code[region["startColumn"] - 1 : region["endColumn"] - 1]
        assert marked == project.sources["n.ipynb"].slice(finding.span)
        (change,) = result["fixes"][0]["artifactChanges"]
        changed = text
        for one in reversed(change["replacements"]):
            changed = _replaced(changed, one)
        once, _ = migrate.once(project, [finding], Config())
        old = project.sources["n.ipynb"]
        assert changed == old.encode(once["n.ipynb"].text).decode() != text


def test_a_notebook_s_fixes_in_json_are_edits_of_its_cells() -> None:
    code = ["import torch", "%time 1\ny = torch.ones(2)", "%time x = torch.ones(2).cuda() + y"]
    cells = [{"cell_type": "code", "source": one} for one in code]
    text = json.dumps({"cells": cells, "nbformat": 4})
    project = Project([source.from_bytes(text.encode(), "n.ipynb")])
    findings = check(project, Config())
    document = json.loads(
        json_report.dump(findings, [], project.sources, Edits(project, Config()), 5)
    )
    assert findings and len(document["findings"]) == len(findings)
    for finding, record in zip(findings, document["findings"], strict=True):
        changed = dict(enumerate(code))
        line = code[record["cell"] - 1].split("\n")[record["line"] - 1]
        assert line[record["column"] - 1 : record["end_column"] - 1].startswith("torch.ones(2)")
        assert record["fix"]["edits"]
        for one in reversed(record["fix"]["edits"]):
            region = {
                "startLine": one["line"], "startColumn": one["column"],
                "endLine": one["end_line"], "endColumn": one["end_column"],
            }  # fmt: skip
            at = one["cell"] - 1
            edit = {"deletedRegion": region, "insertedContent": {"text": one["text"]}}
            changed[at] = _replaced(changed[at], edit)
        once, _ = migrate.once(project, [finding], Config())
        assert changed == once["n.ipynb"].cells(once["n.ipynb"].text)
        assert changed != dict(enumerate(code))


def _replaced(text: str, replacement: dict[str, Any]) -> str:
    region = replacement["deletedRegion"]
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    first = starts[region["startLine"] - 1] + region["startColumn"] - 1
    last = starts[region["endLine"] - 1] + region["endColumn"] - 1
    return text[:first] + replacement["insertedContent"]["text"] + text[last:]


def test_lines_of_a_notebook_s_code_are_not_lines_of_its_file() -> None:
    finding = Finding("n.ipynb", Span(3, 4, 3, 18), "one", "wrong", level="note")
    assert github.dump([finding], [], {}) == "::notice file=n.ipynb,title=samedevice%3A one::wrong"
    rules = {"one": Rule("one", "what", "what", lambda solution: iter(()))}
    (run,) = json.loads(sarif.dump([finding], [], rules, edits(SOURCES), 5))["runs"]
    assert "region" not in run["results"][0]["locations"][0]["physicalLocation"]


def test_gitlab() -> None:
    text = "x\n" * 2 + "y = torch.zeros(3)  # why\n"
    sources = {"a.py": source.from_text(text, "a.py")}
    first, error = json.loads(gitlab.dump([FINDING], [ERROR], sources))
    assert first == {
        "description": "this is 100% wrong:\nreally (fixed with --unsafe only: why)",
        "check_name": "one",
        "fingerprint": first["fingerprint"],
        "severity": "major",
        "location": {"path": "a.py", "lines": {"begin": 3}},
    }
    assert error["location"] == {"path": "bad.py", "lines": {"begin": 1}}
    assert error["severity"] == "critical"


def test_fingerprints_for_gitlab_are_unique_and_stay_where_lines_move() -> None:
    def fingerprints(text: str, *lines: int) -> list[str]:
        sources = {"a.py": source.from_text(text, "a.py")}
        found = [replace(FINDING, span=Span(line, 0, line, 1)) for line in lines]
        return [issue["fingerprint"] for issue in json.loads(gitlab.dump(found, [], sources))]

    before = fingerprints("x = 1\ny = 1\n", 1, 1, 2)
    assert len(set(before)) == 3
    assert fingerprints("\n\nx = 1  # one\n\ny = 1\n", 3, 3, 5) == before


ONE = Finding(
    "b.py", Span(2, 4, 2, 14), "one", "wrong",
    fix=Fix((Edit("b.py", Span(2, 4, 2, 14), "keyword", (("name", "device"), ("value", "0"))),)),
)  # fmt: skip
TEXT = "import torch\nx = torch.ones(3)\n"


def test_edits_make_the_change_that_fix_makes() -> None:
    sources = {"b.py": source.from_text(TEXT, "b.py")}
    finding = replace(ONE, span=Span(2, 4, 2, 17))
    assert finding.fix is not None
    edit = replace(finding.fix.edits[0], span=finding.span)
    finding = replace(finding, fix=Fix((edit,)))
    document = json.loads(json_report.dump([finding], [], sources, edits(sources), 5))
    (made,) = document["findings"][0]["fix"]["edits"]
    place = {"path": "b.py", "cell": None, "line": 2, "end_line": 2}
    assert made == {**place, "column": 17, "end_column": 17, "text": ", device=0"}
    rules = {"one": Rule("one", "what", "what", lambda solution: iter(()))}
    (run,) = json.loads(sarif.dump([finding], [], rules, edits(sources), 5))["runs"]
    (fix,) = run["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "b.py"
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 17, "endLine": 2, "endColumn": 17},
            "insertedContent": {"text": ", device=0"},
        }
    ]


def test_junit() -> None:
    sources = {**SOURCES, "good.py": source.from_text("y = 1\n", "good.py")}
    nasty = replace(FINDING, message='<&"\x1b>')
    note = replace(FINDING, level="note")
    unknown = replace(note, rule="undecided", message="not followed")
    root = ElementTree.fromstring(junit.dump([nasty, note, unknown], [ERROR], sources, {}))
    counts = [root.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["4", "1", "1", "1"]
    assert [each.get("message") for each in root.iter("skipped")] == ["not followed"]
    (failure,) = root.iter("failure")
    assert failure.get("message") == '<&"\\x1b>'
    assert "a.py:3:5: " in (failure.text or "")
    assert [suite.get("name") for suite in root] == ["a.py", "bad.py", "good.py"]


def test_junit_has_no_lines_of_a_notebook_s_file() -> None:
    finding = Finding("n.ipynb", Span(3, 4, 3, 18), "one", "wrong")
    (suite,) = ElementTree.fromstring(junit.dump([finding], [], {}, {}))
    assert "line" not in suite[0].attrib
