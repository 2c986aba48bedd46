# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for the tests of the HTML page, driven by Playwright.

    browser.py fetch    installs Playwright and axe-core (Python packages) into build/browser

The browser is Debian's `chromium`; VS_CHROMIUM names another one. Tests exit with SKIPPED and a
message where the browser or Playwright is missing. A page is opened from a file, all requests to
anything else are recorded as faults, and so are messages of level error on the console and
exceptions that no script caught.
"""
import atexit
import contextlib
import functools
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environments  # noqa: E402
from python_environments import SKIPPED, skip  # noqa: E402, F401

PACKAGES = ("playwright==1.65.2", "axe-playwright-python==0.1.8")
BROWSER = python_environments.PythonEnvironment("browser", PACKAGES, "playwright.sync_api, axe_playwright_python")
WAIT_MS = 90000  # until what a busy machine does late; no test measures it


def executable():
    """Path of the browser, or None."""
    return os.environ.get("VS_CHROMIUM") or shutil.which("chromium")


def require():
    """Runs the calling script in the environment's Python; exits with SKIPPED if something is missing."""
    if not executable():
        skip("there is no chromium; scripts/test installs it, VS_CHROMIUM names another one")
    BROWSER.require("VS_BROWSER_PYTHON", "tests/page/browser.py")


class Faults(list):
    """What a page did wrong: console errors, exceptions, requests."""

    def watch(self, page):
        page.on("console", lambda m: m.type == "error" and self.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: self.append(f"exception: {e}"))
        page.on("request", lambda r: r.url.split(":")[0] not in ("file", "blob", "data")
                and self.append(f"request: {r.url}"))


@functools.cache
def running():
    """The browser of this script, started when the first page is opened."""
    from playwright.sync_api import sync_playwright
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    return playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"], timeout=WAIT_MS)


@contextlib.contextmanager
def opened(path, width=1280, height=720, scheme="light", fragment="", init_script=None, limit=WAIT_MS / 1000):
    """The page at *path* in a new profile of the browser: (page, faults). It loads within *limit* seconds."""
    context = running().new_context(viewport={"width": width, "height": height},
                                    color_scheme=scheme, accept_downloads=True)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    if init_script:
        page.add_init_script(init_script)
    faults = Faults()
    faults.watch(page)
    try:
        page.goto(pathlib.Path(path).resolve().as_uri() + fragment, timeout=1000 * limit)
        yield page, faults
    finally:
        context.close()


def page_of_modules(root, folder, names, setup=""):
    """A page with all modules of the page but app.js, whose functions of *names* are those of the window."""
    sys.path.insert(0, str(root / "cmake"))
    sys.dont_write_bytecode = True
    import bundle_page
    code = "".join(m.code() for m in bundle_page.load(str(root / "src/viewer/html/web")) if m.name != "app.js")
    code += f"Object.assign(window, {{{', '.join(names)}}});\n{setup}"
    path = pathlib.Path(folder) / "modules.html"
    path.write_text(f'<!doctype html><meta charset="utf-8"><script type="module">{code}</script>', encoding="utf-8")
    return path


def run(tests, *words, about=""):
    for test in tests:
        test(*words)
        print("ok", about, test.__name__, flush=True)


def follow(page, fragment):
    """Gives the page another *fragment* ("#tab=...") and waits until its hashchange event and two frames are over."""
    page.evaluate("""(fragment) => new Promise((done) => {
        const drawn = () => requestAnimationFrame(() => requestAnimationFrame(done));
        if (location.hash === fragment)
            return drawn();
        addEventListener('hashchange', drawn, {once: true});
        location.hash = fragment;
    })""", fragment)


if __name__ == "__main__":
    python_environments.main(__doc__, BROWSER)
