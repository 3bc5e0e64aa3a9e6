"""The wrappings for pre-commit, GitHub Actions and GitLab CI: what they run is run here."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="needs PyYAML")

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
_HEADER, GITLAB = yaml.safe_load_all((ROOT / "templates/samedevice.gitlab-ci.yml").read_text())
GITLAB_INPUTS = _HEADER["spec"]["inputs"]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
CLASH = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(3, 2).to(device)
x = torch.ones(4, 3)
print(model(x).sum())
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one finding, and samedevice on the PATH."""
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "samedevice"
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m samedevice "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "project"
    (folder / "two words").mkdir(parents=True)
    (folder / "train.py").write_text(CLASH)
    monkeypatch.chdir(folder)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "as it was")
    return folder


def git(*args: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", *identity, *args], check=True, capture_output=True, text=True
    ).stdout


def shell(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as GitHub's `shell: bash` does."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )


# GitHub


def step(name: str) -> dict[str, Any]:
    (found,) = [one for one in ACTION["runs"]["steps"] if one.get("name") == name]
    return dict(found)


def action(name: str, tmp_path: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action with its inputs."""
    given = {key: one["default"] for key, one in ACTION["inputs"].items()} | inputs
    known = {f"inputs.{key}": value for key, value in given.items()}
    known |= {"steps.python.outputs.python-path": sys.executable, "github.action_path": str(ROOT)}
    found = step(name)
    variables = {
        key: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], value)
        for key, value in found["env"].items()
    }
    return shell(found["run"], RUNNER_TEMP=str(tmp_path), **variables)


@pytest.fixture
def installed(tmp_path: Path, project: Path) -> Path:
    """What the action's first step leaves behind."""
    (tmp_path / "samedevice").mkdir()
    (tmp_path / "samedevice" / "bin").symlink_to(tmp_path / "bin")
    return tmp_path


def test_the_action_annotates_and_writes_sarif(installed: Path) -> None:
    result = action("samedevice check", installed)
    assert result.returncode == 1, result.stderr
    assert result.stdout.startswith("::warning file=train.py,line=5,")
    (run,) = json.loads(Path("samedevice.sarif").read_text())["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["tensor-without-device"]


def test_the_action_with_its_inputs(installed: Path) -> None:
    options = {"arguments": "--baseline old.txt --write-baseline", "sarif": ""}
    assert action("samedevice check", installed, **options).returncode == 0
    options["arguments"] = "--baseline old.txt"
    assert action("samedevice check", installed, **options, paths="train.py *").returncode == 2
    assert action("samedevice check", installed, **options, paths="train.py .").returncode == 0
    assert not Path("samedevice.sarif").exists()
    hostile = action("samedevice check", installed, paths="$(touch owned) ; touch owned")
    assert hostile.returncode == 2
    assert not Path("owned").exists()


def test_the_action_is_whole() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])
    for one in ACTION["runs"]["steps"]:
        assert ("run" in one) != ("uses" in one)
        assert "${{" not in one.get("run", ""), "an input in a script is code"
        if "run" in one:
            assert one["shell"] == "bash"
    page = (ROOT / "docs/ci.md").read_text()
    assert all(f"| `{name}` |" in page for name in used)


# GitLab


def gitlab(command: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    given = {key: one.get("default") for key, one in GITLAB_INPUTS.items()} | inputs
    text = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: str(given[match[1]]), command)
    assert "$[[" not in text
    return shell(text)


def test_the_gitlab_job_reports(project: Path) -> None:
    job = GITLAB["samedevice"]
    install, check = job["script"]
    assert install.startswith("python -m pip install ")
    result = gitlab(check)
    assert result.returncode == 1
    assert "train.py:5:5 warning [tensor-without-device]" in result.stdout
    (report,) = job["artifacts"]["reports"].values()
    (issue,) = json.loads(Path(report).read_text())
    assert issue["check_name"] == "tensor-without-device"
    for artifact in job["artifacts"]["paths"]:
        assert Path(artifact).is_file()
    Path("train.py").write_text("x = 1\n")
    result = gitlab(check, paths="'two words' train.py", arguments="--ignore loss-not-moved")
    assert result.stdout == ""
    assert json.loads(Path(report).read_text()) == []


# pre-commit


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_what_a_hook_runs(hook: dict[str, Any], project: Path) -> None:
    result = shell(shlex.join([*shlex.split(hook["entry"]), *hook["args"]]))
    changed = git("status", "--porcelain")
    if "fix" in hook["id"]:
        assert result.returncode == 0
        assert changed == " M train.py\n"
    else:
        assert result.returncode == 1
        assert changed == ""


# For real: `make ci-test`

for_real = pytest.mark.skipif(
    not os.environ.get("SAMEDEVICE_CI_TEST"), reason="needs a network and a minute: make ci-test"
)


@for_real
def test_pre_commit_itself(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    git("clone", "-q", str(ROOT), str(tmp_path / "clone"))
    revision = git("-C", str(tmp_path / "clone"), "rev-parse", "HEAD").strip()
    hooks = [{"id": hook["id"]} for hook in HOOKS]
    settings = {"repos": [{"repo": str(tmp_path / "clone"), "rev": revision, "hooks": hooks}]}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump(settings))
    git("add", ".")
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never"]
    first = subprocess.run(command, capture_output=True, text=True)
    assert first.returncode == 1
    assert re.search(r"samedevice check\.+Failed", first.stdout), first.stdout + first.stderr
    assert re.search(r"samedevice fix\.+Failed", first.stdout)
    assert "files were modified by this hook" in first.stdout
    git("add", ".")
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stdout


@for_real
def test_the_action_installs(project: Path, tmp_path: Path) -> None:
    result = action("Install samedevice", tmp_path)
    assert result.returncode == 0, result.stderr
    result = action("samedevice check", tmp_path)
    assert result.stdout.startswith("::warning file=train.py,line=5,")
