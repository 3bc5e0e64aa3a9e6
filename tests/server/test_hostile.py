"""What no editor should send, and what editors do: nonsense, huge texts, haste, a sudden end."""

from __future__ import annotations

import ast
import asyncio
import gc
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp

from samedevice.finding import Finding
from samedevice.migration import check, migrate
from samedevice.reading.config import Config
from samedevice.server.analysis import Folder, Settings

from .editor import run, session
from .mutations import mutated

FIXTURES = Path(__file__).parents[2] / "fixtures"
SERVER = [sys.executable, "-m", "samedevice", "server"]
BROKEN = 'import torch\n\nx = torch.ones(3, device="cuda")\n'


def message(**fields: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def hello(**params: Any) -> bytes:
    return message(id=1, method="initialize", params={"capabilities": {}, **params})


PART = "def f{n}(x):\n    y = torch.ones(3)\n    return g(x + y.cuda(), torch.zeros(3))\n\n\n"
LONG = "import torch\n\n\ndef g(x, y):\n    return (x * y).numpy()\n\n\n" + "".join(
    PART.replace("{n}", str(n)) for n in range(4_000)
)  # seconds of work


def opened(text: str) -> bytes:
    item = {"uri": "file:///none/long.py", "languageId": "python", "version": 1, "text": text}
    return message(method="textDocument/didOpen", params={"textDocument": item})


def answer(stream: IO[bytes], number: int) -> dict[str, Any]:
    """Read messages up to the answer to a request."""
    while True:
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise AssertionError("the server has ended")
        found = json.loads(stream.read(length))
        if found.get("id") == number and "method" not in found:
            assert isinstance(found, dict)
            return found


def ended(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    finally:
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def test_messages_that_are_none_are_passed_over() -> None:
    server = subprocess.Popen(
        SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert server.stdin is not None and server.stdout is not None
    hover = {"textDocument": {"uri": "file:///x.py"}, "position": {"line": -1, "character": 99}}
    for part in (
        b"Content-Length: 9\r\n\r\nnot json!",
        hello(),
        b"Content-Length: 2\r\n\r\n[]",
        message(id=2, method="no/such/method", params=[]),
        message(method="textDocument/didChange", params={"textDocument": 7}),
        message(method="textDocument/didOpen"),
        message(id=3, method="textDocument/hover", params={"position": "here"}),
        message(id=4, method="textDocument/hover", params=hover),
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: -7\r\n\r\n",
        b"no header at all\r\n\r\n",
        message(id=99, result="an answer that nobody waits for"),
        message(method="$/cancelRequest", params={"id": "unknown"}),
    ):
        server.stdin.write(part)
    server.stdin.flush()
    assert "result" in answer(server.stdout, 1)
    assert "error" in answer(server.stdout, 2)
    assert "error" in answer(server.stdout, 3)
    assert "error" in answer(server.stdout, 4)
    server.stdin.write(message(id=5, method="shutdown") + message(method="exit"))
    server.stdin.flush()
    assert answer(server.stdout, 5)["result"] is None
    ended(server, 20)
    assert server.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by signal")
def test_a_server_does_not_outlive_its_editor() -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    read, write = os.pipe()  # kept open here: only the editor's death is to be seen
    server = subprocess.Popen(SERVER, stdin=read, stdout=subprocess.PIPE)
    assert server.stdout is not None
    os.close(read)
    try:
        os.write(write, hello(processId=editor.pid))
        assert "result" in answer(server.stdout, 1)
        os.write(write, message(method="initialized", params={}))
        editor.send_signal(signal.SIGKILL)
        editor.wait()
        ended(server, 30)
    finally:
        os.close(write)
        editor.poll()


@pytest.mark.parametrize("how", ["closed", "reset"])
def test_a_session_over_a_socket_ends_with_its_client(how: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([*SERVER, "--tcp", str(port)])
    for _ in range(200):
        try:
            client = socket.create_connection(("127.0.0.1", port), timeout=20)
            break
        except OSError:
            time.sleep(0.1)
    with client, client.makefile("rb") as stream:
        client.sendall(hello())
        assert "result" in answer(stream, 1)  # type: ignore[arg-type]
        client.sendall(message(method="initialized", params={}) + opened(LONG))
        if how == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ended(server, 30)


CLIENT = """
import subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(sys.stdin.buffer.read())
server.stdin.flush()
server.stdout.read(1)
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs Linux's list of processes")
def test_a_busy_server_ends_when_its_editor_is_killed() -> None:
    editor = subprocess.Popen(
        [sys.executable, "-c", CLIENT, *SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert editor.stdin is not None and editor.stdout is not None
    editor.stdin.write(hello() + message(method="initialized", params={}) + opened(LONG))
    editor.stdin.close()
    server = int(editor.stdout.readline())
    editor.send_signal(signal.SIGKILL)
    ended(editor, 30)
    for _ in range(300):
        if not alive(server):
            return
        time.sleep(0.1)
    os.kill(server, signal.SIGKILL)
    raise AssertionError("the server has outlived its editor")


def alive(process: int) -> bool:
    """Tell whether a process runs; one that only waits for its parent to be told does not."""
    try:
        with open(f"/proc/{process}/stat") as status:
            return status.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_haste_ends_in_the_right_state(tmp_path: Path) -> None:
    """A thousand edits at random, as fast as they go, and a hundred keys in one second."""
    folder = project(tmp_path, "scripts_share_a_folder")
    path = sorted(folder.rglob("*.py"))[-1]
    random_ = random.Random(3)

    async def type_() -> None:
        async with session(folder) as editor:
            uri = editor.open(path)
            await editor.diagnostics(uri)
            good = text = editor.texts[uri]
            for version in range(2, 1_002):
                text = mutated(text, random_)
                editor.change(uri, text, version)
                if parses(text):
                    good = text
                elif version % 5 == 0:
                    text = good
            text, began = good, time.perf_counter()
            for key, version in enumerate(range(1_002, 1_102)):  # mostly half a statement
                text += "y = torch.ones(2).cuda()\n"[key % 25]
                editor.change(uri, text, version)
                await asyncio.sleep(max(0.0, began + key * 0.01 - time.perf_counter()))
            found = await editor.diagnostics(uri, 1_101)
            path.write_text(text)
            assert [(one.code, one.range.start.line) for one in found] == [
                (one.rule, one.span.line - 1)
                for one in fresh([folder])
                if one.path == path.as_posix()
            ]
            assert len(found) > 2
            versions = [params.version or 0 for params in editor.told[uri]]
            assert versions == sorted(versions)

    run(type_())


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def test_what_is_huge_or_strange_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(BROKEN)
    texts = (
        "x = 1\n" * 900_000,  # 5 MB
        "x = [" + "1, " * 500_000,
        "(" * 100_000,
        "x = " + "-" * 50_000 + "1\n",
        "\0\ufeff\u2028\r\x0c",
        "if x:\n" + " " * 3 + "\ud800",
        "'''" + BROKEN,
    )

    async def send() -> None:
        async with session(tmp_path) as editor:
            uri = editor.open(path)
            assert len(await editor.diagnostics(uri)) == 1
            version = 1
            for text in texts:
                version += 1
                editor.change(uri, text.encode("utf-8", "replace").decode(), version)
                found = await editor.diagnostics(uri, version)
                assert {one.code for one in found} <= {"syntax", "hard-coded-device"}
                version += 1
                editor.change(uri, BROKEN, version)
                assert len(await editor.diagnostics(uri, version)) == 1
            name = lsp.TextDocumentIdentifier(uri)
            editor.text_document_did_close(lsp.DidCloseTextDocumentParams(name))
            await editor.until(lambda: not editor.told[uri][-1].diagnostics)

    run(send())


def fresh(paths: list[Path]) -> list[Finding]:
    return check.check(migrate.read([str(path) for path in paths], Config()), Config())


def type_at_random(folder: Path, edits: int, seed: int, every: int) -> None:
    """Edit the files of a project; what is found along the way is what a fresh run finds."""
    random_ = random.Random(seed)
    paths = sorted(path.as_posix() for path in folder.rglob("*.py"))
    texts = {path: Path(path).read_text() for path in paths}
    good = dict(texts)
    analysed = Folder(folder.as_posix())
    compared = 0
    for number in range(edits):
        path = random_.choice(paths)
        before = texts[path]
        texts[path] = mutated(before, random_)
        analysed.glance(texts, Settings())
        analysis = analysed.analyse(texts, Settings())
        if path in analysis.broken:
            if random_.random() < 0.7:  # most typing ends in something that parses
                texts[path] = before
                analysis = analysed.analyse(texts, Settings())
        if not analysis.broken:
            good = dict(texts)
            if number % every == 0 or number == edits - 1:
                copies = {name: Path(name).write_text(text) for name, text in texts.items()}
                assert copies
                assert list(analysis.findings) == fresh([folder])
                compared += 1
        elif number % 20 == 19:
            texts = dict(good)
    analysis = analysed.analyse(good, Settings())
    for name, text in good.items():
        Path(name).write_text(text)
    assert list(analysis.findings) == fresh([folder])
    assert compared >= edits // every // 4


def project(folder: Path, name: str) -> Path:
    for path in (FIXTURES / "projects" / name / "before").rglob("*.py"):
        copy = folder / path.relative_to(FIXTURES / "projects" / name / "before")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return folder


def test_edits_at_random_end_as_a_fresh_run(tmp_path: Path) -> None:
    type_at_random(project(tmp_path, "scripts_share_a_folder"), 1_000, seed=5, every=100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_edits_at_random_are_a_fresh_run_each_time(tmp_path: Path, seed: int) -> None:
    names = sorted(path.parent.name for path in FIXTURES.glob("projects/*/before"))
    type_at_random(project(tmp_path, names[seed * 3 % len(names)]), 1_000, seed, every=5)


def test_what_an_edit_replaces_leaves_no_garbage(tmp_path: Path) -> None:
    folder = project(tmp_path, "package_classifier")
    path = next(iter(sorted(folder.rglob("train*.py")))).as_posix()
    text = Path(path).read_text()
    analysed = Folder(folder.as_posix())
    analysed.analyse({path: text}, Settings())
    gc.collect()
    gc.disable()
    try:
        for number in range(4):
            text += f"x{number} = torch.zeros(3)\n"
            analysed.analyse({path: text}, Settings())
        assert gc.collect() < 500
    finally:
        gc.enable()
