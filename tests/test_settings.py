"""Files of settings: which ones code names, and that no others are read."""

from __future__ import annotations

from pathlib import Path

from samedevice.reading.settings import LONGEST, SettingsFiles
from samedevice.reading.source import from_text


def _named(folder: Path, text: str, path: str = "lab/train.py") -> list[str]:
    sources = {str(folder / each): from_text(text, str(folder / each)) for each in (path, "top.py")}
    files = SettingsFiles(sources).of([str(folder / path)])
    return sorted(Path(each.path).name for each in files)


def test_settings_are_found_beside_above_and_in_their_folder(tmp_path: Path) -> None:
    for name in ("lab/near.json", "above.yml", "configs/kept.toml", "lab/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("device: cuda\n")
    text = "open('near.json'), open('above.yml'), open(\"kept.toml\"), open('notes.txt')"
    assert _named(tmp_path, text) == ["above.yml", "kept.toml", "near.json"]


def test_nothing_outside_of_the_project_is_read(tmp_path: Path) -> None:
    inner = tmp_path / "project"
    (inner / "lab").mkdir(parents=True)
    (tmp_path / "secret.json").write_text('{"device": "cuda"}')
    (inner / "link.json").symlink_to(tmp_path / "secret.json")
    (inner / "large.json").write_text(" " * (LONGEST + 1))
    outside = ("../secret.json", "../../secret.json", f"{tmp_path}/secret.json")
    assert _named(inner, repr([*outside, "link.json", "large.json"])) == []


def test_the_line_of_a_setting_is_known(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("lr: 1\n# device: cpu\ntrain:\n  device: cuda\n")
    source = from_text("open('run.yaml')", str(tmp_path / "a.py"))
    (file,) = SettingsFiles({source.path: source}).of([source.path])
    assert file.kind == "yaml"
    assert file.line("device", "cuda") == 4
    assert file.line("lr", "cuda") == 0
