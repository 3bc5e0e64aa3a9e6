"""Which lines of two versions of a text are the same ones, in time that grows with their number."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

_LARGE = 2000  # lines; below, difflib alone is fast enough


class Matcher(difflib.SequenceMatcher[str]):
    """difflib's matcher, for two versions of which one may have thousands of changed lines.

    difflib takes the longest run first and then both sides of it, which is quadratic where every
    other line has changed. So large texts are first divided at lines that are once in each of them.
    """

    def __init__(
        self, before: Sequence[str], after: Sequence[str], autojunk: bool = True
    ) -> None:
        super().__init__(None, before, after, autojunk)
        self._texts = before, after
        self._blocks: list[difflib.Match] = []

    def get_matching_blocks(self) -> list[difflib.Match]:
        """Return the runs of equal lines, in order, with an empty one at the end."""
        before, after = self._texts
        if len(before) + len(after) < _LARGE:
            return super().get_matching_blocks()
        if self._blocks:
            return self._blocks
        runs: list[list[int]] = []

        def add(one: int, other: int, size: int) -> None:
            if runs and runs[-1][0] + runs[-1][2] == one and runs[-1][1] + runs[-1][2] == other:
                runs[-1][2] += size
            elif size:
                runs.append([one, other, size])

        end, end_after = 0, 0
        for one, other in [*anchors(before, after), (len(before), len(after))]:
            gap = before[end:one], after[end_after:other]
            if all(gap):
                inner = difflib.SequenceMatcher(None, *gap, autojunk=False)
                for block in inner.get_matching_blocks()[:-1]:
                    add(end + block.a, end_after + block.b, block.size)
            if one < len(before):
                add(one, other, 1)
            end, end_after = one + 1, other + 1
        self._blocks = [difflib.Match(*run) for run in [*runs, [len(before), len(after), 0]]]
        return self._blocks


def anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return the most lines that are once in each text and in the same order, as two numbers."""
    once = {line for line, number in Counter(before).items() if number == 1}
    once &= {line for line, number in Counter(after).items() if number == 1}
    at = {line: number for number, line in enumerate(after) if line in once}
    pairs = [(number, at[line]) for number, line in enumerate(before) if line in once]
    lasts: list[int] = []  # the smallest last line of an ordered choice, by its length
    ends: list[int] = []  # which pair that is
    earlier: list[int] = []  # for each pair the one before it in its best choice
    for index, (_, other) in enumerate(pairs):
        length = bisect_left(lasts, other)
        earlier.append(ends[length - 1] if length else -1)
        lasts[length : length + 1] = [other]
        ends[length : length + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = earlier[index]
    return chosen[::-1]
