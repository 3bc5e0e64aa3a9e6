"""Time the language server: `python tests/benchmarks/bench_server.py [--edits N] [--json]`.

A client types into a file of 1,000 lines in a project of 200 files, over standard streams, and
waits for the diagnostics of each version: those of a glance, and then until the whole project is
judged again, as somebody does who looks at what they typed. Two projects: `programs`, forty small
programs, as in a collection of examples; `package`, one package whose files are all connected by
imports. What a machine needs at least is the floor: `ast.parse` of the file that is typed into.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

FILES = 200
LINES = 1_000
PATIENCE = 1_800.0

HELPERS = """import torch


def batch_{i}(x, y, device):
    return x.to(device), y.to(device)


def mask_{i}(x):
    keep = torch.ones(x.size(0))
    return x * keep.unsqueeze(1)


class Meter{i}:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n
"""

MODEL = """import torch
from torch import nn

from {helpers} import mask_{h}


class Net{i}(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.second = nn.Linear(width, 2)
        self.scale = torch.ones(width)

    def forward(self, x):
        x = mask_{h}(x)
        noise = torch.randn(x.size(0), 8)
        return self.second(torch.relu(self.first(x) + noise) * self.scale)
"""

SCRIPT = """import torch
from torch import nn

from {common} import Meter0, batch_0
from {helpers} import Meter{h}, batch_{h}
from {model} import Net{m}

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net{m}()
loss_of = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
meter = Meter{h}()
for step in range(3):
    x, y = batch_{h}(torch.randn(6, 4), torch.randint(0, 2, (6,)), device)
    loss = loss_of(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.update(loss.item())
"""

LARGE_HEAD = """import torch
from torch import nn

from {helpers} import batch_{h}, mask_{h}
from {model} import Net{m}

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""

LARGE_PART = """

class Block{i}(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.linear = nn.Linear(4, width)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 4)

    def forward(self, x):
        bias = torch.zeros(x.size(0), 8)
        hidden = self.norm(self.linear(x)) + bias
        return x + self.out(torch.relu(hidden))


def run_{i}(epochs=2):
    model = Block{i}()
    model.to(device)
    net = Net{m}().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        x, y = batch_{h}(torch.randn(16, 4), torch.randint(0, 2, (16,)), device)
        weights = torch.ones(16)
        scores = net(mask_{h}(model(x)))
        loss = (nn.functional.cross_entropy(scores, y, reduction="none") * weights).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 10 == 0:
            print(epoch, loss.item())
    return model
"""


def make(root: Path, kind: str) -> Path:
    """Write a project of `FILES` files; return the one with `LINES` lines."""
    programs = FILES // 5 if kind == "programs" else 1
    each = FILES // programs
    for number in range(programs):
        folder = root / (f"example_{number}" if kind == "programs" else "src/pack")
        folder.mkdir(parents=True)
        dot = "" if kind == "programs" else "pack."
        helpers = max(1, each // 5)
        models = max(1, each // 2)
        for i in range(helpers):
            (folder / f"helpers_{i}.py").write_text(HELPERS.format(i=i))
        for i in range(models):
            h = i % helpers
            text = MODEL.format(i=i, h=h, helpers=f"{dot}helpers_{h}")
            (folder / f"model_{i}.py").write_text(text)
        for i in range(each - helpers - models - (number == 0)):
            h, m = i % helpers, i % models
            names = {"h": h, "m": m, "common": f"{dot}helpers_0"}
            names |= {"helpers": f"{dot}helpers_{h}", "model": f"{dot}model_{m}"}
            (folder / f"train_{i}.py").write_text(SCRIPT.format(**names))
        if number == 0:
            names = {"h": 0, "m": 0, "helpers": f"{dot}helpers_0", "model": f"{dot}model_0"}
            text = LARGE_HEAD.format(**names)
            part = 0
            while text.count("\n") < LINES - 40:
                text += LARGE_PART.format(i=part, h=0, m=0)
                part += 1
            text += f'\n\nif __name__ == "__main__":\n    run_{part - 1}()\n'
            large = folder / "large.py"
            large.write_text(text)
    return large


def edited(text: str, random_: random.Random) -> str:
    """Return the text after one more change, as somebody types them."""
    lines = text.split("\n")
    kind = random_.choice(("number", "comment", "line", "creation", "delete"))
    inner = [n for n, line in enumerate(lines) if line.startswith("        ") and "=" in line]
    at = random_.choice(inner)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    if kind == "number":
        lines[at] = lines[at].replace("16", str(random_.randrange(2, 99)))
    elif kind == "comment":
        lines[at] += f"  # {random_.randrange(1000)}"
    elif kind == "line":
        lines.insert(at, f"{indent}value = {random_.randrange(1000)}")
    elif kind == "creation":
        lines.insert(at, f"{indent}extra = torch.rand(3)")
    elif lines[at].strip().startswith(("value", "extra")):
        del lines[at]
    else:
        lines[at] = lines[at].replace("1e-3", "2e-3")
    return "\n".join(lines)


class Editor(LanguageClient):
    """A client that knows which versions it has been told of."""

    def __init__(self) -> None:
        super().__init__("bench", "1")
        self.versions: dict[str, int | None] = {}
        self.news = asyncio.Event()

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.versions[params.uri] = params.version
            self.news.set()

    async def told(self, uri: str, version: int) -> None:
        """Wait for the diagnostics of a version."""
        while self.versions.get(uri) != version:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), PATIENCE)


async def session(root: Path, large: Path, edits: int) -> dict[str, float]:
    """Start a server, type, ask for fixes; return seconds and bytes by name."""
    editor = Editor()
    found: dict[str, float] = {}
    began = time.perf_counter()
    await editor.start_io(sys.executable, "-m", "samedevice", "server")
    await editor.initialize_async(
        lsp.InitializeParams(
            lsp.ClientCapabilities(
                text_document=lsp.TextDocumentClientCapabilities(
                    code_action=lsp.CodeActionClientCapabilities(
                        resolve_support=lsp.ClientCodeActionResolveOptions(["edit"])
                    )
                ),
                workspace=lsp.WorkspaceClientCapabilities(
                    workspace_edit=lsp.WorkspaceEditClientCapabilities(
                        resource_operations=[lsp.ResourceOperationKind.Create]
                    )
                ),
            ),
            workspace_folders=[lsp.WorkspaceFolder(root.as_uri(), "project")],
        )
    )
    found["start"] = time.perf_counter() - began
    editor.initialized(lsp.InitializedParams())
    uri, text = large.as_uri(), large.read_text()
    began = time.perf_counter()
    editor.text_document_did_open(
        lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "python", 0, text))
    )
    await editor.told(uri, 0)
    found["first diagnostics"] = time.perf_counter() - began
    random_ = random.Random(20)
    seconds: list[float] = []
    wholes: list[float] = []
    floors: list[float] = []
    for version in range(1, edits + 1):
        before = text
        while text == before:
            text = edited(text, random_)
        began = time.perf_counter()
        editor.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(uri=uri, version=version),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        await editor.told(uri, version)
        seconds.append(time.perf_counter() - began)
        await editor.text_document_code_action_async(  # which waits for the whole
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(uri),
                lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)),
                lsp.CodeActionContext([]),
            )
        )
        wholes.append(time.perf_counter() - began)
        floors.append(parsing(text))  # beside each edit: the machine may be busy with more
    seconds.sort()
    found["floor: ast.parse of the file"] = statistics.median(floors)
    found["edit, median"] = statistics.median(seconds)
    found["edit, p95"] = seconds[int(len(seconds) * 0.95)]
    found["the whole judged, median"] = statistics.median(wholes)
    await asyncio.sleep(3)
    asked, fixed, all_fixed = [], [], 0.0
    for line in range(0, LINES - 50, LINES // 10):
        began = time.perf_counter()
        offered = await editor.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(uri),
                lsp.Range(lsp.Position(line, 0), lsp.Position(line + 40, 0)),
                lsp.CodeActionContext([]),
            )
        )
        asked.append(time.perf_counter() - began)
        actions = [one for one in offered or () if isinstance(one, lsp.CodeAction)]
        for number, action in enumerate(actions):
            if number and action.kind != "source.fixAll.samedevice":
                continue
            began = time.perf_counter()
            await editor.code_action_resolve_async(action)
            if number:
                all_fixed = all_fixed or time.perf_counter() - began
            else:
                fixed.append(time.perf_counter() - began)
    found["code actions of 40 lines"] = statistics.median(asked)
    found["one of them, resolved"] = statistics.median(fixed)
    found["all of the file, resolved"] = all_fixed
    process = editor._server
    assert process is not None
    found["memory"] = resident(process.pid)
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()
    return found


def resident(pid: int) -> float:
    """Return a process's resident memory in bytes; 0 where it cannot be read."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    line = next(part for part in status.read_text().splitlines() if part.startswith("VmRSS"))
    return float(line.split()[1]) * 1024


def parsing(text: str) -> float:
    """Return the seconds that `ast.parse` takes for a text."""
    began = time.perf_counter()
    ast.parse(text)
    return time.perf_counter() - began


def idle() -> float:
    """Return the memory of a server that was started and asked nothing, in bytes."""

    async def look() -> float:
        editor = Editor()
        await editor.start_io(sys.executable, "-m", "samedevice", "server")
        await editor.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities()))
        editor.initialized(lsp.InitializedParams())
        await asyncio.sleep(3)  # what fixes need is loaded, too
        process = editor._server
        assert process is not None
        size = resident(process.pid)
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.stop()
        return size

    return asyncio.run(look())


def starting(code: str) -> float:
    """Return the seconds that Python takes for `code` in a process of its own, at best."""

    def once() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - began

    return min(once() for _ in range(5))


def main() -> None:
    """Print a table: milliseconds, and how many times the floor they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    pygls = starting("import pygls.lsp.server")
    result: dict[str, Any] = {"idle memory, MB": idle() / 1e6, "floor: start with pygls": pygls}
    for kind in ("programs", "package"):
        with tempfile.TemporaryDirectory() as folder:
            large = make(Path(os.path.realpath(folder)), kind)
            root = Path(os.path.realpath(folder))
            result[kind] = asyncio.run(session(root, large, options.edits))
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print(f"idle memory: {result['idle memory, MB']:.0f} MB; Python starts and imports pygls in "
          f"{pygls * 1000:.0f} ms")  # fmt: skip
    for kind in ("programs", "package"):
        parts = result[kind]
        base = parts["floor: ast.parse of the file"]
        print(f"\n{kind}")
        for name, value in parts.items():
            if name == "start":
                print(f"  {name:36} {value * 1000:8.1f} ms  {value / pygls:6.1f} times pygls")
            elif name == "memory":
                print(f"  {name:36} {value / 1e6:8.0f} MB")
            else:
                print(f"  {name:36} {value * 1000:8.1f} ms  {value / base:6.1f} times the floor")


if __name__ == "__main__":
    main()
