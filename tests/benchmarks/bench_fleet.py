"""A whole campaign at a forge, shown step by step: `python -m tests.benchmarks.bench_fleet FOLDER`.

Makes --count repositories (fixtures of this project) in FOLDER, serves them as a forge of --forge's
kind on this machine, with real git behind it, and then does what a person with a fleet does: asks
for all, is killed in the middle and goes on, looks, has targets move, makes anew, merges, closes,
runs again with another policy. After each step it compares what is there with what has to be there.

Prints Markdown, and ends with exit code 1 where something is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ..batch.forge_server import TOKEN, Forge, served
from ..batch.repositories import commit, git, make

FIXTURES = Path(__file__).parents[2] / "fixtures"
BRANCH = "samedevice/one-device"


class Campaign:
    """A batch in `folder / "batch"` against the repositories of `there`."""

    def __init__(self, folder: Path, there: Forge, kind: str) -> None:
        self.folder, self.there, self.kind = folder, there, kind
        self.wrong = 0

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command of `samedevice batch`."""
        environment = {**os.environ, "FLEET_TOKEN": TOKEN, "OMP_NUM_THREADS": "1"}
        environment["AZURE_DEVOPS_CACHE_DIR"] = str(self.folder / "cache")
        command = [sys.executable, "-m", "samedevice", "batch", *words]
        return subprocess.Popen(
            [*command, "--folder", str(self.folder / "batch")],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, *words: str) -> str:
        """Run a command, print it with what it said and how long it took, and return that."""
        before = os.times()
        started = time.monotonic()
        said = self.start(*words).communicate()[0]
        spent = os.times()
        cpu = spent.children_user + spent.children_system
        cpu -= before.children_user + before.children_system
        shown = [line for line in said.strip().splitlines() if not line.startswith("report: ")]
        tail = shown if len(shown) <= 6 else ["...", *shown[-5:]]
        told = "\n".join(tail).replace(str(self.folder), "FOLDER")
        shown_words = " ".join(words).replace(str(self.folder), "FOLDER")
        print(f"\n```text\n$ samedevice batch {shown_words}\n{told}\n```")
        print(f"\n{time.monotonic() - started:.1f} s, {cpu:.1f} s of processor time")
        return said

    def records(self) -> list[dict[str, Any]]:
        """Return the latest records."""
        told = self.start("records").communicate()[0]
        return [json.loads(line) for line in told.splitlines()]

    def check(self, what: str, seen: object, wanted: object) -> None:
        """Print a row of what was seen and what has to be."""
        right = seen == wanted
        self.wrong += not right
        print(f"| {what} | {seen} | {'yes' if right else f'**no: {wanted}**'} |")

    def moves(self, name: str, path: str, text: str) -> None:
        """Have somebody push a file to a repository's default branch."""
        here, there = self.folder / "people" / name, self.folder / f"root/acme/{name}.git"
        git(here, "fetch", "-q", str(there), "main")
        git(here, "checkout", "-q", "FETCH_HEAD")
        (here / path).write_text(text)
        commit(here, "somebody's")
        git(here, "push", "-q", str(there), "HEAD:refs/heads/main")


def head(title: str) -> None:
    print(f"\n### {title}")


def table() -> None:
    print("\n| what | seen | as it should be |\n| --- | --- | --- |")


def repositories(folder: Path, count: int) -> None:
    """Make the repositories: half of two teams, the others without code owners."""
    programs = sorted(FIXTURES.glob("rules/*/*/before.py"))[:count]
    for number, program in enumerate(programs):
        name = f"r{number:03}"
        files = {"train.py": program.read_text(), "README": f"{name}\n"}
        if number % 2:
            files["CODEOWNERS"] = f"*.py @acme/{'vision' if number % 4 == 1 else 'audio'}\n"
        make(folder / "people" / name, files)
        (folder / "root/acme").mkdir(parents=True, exist_ok=True)
        git(folder, "clone", "-q", "--bare", f"people/{name}", f"root/acme/{name}.git")


def play(one: Campaign, count: int) -> None:
    """Do it all."""
    there = one.there
    where = (f"{one.kind}:acme", "--api", there.url, "--token-env", "FLEET_TOKEN")

    head("A dry run, and once more")
    one.run("run", *where, "--allow", "http", "-j", "2")
    before = {r["repository"]["name"]: r["commit"] for r in one.records()}
    one.run("again")
    table()
    after = {r["repository"]["name"]: r["commit"] for r in one.records()}
    one.check("other commits than before", sum(before[n] != after[n] for n in before), 0)
    one.check("fixes taken over", sum("fix" in r["reused"] for r in one.records()), count)

    head("Delivered, and killed in between")
    migrated = [r for r in one.records() if r["outcome"] == "migrated"]
    delivering = one.start("resume", "--pull-request")
    while len(there.requests) < len(migrated) // 3 and delivering.poll() is None:
        time.sleep(0.05)
    delivering.send_signal(signal.SIGKILL)
    delivering.communicate()
    killed_at = len(there.requests)
    one.run("resume", "--pull-request")
    print(f"\nKilled with {killed_at} of {len(migrated)} requests open.")
    table()
    one.check("requests", len(there.requests), len(migrated))
    projects = Counter(request.project for request in there.requests)
    one.check("repositories with two", sum(n > 1 for n in projects.values()), 0)
    made = {r["repository"]["name"]: r["commit"] for r in one.records() if r["commit"]}
    unlike = sum(there.branches[name].get(BRANCH) != made[name] for name in projects)
    one.check("branches that are not what the record says", unlike, 0)

    head("How they stand")
    third = len(there.requests) // 3
    for request in there.requests[:third]:
        request.checks = {"ci/tests": "passed"}
        request.reviews = {"ann": "approved"}
    for request in there.requests[third : third + 3]:
        request.checks = {"ci/tests": "failed"}
    moved = [request.project.partition("/")[2] for request in there.requests[-4:]]
    for name in moved:
        text = (one.folder / "people" / name / "train.py").read_text()
        one.moves(name, "train.py", re.sub(r"(?m)\)$", ")  # theirs", text))  # lines of ours, too
    one.run("requests")
    told = Counter(r["pull_request"]["merge"] for r in one.records() if r["pull_request"])
    table()
    one.check("with conflicts", told["conflicts"], len(moved))

    head("Made anew where the target moved")
    one.run("update")
    one.run("requests")
    told = Counter(r["pull_request"]["merge"] for r in one.records() if r["pull_request"])
    table()
    one.check("with conflicts", told["conflicts"], 0)
    one.check("requests in all", len(there.requests), len(migrated))
    parents = sum(
        git(one.folder / f"root/acme/{name}.git", "rev-parse", f"{BRANCH}^")
        != git(one.folder / f"root/acme/{name}.git", "rev-parse", "main")
        for name in moved
        if BRANCH in there.branches[f"acme/{name}"]
    )
    one.check("of those that moved, not on top of their target", parents, 0)

    head("Merged and closed")
    one.run("merge", "--yes")
    states = Counter(request.state for request in there.requests)
    table()
    one.check("still open", states["open"], 3)
    one.run("close", "--yes")
    states = Counter(request.state for request in there.requests)
    table()
    one.check("open", states["open"], 0)
    one.check("closed", states["closed"], 3)
    left = [n for n, b in there.branches.items() if BRANCH in b and _state(there, n) == "closed"]
    one.check("branches left of what was closed", len(left), 0)

    head("Run again, with another policy")
    policy = one.folder / "policy.toml"
    policy.write_text('title = "Another title"\n[rollout]\nopen-per-team = 1\n')
    one.run("again", "--policy", str(policy))
    again = one.records()
    reused = sum("fix" in r["reused"] for r in again)
    unmoved = sum(_state(there, r["repository"]["name"]) != "merged" for r in again)
    table()
    one.check("fixes taken over: where nothing was merged", reused, unmoved)
    one.check("new requests for what was closed", len(there.requests) - len(migrated), 0)
    one.check("records", len(again), count)


def _state(there: Forge, project: str) -> str:
    found = there.of(project, BRANCH)
    return found[0].state if found else ""


def main() -> int:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--forge", default="gitlab")
    asked = parser.parse_args()
    repositories(asked.folder, asked.count)
    with served(asked.forge) as there:
        there.serve(asked.folder / "root")
        one = Campaign(asked.folder, there, asked.forge)
        play(one, asked.count)
    return 1 if one.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
