"""What `samedevice batch` promises, shown on a made-up platform: `python bench_batch.py FOLDER`.

Makes 200 repositories in FOLDER (fixtures of this project as ordinary ones, and the hostile ones of
tests/batch), and then

- `kill`: migrates them in one run that is killed (SIGKILL) three times at random and resumed, and
  compares what is there with what has to be there;
- `speed`: migrates the ordinary ones with one process at a time and with two, in turns;
- `ray`: migrates them on a Ray cluster of two nodes on this machine, against the pool;
- `real`: migrates the bare repositories of a folder that is named with --real.

Prints Markdown; --only picks some of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "batch"))

import repositories as made  # noqa: E402  # a module of the tests, which are no package

FIXTURES = HERE.parents[1] / "fixtures"
POLICY = """\
proof = "auto"
proof-seconds = 20
proof-memory = 400
proof-disk = 200
file-size = 50
"""


def make(folder: Path, count: int) -> dict[str, str]:
    """Make the repositories; return the outcome that each of the hostile ones has to have."""
    root, trap = folder / "repositories", folder / "outside" / "trap"
    trap.parent.mkdir(parents=True)
    root.mkdir()
    expected = {}
    for name, hostile in made.HOSTILE.items():
        before = set(os.listdir(root))
        outcome = hostile(root / f"hostile-{name}", trap)
        (new,) = set(os.listdir(root)) - before
        expected[new] = outcome
    programs = [*FIXTURES.glob("projects/*/before"), *FIXTURES.glob("projects/*/keep")]
    programs += [*FIXTURES.glob("rules/*/*/before.py"), *FIXTURES.glob("rules/*/*/keep.py")]
    for number, program in enumerate(sorted(programs)[: count - len(expected)]):
        made.copy(root / f"{number:03}-{program.parent.name}", program)
    return expected


def batch(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start samedevice."""
    command = [sys.executable, "-m", "samedevice", "batch", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **options)


def finished(folder: Path) -> dict[str, str]:
    """Return the final records of a batch as they are now, as text by name."""
    try:
        with sqlite3.connect(f"file:{folder}/batch.sqlite?mode=ro", uri=True, timeout=10) as there:
            rows = there.execute(
                "SELECT name, record FROM attempt JOIN repository ON repository.id = repository "
                "WHERE outcome != 'running'"
            ).fetchall()
    except sqlite3.OperationalError:
        return {}
    return dict(rows)


def kill(folder: Path, expected: dict[str, str], seed: int) -> None:
    """Migrate everything, killed three times, and say whether all is as it should be."""
    chance = random.Random(seed)
    root, state = folder / "repositories", folder / "batch"
    heads = {path.name: head(path) for path in root.iterdir()}
    (folder / "policy.toml").write_text(POLICY)
    moments = sorted(chance.sample(range(10, len(heads) - 10), 3))
    lost: list[str] = []
    told: list[str] = []
    before: dict[str, str] = {}
    started = time.monotonic()
    for step, moment in enumerate([*moments, None]):
        words = ["resume", "--folder", str(state)]
        if step == 0:
            words = ["run", str(root), *words[1:], "--policy", str(folder / "policy.toml")]
        process = batch(*words, "--jobs", "2")
        while moment is not None and process.poll() is None and len(finished(state)) < moment:
            time.sleep(0.02)
        if moment is not None:
            time.sleep(chance.random() / 2)
            process.send_signal(signal.SIGKILL)
            told.append(f"killed with {len(finished(state))} records final")
        _, said = process.communicate()
        now = finished(state)
        lost += [name for name, record in before.items() if now.get(name) != record]
        before = now
    seconds = time.monotonic() - started
    left = marked(state)
    check(folder, state, heads, expected, lost, left)
    print(f"\n{'; '.join(told)}; {seconds:.0f} s in all; the last run ended with exit code "
          f"{process.returncode} and said: `{said.decode().strip().splitlines()[-1]}`")  # fmt: skip


def check(
    folder: Path,
    state: Path,
    heads: dict[str, str],
    expected: dict[str, str],
    lost: list[str],
    left: int,
) -> None:
    """Print one line for each thing that has to hold."""
    root = folder / "repositories"
    written = outside(folder)  # first: git as it is used below does run what a checkout names
    with sqlite3.connect(state / "batch.sqlite") as there:
        attempts = there.execute("SELECT count(*) FROM attempt").fetchone()[0]
        records = [json.loads(row[0]) for row in there.execute("SELECT record FROM latest")]
    outcomes = {record["repository"]["name"]: record["outcome"] for record in records}
    wrong = {name: outcomes.get(name) for name, want in expected.items()
             if outcomes.get(name) != want}  # fmt: skip
    dirty = [
        path.name for path in root.iterdir()
        if "uncommitted" not in path.name and (path / ".git").is_dir() and status(path)
    ]  # fmt: skip
    moved = [path.name for path in root.iterdir() if head(path) != heads[path.name]]
    bad = [name for name in map(unlike, records, [root] * len(records), [state] * len(records))
           if name]  # fmt: skip
    resumed = sum(1 for record in records if record["attempt"] > 1)
    rows = [
        ("records", f"{len(records)} of {len(heads)}", len(records) == len(heads)),
        ("attempts, one for each repository", attempts, attempts == len(heads) and not resumed),
        ("names twice", len(records) - len(outcomes), len(records) == len(outcomes)),
        ("final records that a later run touched", len(lost), not lost),
        ("checkouts with changed files", len(dirty), not dirty),
        ("checkouts whose HEAD moved", len(moved), not moved),
        ("branches and patches that are not what the record says", len(bad), not bad),
        ("hostile repositories with another outcome than foreseen", wrong or 0, not wrong),
        ("files written outside", len(written), not written),
        ("processes left running", left, not left),
        ("temporary files left", len(temporary(state)), not temporary(state)),
    ]
    print("\n| what | seen | as it should be |\n| --- | --- | --- |")
    for what, seen, right in rows:
        print(f"| {what} | {seen} | {'yes' if right else '**NO**'} |")
    print("\noutcomes:", ", ".join(f"{n} {o}" for o, n in Counter(outcomes.values()).most_common()))


def head(path: Path) -> str:
    """Return where a repository's HEAD is, "" when unborn."""
    try:
        return made.git(path, "rev-parse", "HEAD")
    except subprocess.CalledProcessError:
        return ""


def status(path: Path) -> str:
    """Return what git says is changed, without the programs in a hostile repository's settings."""
    off = [f"filter.evil.{name}=" for name in ("clean", "smudge", "process")]
    words = [word for setting in off for word in ("-c", setting)]
    words += ["-c", "core.fsmonitor=false", "-c", "filter.evil.required=false"]
    return made.git(path, *words, "status", "--porcelain")


def unlike(record: dict[str, Any], root: Path, state: Path) -> str:
    """Return the name of a migrated repository whose branch or patch is not as recorded."""
    name = record["repository"]["name"]
    if record["outcome"] != "migrated":
        return ""
    path, base = root / name, record["base_commit"]
    tip = made.git(path, "rev-parse", record["branch"], record["branch"] + "^")
    if tip.split() != [record["commit"], base]:
        return str(name)
    index = {"GIT_INDEX_FILE": str(state / "check-index")}
    for words in (["read-tree", base], ["apply", "--cached", str(state / record["patch"])]):
        subprocess.run(["git", *words], cwd=path, env={**os.environ, **index}, check=True)
    tree = subprocess.run(["git", "write-tree"], cwd=path, env={**os.environ, **index},
                          capture_output=True, check=True).stdout.decode().strip()  # fmt: skip
    (state / "check-index").unlink()
    return "" if tree == made.git(path, "rev-parse", record["commit"] + "^{tree}") else str(name)


def outside(folder: Path) -> list[str]:
    """Return what the hostile repositories managed to write outside of theirs."""
    there = [str(path) for path in (folder / "outside").rglob("*") if path.is_file()]
    return [path for path in there if not path.endswith("outside/outside/secret.py")] + [
        str(path) for path in (folder / "repositories").glob("trap")
    ]


def marked(state: Path) -> int:
    """Count the processes that a batch left."""
    mark = f"SAMEDEVICE_BATCH={(state / 'work').resolve()}".encode()
    count = 0
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            count += mark in path.read_bytes().split(b"\0")
        except OSError:
            continue
    return count


def temporary(state: Path) -> list[str]:
    """Return what is left of the workspaces."""
    work = state / "work"
    return os.listdir(work) if work.exists() else []


def ordinary(folder: Path) -> Path:
    """Return a folder with the ordinary repositories only."""
    root = folder / "ordinary"
    if not root.exists():
        root.mkdir()
        for path in sorted((folder / "repositories").iterdir()):
            if not path.name.startswith("hostile-"):
                shutil.copytree(path, root / path.name, symlinks=True)
    return root


def timed(state: Path, *arguments: str) -> float:
    """Run a batch and return its seconds."""
    shutil.rmtree(state, ignore_errors=True)
    started = time.monotonic()
    process = batch("run", *arguments, "--folder", str(state))
    _, said = process.communicate()
    seconds = time.monotonic() - started
    if process.returncode not in (0, 1):
        raise SystemExit(said.decode())
    return seconds


def speed(folder: Path, rounds: int) -> None:
    """Compare one process with two."""
    root = ordinary(folder)
    count = len(os.listdir(root))
    seconds: dict[int, list[float]] = {1: [], 2: []}
    print(f"\n{count} repositories, {os.cpu_count()} cores\n")
    print("| at a time | seconds | per minute | load before |\n| --- | --- | --- | --- |")
    for _ in range(rounds):
        for jobs in seconds:
            load = os.getloadavg()[0]
            taken = timed(folder / "speed", str(root), "--jobs", str(jobs))
            seconds[jobs].append(taken)
            print(f"| {jobs} | {taken:.1f} | {count / taken * 60:.0f} | {load:.1f} |", flush=True)
    ratio = min(seconds[1]) / min(seconds[2])
    print(f"\nbest against best: {ratio:.2f} times as fast with two")


def on_ray(folder: Path, rounds: int) -> None:
    """Compare a Ray cluster of two nodes with the pool, both with two repositories at a time."""
    from ray.cluster_utils import Cluster

    root = folder / "bare"
    if not root.exists():
        root.mkdir()
        for path in sorted(ordinary(folder).iterdir()):
            made.git(root, "clone", "--quiet", "--bare", str(path), path.name)
    count = len(os.listdir(root))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    there = ["--engine", "ray", "--address", cluster.address]
    try:
        timed(folder / "ray", str(root), "--jobs", "2", *there)  # starts the workers
        print(f"\n{count} bare repositories, two at a time\n")
        print("| engine | seconds | load before |\n| --- | --- | --- |")
        seconds: dict[str, list[float]] = {"pool": [], "ray": []}
        for _ in range(rounds):
            for engine in seconds:
                load = os.getloadavg()[0]
                words = there if engine == "ray" else []
                timed(folder / engine, str(root), "--jobs", "2", *words)
                seconds[engine].append(working_time(folder / engine))
                print(f"| {engine} | {seconds[engine][-1]:.1f} | {load:.1f} |", flush=True)
    finally:
        cluster.shutdown()
    extra = min(seconds["ray"]) / min(seconds["pool"]) - 1
    print(f"\nbest against best: Ray takes {extra:+.1%} time")
    same(folder / "pool", folder / "ray")


def working_time(state: Path) -> float:
    """Return the seconds from the end of the fifth repository to that of the last.

    By then both engines have started what they need.
    """
    from datetime import datetime

    with sqlite3.connect(state / "batch.sqlite") as there:
        ends = [row[0] for row in there.execute("SELECT ended FROM attempt ORDER BY ended")]
    return (datetime.fromisoformat(ends[-1]) - datetime.fromisoformat(ends[4])).total_seconds()


def same(one: Path, two: Path) -> None:
    """Say whether two batches have the same records, but for times and places."""
    both = []
    for state in (one, two):
        with sqlite3.connect(state / "batch.sqlite") as there:
            records = [json.loads(row[0]) for row in there.execute("SELECT record FROM latest")]
        for record in records:
            for key in ("started", "ended", "seconds", "engine", "host", "commit"):
                record.pop(key)
        both.append(sorted(records, key=lambda record: str(record["repository"]["name"])))
    print("the records are the same" if both[0] == both[1] else "**THE RECORDS DIFFER**")


def real(folder: Path, mirrors: Path) -> None:
    """Migrate the bare repositories in a folder, and list what came of it."""
    shutil.rmtree(folder / "real", ignore_errors=True)
    process = batch("run", str(mirrors), "--folder", str(folder / "real"))
    _, said = process.communicate()
    with sqlite3.connect(folder / "real" / "batch.sqlite") as there:
        records = [json.loads(row[0]) for row in there.execute("SELECT record FROM latest")]
    print("\n| repository | outcome | files | lines | found | fixed | left | + | - | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for record in records:
        found, fixed, left = (sum(record[key].values()) for key in ("found", "fixed", "left"))
        seconds = sum(value for key, value in record["seconds"].items() if key != "infer")
        name = record["repository"]["name"]
        cells = [
            name, record["outcome"], record["files"], f"{record['lines']:,}", found, fixed, left,
            record["added"], record["removed"], f"{seconds:.1f}",
        ]  # fmt: skip
        print("|", " | ".join(map(str, cells)), "|")
    print(f"\nexit code {process.returncode}: `{said.decode().strip().splitlines()[0]}`")
    total = [sum(record["seconds"].get(key, 0) for record in records)
             for key in ("clone", "fix", "prove", "commit")]  # fmt: skip
    each = statistics.median(sum(record["seconds"].values()) for record in records)
    print(f"clone {total[0]:.1f} s, fix {total[1]:.1f} s, prove {total[2]:.1f} s, commit "
          f"{total[3]:.1f} s; median {each:.1f} s")  # fmt: skip


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--real", type=Path, help="a folder of bare repositories")
    parser.add_argument("--only", choices=("kill", "speed", "ray", "real"), action="append")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if not (options.folder / "repositories").exists():
        expected = make(options.folder, options.count)
        (options.folder / "expected.json").write_text(json.dumps(expected))
    expected = json.loads((options.folder / "expected.json").read_text())
    seed = options.seed if options.seed is not None else random.randrange(10**6)
    for name in options.only or ("kill", "speed", "ray"):
        print(f"\n## {name}")
        if name == "kill":
            shutil.rmtree(options.folder / "batch", ignore_errors=True)
            print(f"\nseed {seed}")
            kill(options.folder, expected, seed)
        elif name == "speed":
            speed(options.folder, options.rounds)
        elif name == "ray":
            on_ray(options.folder, options.rounds)
        elif options.real is not None:
            real(options.folder, options.real)


if __name__ == "__main__":
    main()
