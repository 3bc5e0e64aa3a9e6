"""Git repositories to migrate: ordinary ones, and ones that mean harm.

Each of `HOSTILE` makes a checkout in a folder. It tries to touch `trap`, a path outside of it, or
to take the run down; what the run has to say of it is returned.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

FIXABLE = """\
import torch

model = torch.nn.Linear(2, 2).cuda()
x = torch.ones(2)
print(model(x).sum().item())
"""

HANG = "import time\n\n\ndef test_it():\n    time.sleep(600)\n"
PASSES = "def test_it():\n    assert True\n"

IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}


def git(folder: Path, *arguments: str, data: bytes = b"") -> str:
    """Run git as its user would, without settings of the machine."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **IDENTITY}, input=data,
        capture_output=True, check=True,
    )  # fmt: skip
    return os.fsdecode(done.stdout).strip()


def make(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a checkout with one commit of these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    git(folder, "init", "--quiet", "-b", "main")
    commit(folder)
    return folder


def commit(folder: Path, message: str = "a state") -> str:
    """Commit everything; return the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def copy(folder: Path, program: Path) -> Path:
    """Make a checkout of a fixture: a file or a folder."""
    if program.is_dir():
        shutil.copytree(program, folder)
    else:
        folder.mkdir(parents=True)
        shutil.copy(program, folder / "main.py")
    git(folder, "init", "--quiet", "-b", "main")
    commit(folder)
    return folder


def _script(path: Path, trap: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {path.name} >> '{trap}'\ncat\n")
    path.chmod(0o755)


def hooks(folder: Path, trap: Path) -> str:
    """Every hook that git knows."""
    make(folder, {"main.py": FIXABLE})
    for name in [
        "applypatch-msg",
        "fsmonitor-watchman",
        "post-applypatch",
        "post-checkout",
        "post-commit",
        "post-index-change",
        "post-merge",
        "post-receive",
        "post-rewrite",
        "post-update",
        "pre-applypatch",
        "pre-auto-gc",
        "pre-commit",
        "pre-push",
        "pre-receive",
        "pre-rebase",
        "prepare-commit-msg",
        "proc-receive",
        "push-to-checkout",
        "reference-transaction",
        "sendemail-validate",
        "update",
    ]:
        _script(folder / ".git" / "hooks" / name, trap)
    return "migrated"


def programs_in_its_settings(folder: Path, trap: Path) -> str:
    """Settings of git that name programs, and attributes that ask for them."""
    attributes = "*.py filter=evil diff=evil merge=evil text eol=crlf working-tree-encoding=UTF-8\n"
    make(folder, {"main.py": FIXABLE, ".gitattributes": attributes})
    script = folder / ".git" / "evil"
    _script(script, trap)
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.gitProxy",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "merge.evil.driver",
        "credential.helper",
        "gpg.program",
        "sequence.editor",
        "uploadpack.packObjectsHook",
    ]:
        git(folder, "config", key, str(script))
    for key, value in (
        ("core.hooksPath", str(folder / ".git")),
        ("filter.evil.required", "true"),
        ("commit.gpgSign", "true"),
        ("url.ext::sh -c evil.insteadOf", "file://"),
    ):
        git(folder, "config", key, value)
    (folder / "main.py").touch()  # git has to look at it again
    return "migrated"


def links_out(folder: Path, trap: Path) -> str:
    """Links to the outside where the fix would read, and where it would write its resolver."""
    outside = trap.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret.py").write_text(FIXABLE)
    folder.mkdir(parents=True)
    (folder / "device.py").symlink_to(outside / "new_device.py")
    (folder / "secret.py").symlink_to(outside / "secret.py")
    (folder / "package").symlink_to(outside)
    (folder / "up").symlink_to("../..")
    make(folder, {"main.py": "import other\n" + FIXABLE, "other.py": FIXABLE})
    return "unchanged"


def huge_files(folder: Path, trap: Path) -> str:
    """Files that are small in a pack and large on the disk."""
    zeros = b"\0" * (120 << 20)
    make(folder, {"main.py": FIXABLE, "data.bin": zeros, "huge.py": b"x = 1\n" * (18 << 20)})
    return "migrated"


def submodules(folder: Path, trap: Path) -> str:
    """A submodule whose address is a command."""
    url = f"ext::sh -c 'touch {trap}'"
    make(folder, {
        "main.py": FIXABLE,
        ".gitmodules": f'[submodule "lib"]\n\tpath = lib\n\turl = {url}\n\tupdate = checkout\n',
    })  # fmt: skip
    head = git(folder, "rev-parse", "HEAD")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{head},lib")
    git(folder, "commit", "--quiet", "-m", "a submodule")
    git(folder, "config", "submodule.lib.url", url)
    git(folder, "config", "submodule.recurse", "true")
    (folder / "lib").mkdir()
    return "migrated"


def hanging_proof(folder: Path, trap: Path) -> str:
    """Tests that never end, before the change and after it."""
    make(folder, {"main.py": FIXABLE, "test_it.py": HANG})
    return "migrated"


def proof_that_eats_memory(folder: Path, trap: Path) -> str:
    """Tests that take all memory, in many processes."""
    code = """\
        import os


        def test_it():
            for _ in range(4):
                os.fork()
            x = []
            while True:
                x.append(bytearray(1 << 20))
        """
    make(folder, {"main.py": FIXABLE, "test_it.py": textwrap.dedent(code)})
    return "migrated"


def proof_that_reaches_out(folder: Path, trap: Path) -> str:
    """Tests that write outside, call the network, and leave a process behind."""
    code = f"""\
        import contextlib
        import os
        import socket
        import subprocess
        import sys

        TRAP = {str(trap)!r}


        def test_it():
            with contextlib.suppress(OSError):
                open(TRAP, "w").write("written by a proof")
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", 22), 1)
                open(TRAP, "w").write("a proof reached the network")
            late = f"import time; time.sleep(3); open({{TRAP!r}}, 'w').write('left behind')"
            subprocess.Popen([sys.executable, "-c", late], start_new_session=True)
            assert not [name for name in os.environ if "TOKEN" in name]
        """
    make(folder, {"main.py": FIXABLE, "test_it.py": textwrap.dedent(code)})
    return "migrated"


def proof_that_fills_the_disk(folder: Path, trap: Path) -> str:
    """Tests that write without end."""
    code = """\
        def test_it():
            for number in range(10**6):
                with open(f"file{number}", "wb") as file:
                    file.write(b"x" * (1 << 22))
        """
    make(folder, {"main.py": FIXABLE, "test_it.py": textwrap.dedent(code)})
    return "migrated"


def broken_by_its_tests(folder: Path, trap: Path) -> str:
    """Tests that hold exactly as long as nothing is changed."""
    code = f"def test_it():\n    assert open('main.py').read() == {FIXABLE!r}\n"
    make(folder, {"main.py": FIXABLE, "test_it.py": code})
    return "held"


def bad_encoding(folder: Path, trap: Path) -> str:
    """Files that are no text, beside one that is."""
    make(folder, {
        "main.py": FIXABLE,
        "latin.py": b"name = '\xe9\xff'\n",
        "binary.py": bytes(range(256)),
        "wrong.py": b"# -*- coding: nonsense -*-\nimport torch\n",
    })  # fmt: skip
    return "migrated"


def uncommitted(folder: Path, trap: Path) -> str:
    """A change that is not committed."""
    make(folder, {"main.py": FIXABLE})
    with open(folder / "main.py", "a") as file:
        file.write("# work in progress\n")
    return "skipped"


def no_python(folder: Path, trap: Path) -> str:
    """Another language."""
    make(folder, {"main.c": "int main(void) { return 0; }\n"})
    return "skipped"


def empty(folder: Path, trap: Path) -> str:
    """No commit at all."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    return "skipped"


def syntax_errors(folder: Path, trap: Path) -> str:
    """Code that is none, and code that is nested too deeply."""
    make(folder, {
        "broken.py": "import torch\n\ndef f(:\n",
        "deep.py": "x = " + "(" * 5000 + ")" * 5000 + "\n",
        "operators.py": "import torch\nx = " + "-" * 50000 + "1\n",
    })  # fmt: skip
    return "unchanged"


def paths_that_lead_out(folder: Path, trap: Path) -> str:
    """A tree with a path that no git would have written."""
    make(folder, {"main.py": FIXABLE})
    blob = git(folder, "hash-object", "-w", "--stdin", data=b"x = 1\n")
    name = b"../" + os.fsencode(trap.name)
    tree = b"100644 " + name + b"\0" + bytes.fromhex(blob)
    made = git(folder, "hash-object", "-t", "tree", "--literally", "-w", "--stdin", data=tree)
    head = git(folder, "commit-tree", made, "-m", "a path that leads out")
    git(folder, "update-ref", "refs/heads/other", head)
    git(folder, "symbolic-ref", "HEAD", "refs/heads/other")
    os.rename(folder / ".git", folder.with_name("bare"))  # or it would count as changed
    shutil.rmtree(folder)
    os.rename(folder.with_name("bare"), folder)
    git(folder, "config", "core.bare", "true")
    return "failed"


def settings_that_are_wrong(folder: Path, trap: Path) -> str:
    """Its own settings cannot be used."""
    make(folder, {"main.py": FIXABLE, "pyproject.toml": "[tool.samedevice]\nselect = 3\n"})
    return "failed"


def settings_that_reach_out(folder: Path, trap: Path) -> str:
    """Its own settings ask for what only the operator may set."""
    table = f'[tool.samedevice.batch]\npython = "{trap}"\nnetwork = true\n'
    make(folder, {"main.py": FIXABLE, "pyproject.toml": table})
    return "failed"


def opted_out(folder: Path, trap: Path) -> str:
    """Its own settings say that it is to be left out."""
    table = "[tool.samedevice.batch]\nskip = true\n"
    make(folder, {"main.py": FIXABLE, "pyproject.toml": table})
    return "skipped"


def names(folder: Path, trap: Path) -> str:
    """Names that a shell, a terminal or a table could trip over."""
    odd = folder.with_name(f"{folder.name} $(touch trap)\n[red]é\x1b[31m;'\"--upload-pack=x")
    make(odd, {
        "--main.py": FIXABLE,
        "a file\nof two lines.py": FIXABLE,
        "$(touch trap).py": FIXABLE,
        os.fsdecode(b"latin\xe9.py"): FIXABLE,
    })  # fmt: skip
    return "migrated"


HOSTILE: dict[str, Callable[[Path, Path], str]] = {
    function.__name__: function
    for function in (
        hooks, programs_in_its_settings, links_out, huge_files, submodules, hanging_proof,
        proof_that_eats_memory, proof_that_reaches_out, proof_that_fills_the_disk,
        broken_by_its_tests, bad_encoding, uncommitted, no_python, empty, syntax_errors,
        paths_that_lead_out, settings_that_are_wrong, settings_that_reach_out, opted_out, names,
    )
}  # fmt: skip
