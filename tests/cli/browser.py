# SPDX-License-Identifier: MIT
"""Controls a headless Chromium with the DevTools protocol over two pipes.

PERFBLOCK_BROWSER names the browser. Without it, the first of NAMES that is
installed is used."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60  # for an answer of the browser


def path():
    """The path of the browser, or None."""
    named = os.environ.get("PERFBLOCK_BROWSER")
    found = [shutil.which(name) for name in ([named] if named else NAMES)]
    return next(filter(None, found), None)


def missing():
    """Why there is no browser for the tests; empty if there is one."""
    if sys.platform == "win32":
        return "Windows cannot pass the browser its two pipes"
    return "" if path() else "no Chromium was found"


class Browser:
    """A browser with one page. It is a context manager."""

    def __init__(self, width=1280, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="perfblock-browser-")
        to_browser = os.pipe()
        from_browser = os.pipe()
        read, write = to_browser[0], from_browser[1]

        def connect_pipes():
            """Sets up descriptors 3 and 4: the browser reads commands from 3
            and writes results and events to 4."""
            os.setsid()
            high = (os.dup(read), os.dup(write))
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [path(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             "--user-data-dir=" + self.folder.name, "--remote-debugging-pipe",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=connect_pipes)
        os.close(read)
        os.close(write)
        self.out, self.source = to_browser[1], from_browser[0]
        self.number, self.session, self.pending = 0, None, b""
        self.events = []
        try:
            target = self.call("Target.createTarget", url="about:blank")
            self.session = self.call(
                "Target.attachToTarget", targetId=target["targetId"],
                flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(domain + ".enable")
            self.call("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-color-scheme",
                 "value": "dark" if dark else "light"}])
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser and its child processes."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.out)
        os.close(self.source)
        for _ in range(20):  # its child processes may still write
            try:
                self.folder.cleanup()
                break
            except OSError:
                time.sleep(0.1)

    def message(self, deadline):
        """The browser's next message, which must arrive before the deadline."""
        while b"\0" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.source], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            read = os.read(self.source, 1 << 20)
            if not read:
                raise EOFError("the browser ended")
            self.pending += read
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        """Calls a method and returns its result. Events that arrive before the
        result are stored in self.events."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def resize(self, width, height):
        """Sets the size of the window."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    def load(self, page):
        """Loads a file and waits until its scripts have run."""
        self.events = []
        self.call("Page.navigate", url=pathlib.Path(page).as_uri())
        deadline = time.monotonic() + SECONDS
        while not any(e.get("method") == "Page.loadEventFired"
                      for e in self.events):
            self.events.append(self.message(deadline))

    def run(self, expression):
        """The value of an expression of the page's script."""
        result = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def settle(self):
        """Waits until the page is drawn with all changes."""
        self.run("new Promise(done => requestAnimationFrame(() => "
                 "requestAnimationFrame(() => setTimeout(done))))")

    def key(self, name):
        """Presses and releases a key."""
        text = {"text": name} if len(name) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)
        self.settle()

    def mouse(self, kind, x, y):
        """Moves the mouse, or presses or releases its left button: `kind` is
        mouseMoved, mousePressed or mouseReleased."""
        button = {"button": "left", "clickCount": 1}
        if kind == "mouseMoved":
            button = {}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def drag(self, begin, end):
        """Drags the mouse from one point to another."""
        self.mouse("mouseMoved", *begin)
        self.mouse("mousePressed", *begin)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=end[0],
                  y=end[1], button="left", buttons=1)
        self.mouse("mouseReleased", *end)
        self.settle()

    def screenshot(self, file, **clip):
        """Saves the window, or the part `clip`, as PNG."""
        extra = {"clip": dict(clip, scale=1)} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", **extra)
        with open(file, "wb") as out:
            out.write(base64.b64decode(data["data"]))

    def console(self):
        """Console messages, exceptions and log entries since the page was
        loaded."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown",
                 "Log.entryAdded")
        return [e for e in self.events if e.get("method") in kinds]

    def requests(self):
        """URLs that the page requested, except its own."""
        urls = [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]
        return urls[1:]
