"""One repository, phase by phase: clone, fix, prove, commit, push, pull request.

Runs alike on every engine. What a phase finished is handed on before the next begins, so that a
killed run continues from there. No phase leaves anything half done that a second try would trip
over: a clone is private and new each time, a commit is made from fixed inputs and so always is the
same one, and a push and a pull request find what an earlier try left.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import time
import traceback
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..reading.config import ConfigError
from . import branches, reuse, trees
from . import git as git_
from .fix import Fixed, FixError, Server, fix
from .git import Git, GitError
from .owners import PLACES, owners, owners_by_expression
from .policy import Policy
from .proof import prove
from .record import FileChange, Left, Outcome, Phase, Problem, Record
from .report_data import counted
from .sandbox import Limits
from .trees import Entry

if TYPE_CHECKING:
    from .forge import Forge

from .job import Emit, Job, Stop, file_url, name_of, now, versions, workspace

LISTED = 1000
"""How many entries of a long list a record holds."""

_NEEDED = ("pyproject.toml", ".gitignore", "setup.py", "setup.cfg", *PLACES)
_REQUIREMENTS = re.compile(r"(?:.*/)?requirements[^/]*\.txt")


def perform(job: Job, emit: Emit, server: Server) -> None:
    """Work on one repository until its record has a final outcome; never raises for its faults.

    `server` is this thread's for fixes.
    """
    record = job.record
    record.started = record.started or now()
    record.host = platform.node()
    record.versions = versions()
    try:
        with workspace(job.work, name_of(record)) as place:
            attempt = _Attempt(job, place, emit, server)
            try:
                attempt.run()
                record.outcome = Outcome.MIGRATED
            except Stop as stop:
                attempt.settle(stop.outcome)
                record.outcome, record.reason = stop.outcome, stop.reason
    except (GitError, FixError, ConfigError) as error:
        record.outcome, record.error = Outcome.FAILED, str(error)
    except Exception as error:  # one repository never ends the run
        record.outcome, record.error = Outcome.FAILED, _fault(error)
    record.error = job.credentials.scrub(record.error)
    record.ended = now()
    emit(record, {})


def _fault(error: Exception) -> str:
    from .forge import ForgeError

    if isinstance(error, ForgeError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'disk'}: {error.strerror}"
    lines = "".join(traceback.format_exception(error)[-4:])
    return f"this is a fault in samedevice; please report it: {lines}"


class _Attempt:
    """The phases of one attempt. Git works in `place/git`, the fix on `place/code`."""

    def __init__(self, job: Job, place: Path, emit: Emit, server: Server) -> None:
        self._job, self._place, self._emit, self._server = job, place, emit, server
        self._record = job.record
        self._policy = job.policy
        self._git = Git(place / "git", allow=job.allow, credentials=job.credentials)
        self._checkout: Git | None = None
        self._entries: list[Entry] = []
        self._tree = ""

    def run(self) -> None:
        record = self._record
        if record.phase.number >= Phase.FIX.number and record.patch in self._job.files:
            self._go_on(self._job.files[record.patch])
        if record.phase.number < Phase.FIX.number:
            with self._phase(Phase.CLONE):
                self._clone(record.repository.ref)
            self._emit(record, {})
            with self._phase(Phase.FIX):
                files = self._fix()
            self._emit(record, files)
        if record.phase.number < Phase.PROVE.number:
            with self._phase(Phase.PROVE):
                self._prove()
            self._emit(record, {})
        self._hold()
        if record.phase.number < Phase.COMMIT.number:
            with self._phase(Phase.COMMIT):
                self._commit()
            self._emit(record, {})
        delivery = self._job.delivery
        there = record.pull_request
        if there is not None and there.state == "closed":
            self._note(
                f"its request #{there.number} was closed unmerged, and is not asked for again"
            )
            return
        if delivery.push and not record.pushed:
            with self._phase(Phase.PUSH):
                self._push()
            self._emit(record, {})
        if delivery.pull_request and record.repository.forge:
            with self._phase(Phase.PULL_REQUEST):
                self._open()

    def settle(self, outcome: Outcome) -> None:
        """Do what is right for the open request of an earlier attempt where this one makes none."""
        record = self._record
        there = record.pull_request
        if there is None or there.state != "open" or not self._job.delivery.pull_request:
            return
        if outcome is Outcome.UNCHANGED:
            record.pull_request = self._forge().close(record) or there
            record.pushed = False
            self._note(f"its request #{there.number} was closed: nothing is left to change")
        else:
            self._note(f"its request #{there.number} is of an earlier attempt, and is still open")

    @contextlib.contextmanager
    def _phase(self, phase: Phase) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
            self._record.phase = phase
        finally:
            self._record.seconds[phase.value] = round(time.monotonic() - started, 3)

    def _go_on(self, patch: bytes) -> None:
        """Continue an attempt whose fix is done; start again where that is not possible."""
        record = self._record
        self._policy = self._policy.with_own(record.own)
        base_branch = record.base_branch
        try:
            self._clone(record.base_commit)
            self._tree = trees.patched_tree(self._git, record.base_commit, patch)
            self._lay(self._job.files)
        except GitError as error:
            if record.pushed or record.phase.number >= Phase.COMMIT.number:
                raise
            record.notes.append(f"started anew: {error}")
            record.phase = Phase.PLANNED
            shutil.rmtree(self._git.folder)
        record.base_branch = base_branch

    def _clone(self, ref: str) -> None:
        record, policy = self._record, self._policy
        repository = record.repository
        if policy.skip:
            raise Stop(Outcome.SKIPPED, "the list says so")
        self._git.folder.mkdir()
        limits = Limits(
            policy.clone_seconds, policy.fix_memory << 20, policy.clone_size << 20, 1 << 20
        )
        source = repository.source
        if repository.checkout:
            self._checkout = branches.checkout(Path(source))
            changed = branches.uncommitted(self._checkout)
            if changed:
                files = "1 file is" if changed == 1 else f"{changed} files are"
                raise Stop(Outcome.SKIPPED, f"{files} not committed")
            allowed = Git(self._git.folder, allow=("file",))
            record.base_branch = git_.clone(allowed, file_url(source), ref, limits)
        else:
            git_.check_source(source, self._job.allow)
            url = file_url(source) if os.path.isabs(source) else source
            record.base_branch = git_.clone(self._git, url, ref, limits)
        record.base_commit = git_.head(self._git)
        if not record.base_commit:
            raise Stop(Outcome.SKIPPED, "it has no commits")
        self._entries = trees.tree(self._git, record.base_commit)

    def _fix(self) -> dict[str, bytes]:
        """Fix what was cloned; returns the patch, the list of changes and the map, as files."""
        record = self._record
        code = self._place / "code"
        largest = self._policy.file_size << 20
        entries = [one for one in self._entries if one.is_file and _is_needed(one.path)]
        if not any(one.path.endswith((".py", ".ipynb")) for one in entries):
            raise Stop(Outcome.SKIPPED, "it has no Python files")
        small = [one for one in entries if one.size <= largest]
        for one in entries:
            if one.size > largest:
                self._note(f"{one.path} was left out: {one.size >> 20} MiB")
        self._check_room(small)
        trees.write_files(self._git, small, code)
        (code / ".git").mkdir()  # patterns and settings above it are not the repository's
        written = {one.path for one in small}
        trees.keep_places(code, [one.path for one in self._entries if one.path not in written])
        modules = sum(one.mode == "160000" for one in self._entries)
        if modules:
            said = "1 submodule was" if modules == 1 else f"{modules:,} submodules were"
            self._note(f"{said} left alone")
        key = reuse.fix_key(self._policy, small, self._entries)
        earlier = self._job.earlier
        if earlier is not None and earlier.key == key:
            if not earlier.patch or earlier.patch in self._job.files:  # somebody may tidy up
                record.key = key
                return self._take_over(earlier)
        done = fix(self._server, code, self._policy, self._place / "answer", record.repository.name)
        record.key = key  # only now: a fix that was stopped has no result
        self._take(done)
        record.seconds["infer"] = round(done.infer_seconds, 3)
        if self._policy.skip:
            raise Stop(Outcome.SKIPPED, "its pyproject.toml says so")
        stem = f"results/{name_of(record)}/{record.attempt}"
        files = {}
        if done.map:
            record.map = f"{stem}.html"
            record.mapped = dict(list(done.mapped.items())[:LISTED])
            files[record.map] = done.map.encode("utf-8", "backslashreplace")
        if done.unmapped:
            self._note(done.unmapped)
        if not done.changed:
            record.phase = Phase.FIX
            self._emit(record, files)
            raise Stop(Outcome.UNCHANGED, _nothing(record))
        text = self._text(PLACES)
        read = owners_by_expression if record.repository.forge == "gitea" else owners
        record.owners = read(text, done.changed) if text else []
        self._tree = trees.changed_tree(self._git, record.base_commit, done.changed)
        patch = trees.patch(self._git, record.base_commit, self._tree)
        old = {one.path for one in self._entries}
        numbers = trees.lines_changed(self._git, record.base_commit, self._tree)
        record.changed = [
            FileChange(path, added, removed, path not in old)
            for path, (added, removed) in sorted(numbers.items())
        ]
        record.added = sum(change.added for change in record.changed)
        record.removed = sum(change.removed for change in record.changed)
        record.patch, record.changes = f"{stem}.patch", f"{stem}.json"
        files |= {record.patch: patch, record.changes: done.changes.encode()}
        self._lay(files)
        return files

    def _lay(self, files: Mapping[str, bytes]) -> None:
        """Write files of the batch to where they are looked for here."""
        for name, data in files.items():
            target = self._place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def _take_over(self, earlier: Record) -> dict[str, bytes]:
        """Take over what an earlier attempt at the same files found out."""
        record = self._record
        self._policy = self._policy.with_own(earlier.own)
        record.policy = self._policy.to_json()
        for name in reuse.FOUND_OUT:
            setattr(record, name, getattr(earlier, name))
        record.reused.append(Phase.FIX.value)
        if self._policy.skip:
            raise Stop(Outcome.SKIPPED, "its pyproject.toml says so")
        if not earlier.patch:
            record.phase = Phase.FIX
            raise Stop(Outcome.UNCHANGED, _nothing(record))
        self._lay(self._job.files)
        patch = self._job.files[earlier.patch]
        self._tree = trees.patched_tree(self._git, record.base_commit, patch)
        if earlier.base_commit == record.base_commit:
            record.committed = earlier.committed or earlier.started
        return {}

    def _take(self, done: Fixed) -> None:
        record = self._record
        self._policy = self._policy.with_own(done.own)
        record.own = done.own
        record.policy = self._policy.to_json()
        record.files, record.lines = done.files, done.lines
        record.found, record.fixed, record.left = done.found, done.fixed, done.left
        record.not_fixed = [Left(**one) for one in done.not_fixed[:LISTED]]
        record.problems = [Problem(**one) for one in done.problems[:LISTED]]
        for name, there in (("not_fixed", done.not_fixed), ("problems", done.problems)):
            if len(there) > LISTED:
                record.cut[name] = len(there) - LISTED

    def _prove(self) -> None:
        self._check_room(self._entries)

        def write(tree: str, folder: Path) -> None:
            left_out = trees.write_files(self._git, trees.tree(self._git, tree), folder)
            if left_out:
                self._note(f"links that lead out of it were left out: {', '.join(left_out[:5])}")

        sides = (self._record.base_commit, self._tree)
        work = self._place / "proof"
        work.mkdir()
        hidden = [Path(self._job.hidden)] if self._job.hidden else []
        record = self._record
        before = self._git.word("rev-parse", f"{record.base_commit}^{{tree}}")
        record.proof_key = reuse.proof_key(self._policy, before, self._tree)
        earlier = self._job.earlier
        if earlier is not None and reuse.proves(earlier, record.proof_key):
            record.proof = earlier.proof
            record.reused.append(Phase.PROVE.value)
            return
        record.proof = prove(self._policy, self._entries, write, sides, work, hidden)

    def _hold(self) -> None:
        """Stop here what the policy keeps back."""
        record, policy = self._record, self._policy
        proof = record.proof
        if proof is not None and proof.broken:
            raise Stop(Outcome.HELD, f"`{proof.command}` fails after the change and not before")
        if proof is not None and proof.before is not None and proof.after is not None:
            if proof.after.status == "failed" and proof.before.status in ("time", "memory", "disk"):
                why = f"fails after the change, and reached a limit ({proof.before.status}) before"
                raise Stop(Outcome.HELD, f"`{proof.command}` {why}")
        if policy.require_proof and (proof is None or not proof.passed):
            said = "it has none" if proof is None else f"`{proof.command}` shows nothing"
            raise Stop(Outcome.HELD, f"the policy asks for a proof, and {said}")
        lines = record.added + record.removed
        if policy.max_lines is not None and lines > policy.max_lines:
            most = policy.max_lines
            raise Stop(
                Outcome.HELD, f"it changes {counted(lines, 'line')}, and the policy allows {most:,}"
            )
        files = len(record.changed)
        if policy.max_files is not None and files > policy.max_files:
            most = policy.max_files
            raise Stop(
                Outcome.HELD, f"it changes {counted(files, 'file')}, and the policy allows {most:,}"
            )

    def _commit(self) -> None:
        record, policy = self._record, self._policy
        made = self._made()
        if (record.branch, record.commit) != (policy.branch, made):
            record.branch, record.commit, record.pushed = policy.branch, made, False
        if self._checkout is not None:
            branches.add_branch(self._checkout, self._git, record.branch, record.commit)

    def _made(self) -> str:
        """Return the commit of this record, which is the same each time."""
        record, policy = self._record, self._policy
        when = int(datetime.fromisoformat(record.committed or record.started).timestamp())
        text = message(record, policy)
        author = policy.author_parts
        return branches.commit(self._git, self._tree, record.base_commit, text, author, when)

    def _push(self) -> None:
        record = self._record
        if self._made() != record.commit:
            raise GitError("the commit cannot be made again; `retry` it")
        if self._checkout is None:
            source = record.repository.source
            git, url = self._git, file_url(source) if os.path.isabs(source) else source
        else:
            url = branches.origin(self._checkout)
            if not url:
                raise GitError("it has no remote called origin to push to")
            git_.check_source(url, self._job.allow)
            place = self._place / "push"
            git = branches.beside(self._checkout, place, self._job.allow, self._job.credentials)
        if self._policy.fork:
            if not record.repository.forge:
                raise GitError("fork: there is no forge to make one at")
            record.fork = self._forge().fork(record.repository.project, self._policy.fork_owner)
            fork = record.fork.source
            git_.check_source(fork, self._job.allow)
            branches.push(git, fork, record.branch, record.commit, whole=url)
        else:
            branches.push(git, url, record.branch, record.commit)
        record.pushed = True

    def _forge(self) -> Forge:
        from . import forges

        repository = self._record.repository
        name = f"SAMEDEVICE_TOKEN_{hashlib.sha256(repository.api.encode()).hexdigest()[:8].upper()}"
        token = self._job.tokens.get(f"{repository.forge} {repository.api}", "")
        if token:  # for this process alone: a proof gets another environment
            os.environ[name] = token
        return forges.connect(repository.forge, repository.api, name if token else "")

    def _open(self) -> None:
        from . import forge, report

        record, policy = self._record, self._policy
        before, there = record.pull_request, self._forge()
        request = forge.Request(
            title=policy.title,
            body=report.body(record, self._place, there.BODY),
            base=record.repository.base or record.base_branch,
            labels=policy.labels,
            reviewers=policy.reviewers,
            draft=policy.draft,
        )
        record.pull_request = there.open_or_update(record, request)
        if before is None or before.number != record.pull_request.number:
            record.asked = now()
        record.waits = ""

    def _check_room(self, entries: list[Entry]) -> None:
        """Refuse files that are small in a pack and large on the disk."""
        size = sum(one.size for one in entries)
        if size > self._policy.clone_size << 20:
            raise GitError(f"its files are {size >> 20:,} MiB, more than clone-size allows")

    def _text(self, paths: tuple[str, ...]) -> str:
        """Return the first of these files that there is."""
        for path in paths:
            for one in self._entries:
                if one.path == path and one.is_file and one.size <= 1 << 20:
                    return next(trees.blobs(self._git, [one]))[1].decode("utf-8", "replace")
        return ""

    def _note(self, text: str) -> None:
        if text not in self._record.notes and len(self._record.notes) < LISTED:
            self._record.notes.append(text)


def _is_needed(path: str) -> bool:
    return (
        path.endswith((".py", ".ipynb"))
        or path in _NEEDED
        or path.rpartition("/")[2] in ("pyproject.toml", ".gitignore")
        or bool(_REQUIREMENTS.fullmatch(path))
    )


def _nothing(record: Record) -> str:
    left = sum(record.left.values())
    if left:
        said = "1 finding, which" if left == 1 else f"{left:,} findings, none of which"
        return f"{said} could {'not ' * (left == 1)}be fixed: see why"
    return "nothing to change"


def message(record: Record, policy: Policy) -> str:
    """Return the message of a record's commit."""
    fixes = [f"- {count} {rule}" for rule, count in record.fixed.items()]
    text = policy.message.format(
        title=policy.title,
        name=record.repository.name,
        version=__version__,
        changes="\n".join(fixes),
        files=len(record.changed),
        added=record.added,
        removed=record.removed,
        proof=f"`{record.proof.command}` passes" if record.proof and record.proof.passed else "",
    ).strip()
    name, mail = policy.author_parts
    trailers = [f"Signed-off-by: {name} <{mail}>"] if policy.sign_off else []
    trailers.append(f"{branches.TRAILER} {__version__}")
    return text + "\n\n" + "\n".join(trailers) + "\n"
