"""A comment was meant to switch a rule off, and does not: it is misspelt.

Why: such a comment looks as if somebody had checked the line, while the finding is still
reported, or will be. `# samedevice: ignore[rule]` is the form; `ignore-next-line`
and `ignore-file` are the two others.

Example:

    table = torch.zeros(10).cuda()  # samedevice: ignored[hard-coded-device]

becomes

    table = torch.zeros(10).cuda()  # samedevice: ignore[hard-coded-device]

Fix safety: there is no fix. Only the author knows what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from samedevice.finding import Finding, current_rule
from samedevice.inference import Solution
from samedevice.reading.suppress import MISSPELT, comments_of, meant


def find(solution: Solution) -> Iterator[Finding]:
    """Report comments with a word, or the name of a rule, that does not exist."""
    from samedevice.rules import load

    for path in solution.programs.files():
        source = solution.project.sources[path]
        for comment in comments_of(source.text):
            for message, hint in meant(comment, load()):
                yield Finding(path, comment.span, MISSPELT, message, unfixed=hint)
            for name in comment.renamed:
                message = f"this comment names a rule by an old name, which still works: {name}"
                hint = f"write {current_rule(name)}"
                yield Finding(path, comment.span, MISSPELT, message, unfixed=hint, level="note")
