"""Equal lines of two versions of a text."""

from __future__ import annotations

import difflib
import random
import time

from samedevice.reading.matching import Matcher, anchors, in_step, joined


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


def test_many_lines_are_equal() -> None:
    """difflib takes hours for these."""
    before = ["def f():", *["    a = torch.ones(3).cuda()", "    print(a)"] * 10_000]
    after = [line.replace(".cuda()", ".to(device)") for line in before]
    after[1:1] = ["    device = torch.device()", ""]
    started = time.process_time()
    blocks = Matcher(before, after).get_matching_blocks()
    assert time.process_time() - started < 5
    assert blocks[:2] == [(0, 0, 1), (2, 4, 1)]
    assert sum(block.size for block in blocks) == 10_001


def test_lines_that_stand_for_each_other() -> None:
    before = ["x = one.cuda()", "y = two.cuda()"] * 5
    after = ["device = here", *(line.replace("cuda()", "to(device)") for line in before)]
    assert list(in_step(before, after)) == [(number, number + 1) for number in range(10)]
    assert list(in_step(after, before)) == [(number + 1, number) for number in range(10)]
    assert list(in_step(before, before[:4])) == [(number, number) for number in range(4)]
    assert list(in_step([], after)) == []


def test_runs_of_pairs() -> None:
    assert list(joined([(0, 0), (1, 1), (2, 3), (3, 4), (5, 5)])) == [
        (0, 0, 2), (2, 3, 2), (5, 5, 1),
    ]  # fmt: skip
    assert list(joined([])) == []
