"""The page that says what became of programs that name no device, or only CUDA."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .catalogue import LISTS
from .examine import Examination

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CAUSES = Path(__file__).with_name("causes.toml")

HEAD = """# Programs converted from the CPU to a device

Written by `python -m tests.real_programs --catalogue tests/real_programs/conversions.toml` from
runs; do not edit. Programs of repositories that nobody here had looked at. They belong to their
authors and are not part of this repository: the table names repository, commit and path. Each is
copied with the data in its folder and run as published on the CPU; one that needs CUDA, on the
virtual accelerator. What does not run there is no part of the sample, nor what takes no backward
pass there, computes something else in each run, or asks for a device somewhere. Then
`samedevice fix --yes`, without further options, and the program is run again on the CPU and on the
virtual accelerator.

What every run is given: seed 0, one thread, no network, no file to write but its own copy (all ran
under bubblewrap), at most four batches of each pass over a DataLoader, the end after 20 backward
passes (*budget*), 1280 synthetic images in place of torchvision's downloads, initial weights in
place of pretrained ones, gymnasium behind the old interface of gym. No program is patched.
*Revision* is the commit of samedevice. The aim is 150 programs or more, 98 % of them converted and
the others told before anything is written.

The programs were met in three samples. What the first two showed was mended, and they are measured
again here. The second, 99 programs of 46 repositories, says more of programs yet to come: when it
was first met, at 467a3b5, 93 of it were converted, 3 told, 3 silent, and none broke. The third, at
25e8e63 and 4610816, is 17 programs of 6 repositories; all of them were converted when first met.

At c70a7a0 all 239 programs were edited again. Of 199 the text is that with which they were run
before, and those runs stand here, with the revision of each. The other 40 were run again with that
text, before and after, on torch 2.13.0 with torchvision 0.28.0 (but for its compiled operators).
Two of them broke on the device at dad617a: a tensor type of the CPU was given a total that is on
the device. That was mended before. Three files and a folder that one notebook lies beside, and does
not read, were empty.

*On the device* it is if it runs to its end on the virtual accelerator, every loss and every stepped
parameter (leaves without dimensions aside) is there, and the losses are the CPU's up to a relative
1e-4.

| word | meaning |
| --- | --- |
| converted | edited; on the CPU it prints and computes what it did, bit for bit; on the device |
| as it was | not edited, and on the device |
| told | it stays on the CPU, runs everywhere as before, and `fix` names it and what is missing |
| silent | it stays where it was, and no word of it |
| breaks on a device | edited; right on the CPU, wrong or stopped on the virtual accelerator |
| breaks on the CPU | edited, and a run on the CPU fails or differs from before |
"""
WORDS = ("converted", "as it was", "told", "silent", "breaks on a device", "breaks on the CPU")


def verdict(outcome: Examination) -> str:
    """One of ``WORDS``; empty where the program did not run as published."""
    if not outcome.fit:
        return ""
    stages = (outcome.fixed, outcome.parses, outcome.after, outcome.equal)
    there = (outcome.virtual, outcome.on_device, outcome.agrees)
    if all(stage == "" for stage in (*stages, *there)):
        return "converted" if outcome.changed_lines else "as it was"
    stays = all(stage == "" for stage in stages) and outcome.virtual == ""
    if outcome.changed_lines and not stays:
        return "breaks on a device" if all(stage == "" for stage in stages) else "breaks on the CPU"
    return "told" if outcome.told else "silent"


def causes() -> dict[str, list[str]]:
    """What keeps programs from being converted, in a sentence, and their names."""
    return dict(tomllib.loads(CAUSES.read_text("utf-8"))["causes"])


def write(outcomes: Sequence[Examination], page: Path) -> None:
    """Write the page."""
    page.parent.mkdir(parents=True, exist_ok=True)
    fit = [outcome for outcome in outcomes if outcome.fit]
    parts = [HEAD, _totals(fit), _causes(fit)]
    for letter, title in LISTS.items():
        if chosen := [outcome for outcome in fit if outcome.list == letter]:
            parts.append(f"## {letter}: {title}\n\n{_table(chosen)}")
    page.write_text("\n".join(parts), encoding="utf-8")


def _totals(outcomes: Sequence[Examination]) -> str:
    lines = [
        "| list | programs | repositories | " + " | ".join(WORDS) + " |",
        "|---|---|---|" + "---|" * len(WORDS),
    ]
    groups = [(title, letter) for letter, title in LISTS.items()] + [("all", "")]
    for title, letter in groups:
        chosen = [outcome for outcome in outcomes if outcome.list == letter or not letter]
        if not chosen:
            continue
        count = Counter(verdict(outcome) for outcome in chosen)
        repositories = {"/".join(outcome.name.split("/")[:2]) for outcome in chosen}
        cells = [f"{count[word]} ({count[word] / len(chosen):.1%})" for word in WORDS]
        lines.append(f"| {title} | {len(chosen)} | {len(repositories)} | {' | '.join(cells)} |")
    ends = sum(outcome.after == "" for outcome in outcomes)
    same = sum(outcome.equal == "" and outcome.before == "" for outcome in outcomes)
    before = sum(outcome.before == "" for outcome in outcomes)
    lines += [
        "",
        f"On the CPU {ends} of {len(outcomes)} run to the end afterwards. Of the {before} that did",
        f"so before, {same} print and compute the same.",
    ]
    return "\n".join(lines) + "\n"


def _causes(outcomes: Sequence[Examination]) -> str:
    """What keeps programs from being converted; those nobody wrote a cause for come last."""
    known = causes()
    cause_of = {name: text for text, names in known.items() for name in names}
    groups: dict[str, list[Examination]] = {}
    for outcome in outcomes:
        if verdict(outcome) not in WORDS[:2]:
            groups.setdefault(cause_of.get(outcome.name, "not looked into"), []).append(outcome)
    lines = [
        "## What is not right, by cause",
        "",
        "| cause | verdicts | programs |",
        "|---|---|---|",
    ]
    for cause in sorted(groups, key=lambda text: (text not in known, -len(groups[text]))):
        count = Counter(verdict(outcome) for outcome in groups[cause])
        verdicts = ", ".join(f"{word} {count[word]}" for word in WORDS if count[word])
        names = ", ".join(outcome.name for outcome in groups[cause])
        lines.append(f"| {cause} | {verdicts} | {names} |")
    return "\n".join(lines) + "\n" if groups else ""


def _table(outcomes: Sequence[Examination]) -> str:
    lines = [
        "| program | commit | verdict | lines changed | s | revision | given; said |",
        "|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        word = verdict(outcome)
        said = (
            outcome.failure if word.startswith("breaks") else outcome.told if word == "told" else ""
        )
        cells = [
            outcome.name + (f" `{' '.join(outcome.args)}`" if outcome.args else ""),
            outcome.commit[:9],
            word,
            str(outcome.changed_lines),
            f"{outcome.seconds:.0f}",
            outcome.revision,
            ": ".join(part for part in (outcome.supplies, said) if part),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
