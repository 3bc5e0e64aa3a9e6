"""No setting of a repository makes git run a program, whichever command of ours asks git.

The settings are those that `git help --config` lists, so that a newer git is tried with its own.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from samedevice.batch import branches, policy, trees
from samedevice.batch import git as git_
from samedevice.batch.git import Git, GitError
from samedevice.batch.sandbox import Limits
from samedevice.outside import git as outside
from samedevice.outside import programs
from samedevice.prove import workspace

from .hostile import CODE, Trap, environment, run, samedevice

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
    pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts"),
]
BRANCH = policy.BRANCH
LIMITS = Limits(60, 1 << 30, 1 << 28, 1 << 20)

#: Settings that only work with others of a certain value.
_COMPANIONS = {
    "log.showSignature": "true",
    "commit.gpgSign": "true",
    "filter.evil.required": "true",
    "diff.evil.binary": "false",
    "protocol.ext.allow": "always",
    "protocol.allow": "always",
    "core.untrackedCache": "keep",
    "submodule.recurse": "true",
    "pager.status": "true",
    "remote.evil.promisor": "true",
    "extensions.partialClone": "evil",
    "gpg.format": "openpgp",
    "gc.auto": "1",
    "fetch.recurseSubmodules": "true",
}
#: How the names of settings end that could name a program, or a file that does.
_PROGRAMS = re.compile(
    r"alias\..*|pager\..*|.*(command|cmd|helper|driver|(?<!cache)textconv|external|editor|pager|proxy|hook"
    r"|askpass|program|pack|clean|smudge|process|fsmonitor|hookspath|tool\.path|man.*\.path|viewer"
    r"|templatedir|browser|update|insteadOf|url|vcs|tunnel|tool|httpd|smtpserver|diffFilter"
    r"|attributesfile|excludesfile|commands|exec|showSignature|gpgSign|modulePath|instaweb\..*)",
    re.IGNORECASE,
)
#: Those that `git help --config` hides behind a star, or that newer versions have.
_MORE = [
    "filter.evil.process", "credential.https://evil.helper", "gpg.x509.program", "gpg.ssh.program",
    "hook.evil.command", "hook.evil.event", "trailer.evil.cmd", "trailer.evil.command",
    "tar.evil.command", "lfs.customtransfer.evil.path", "sendemail.evil.tocmd",
]  # fmt: skip
_HOOKS = "post-checkout post-index-change pre-commit reference-transaction pre-push post-commit " \
    "fsmonitor-watchman pre-receive update post-update pre-auto-gc"  # fmt: skip


def plain(folder: Path, *words: str, data: bytes = b"") -> bytes:
    """Run git as a user would, with what the repository says."""
    who = {f"GIT_{role}_{key}": "a" for role in ("AUTHOR", "COMMITTER")
           for key in ("NAME", "EMAIL")}  # fmt: skip
    env = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", *words], cwd=folder, env=env, input=data, capture_output=True, timeout=60
    ).stdout


def settings() -> list[str]:
    """Return every setting of git that could name a program, a name of ours in its free parts."""
    told = subprocess.run(["git", "help", "--config"], capture_output=True, text=True).stdout
    names = [line for line in told.split("\n") if "." in line and " " not in line]
    free = re.compile(r"<[^>]*>|\*")
    found = {free.sub("evil", name) for name in names if _PROGRAMS.fullmatch(name)}
    others = ("advice.", "color.", "fsck.", "receive.")
    found = {name for name in found if not name.startswith(others)}
    assert len(found) > 70
    return sorted(found.union(_MORE) - set(_COMPANIONS))


def commit(folder: Path) -> str:
    """Return a commit that seems to be signed; its message is one of ours."""
    tree = plain(folder, "write-tree").decode().strip()
    head = plain(folder, "rev-parse", "HEAD").decode().strip()
    text = (
        f"tree {tree}\nparent {head}\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----\n\n"
        f"a\n\n{branches.TRAILER} 1\n"
    )
    made = plain(folder, "hash-object", "-t", "commit", "-w", "--stdin", data=text.encode())
    return made.decode().strip()


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path / "sprung")


@pytest.fixture
def repository(tmp_path: Path, trap: Trap) -> Path:
    """A checkout with two commits; its settings and hooks spring the trap."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.py").write_text(CODE)
    (folder / ".gitattributes").write_text("* filter=evil diff=evil merge=evil text\n")
    plain(folder, "init", "-q", "-b", "main")
    plain(folder, "add", "-A")
    plain(folder, "commit", "-q", "-m", "one")
    plain(folder, "update-ref", f"refs/heads/{BRANCH}", commit(folder))
    git_dir = folder / ".git"
    for name in _HOOKS.split():
        trap.script(git_dir / "hooks" / name, f"hook:{name}")
    return folder


def write_settings(folder: Path, trap: Trap, names: list[str]) -> None:
    """Give the checkout these settings, each with a program of its own as its value."""
    lines = []
    for name in names:
        script = trap.script(folder / ".git" / f"evil-{name.replace('/', '-')}", name)
        lines.append(_setting(name, str(script)))
    lines += [_setting(name, value) for name, value in _COMPANIONS.items()]
    (folder / ".git" / "more").write_text("".join(lines))
    with open(folder / ".git" / "config", "a") as file:
        file.write("[include]\n\tpath = more\n")


def _setting(name: str, value: str) -> str:
    section, _, rest = name.partition(".")
    middle, _, key = rest.rpartition(".")
    head = f'[{section} "{middle}"]' if middle else f"[{section}]"
    return f'{head}\n\t{key} = "{value}"\n'


def everything(folder: Path, place: Path) -> None:
    """Ask git all that is asked of it anywhere in the package."""
    place.mkdir()
    (folder / "main.py").touch()  # git has to look at it again
    here = branches.checkout(folder)
    branches.uncommitted(here)
    head = git_.head(here)
    for name in ("clone", "other"):
        (place / name).mkdir()
    private = Git(place / "clone", allow=("file",))
    git_.clone(private, folder.as_uri(), "", LIMITS)
    git_.clone(Git(place / "other", allow=("file",)), folder.as_uri(), head, LIMITS)
    entries = trees.tree(private, head)
    trees.write_files(private, entries, place / "files")
    changed = trees.changed_tree(private, head, {"main.py": b"x = 1\n"})
    patch = trees.patch(private, head, changed)
    assert trees.patched_tree(private, head, patch) == changed
    trees.lines_changed(private, head, changed)
    made = branches.commit(
        private, changed, head, "a\n\nMigrated-by: samedevice 1", ("a", "a@b"), 0
    )
    assert branches.is_ours(here, f"refs/heads/{BRANCH}")
    branches.add_branch(here, private, BRANCH, made)
    assert branches.tip(here, BRANCH) == made
    branches.origin(here)
    beside = branches.beside(here, place / "beside", ("file",), git_.NO_CREDENTIALS)
    target = place / "target"
    target.mkdir()
    Git(target)("init", "--quiet", "--bare", "--template=", ".")
    branches.push(beside, target.as_uri(), BRANCH, made)
    branches.push(beside, target.as_uri(), BRANCH, made)
    branches.unpush(beside, target.as_uri(), BRANCH, made)
    assert branches.drop_branch(here, BRANCH, made)
    found = workspace.find("HEAD", folder)
    workspace.copy(found, place / "revision")
    assert (place / "revision" / "main.py").read_text() == CODE
    assert outside.ask(folder, "rev-parse", "--is-inside-work-tree") == "true"


def test_the_trap_works(repository: Path, trap: Trap) -> None:
    """The user's own git runs many of them."""
    write_settings(repository, trap, settings())
    (repository / "main.py").touch()
    for words in (["status"], ["log", "-1", "-p", BRANCH], ["commit", "--allow-empty", "-m", "a"],
                  ["diff", "HEAD"], ["fetch", "ssh://nowhere/x"], ["checkout", "."]):  # fmt: skip
        plain(repository, *words)
    assert {"core.fsmonitor", "gpg.program", "filter.evil.process"} <= set(trap.sprung())


def test_no_setting_runs_a_program(repository: Path, trap: Trap, tmp_path: Path) -> None:
    write_settings(repository, trap, settings())
    trap.sprung()
    everything(repository, tmp_path / "place")
    assert trap.sprung() == []


@pytest.mark.parametrize("setting", [
    "core.worktree=../elsewhere",
    "extensions.partialClone=evil",
    "remote.evil.url=ext::sh -c {trap}",
    "url.ext::{trap} .insteadOf=file://",
    "url.{trap}.pushInsteadOf=file://",
    "alias.status=!{trap}",
    "core.fsmonitor=true",
    "includeIf.gitdir:/.path=more",
])  # fmt: skip
def test_settings_of_places(setting: str, repository: Path, trap: Trap, tmp_path: Path) -> None:
    script = trap.script(repository / ".git" / "evil", "evil")
    (tmp_path / "elsewhere").mkdir()
    name, _, value = setting.format(trap=script).partition("=")
    more = [_setting(name, value), *(_setting(*one) for one in _COMPANIONS.items())]
    more.append(_setting("remote.evil.uploadpack", str(script)))
    with open(repository / ".git" / "config", "a") as file:
        file.write("".join(more))
    trap.sprung()
    with contextlib.suppress(GitError):  # it may refuse
        everything(repository, tmp_path / "place")
    assert trap.sprung() == []


def test_commands(repository: Path, trap: Trap, tmp_path: Path) -> None:
    """The commands themselves, in the repository and with it."""
    write_settings(repository, trap, settings())
    trap.sprung()
    env = environment(tmp_path / "home", GITHUB_TOKEN="")
    batch = tmp_path / "batch"
    for words in (
        ["check", "."],
        ["fix", "--diff", "."],
        ["batch", "run", ".", "--folder", str(batch)],
        ["batch", "status", "--folder", str(batch)],
        ["batch", "report", "--folder", str(batch)],
        ["batch", "rollback", "--yes", "--folder", str(batch)],
    ):
        done = run(samedevice(*words), repository, env)
        assert done.returncode in (0, 1), (words, done.stderr)
        assert trap.sprung() == [], words
    assert "1 migrated" in (batch / "report.md").read_text()


def test_credentials_are_not_asked_of_the_working_directory(
    repository: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = f"!{trap.shell('helper')}; echo password=stolen"
    plain(repository, "config", "credential.helper", helper)
    plain(repository, "config", "user.name", "Mallory")
    monkeypatch.chdir(repository)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    from samedevice.batch import forges

    plain(repository, "credential", "fill", data=b"protocol=https\nhost=example.org\n\n")
    assert trap.sprung() == ["helper"]
    assert forges.token("gitlab", "https://example.org") == ""
    assert "Mallory" not in policy.users_author()
    assert trap.sprung() == []


def test_a_program_of_the_working_directory_is_not_git(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap.script(tmp_path / "git", "git")
    trap.script(tmp_path / "bwrap", "bwrap")
    monkeypatch.chdir(tmp_path)
    entries = ["", ".", str(tmp_path), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(entries))
    assert shutil.which("git") != programs.find("git") != ""
    Git(tmp_path)("version")
    outside.ask_user("version")
    assert trap.sprung() == []


def test_every_program_is_started_from_known_places() -> None:
    """A new call of subprocess has to be thought about: it is listed here."""
    package = Path(outside.__file__).parents[1]
    starts = {"subprocess", "multiprocessing", "webbrowser", "pickle", "runpy", "marshal", "pty",
              "os.exec", "os.spawn", "os.system", "os.popen", "os.fork", "eval", "exec",
              "asyncio.create_subprocess", "__import__"}  # fmt: skip
    found = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
            elif isinstance(node, ast.Call):
                names = [ast.unparse(node.func)]
            if any(name.startswith(start) if "." in start else name == start
                   for name in names for start in starts):  # fmt: skip
                found.add(path.relative_to(package).as_posix())
    assert found == {
        "outside/git.py", "outside/worker.py",  # here
        "batch/git.py", "batch/fix.py", "batch/fix_server.py",  # with what is given here
        "batch/sandbox.py", "batch/guard.py",  # the proof of a batch, shut in
        "prove/process.py", "prove/child.py",  # the user's program, on purpose
        "prove/virtual/compiled.py",  # the compiler, for kernels of our own
        "prove/virtual/sharing.py",  # tensors between processes of the user's program
        "prove/pickles.py",  # reads pickles with classes of its own in place of theirs
        "cli/installation.py", "map/commands.py",  # torch, a browser: programs of the user's
    }, sys.version  # fmt: skip
