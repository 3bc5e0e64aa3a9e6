from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from samedevice.migration import write
from samedevice.reading.source import SourceError


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_mode_stays(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    file.chmod(mode)
    write.replace(str(file), b"new\r\n\xff")
    assert file.read_bytes() == b"new\r\n\xff"
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_new_file_gets_the_mode_of_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    write.replace(str(tmp_path / "device.py"), b"x")
    assert (tmp_path / "device.py").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["device.py", "other"]


def test_symbolic_link_is_left_alone(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside.py", tmp_path / "inside"
    outside.write_bytes(b"old")
    inside.mkdir()
    link = inside / "link.py"
    link.symlink_to(outside)
    with pytest.raises(SourceError, match=r"link\.py: is a symbolic link"):
        write.replace(str(link), b"new")
    assert outside.read_bytes() == b"old"
    assert link.is_symlink()


def test_read_only_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    file.chmod(0o444)
    with pytest.raises(SourceError, match="read-only"):
        write.replace(str(file), b"new")
    assert file.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_failure_keeps_the_old_file_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(SourceError, match=r"train\.py: cannot be written: No space left"):
        write.replace(str(file), b"new")
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["train.py"]


def test_interrupt_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write.replace(str(file), b"new")
    assert os.listdir(tmp_path) == ["train.py"]
    assert file.read_bytes() == b"old"


def test_missing_folder_and_folder_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file or directory"):
        write.replace(str(tmp_path / "missing" / "device.py"), b"x")
    with pytest.raises(SourceError, match="not a regular file"):
        write.replace(str(tmp_path), b"x")
