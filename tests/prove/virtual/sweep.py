"""`make sweep`: every operation and module that torch's own tests know, on the virtual accelerator.

Compared are the numbers with the CPU's; where operands are in several places, how a call ends with
how it ends for torch's fake tensors, which have a rule of their own, and (where it goes on) its
numbers with the CPU's; and the types of numbers that work with those that OpInfo says CUDA has.

It prints the counts and every deviation, and compares them with `docs/proof/virtual.json`: what is
not in there is a regression, and the exit code is 1. `--write` puts what was found in its place and
writes the page `docs/proof/virtual.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FOUND = ROOT / "docs/proof/virtual.json"
PAGE = FOUND.with_suffix(".md")
PARTS = 24

Deviations = dict[str, dict[str, list[str]]]  # by kind, then by operation

TITLES = {
    "values": "Numbers: all operands on the device, also with `out=` there",
    "out": "`out=` on the host",
    "places": "Operands in several places",
    "dtypes": "Types of numbers, beside OpInfo's `dtypesIfCUDA`",
    "modules": "Modules of `module_db`, in training and evaluation",
    "parts": "Parts of the sweep that ended",
}
EXPECTED = {
    "values": {"equal", "ends"},
    "out": {"refused"},
    "places": {"ends, equal | ends", "ends | ends", "refused | refused"},
    "dtypes": {"agrees"},
    "parts": {"ended"},
}


# Why a deviation is none of the accelerator's, or what it lacks.
REASONS = {
    "histogram": "CUDA has no kernel for it",
    "narrow_copy": "CUDA has no kernel for its `out=`",
    "histogramdd": "CUDA has no kernel for it",
    "sparse.mm.reduce": "CUDA has no kernel for it",
    "tensor_split": "it wants its indices on the host, where a GPU's tests leave them",
    "nansum": "the CPU has no kernel for complex numbers",
    "nanmean": "the CPU has no kernel for complex numbers",
    "nn.functional.linear_cross_entropy.chunked": "the CPU has no product with another result type",
    "nn.functional.linear_cross_entropy.chunked_none": "the same",
    "sparse.sampled_addmm": "the sweep makes a dense result where it has to be sparse",
    "einsum": "this sample multiplies nothing, and only products are refused",
    "nn.functional.gaussian_nll_loss": "one 0-dim host tensor is a scalar to CUDA",
    "allclose": "the sample has 0-dim operands",
    "torch._scaled_mm": "float8 was not looked at",
    "torch._scaled_mm_v2": "float8 was not looked at",
    "bernoulli": "it draws into the result, wherever that is; the probabilities are copied there",
    "_unsafe_masked_index": "indices may be on the CPU, and nothing else",
    "as_strided_scatter": "it copies its source in, from wherever that is",
    "select_scatter": "the same",
    "linspace.tensor_overload": "its bounds have no dimension, and are read as numbers",
    "logspace.tensor_overload": "the same",
    "nn.functional.ctc_loss": "it moves its targets and lengths itself",
    "norm": "CUDA has no kernel for it; here it is computed",
    "norm.inf": "the same",
    "scatter_reduce.amax": "CUDA has no kernel for it; here it is computed",
    "scatter_reduce.amin": "the same",
    "scatter_reduce.prod": "the same",
}
_REFUSED = "refused | ends", "refused | other"
_CHECKED = (
    "torch's own check for CUDA refuses it (the wrapper that torchgen writes, or the half of the "
    "kernel that CUDA and the CPU share); fake tensors have no such check"
)


def reason(name: str, told: list[str]) -> str:
    """Return why the deviations of an operation are none, or what is lacking."""
    known = REASONS.get(name, "")
    return known or (_CHECKED if all(one.endswith(_REFUSED) for one in told) else "")


def is_expected(kind: str, what: str, outcome: str) -> bool:
    """Tell whether an outcome is none that the page has to list."""
    if kind == "modules":
        return outcome == ("equal" if what == "on the device" else "refused")
    return outcome in EXPECTED[kind]


def sweep(parts: range) -> list[tuple[str, str, str, str]]:
    """Sweep parts in processes of their own, one after the other."""
    rows: list[tuple[str, str, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            file = Path(folder, "rows.json")
            file.unlink(missing_ok=True)
            command = [sys.executable, str(HERE / "sweep_worker.py"), str(part), str(PARTS)]
            done = subprocess.run([*command, str(file)], capture_output=True, text=True)
            ended = file.exists() and done.returncode == 0
            last = done.stderr.strip().rpartition("\n")[2]
            end = "ended" if ended else last or "died"
            rows.append(("parts", f"part {part}", "", end))
            if ended:
                rows += [tuple(row) for row in json.loads(file.read_text("utf-8"))["rows"]]
            print(f"part {part + 1} of {PARTS}: {end}, {len(rows):,} rows", flush=True)
    return rows


def summary(rows: list[tuple[str, str, str, str]]) -> tuple[dict[str, dict[str, int]], Deviations]:
    """Count outcomes by kind, and list what is not as expected."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in TITLES}
    deviations: Deviations = {kind: {} for kind in TITLES}
    for kind, name, what, outcome in rows:
        expected = is_expected(kind, what, outcome)
        counts[kind]["as expected" if expected else "not"] += 1
        if not expected:
            told = f"{what}: {outcome}"
            known = deviations[kind].setdefault(name, [])
            if told not in known:
                known.append(told)
    return {kind: dict(numbers) for kind, numbers in counts.items()}, deviations


def regressions(found: Deviations, known: Deviations) -> list[str]:
    """Return the deviations that were not there before."""
    return [
        f"{kind}: {name}: {told}"
        for kind, names in found.items()
        for name, all_told in names.items()
        for told in all_told
        if told not in known.get(kind, {}).get(name, [])
    ]


_HEAD = "| operation | deviations | why |", "| --- | --- | --- |"


def page(found: dict[str, Any]) -> str:
    """Return the page for what `docs/proof/virtual.json` has."""
    counts, deviations = found["counts"], found["deviations"]
    lines = [
        "# The virtual accelerator beside torch's own tests",
        "",
        f"What `make sweep` found with torch {found['torch']}. It looks again, and fails on a",
        "deviation that is not in `docs/proof/virtual.json`.",
        "",
        "Every operation of `op_db` and every module of `module_db`, with the first of",
        "torch's sample inputs. Operands are placed apart in four ways: one on the host, all but",
        "one on the host, one on a second device, one replaced by a 0-dim host tensor.",
        "",
        "| what | calls | as expected | deviations |",
        "| --- | --- | --- | --- |",
    ]
    for kind, title in TITLES.items():
        numbers = counts[kind]
        good, bad = numbers.get("as expected", 0), numbers.get("not", 0)
        lines.append(f"| {title} | {good + bad:,} | {good:,} | {bad:,} |")
    lines += [
        "",
        "Expected is: the CPU's numbers to the last bit; a refusal for a result on the host; for",
        "operands in several places the same end as torch's fake tensors. These are a second",
        "opinion, not a GPU: in the lists below the outcome here stands before the bar, theirs",
        "behind it.",
        "",
    ]
    for kind, title in TITLES.items():
        if deviations[kind]:
            lines += [f"## {title}", "", *_HEAD]
            for name, told in sorted(deviations[kind].items()):
                text = "; ".join(told).replace("|", "\\|").replace("\n", " ")
                lines.append(f"| `{name}` | {text} | {reason(name, told)} |")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Sweep, compare, and with `--write` write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--parts", type=int, default=PARTS, help="only the first N parts")
    options = parser.parse_args()
    rows = sweep(range(options.parts))
    counts, deviations = summary(rows)
    for kind, numbers in counts.items():
        print(f"{TITLES[kind]}: {numbers.get('as expected', 0):,}, not: {numbers.get('not', 0):,}")
    if options.write:
        import torch

        found = {"torch": torch.__version__, "counts": counts, "deviations": deviations}
        FOUND.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        PAGE.write_text(page(found), "utf-8")
        return 0
    known = json.loads(FOUND.read_text("utf-8"))["deviations"]
    new = regressions(deviations, known)
    for one in new:
        print("new:", one)
    return 1 if new else 0


if __name__ == "__main__":
    raise SystemExit(main())
