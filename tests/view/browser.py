"""Drives a headless Chromium by its debugging protocol, over two pipes."""

import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
KEY_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "PageDown": 34}


def find_browser() -> str | None:
    named = os.environ.get("TMAJIT_BROWSER")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """A browser with one page. `events` has the events that it reported since the page was opened."""

    def __init__(self, program: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="browser")
        command_read, self.command_write = os.pipe()
        self.answer_read, answer_write = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4. The pipes' own numbers are
        # larger, so that connect() overwrites neither.
        command_read = fcntl.fcntl(command_read, fcntl.F_DUPFD, 10)
        answer_write = fcntl.fcntl(answer_write, fcntl.F_DUPFD, 10)

        def connect() -> None:
            os.dup2(command_read, 3)
            os.dup2(answer_write, 4)

        self.process = subprocess.Popen(
            [
                program,
                *OPTIONS,
                "--window-size=1600,1000",
                f"--user-data-dir={self.folder.name}",
                "about:blank",
            ],
            pass_fds=(3, 4),
            preexec_fn=connect,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(command_read)
        os.close(answer_write)
        self.buffer = b""
        self.number = 0
        self.session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=1600, height=1000, deviceScaleFactor=1, mobile=False
        )

    def close(self) -> None:
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        self.process.wait(20)
        os.close(self.command_write)
        os.close(self.answer_read)
        self.folder.cleanup()

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def receive(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            part = os.read(self.answer_read, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.command_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event: str) -> None:
        while not any(each.get("method") == event for each in self.events):
            self.events.append(self.receive())

    def open(self, page: pathlib.Path) -> None:
        self.events = []
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, after the page has been drawn."""
        frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        result = self.call(
            "Runtime.evaluate",
            expression=f"{frame}.then(() => ({expression}))",
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def press(self, key: str) -> None:
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        code = KEY_CODES.get(key, ord(key.upper()) if key.isalnum() and len(key) == 1 else 0)
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                text=text if kind == "keyDown" else "",
                windowsVirtualKeyCode=code,
            )

    def type(self, text: str) -> None:
        for character in text:
            self.press(character)

    def move_pointer(self, selector: str) -> None:
        """Moves the pointer to the left part of the first element that the selector finds."""
        box = self.value(
            f"(box => [box.left + 60, box.top + box.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def drag(self, selector: str, columns: int, lines: int) -> None:
        """Presses the button at an element's left edge, moves by columns and lines, and releases it."""
        x, y = self.value(
            f"(box => [box.left + 2, box.top + box.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        end = (x + 8 * columns, y + 18 * lines)
        for kind, to in (("mousePressed", (x, y)), ("mouseMoved", end), ("mouseReleased", end)):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=to[0],
                y=to[1],
                button="left",
                buttons=1,
                clickCount=1,
            )

    def picture(self, path: pathlib.Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
