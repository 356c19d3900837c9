"""Pictures of every view for people to look at: 1280 and 390 pixels, light and dark.

    COCABO_BUILD=build python tests/browser/shots.py FOLDER [study ...]
"""

import pathlib
import sys
import tempfile
from urllib.parse import quote

from conftest import CHROMIUM, Server, Visitor
from playwright.sync_api import sync_playwright

import studies

WIDTHS = (1280, 390)
STUDIES = ["svm", "noisy", "new"]


def places(names):
    yield "list", "#/"
    yield "compare", "#/compare/svm-seed-0,svm-seed-1,svm-seed-2"
    for name in names:
        yield name, f"#/study/{quote(name, safe='')}"


def shoot(page, width, path):
    """In a window as high as the page, so that every panel is in sight and drawn."""
    page.wait_for_timeout(500)
    for _ in range(2):  # panels that come into sight may grow
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(1000)
    page.screenshot(path=path)


def visit(browser, server, folder, names, look, width):
    visitor = Visitor(browser, server.address, color_scheme=look,
                      viewport={"width": width, "height": 800})
    for name, place in places(names):
        visitor.open(place)
        shoot(visitor.page, width, folder / f"{name}-{width}-{look}.png")
        visitor.page.set_viewport_size({"width": width, "height": 800})
    visitor.end()


def main(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        server = Server(studies.make(scratch))
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for look in ("light", "dark"):
                for width in WIDTHS:
                    visit(browser, server, folder, names, look, width)
            browser.close()
        finally:
            server.end()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:] or STUDIES)
