"""A proof is about the copy: what would come from the user's own tree is led there, or told."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from samedevice.prove import commands
from samedevice.prove.lead import Lead
from samedevice.prove.prove import Proof, prove
from samedevice.prove.run import Settings, run_program

# Without torch: where modules come from is the question here, and this is quick.
QUICK = Settings(on="cpu", record=False)
MODEL = "def value():\n    return 1 + 1\n"
SAME = MODEL.replace("1 + 1", "2")
OTHER = MODEL.replace("1 + 1", "3")
MAIN = "from package.model import value\nprint(value())\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def project(folder: Path, main: str = MAIN, source: str = "lib") -> Path:
    """A package in a folder that nothing but the editable installation puts on the path."""
    return write(
        folder,
        {
            "main.py": main,
            f"{source}/package/__init__.py": "",
            f"{source}/package/model.py": MODEL,
            f"{source}/package/unused.py": "x = 1\n",
        },
    )


def proof_of(root: Path, settings: Settings = QUICK, source: str = "lib") -> tuple[Proof, Proof]:
    """Prove a change that is right, and one that is not."""
    path = f"{source}/package/model.py"
    found = [
        prove(root, {path: text.encode()}, "main.py", settings=settings) for text in (SAME, OTHER)
    ]
    return found[0], found[1]


def assert_led(right: Proof, wrong: Proof) -> None:
    told = [(one.name, one.verdict, one.detail) for one in right.checks]
    assert right.verdict == "proved", told
    assert right.checks[-1].detail == "1 of 1 changed file, 1 of 1 changed statement"
    assert wrong.verdict == "not proved"
    assert any("'2' before, '3' after" in check.detail for check in wrong.checks), wrong.checks


def environment(folder: Path, site: dict[str, str]) -> Settings:
    """A Python of its own whose site-packages have these files, and nothing else."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120
    )
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    command = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    purelib = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    write(Path(purelib), site)
    return Settings(on="cpu", record=False, python=str(python))


# What the build backends write for an editable installation, in its simplest forms.
FINDER = """
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path

MAPPING = {{"package": {package!r}}}


class Finder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        for name, place in MAPPING.items():
            if fullname == name:
                for candidate in (Path(place, "__init__.py"), Path(place + ".py")):
                    if candidate.exists():
                        return spec_from_file_location(fullname, candidate)
        return None


def install():
    sys.meta_path.append(Finder)
"""
# A namespace package, as a finder gives it: a place without a file.
NAMESPACE = FINDER.replace(
    "                for candidate",
    "                spec = ModuleSpec(fullname, None, is_package=True)\n"
    "                spec.submodule_search_locations = [place]\n"
    "                return spec\n"
    "                for candidate",
)


def test_a_path_file(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    settings = environment(tmp_path / "env", {"project.pth": f"{root / 'lib'}\n"})
    assert_led(*proof_of(root, settings))


@pytest.mark.parametrize("text", [FINDER, NAMESPACE], ids=["package", "namespace"])
def test_a_finder(tmp_path: Path, text: str) -> None:
    root = project(tmp_path / "project")
    if text is NAMESPACE:
        (root / "lib/package/__init__.py").unlink()
    site = {
        "__editable___project_finder.py": text.format(package=str(root / "lib" / "package")),
        "__editable__.project.pth": "import __editable___project_finder as f; f.install()\n",
    }
    assert_led(*proof_of(root, environment(tmp_path / "env", site)))


def test_the_environment_is_in_the_project(tmp_path: Path) -> None:
    """What is installed there is no part of the copy."""
    root = project(tmp_path / "project", "import installed\nprint(installed.x)\n" + MAIN)
    site = {"project.pth": f"{root / 'lib'}\n", "installed.py": "x = 5\n"}
    assert_led(*proof_of(root, environment(root / ".venv", site)))


def test_an_absolute_search_path(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    settings = Settings(on="cpu", record=False, env={"PYTHONPATH": str(root / "lib")})
    assert_led(*proof_of(root, settings))


def test_a_search_path_through_a_link(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    (tmp_path / "link").symlink_to(root)
    settings = Settings(on="cpu", record=False, env={"PYTHONPATH": str(tmp_path / "link" / "lib")})
    assert_led(*proof_of(root, settings))


@pytest.mark.parametrize(
    "how", ["sys.path.insert(0, {lib!r})", "sys.path[:] = [{lib!r}, *sys.path]"]
)
def test_a_program_that_puts_it_on_the_path(tmp_path: Path, how: str) -> None:
    root = tmp_path / "project"
    edit = f"import sys\n{how.format(lib=str(root / 'lib'))}\n"
    assert_led(*proof_of(project(root, edit + MAIN)))


def test_a_child_process(tmp_path: Path) -> None:
    root = tmp_path / "project"
    main = f"""
    import os, subprocess, sys
    path = os.pathsep.join([{str(root / "lib")!r}, os.environ["PYTHONPATH"]])
    program = "from package.model import value; print(value())"
    subprocess.run([sys.executable, "-c", program], env={{**os.environ, "PYTHONPATH": path}})
    """
    assert_led(*proof_of(project(root, textwrap.dedent(main))))


def test_a_forked_process(tmp_path: Path) -> None:
    root = tmp_path / "project"
    main = f"""
    import os, sys
    sys.path.append({str(root / "lib")!r})
    pid = os.fork()
    if pid == 0:
        from package.model import value
        print(value(), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    """
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    assert_led(*proof_of(project(root, textwrap.dedent(main))))


def test_a_source_folder_is_found(tmp_path: Path) -> None:
    root = project(tmp_path / "project", source="src")
    assert_led(*proof_of(root, source="src"))


def test_a_source_folder_goes_before_what_is_installed(tmp_path: Path) -> None:
    root = project(tmp_path / "project", source="src")
    site = {"package/__init__.py": "", "package/model.py": OTHER}
    assert_led(*proof_of(root, environment(tmp_path / "env", site), source="src"))


def test_a_source_folder_that_is_no_layout(tmp_path: Path) -> None:
    """Scripts in a folder of that name must not stand before modules of Python's."""
    root = write(
        tmp_path / "project",
        {"main.py": "import sys\nprint([p for p in sys.path if p.endswith('src')])\n"},
    )
    write(root, {"src/train.py": "x = 1\n"})
    proof = prove(
        root, {"main.py": (root / "main.py").read_bytes() + b"#\n"}, "main.py", settings=QUICK
    )
    assert proof.runs["after on cpu"].stdout.text == "[]\n"


# What cannot be led is told


def inconclusive(proof: Proof) -> str:
    rows = [check for check in proof.checks if check.verdict == "inconclusive"]
    assert proof.verdict == "inconclusive" and not proof.passed and len(rows) == 1, proof.checks
    assert proof.to_json()["verdict"] == "inconclusive" and proof.to_json()["passed"] is False
    return rows[0].detail


@pytest.mark.parametrize(
    "how",
    [
        "spec = importlib.util.spec_from_file_location('model', path)\n"
        "model = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(model)\n"
        "print(model.value())\n",
        "print(runpy.run_path(path)['value']())\n",
        "names = {}\nexec(open(path).read(), names)\nprint(names['value']())\n",
        "print(subprocess.run([sys.executable, path], check=True).returncode)\n",
    ],
    ids=["by its path", "run as a script", "read and executed", "another process"],
)
def test_a_module_of_the_original_tree(tmp_path: Path, how: str) -> None:
    root = tmp_path / "project"
    path = root / "lib" / "package" / "model.py"
    main = f"import importlib.util, runpy, subprocess, sys\npath = {str(path)!r}\n{how}"
    project(root, main)
    proof = prove(root, {"lib/package/model.py": OTHER.encode()}, "main.py", settings=QUICK)
    assert inconclusive(proof).startswith(f"{path} was run, not its copy")


def test_a_file_that_is_not_imported(tmp_path: Path) -> None:
    root = project(tmp_path / "project", source="src")
    proof = prove(root, {"src/package/unused.py": b"x = 2\n"}, "main.py", settings=QUICK)
    assert inconclusive(proof).startswith("0 of 1 changed file: src/package/unused.py did not run")


def test_another_installation(tmp_path: Path) -> None:
    """The package comes from a third place, which is neither side of the change."""
    root = project(tmp_path / "project")
    third = project(tmp_path / "third")
    settings = environment(tmp_path / "env", {"project.pth": f"{third / 'lib'}\n"})
    right, wrong = proof_of(root, settings)
    assert "did not run" in inconclusive(right)
    assert "did not run" in inconclusive(wrong)


def test_a_module_that_only_one_side_has(tmp_path: Path) -> None:
    """BEFORE cannot import what AFTER brings, though the editable installation has it by now."""
    root = project(tmp_path / "project", source="src")
    write(root, {"src/package/device.py": "x = 1\n"})
    old = tmp_path / "old"
    write(old, {"main.py": MAIN, "src/package/__init__.py": "", "src/package/model.py": MODEL})
    write(root, {"main.py": "from package.device import x\n" + MAIN})
    write(
        old,
        {
            "main.py": "try:\n    from package.device import x\nexcept ImportError:\n    pass\n"
            + MAIN
        },
    )
    site = {
        "finder.py": FINDER.format(package=str(root / "src" / "package")),
        "project.pth": "import finder; finder.install()\n",
    }
    proof = prove(old, root, "main.py", settings=environment(tmp_path / "env", site))
    assert proof.verdict == "proved", proof.checks


def test_files_that_the_program_reads(tmp_path: Path) -> None:
    files = {"main.py": "print(len(open('settings.json').read()))\n", "settings.json": "{}"}
    root = write(tmp_path / "project", files)
    proof = prove(root, {"settings.json": b"[]"}, "main.py", settings=QUICK)
    assert proof.verdict == "proved", proof.checks
    write(root, {"main.py": "print(2)\n"})
    proof = prove(root, {"settings.json": b"[]"}, "main.py", settings=QUICK)
    assert "settings.json did not run" in inconclusive(proof)


def test_single_files(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "print(1 + 1)\n", "b.py": "print(2)\n"})
    assert prove("a.py", "b.py", settings=QUICK, near=tmp_path).verdict == "proved"
    same = prove("a.py", "a.py", settings=QUICK, near=tmp_path)
    assert inconclusive(same) == "no file differs"


def test_an_interpreter_is_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs have another working directory."""
    monkeypatch.chdir(tmp_path)
    python = os.path.join("env", "bin", "python")
    settings = commands._settings("cpu", "cuda", 1, None, None, None, None, python)
    assert settings.python == str(tmp_path / python)
    settings = commands._settings("cpu", "cuda", 1, None, None, None, None, "python3")
    assert settings.python == "python3"


def test_a_run_alone_is_not_led(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    settings = Settings(on="cpu", record=False, env={"PYTHONPATH": str(root / "lib")})
    result = run_program("main.py", cwd=root, settings=settings)
    assert result.stdout.text == "2\n"


def test_what_is_led(tmp_path: Path) -> None:
    lead = Lead("/copy/project", "/copy/trail", {"/home/me/project": "/copy/project"})
    assert lead.to_copy("/home/me/project") == "/copy/project"
    assert lead.to_copy("/home/me/project/src/x.py") == "/copy/project/src/x.py"
    assert lead.to_copy("/home/me/project-2/x.py") is None
    assert lead.to_copy("/home/me/project/.venv/lib/site-packages/x.py") is None
    assert lead.to_copy("relative/x.py") is None and lead.to_copy("") is None
    assert lead.to_copy("/copy/project/x.py") is None
    path = os.pathsep.join(["/home/me/project/src", "", "/usr/lib"])
    assert lead.search_path(path) == os.pathsep.join(["/copy/project/src", "", "/usr/lib"])
