"""A headless Chromium that tests talk to over its debugging pipe: no driver and no port."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip


def find() -> str | None:
    """Return a Chromium or Chrome of this machine, if there is one."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


class Browser:
    """One page in one browser. Requests that leave the machine are recorded in `requests`."""

    def __init__(self, program: str, width: int = 1400, height: int = 900) -> None:
        self.requests: list[str] = []
        self.problems: list[str] = []
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        script = 'exec "$0" "$@" 3<&"$IN" 4>&"$OUT"'
        env = {**os.environ, "IN": str(to_read), "OUT": str(to_write)}
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", script, program, *FLAGS, f"--user-data-dir={self._profile}",
             f"--window-size={width},{height}", "about:blank"],
            pass_fds=(to_read, to_write), env=env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._number = 0
        self._session = ""
        target = self("Target.createTarget", url="about:blank")
        attached = self("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self(f"{domain}.enable")
        self.size(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def __call__(self, method: str, **parameters: Any) -> Any:
        """Send one command and return its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._read, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                thrown = details.get("exception", {}).get("description")
                self.problems.append(thrown or details["text"])
            case "Log.entryAdded":
                self.problems.append(parameters["entry"]["text"])

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a page of this machine and wait until it is there."""
        self.go(page.resolve().as_uri() + fragment)

    def go(self, address: str) -> None:
        """Load a page and wait until it is there."""
        self("Log.enable")
        self("Page.navigate", url="about:blank")
        self.requests.clear()
        self("Page.navigate", url=address)
        while self.js("document.readyState") != "complete" or "about:" in self.js("location.href"):
            pass
        self.settle()

    def settle(self) -> None:
        """Wait until what the page has to draw is drawn."""
        frame = "requestAnimationFrame"
        self.js(f"new Promise(done => {frame}(() => {frame}(() => setTimeout(done, 30))))")

    def js(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, or of its promise."""
        answer = self(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def size(self, width: int, height: int) -> None:
        """Resize the window."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height,
             deviceScaleFactor=1, mobile=False)  # fmt: skip

    def media(self, scheme: str = "", media: str = "") -> None:
        """Prefer a colour scheme ("dark"), or show the page as for "print"."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self("Emulation.setEmulatedMedia", media=media, features=features)

    def hover(self, selector: str) -> None:
        """Move the mouse over an element."""
        box = self.js(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2] })()"
        )
        self("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        self.settle()

    def key(self, name: str) -> None:
        """Press a key."""
        codes = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "n": 78}
        text = {"Enter": "\r", "n": "n"}.get(name, "")
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                 text=text * (kind == "keyDown"), windowsVirtualKeyCode=codes[name])  # fmt: skip
        self.settle()

    def shoot(self, path: Path, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as a PNG or a WebP."""
        kind = {"format": "webp", "quality": 80} if path.suffix == ".webp" else {}
        answer = self("Page.captureScreenshot", captureBeyondViewport=whole, **kind)
        path.write_bytes(base64.b64decode(answer["data"]))


if __name__ == "__main__":  # python browser.py page.html shot.png [width height [script]]
    page, shot, *rest = sys.argv[1:]
    program = find()
    assert program is not None, "no Chromium here"
    width, height = (int(rest[0]), int(rest[1])) if len(rest) > 1 else (1400, 900)
    with Browser(program, width, height) as browser:
        browser.media(os.environ.get("SCHEME", ""))
        browser.open(Path(page), os.environ.get("FRAGMENT", ""))
        for script in rest[2:]:
            print(browser.js(script))
            browser.settle()
        browser.shoot(Path(shot))
        print(browser.problems, browser.requests)
