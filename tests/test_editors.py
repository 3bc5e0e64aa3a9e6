"""The configurations of docs/editors.md, run where their editor is.

A stub of the server takes notes of what the editor says; then the real one is driven.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
DOCS = (ROOT / "docs" / "editors.md").read_text("utf-8")
SETTINGS = json.loads((ROOT / "codemods/vscode/package.json").read_text("utf-8"))
SETTINGS = SETTINGS["contributes"]["configuration"]["properties"]

STUB = '''\
#!{python}
"""A language server that writes down what it gets, finds one thing wrong and can mend it."""
import json, sys

notes = open({notes!r}, "a")
number = 0

def send(**message):
    body = json.dumps({{"jsonrpc": "2.0", **message}}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
    sys.stdout.buffer.flush()

LINE = {{"start": {{"line": 0, "character": 0}}, "end": {{"line": 1, "character": 0}}}}
ACTION = {{"title": "mend it", "kind": "source.fixAll.samedevice"}}
while True:
    length = 0
    while (header := sys.stdin.buffer.readline().strip()):
        name, _, value = header.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if not length:
        break
    message = json.loads(sys.stdin.buffer.read(length))
    print(json.dumps(message), file=notes, flush=True)
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        supported = params["capabilities"]["textDocument"].get("codeAction", {{}})
        resolves = "resolveSupport" in supported
        actions = {{"codeActionKinds": ["source.fixAll.samedevice"], "resolveProvider": True}}
        able = {{"textDocumentSync": 1, "codeActionProvider": actions}}
        send(id=message["id"], result={{"capabilities": able}})
    elif method == "initialized":
        items = [{{"section": "samedevice"}}]
        send(id="configuration", method="workspace/configuration", params={{"items": items}})
    elif method == "textDocument/didOpen":
        uri = params["textDocument"]["uri"]
        found = [{{"range": LINE, "message": "on the wrong device", "severity": 2}}]
        params = {{"uri": uri, "diagnostics": found}}
        send(method="textDocument/publishDiagnostics", params=params)
    elif method == "textDocument/codeAction":
        edit = {{"changes": {{uri: [{{"range": LINE, "newText": "mended = 1\\n"}}]}}}}
        whole = {{**ACTION, "edit": edit}}
        send(id=message["id"], result=[ACTION if resolves else whole])
    elif method == "codeAction/resolve":
        send(id=message["id"], result=whole)
    elif method == "exit":
        break
    elif "id" in message and method is not None:
        send(id=message["id"], result=None)
'''


def code(name: str) -> list[str]:
    """Return the code blocks after the mark `name`, up to the next heading."""
    section = DOCS.split(f"<!-- {name} -->", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^```\w+\n(.*?)^```", section, re.DOTALL | re.MULTILINE)


class Stub:
    """A project, and a `samedevice` on PATH that takes notes."""

    def __init__(self, folder: Path) -> None:
        self.notes = folder / "notes"
        self.project = folder / "project"
        self.file = self.project / "package" / "train.py"
        self.file.parent.mkdir(parents=True)
        self.file.write_text("wrong = 1\nx = 2\n")
        (self.project / "pyproject.toml").touch()
        program = folder / "bin" / "samedevice"
        program.parent.mkdir()
        program.write_text(STUB.format(python=sys.executable, notes=str(self.notes)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.environment = {
            **os.environ,
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def run(self, *command: str) -> None:
        done = subprocess.run(
            command,
            cwd=self.file.parent,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def check(self, inlay_hints: str) -> None:
        """The server was started at the root with its settings, and its fix was applied."""
        messages = [json.loads(line) for line in self.notes.read_text().splitlines()]
        (first,) = (m["params"] for m in messages if m.get("method") == "initialize")
        assert first["rootUri"].rstrip("/") == self.project.as_uri()
        (answer,) = (m["result"] for m in messages if m.get("id") == "configuration")
        assert answer == [{"inlayHints": inlay_hints}]
        assert messages[-1]["method"] in ("exit", "shutdown")
        assert self.file.read_text() == "mended = 1\nx = 2\n"


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    return Stub(tmp_path)


def neovim(*versions: str) -> str:
    """Return a Neovim of one of these versions, or skip."""
    name = shutil.which("nvim")
    version = name and subprocess.run([name, "--version"], capture_output=True, text=True).stdout
    if not version or not re.match(rf"NVIM v({'|'.join(versions)})\b", version):
        pytest.skip(f"there is no Neovim {' or '.join(versions)} here")
    assert name is not None
    return name


def drive(keys: str) -> str:
    """Return Lua that waits for the diagnostic, uses the documented key, saves and leaves."""
    return (
        "local function found() return #vim.diagnostic.get(0) == 1 end\n"
        'assert(vim.wait(20000, found, 50), "no finding")\n'
        f'vim.fn.feedkeys("{keys}", "xt")\n'
        'local function mended() return vim.fn.getline(1) == "mended = 1" end\n'
        'assert(vim.wait(20000, mended, 50), "nothing was mended")\n'
        'vim.cmd("write | qall")\n'
    )


def headless(stub: Stub, nvim: str, config: Path) -> None:
    script = stub.notes.with_name("drive.lua")
    script.write_text(drive("\\\\sf"))
    lua = f"lua ok, why = pcall(dofile, [[{script}]]) if not ok then print(why) vim.cmd('cq') end"
    stub.run(nvim, "--headless", "-u", str(config), str(stub.file), "-c", lua)


def test_neovim_0_7(stub: Stub) -> None:
    nvim = neovim("0.7", "0.8", "0.9", "0.10")
    config = stub.notes.with_name("init.lua")
    config.write_text("\n".join(code("neovim-0.7")))
    headless(stub, nvim, config)
    stub.check("off")


def test_neovim_0_11(stub: Stub) -> None:
    nvim = neovim("0.11", "0.12")
    server, start = code("neovim-0.11")
    folder = stub.notes.parent / "config" / "nvim"
    (folder / "lsp").mkdir(parents=True)
    (folder / "lsp" / "samedevice.lua").write_text(server)
    (folder / "init.lua").write_text(start)
    headless(stub, nvim, folder / "init.lua")
    stub.check("clashes")


def emacs_with_eglot() -> str:
    """Return an Emacs that has eglot, or skip."""
    emacs = shutil.which("emacs")
    if (
        not emacs
        or subprocess.run([emacs, "--batch", "-l", "eglot"], capture_output=True).returncode
    ):
        pytest.skip("there is no Emacs with eglot here")
    return emacs


def test_emacs(stub: Stub) -> None:
    emacs = emacs_with_eglot()
    (stub.project / ".git").mkdir()  # what project.el goes by
    config = stub.notes.with_name("init.el")
    (text,) = code("emacs")
    config.write_text(text)
    script = stub.notes.with_name("drive.el")
    script.write_text(
        "(require 'eglot)\n"
        "(setq eglot-confirm-server-initiated-edits nil eglot-sync-connect 20)\n"
        f'(find-file "{stub.file}")\n'
        "(unless (eglot-current-server) (call-interactively #'eglot))\n"
        "(let ((tries 0)) (while (and (< tries 100) (not (flymake-diagnostics)))\n"
        "  (accept-process-output nil 0.1) (flymake-start) (setq tries (1+ tries))))\n"
        '(unless (flymake-diagnostics) (error "no finding"))\n'
        "(samedevice-fix-file)\n"
        "(save-buffer)\n"
        "(eglot-shutdown (eglot-current-server))\n"
    )
    stub.run(emacs, "--batch", "-l", str(config), "-l", str(script))
    stub.check("clashes")


class Real:
    """A project with a clash across two files, and the samedevice that is tested on PATH."""

    FILES = {
        "pyproject.toml": '[project]\nname = "rings"\nversion = "1"\n',
        "data.py": "import torch\n\n\ndef class_weights(n):\n    return torch.ones(n)\n",
        "train.py": (
            "import torch\nfrom torch import nn\n\nfrom data import class_weights\n\n"
            'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
            "model = nn.Linear(3, 3).to(device)\nweights = class_weights(3)\n"
            "print(model(weights))\n"
        ),
        "evaluate.py": (
            "import torch\nfrom torch import nn\n\nmodel = nn.Linear(3, 3).cuda()\n"
            "print(model(torch.zeros(3, 3)))\n"
        ),
    }

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("pygls")
        self.folder = folder
        self.project, fixed = folder / "project", folder / "fixed"
        for place in (self.project, fixed):
            (place / ".git").mkdir(parents=True)  # what project.el goes by
            for name, text in self.FILES.items():
                (place / name).write_text(text)
        program = folder / "bin" / "samedevice"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m samedevice "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.environment = {
            **os.environ,
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        self.run(str(program), "fix", "--yes", str(fixed))
        self.fixed = {name: (fixed / name).read_text() for name in self.FILES}

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=90,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def texts(self) -> dict[str, str]:
        return {name: (self.project / name).read_text() for name in self.FILES}


# Waits for what the server finds in data.py, hovers, chooses the first fix with the documented key
# or function, fixes all of evaluate.py with the other, and writes what was shown.
DRIVE_NEOVIM = """
vim.ui.select = function(items, _, choose) choose(items[1]) end
local function wait(what, fits) assert(vim.wait(30000, fits, 20), what) end
local function found() return vim.diagnostic.get(0) end
local function settled() return #found() == 0 end

vim.fn.cursor(5, 18)
wait("no finding", function() return #found() == 1 end)
local shown = { finding = found()[1] }
local params = vim.lsp.util.make_position_params(0, "utf-16")
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", params, 30000) or {}) do
  shown.hover = answer.result and answer.result.contents
end
vim.fn.feedkeys("\\\\sa", "xt")
wait("the finding stays", settled)
vim.cmd("silent wall | edit evaluate.py")
wait("no findings", function() return #found() == 2 end)
vim.fn.feedkeys("\\\\sf", "xt")
wait("the findings stay", settled)
vim.fn.writefile({ vim.fn.json_encode(shown) }, "shown.json")
vim.cmd("silent wall | qall")
"""


def test_neovim_and_the_real_server(tmp_path: Path) -> None:
    nvim = neovim("0.7", "0.8", "0.9", "0.10", "0.11", "0.12")
    real = Real(tmp_path)
    ask = "lua vim.cmd(vim.lsp.enable and 'quit' or 'cquit')"
    asked = subprocess.run([nvim, "--headless", "-u", "NONE", "-c", ask], capture_output=True)
    folder = tmp_path / "config" / "nvim"
    (folder / "lsp").mkdir(parents=True)
    if asked.returncode:
        (folder / "init.lua").write_text("\n".join(code("neovim-0.7")))
    else:
        server, start = code("neovim-0.11")
        (folder / "lsp" / "samedevice.lua").write_text(server)
        choose = 'vim.keymap.set("n", "<leader>sa", vim.lsp.buf.code_action)'
        (folder / "init.lua").write_text(f"{start}\n{choose}")
    script = tmp_path / "drive.lua"
    script.write_text(DRIVE_NEOVIM)
    lua = f"lua ok, why = pcall(dofile, [[{script}]]) if not ok then print(why) vim.cmd('cq') end"
    real.run(nvim, "--headless", "data.py", "-c", lua)

    shown = json.loads((real.project / "shown.json").read_text())
    assert shown["finding"]["lnum"] == 4
    assert "created on the CPU" in shown["finding"]["message"]
    assert "on the CPU" in shown["hover"]["value"] and "data.py:5" in shown["hover"]["value"]
    assert real.texts() == real.fixed


DRIVE_EMACS = """
(require 'eglot)
(setq eglot-sync-connect 30)
(fset 'y-or-n-p (lambda (&rest _) t)) ; Emacs asks before it edits files that are not open
(defun wait (what fits)
  (let ((tries 0))
    (while (and (< tries 300) (not (funcall fits)))
      (accept-process-output nil 0.1) (flymake-start) (setq tries (1+ tries))))
  (unless (funcall fits) (error "%s" what)))
(dolist (name '("data.py" "evaluate.py"))
  (find-file name)
  (unless (eglot-current-server) (call-interactively #'eglot))
  (wait "no finding" #'flymake-diagnostics)
  (princ (flymake-diagnostic-text (car (flymake-diagnostics))))
  (samedevice-fix-file))
(save-some-buffers t)
(eglot-shutdown (eglot-current-server))
"""


def test_emacs_and_the_real_server(tmp_path: Path) -> None:
    emacs = emacs_with_eglot()
    real = Real(tmp_path)
    config, script = tmp_path / "init.el", tmp_path / "drive.el"
    (text,) = code("emacs")
    config.write_text(text)
    script.write_text(DRIVE_EMACS)
    assert "created on the CPU" in real.run(emacs, "--batch", "-l", str(config), "-l", str(script))
    assert real.texts() == real.fixed


def test_helix_and_the_real_server(tmp_path: Path) -> None:
    """In a terminal of tmux: Helix has no other way to be driven."""
    hx, tmux = shutil.which("hx") or shutil.which("helix"), shutil.which("tmux")
    if not hx or not tmux:
        pytest.skip("there is no Helix, or no tmux to run it in")
    real = Real(tmp_path)
    folder = tmp_path / "config" / "helix"
    folder.mkdir(parents=True)
    (folder / "languages.toml").write_text(code("helix")[0])
    (folder / "config.toml").write_text("[editor.lsp]\ndisplay-inlay-hints = true\n")

    def terminal(*command: str) -> str:
        return real.run(tmux, "-S", str(tmp_path / "tmux"), "-f", "/dev/null", *command)

    def until(text: str) -> None:
        for _ in range(300):
            if text in terminal("capture-pane", "-p"):
                return
            time.sleep(0.1)
        raise AssertionError(terminal("capture-pane", "-p"))

    terminal("new-session", "-d", "-x", "160", "-y", "40", hx, "data.py")
    try:
        until("is created on the CPU")
        terminal("send-keys", "/torch.ones", "Enter")
        terminal("send-keys", "Space", "k")
        until("created on the CPU, data.py:5")
        terminal("send-keys", "Escape")
        terminal("send-keys", "Space", "a")
        until("Fix tensor-without-device")
        terminal("send-keys", "Enter")
        until("device=device)")
        terminal("send-keys", ":wa", "Enter")
        terminal("send-keys", ":open evaluate.py", "Enter")
        until(".cuda()")
        terminal("send-keys", "%")
        until(" 2 ")  # findings
        terminal("send-keys", "Space", "a")
        until("Fix all that samedevice found in this file")
        terminal("send-keys", *["Up"] * 2, "Enter")
        until("to(device)")
        terminal("send-keys", ":wqa", "Enter")
        for _ in range(100):
            if real.texts() == real.fixed:
                break
            time.sleep(0.1)
        assert real.texts() == real.fixed
    finally:
        subprocess.run([tmux, "-S", str(tmp_path / "tmux"), "kill-server"], capture_output=True)


def test_the_settings_are_those_of_the_extension() -> None:
    table = DOCS.split("| setting | values |", 1)[1].split("\n\n", 1)[0]
    named = set(
        re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)))
    )
    shared = {name.split(".")[1] for name, it in SETTINGS.items() if it["scope"] == "resource"}
    assert named == shared


def test_helix() -> None:
    (text,) = code("helix")
    settings = tomllib.loads(text)
    server = settings["language-server"]["samedevice"]
    assert (server["command"], server["args"]) == ("samedevice", ["server"])
    assert settings["language"][0]["language-servers"][0] == "samedevice"


def test_jupyterlab() -> None:
    (text,) = code("jupyterlab")
    servers = json.loads(text)["LanguageServerManager"]["language_servers"]
    assert servers["samedevice"]["argv"] == ["samedevice", "server"]
    manager = pytest.importorskip("jupyter_lsp").LanguageServerManager
    loaded = manager(autodetect=False, language_servers=servers)
    loaded.initialize()
    assert list(loaded.language_servers) == ["samedevice"]


@pytest.mark.parametrize("editor", ["zed", "lsp4ij"])
def test_json(editor: str) -> None:
    settings = json.loads(code(editor)[0])
    assert "samedevice" in settings.get("lsp", settings)
