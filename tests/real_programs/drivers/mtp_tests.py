"""Tests of shreyansh26/Speculative-Decoding, called one after another."""

import sys
from importlib import import_module

sys.path[:0] = [".", "tests"]
tests = import_module("test_mtp")
tests.test_mtp_loss_runs_backward_for_two_depths()
tests.test_mtp_step_proposes_requested_tokens()
print("two tests pass")
