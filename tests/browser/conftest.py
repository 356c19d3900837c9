"""What the tests of the page share: real studies, the program that serves them, and
Debian's chromium.

    COCABO_BUILD=build python -m pytest tests/browser
"""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("COCABO_BUILD", ROOT / "build")).resolve()
PROGRAM = BUILD / "cocabo"
os.environ.setdefault("COCABO_LIBRARY", str(BUILD / "libcocabo.so"))
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/python"), str(ROOT / "tests/browser")]

import studies  # noqa: E402  (it needs the path)
from playwright.sync_api import sync_playwright  # noqa: E402

CHROMIUM = os.environ.get("COCABO_CHROMIUM", "/usr/bin/chromium")


class Server:
    """A running cocabo serve; address ends in a slash."""

    def __init__(self, path, port=0, **environment):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", str(port), "--storage", f"sqlite:///{path}"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        line = self.process.stderr.readline()
        found = re.search(r"http://\S+/", line)
        assert found, line + self.process.stderr.read()
        self.address = found[0]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.process.stderr.close()


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return studies.make(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def server(store):
    server = Server(store)
    yield server
    server.end()


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visitor:
    """A page of the browser and what must not happen in it."""

    def __init__(self, chromium, address, **options):
        self.address = address
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        self.context = chromium.new_context(**options)
        self.context.set_default_timeout(15000)
        self.page = self.context.new_page()
        self.problems, self.requests, self.deleted = [], [], False
        self.page.on("pageerror", lambda e: self.problems.append(str(e)))
        self.page.on("dialog", lambda d: (self.problems.append(d.message), d.dismiss()))
        self.page.on("console", self._hear)
        self.page.on("request", lambda r: self.requests.append(r.url))

    def _hear(self, message):
        # A model that cannot be asked yet is status 409, which the browser notes itself, and
        # what is asked while a study is being deleted 404.
        known = ["409", "404"] if self.deleted else ["409"]
        if message.type == "error" and not any(status in message.text for status in known):
            self.problems.append(message.text)

    def open(self, place="#/"):
        self.page.goto(self.address + place)
        self.page.wait_for_selector("h1")
        return self.page

    def study(self, name):
        from urllib.parse import quote

        page = self.open(f"#/study/{quote(name, safe='')}")
        page.wait_for_selector(".uplot")
        return page

    def end(self):
        self.context.close()
        assert self.problems == []


@pytest.fixture
def visitor(chromium, server):
    visitor = Visitor(chromium, server.address)
    yield visitor
    visitor.end()
