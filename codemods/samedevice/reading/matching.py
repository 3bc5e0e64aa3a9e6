"""Which lines of two versions of a text are the same ones, in time that grows with their number."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_LARGE = 2000  # lines of both versions; below, and with not many equal ones, difflib is fast enough
_PAIRS = 50_000  # equal lines, each with each
_AHEAD = 12  # lines that tell which ones go together, and that may have been put in at once


class Matcher(difflib.SequenceMatcher[str]):
    """difflib's matcher, for two versions of which one may have thousands of changed lines.

    difflib takes the longest run first and then both sides of it, which is quadratic where every
    other line has changed, and more than that where many lines are equal. So large texts are first
    divided at lines that are once in each of them. A line that is there often is no junk, as it is
    to difflib from 200 lines on: two versions of a text would differ in lines that are the same.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after, autojunk=False)
        self._texts = before, after
        self._blocks: list[difflib.Match] = []

    def get_matching_blocks(self) -> list[difflib.Match]:
        """Return the runs of equal lines, in order, with an empty one at the end."""
        before, after = self._texts
        if not _is_slow(before, after):
            return super().get_matching_blocks()
        if not self._blocks:
            runs = [*joined(_equal(before, after)), (len(before), len(after), 0)]
            self._blocks = [difflib.Match(*run) for run in runs]
        return self._blocks


def _is_slow(before: Sequence[str], after: Sequence[str]) -> bool:
    """Tell whether difflib would take long for two texts."""
    if len(before) + len(after) > _LARGE:
        return True
    known = Counter(after)
    return sum(known[line] for line in before) > _PAIRS


def _equal(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines that are the same ones in two texts that are divided at their anchors."""
    end, end_after = 0, 0
    for one, other in [*anchors(before, after), (len(before), len(after))]:
        gap = before[end:one], after[end_after:other]
        for number, paired in _matched(*gap) if all(gap) else ():
            if gap[0][number] == gap[1][paired]:
                yield end + number, end_after + paired
        if one < len(before):
            yield one, other
        end, end_after = one + 1, other + 1


def _matched(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    if _is_slow(before, after):
        yield from in_step(before, after)
        return
    inner = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for block in inner.get_matching_blocks():
        yield from zip(
            range(block.a, block.a + block.size),
            range(block.b, block.b + block.size),
            strict=True,
        )


def joined(pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of pairs that follow each other: both starts, and the length."""
    start, start_after, size = 0, 0, 0
    for one, other in pairs:
        if size and (one, other) != (start + size, start_after + size):
            yield start, start_after, size
            size = 0
        if not size:
            start, start_after = one, other
        size += 1
    if size:
        yield start, start_after, size


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


def in_step(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield lines that stand for each other, equal or not, in texts that repeat themselves.

    Where lines differ, the few that were put in or taken out are found by what comes after them.
    Takes time that grows with the number of lines.
    """
    one, other = 0, 0
    while one < len(before) and other < len(after):
        more = (len(after) - other) - (len(before) - one)
        if more and before[one] != after[other]:
            counts = range(min(abs(more), _AHEAD) + 1)
            if more > 0:
                other += max(counts, key=lambda n: _likeness(before, after, one, other + n))
            else:
                one += max(counts, key=lambda n: _likeness(before, after, one + n, other))
        yield one, other
        one, other = one + 1, other + 1


def _likeness(before: Sequence[str], after: Sequence[str], one: int, other: int) -> int:
    """Return how much the next lines of two texts are like each other."""
    found = 0
    ahead = zip(before[one : one + _AHEAD], after[other : other + _AHEAD], strict=False)
    for old, new in ahead:
        begins = min(len(old), len(new)) // 3
        found += 2 * (old == new) + bool(begins and old[:begins] == new[:begins])
    return found
