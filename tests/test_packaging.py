"""What is installed: names, types, version; against the wheel when `make package` runs this."""

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import samedevice

ROOT = Path(__file__).parents[1]


def test_the_version_is_in_one_place() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", samedevice.__version__)
    text = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in text and samedevice.__version__ not in text
    told = subprocess.run(
        [sys.executable, "-m", "samedevice", "--version"], capture_output=True, text=True
    )
    assert told.stdout == f"samedevice {samedevice.__version__}\n"


def test_the_package_is_typed() -> None:
    assert (Path(samedevice.__file__).parent / "py.typed").is_file()


def test_what_changed_is_in_files_that_the_changelog_takes() -> None:
    """A name of another form would stay in the folder, and out of the changelog."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    names = {file.name for file in (ROOT / settings["directory"]).iterdir()}
    assert {"README.md", "template.md.jinja"} <= names
    for name in names - {"README.md", "template.md.jinja"}:
        assert re.fullmatch(rf"[a-z0-9-]+\.({kinds})\.md", name), name
    assert settings["start_string"] in (ROOT / settings["filename"]).read_text()


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "docs" / "changelog.md").read_text(), re.M)
    assert first is not None and first[1] == samedevice.__version__


wheel = pytest.mark.skipif("SAMEDEVICE_WHEEL" not in os.environ, reason="make package sets it")


@wheel
def test_it_is_the_wheel_that_is_tested() -> None:
    assert "site-packages" in Path(samedevice.__file__).parts
    assert metadata.version("samedevice") == samedevice.__version__
    points = metadata.distribution("samedevice").entry_points
    assert {point.group for point in points} == {"console_scripts", "pytest11"}


@wheel
def test_the_wheel_has_the_package_and_nothing_else() -> None:
    with zipfile.ZipFile(os.environ["SAMEDEVICE_WHEEL"]) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    version = samedevice.__version__
    assert tops == {"samedevice", f"samedevice-{version}.dist-info"}
    for needed in (
        "py.typed",
        "torchfacts/torch.json",
        "map/page.js",
        "map/page.html.jinja",
        "report/shell.css",
    ):
        assert f"samedevice/{needed}" in names
    assert f"samedevice-{version}.dist-info/licenses/LICENSE" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


# workflows


def workflow(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    path = ROOT / ".github" / "workflows" / name
    if not path.exists():  # beside the wheel, where `make package` runs this
        pytest.skip("no repository")
    return dict(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_actions_are_pinned_and_rights_are_few(name: str) -> None:
    found = workflow(name)
    assert found["permissions"] == {"contents": "read"}
    for job in found["jobs"].values():
        for step in job["steps"]:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", "a@" + "0" * 40)), step
            assert "secrets." not in str(step)


def test_only_the_job_that_publishes_has_an_identity() -> None:
    jobs = workflow("release.yml")["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build" and "permissions" not in jobs["build"]
    assert not [step for step in jobs["publish"]["steps"] if "run" in step]


def test_a_tag_has_to_name_the_version(tmp_path: Path) -> None:
    steps = workflow("release.yml")["jobs"]["build"]["steps"]
    (check,) = [step["run"] for step in steps if step.get("name") == "The tag names the version"]
    for tag, code in ((f"v{samedevice.__version__}", 0), ("v9.9.9", 1)):
        environment = os.environ | {"GITHUB_REF_NAME": tag}
        assert subprocess.run(["sh", "-c", check], cwd=ROOT, env=environment).returncode == code


@pytest.mark.skipif(
    not os.environ.get("SAMEDEVICE_CI_TEST"), reason="needs a network and a minute: make ci-test"
)
@pytest.mark.parametrize("tool", ["pipx", "uvx"])
def test_the_readme_installs(tool: str, tmp_path: Path) -> None:
    """What the README says after `pipx` and `uvx`, with a clone of this tree."""
    program = Path(sys.executable).parent / tool
    if not program.exists():
        pytest.skip(f"there is no {tool} here")
    (line,) = re.findall(rf"^\| `({tool} .*?)` \|", (ROOT / "README.md").read_text(), re.M)
    words = [str(program), *line.replace("PATH", str(tmp_path / "x.py")).split()[1:]]
    (tmp_path / "x.py").write_text("import torch\nx = torch.ones(2).cuda()\n")
    environment = os.environ | {
        "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "UV_TOOL_DIR": str(tmp_path / "uv"), "UV_CACHE_DIR": str(tmp_path / "cache"),
    }  # fmt: skip
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    if tool == "pipx":
        assert done.returncode == 0, done.stderr
        words = [str(tmp_path / "bin" / "samedevice"), "check", str(tmp_path / "x.py")]
        done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "[hard-coded-device]" in done.stdout
