"""A rule alone, under libcst's own tool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest
from libcst.codemod import CodemodContext

from samedevice import rules
from samedevice.rewrite import codemod

PROGRAM = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weight = torch.rand(3, 3, device=device)
x = torch.ones(3, 3)
print((weight @ x).sum().item())
"""
FIXED = PROGRAM.replace("ones(3, 3)", "ones(3, 3, device=device)")


def test_every_rule_is_a_codemod() -> None:
    for rule in rules.load():
        made = codemod.codemod(rule)
        assert getattr(codemod, made.__name__) is made
        assert made.DESCRIPTION
    with pytest.raises(KeyError):
        codemod.codemod("no-such-rule")
    with pytest.raises(AttributeError):
        _ = codemod.NoSuchRule


def test_a_rule_alone() -> None:
    made = codemod.codemod("tensor-without-device")
    module = made(CodemodContext(filename="a.py")).transform_module(cst.parse_module(PROGRAM))
    assert module.code == FIXED
    again = made(CodemodContext(filename="a.py")).transform_module(module)
    assert again.code == FIXED
    other = codemod.codemod("lengths-on-device")
    assert codemod.LengthsOnHost.DESCRIPTION == other.DESCRIPTION  # its old name
    tree = cst.parse_module(PROGRAM)
    assert other(CodemodContext(filename="a.py")).transform_module(tree).code == PROGRAM


def test_libcst_tool_runs_a_rule(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(PROGRAM.replace("\n", "\r\n").encode())
    rule = "samedevice.rewrite.codemod.TensorWithoutDevice"
    command = ["-m", "libcst.tool", "codemod", "-x", rule, str(file), "--no-format"]
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert file.read_bytes() == FIXED.replace("\n", "\r\n").encode()
