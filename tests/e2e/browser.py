"""Chromium without a window, spoken to over a pair of pipes (the DevTools protocol), for tests of the report's page."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Page:
    """A page that has been opened: what it asked for and what went wrong is in requests and troubles."""

    def __init__(self, browser, url):
        self.browser = browser
        self.requests, self.troubles = [], []
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.loaded = False
        self.call("Page.navigate", url=url)
        browser.until(lambda: self.loaded)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def event(self, method, parameters):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.troubles.append(parameters["exceptionDetails"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.troubles.append(parameters["entry"])

    def js(self, code):
        """The value of an expression, which may be a promise."""
        done = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode={"Tab": 9, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}[name])

    def media(self, kind="screen", scheme="light"):
        self.call("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width, height=900, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def screenshot(self, file):
        height = self.js("document.documentElement.scrollHeight")
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": self.js("innerWidth"), "height": height, "scale": 1})
        with open(file, "wb") as out:
            out.write(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])


class Browser:
    def __init__(self, limit=60):
        self.folder = tempfile.mkdtemp(prefix="mtlaunch-browser-")
        self.limit, self.pages, self.number, self.answers, self.bytes = limit, {}, 0, {}, b""
        there, self.write = os.pipe()
        self.read, back = os.pipe()

        def wire():  # Chromium reads from 3 and writes to 4
            high = [os.dup2(fd, fd + 100) for fd in (there, back)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-dev-shm-usage", f"--user-data-dir={self.folder}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=wire, close_fds=False)
        os.close(there)
        os.close(back)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, file):
        return Page(self, "file://" + os.path.abspath(file))

    def call(self, method, session=None, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        self.until(lambda: number in self.answers)
        answer = self.answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def until(self, condition):
        end = time.monotonic() + self.limit
        while not condition():
            ready, _, _ = select.select([self.read], [], [], max(0, end - time.monotonic()))
            assert ready, f"nothing came from the browser within {self.limit} s"
            piece = os.read(self.read, 1 << 20)
            assert piece, "the browser has ended"
            self.bytes += piece
            while b"\0" in self.bytes:
                text, _, self.bytes = self.bytes.partition(b"\0")
                self.take(json.loads(text))

    def take(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].event(message["method"], message["params"])
