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

WIDTHS = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
STUDIES = ["svm", "noisy", "new"]


def places(names):
    yield "list", "#/"
    yield "compare", "#/compare/svm-seed-0,svm-seed-1,svm-seed-2"
    for name in names:
        yield name, f"#/study/{quote(name, safe='')}"


def settle(page):
    """Down the page, so that every panel is drawn, and back."""
    page.wait_for_timeout(700)
    height = page.evaluate("document.documentElement.scrollHeight")
    for y in range(0, height, 500):
        page.evaluate("(y) => scrollTo(0, y)", y)
        page.wait_for_timeout(120)
    page.wait_for_timeout(1200)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(200)


def main(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        server = Server(studies.make(scratch))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for look in ("light", "dark"):
            for kind, viewport in WIDTHS.items():
                visitor = Visitor(browser, server.address, viewport=viewport, color_scheme=look)
                for name, place in places(names):
                    visitor.open(place)
                    settle(visitor.page)
                    visitor.page.screenshot(path=folder / f"{name}-{kind}-{look}.png",
                                            full_page=True)
                visitor.end()
        browser.close()
        server.end()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:] or STUDIES)
