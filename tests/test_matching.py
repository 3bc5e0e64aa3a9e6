"""Equal lines of two versions of a text."""

from __future__ import annotations

import difflib
import random
import time

from samedevice.matching import Matcher, anchors


def test_what_matches_is_equal_and_in_order() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        before = [str(chance.randrange(1500)) for _ in range(1200)]
        after = before.copy()
        for _ in range(chance.randrange(400)):
            at = chance.randrange(len(after))
            if chance.random() < 0.5:
                after[at : at + 1] = []
            else:
                after[at : at + chance.randrange(3)] = [str(chance.randrange(1500))]
        matcher = Matcher(before, after)
        blocks = matcher.get_matching_blocks()
        assert blocks[-1] == (1200, len(after), 0)
        at = at_after = 0
        for block in blocks:
            assert block.a >= at and block.b >= at_after
            at, at_after = block.a + block.size, block.b + block.size
            assert before[block.a : at] == after[block.b : at_after]
        rebuilt: list[str] = []
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            rebuilt += before[i1:i2] if tag == "equal" else after[j1:j2]
        assert rebuilt == after
        kept = sum(block.size for block in blocks)
        known = difflib.SequenceMatcher(None, before, after, autojunk=False)
        assert kept >= 0.9 * sum(block.size for block in known.get_matching_blocks())


def test_anchors_are_the_longest_choice_in_order() -> None:
    assert anchors(list("abcde"), list("xeabcd")) == [(0, 2), (1, 3), (2, 4), (3, 5)]
    assert anchors(list("aab"), list("aba")) == [(2, 1)]
    assert anchors([], []) == []


def test_every_other_line_of_many_has_changed() -> None:
    before = [f"line {number}" for number in range(50_000)]
    after = [line + "!" * (number % 2) for number, line in enumerate(before)]
    started = time.process_time()
    assert len(Matcher(before, after).get_opcodes()) == 50_000
    assert time.process_time() - started < 5
