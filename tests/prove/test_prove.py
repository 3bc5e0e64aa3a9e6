"""Proofs of small changes: what passes, what fails, and that nothing of the user's is touched."""

import json
import subprocess
import textwrap
from html.parser import HTMLParser
from pathlib import Path

import pytest

from samedevice.prove import commands
from samedevice.prove.page import render
from samedevice.prove.process import Limits
from samedevice.prove.prove import Change, Check, Proof, prove
from samedevice.prove.run import ProgramError, Settings

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("warm")

SEEDED = Settings(limits=Limits(seconds=120), seed=0)

# The change that samedevice is for: nothing on the accelerator before, everything after.
BEFORE = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
arguments = parser.parse_args()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(arguments.epochs):
    loss = model(torch.ones(3, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
torch.save(model.state_dict(), "model.pt")
"""
AFTER = BEFORE.replace(
    "import torch\n",
    'import torch\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n',
)
AFTER = AFTER.replace("Linear(4, 1)", "Linear(4, 1).to(device)")
HALF = AFTER  # the model is moved, the batch is not
AFTER = AFTER.replace("ones(3, 4)", "ones(3, 4, device=device)")
ENTRY = "main.py --epochs 3"


def folder(path: Path, source: str, **more: str) -> Path:
    path.mkdir()
    (path / "main.py").write_text(source, "utf-8")
    for name, text in more.items():
        (path / f"{name}.py").write_text(text, "utf-8")
    return path


def verdicts(proof: Proof) -> dict[str, str]:
    return {check.name: check.verdict for check in proof.checks}


def details(proof: Proof) -> str:
    return " | ".join(f"{check.name}: {check.detail}" for check in proof.checks)


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_a_good_change(tmp_path: Path) -> None:
    folder(tmp_path / "old", BEFORE, same="x = 1\n")
    folder(tmp_path / "new", AFTER, same="x = 1\n")
    untouched = snapshot(tmp_path)
    told: list[str] = []
    proof = prove("old", "new", ENTRY, settings=SEEDED, near=tmp_path, progress=told.append)
    assert proof.passed, details(proof)
    assert verdicts(proof) == {
        "before runs on cpu": "passed",
        "after runs on cpu": "passed",
        "same output on cpu": "passed",
        "same losses on cpu": "passed",
        "same parameters on cpu": "passed",
        "same files on cpu": "passed",
        "after runs on virtual cuda": "passed",
        "operations on cuda": "passed",
        "parameters of SGD on cuda": "passed",
        "losses finite": "passed",
        "cuda says what cpu says": "passed",
        "cuda learns what cpu learns": "passed",
        "cuda writes what cpu writes": "passed",
        "changed code ran": "passed",
    }
    assert [change.path for change in proof.changes] == ["main.py"]
    assert "+device = torch.device" in proof.changes[0].diff
    assert snapshot(tmp_path) == untouched
    assert told[-1] == "running after on accelerator"
    assert proof.runs["after on accelerator"].stdout.text == proof.runs["after on cpu"].stdout.text
    data = json.loads(json.dumps(proof.to_json()))
    assert data["passed"] is True and data["verdict"] == "proved" and len(data["checks"]) == 14


def test_half_a_change(tmp_path: Path) -> None:
    proof = prove(
        folder(tmp_path / "old", BEFORE), {"main.py": HALF.encode()}, ENTRY, settings=SEEDED
    )
    assert not proof.passed
    assert verdicts(proof)["same output on cpu"] == "passed"
    assert verdicts(proof)["after runs on virtual cuda"] == "failed"
    clash = proof.runs["after on accelerator"].clash
    assert clash is not None and clash.kind == "mismatch"
    assert "torch.ones(3, 4)" in clash.text


def test_a_change_that_does_nothing(tmp_path: Path) -> None:
    proof = prove(folder(tmp_path / "old", BEFORE), {}, ENTRY, settings=SEEDED)
    assert not proof.passed
    failed = [name for name, verdict in verdicts(proof).items() if verdict == "failed"]
    assert failed == ["operations on cuda", "parameters of SGD on cuda"]
    assert proof.changes == ()


def test_another_number(tmp_path: Path) -> None:
    other = AFTER.replace("lr=0.1", "lr=0.2").encode()
    proof = prove(folder(tmp_path / "old", BEFORE), {"main.py": other}, ENTRY, settings=SEEDED)
    assert not proof.passed
    assert verdicts(proof)["same output on cpu"] == "failed"
    assert verdicts(proof)["same losses on cpu"] == "failed"
    assert "line 2: '1 " in details(proof) and "loss 2: " in details(proof)


def test_losses_are_compared_when_nothing_is_printed(tmp_path: Path) -> None:
    quiet = [source.replace("print(epoch, loss.item())", "pass") for source in (BEFORE, AFTER)]
    other = quiet[1].replace("lr=0.1", "lr=0.2").encode()
    proof = prove(folder(tmp_path / "old", quiet[0]), {"main.py": other}, ENTRY, settings=SEEDED)
    assert verdicts(proof)["same output on cpu"] == "passed"
    assert verdicts(proof)["same losses on cpu"] == "failed"
    assert not proof.passed


def test_another_exit_code(tmp_path: Path) -> None:
    other = (AFTER + "raise SystemExit(4)\n").encode()
    proof = prove(folder(tmp_path / "old", BEFORE), {"main.py": other}, ENTRY, settings=SEEDED)
    assert not proof.passed
    assert "exit code 0 before, 4 after" in details(proof)


def test_randomness_is_named(tmp_path: Path) -> None:
    unseeded = Settings(limits=Limits(seconds=120))
    proof = prove(
        folder(tmp_path / "old", BEFORE), {"main.py": AFTER.encode()}, ENTRY, settings=unseeded
    )
    assert not proof.passed
    assert "two runs of BEFORE differ as well" in details(proof) and "--seed" in details(proof)


def test_losses_that_are_not_finite(tmp_path: Path) -> None:
    sources = [source.replace("lr=0.1", "lr=float('inf')") for source in (BEFORE, AFTER)]
    proof = prove(
        folder(tmp_path / "old", sources[0]),
        {"main.py": sources[1].encode()},
        ENTRY,
        settings=SEEDED,
    )
    assert verdicts(proof)["losses finite"] == "failed"
    assert not proof.passed


def test_before_asks_for_cuda(tmp_path: Path) -> None:
    """It cannot run on a CPU: then its run on the accelerator is what after is compared with."""
    hard = AFTER.replace('torch.device("cuda" if torch.cuda.is_available() else "cpu")', '"cuda"')
    proof = prove(
        folder(tmp_path / "old", hard), {"main.py": AFTER.encode()}, ENTRY, settings=SEEDED
    )
    assert proof.passed, details(proof)
    assert verdicts(proof)["before runs on cpu"] == "noted"
    assert verdicts(proof)["same output on accelerator"] == "passed"


def test_broken_programs_end_the_proof_with_a_reason(tmp_path: Path) -> None:
    for name, source, reason, seconds in (
        ("loop", "while True: pass\n", "time limit", 10),
        ("syntax", "def f(:\n", "main.py:1", 120),
        ("error", "open('no such file')\n", "FileNotFoundError", 120),
    ):
        limited = Settings(limits=Limits(seconds=seconds), seed=0, record=False)
        old = folder(tmp_path / name, "print(1)\n")
        proof = prove(old, {"main.py": source.encode()}, "main.py", settings=limited)
        assert not proof.passed
        assert verdicts(proof)["after runs on cpu"] == "failed"
        assert reason in details(proof), details(proof)


def test_all_runs_share_one_path_and_see_no_other_run(tmp_path: Path) -> None:
    source = textwrap.dedent(
        """
        import os, torch
        print(os.getcwd(), __file__, sorted(os.listdir(".")))
        open("written.txt", "w").write("x")
        torch.ones(2, device="cuda" if torch.cuda.is_available() else "cpu")
        """
    )
    proof = prove(
        folder(tmp_path / "old", source), {"main.py": source.encode() + b"pass\n"}, "main.py"
    )
    assert proof.passed, details(proof)
    assert len({run.stdout.text for run in proof.runs.values()}) == 1
    assert "written.txt" not in proof.runs["after on cpu"].stdout.text


def test_nothing_shows_that_it_computes_the_same(tmp_path: Path) -> None:
    """A run that nothing of the change took part in, or that says nothing, proves nothing."""
    device = "'cuda' if torch.cuda.is_available() else 'cpu'"
    source = f"import torch\nx = torch.ones(2, device={device}) + 1\n"
    old = folder(tmp_path / "old", source, other="x = 1\n")
    proof = prove(old, {"other.py": b"x = 2\n"}, "main.py", settings=SEEDED)
    rows = {check.name: check.detail for check in proof.checks if check.verdict == "inconclusive"}
    assert proof.verdict == "inconclusive" and not proof.passed
    assert rows.keys() == {"changed code ran", "something to compare"}
    assert "other.py did not run" in rows["changed code ran"]


def test_on_the_device_it_computes_something_else(tmp_path: Path) -> None:
    scale = "* (3.0 if device.type == 'cuda' else 1.0)"
    other = AFTER.replace(".pow(2).mean()", f".pow(2).mean() {scale}")
    old = folder(tmp_path / "old", BEFORE)
    proof = prove(old, {"main.py": other.encode()}, ENTRY, settings=SEEDED)
    assert proof.verdict == "not proved"
    failed = [name for name, verdict in verdicts(proof).items() if verdict == "failed"]
    assert failed == [f"cuda {what} what cpu {what}" for what in ("says", "learns", "writes")]
    told = prove(old, {"main.py": other.encode()}, ENTRY, settings=SEEDED, ignored=["device"])
    assert told.verdict == "proved" and verdicts(told)["cuda learns what cpu learns"] == "noted"


def test_single_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BEFORE, "utf-8")
    (tmp_path / "b.py").write_text(AFTER, "utf-8")
    proof = prove("a.py", "b.py", settings=SEEDED, near=tmp_path)
    assert proof.passed, details(proof)
    assert proof.program == "b.py"


def test_a_revision_and_untracked_data(tmp_path: Path) -> None:
    source = "import torch\nx = len(open('data/x.txt').read())\nprint(torch.ones(x).sum())\n"
    project = folder(tmp_path / "project", source)
    (project / "data").mkdir()
    (project / "data" / "x.txt").write_text("12345", "utf-8")
    git = ["git", "-c", "user.email=t@example.org", "-c", "user.name=t"]
    for command in (["init", "-q"], ["add", "main.py"], ["commit", "-q", "-m", "x"]):
        try:
            subprocess.run([*git, *command], cwd=project, check=True, capture_output=True)
        except FileNotFoundError:
            pytest.skip("needs git")
    moved = source.replace("(x)", "(x, device='cuda' if torch.cuda.is_available() else 'cpu')")
    (project / "main.py").write_text(moved.replace(".sum()", ".sum().item()"), "utf-8")
    seen: list[str] = []

    def look(before: Path, after: Path) -> None:
        seen.extend((folder / "main.py").read_text() for folder in (before, after))

    proof = prove("HEAD", ".", "main.py", data=["data"], near=project, look=look)
    assert len(seen) == 2 and seen[0] != seen[1] == (project / "main.py").read_text()
    assert verdicts(proof)["after runs on virtual cuda"] == "passed", details(proof)
    assert verdicts(proof)["same output on cpu"] == "failed"  # tensor(5.) is not 5.0
    without = prove("HEAD", ".", "main.py", near=project)
    assert "FileNotFoundError" in details(without)


@pytest.mark.parametrize(
    ("before", "after", "entry", "message"),
    [
        ("nowhere", "old", "main.py", "nowhere: no file, folder or git revision"),
        ("old", "old", None, "--entry"),
        ("old", "old/main.py", "main.py", "both"),
        ("old", "old", "missing.py", "missing.py: no such file"),
        ("old", "old", "", "no program"),
    ],
)
def test_refused(tmp_path: Path, before: str, after: str, entry: str | None, message: str) -> None:
    folder(tmp_path / "old", BEFORE)
    with pytest.raises(ProgramError, match=message):
        prove(before, after, entry, near=tmp_path)


def test_on_the_cpu_only(tmp_path: Path) -> None:
    settings = Settings(on="cpu", seed=0)
    old = folder(tmp_path / "old", BEFORE)
    proof = prove(old, {"main.py": AFTER.encode()}, ENTRY, settings=settings)
    assert proof.passed and list(proof.runs) == ["before on cpu", "after on cpu"]


# The commands


def test_command_prove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "old", BEFORE)
    folder(tmp_path / "new", HALF)
    code = commands.prove(
        "old", "new", ENTRY, seed=0, report=Path("proof.json"), html=Path("proof.html")
    )
    out = capfd.readouterr().out
    assert code == 1
    assert "not proved" in out and "same output on cpu" in out
    assert "clash: two operands" in out and "torch.ones(3, 4)" in out
    assert json.loads(Path("proof.json").read_text("utf-8"))["passed"] is False
    page = Path("proof.html").read_text("utf-8")
    assert "not proved" not in page and "✗ failed" in page


def test_command_prove_refuses(capfd: pytest.CaptureFixture[str]) -> None:
    assert commands.prove("nowhere", "there", "main.py") == 2
    assert commands.prove("nowhere", "there", "main.py", ignore=["moods"]) == 2
    assert commands.prove("nowhere", "there", "main.py", on="tpu") == 2
    assert commands.prove("nowhere", "there", "main.py", memory_limit="much") == 2
    assert commands.prove("nowhere", "there", "main.py", time_limit=-1) == 2
    error = capfd.readouterr().err
    assert error.count("error: ") == 5 and "Traceback" not in error


def test_command_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.py").write_text(HALF, "utf-8")
    assert commands.run(["main.py"], report=Path("run.json")) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "clash: two operands" in err and "model is on cuda:0" in err
    assert "moved to cuda:0" in err and "main.py:" in err
    report = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert report["status"] == "clash" and report["clash"]["kind"] == "mismatch"
    assert commands.run(["missing.py"]) == 2
    assert "error: missing.py: no such file" in capfd.readouterr().err
    (tmp_path / "main.py").write_text("import sys; print('out'); sys.exit(9)", "utf-8")
    assert commands.run(["main.py"], on="cpu", record=False) == 9
    assert capfd.readouterr().out == "out\n"


def test_commands_import_nothing_heavy() -> None:
    import sys

    code = (
        "import sys; from samedevice.prove import commands; "
        "print(sorted({'torch', 'rich', 'difflib', 'libcst'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    ("text", "size"), [("4G", 4 << 30), ("500M", 500 << 20), ("1.5GiB", 3 << 29), ("1024", 1024)]
)
def test_sizes(text: str, size: int) -> None:
    assert commands._size("--x", text) == size


# The page


class _Balanced(HTMLParser):
    """Fails on tags that are not closed in order."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_escapes_and_closes() -> None:
    change = Change(
        "a<b>.py", "x = 1\ny = '<script>'\nz\n", "x = 2\ny = '<script>'\nz\nnew & more\n"
    )
    checks = (Check("a", "passed", "<i>"), Check("b", "failed", "&"), Check("c", "noted"))
    proof = Proof("old", "new", "main.py '<x>'", checks, {}, (change, Change("n.py", None, "1\n")))
    page = render(proof, {"": "the%20map.html", "n.py": "the%20map.html#n.py"})
    assert page.count('href="the%20map.html"') == page.count('href="the%20map.html#n.py"') == 1
    parser = _Balanced()
    parser.feed(page)
    assert parser.open == []
    assert "<script>" not in page and "'<script>'" in parser.text
    assert "new & more" in parser.text
    assert "<b>1</b>" in page and "<b>2</b>" in page  # only what differs is marked
    assert "light dark" in page and "http" not in page
