# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for the tests of the HTML page, driven by Playwright.

    browser.py fetch    installs Playwright and axe-core (Python packages) into build/browser

The browser is Debian's `chromium`; VS_CHROMIUM names another one. Tests exit with SKIPPED and a
message where the browser or Playwright is missing. A page is opened from a file, all requests to
anything else are recorded as faults, and so are messages of level error on the console and
exceptions that no script caught.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/browser"
PACKAGES = ("playwright==1.65.2", "axe-playwright-python==0.1.8")
SKIPPED = 77
WAIT_MS = 90000  # until what a busy machine does late; no test measures it


def executable():
    """Path of the browser, or None."""
    return os.environ.get("VS_CHROMIUM") or shutil.which("chromium")


def fetch():
    """Makes FOLDER complete; True if it is."""
    if not (FOLDER / "bin/python").exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        try:
            venv.create(FOLDER, with_pip=True)
        except subprocess.CalledProcessError:  # Debian without python3-venv
            shutil.rmtree(FOLDER, ignore_errors=True)
            return False
    python = FOLDER / "bin/python"
    if subprocess.run([python, "-c", "import playwright, axe_playwright_python"],
                      stderr=subprocess.DEVNULL).returncode == 0:
        return True
    return subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                           "--retries", "2", *PACKAGES]).returncode == 0


def require():
    """Runs the calling script in FOLDER's Python; exits with SKIPPED if something is missing."""
    if not executable():
        skip("there is no chromium; scripts/test installs it, VS_CHROMIUM names another one")
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        python = FOLDER / "bin/python"
        if os.environ.get("VS_BROWSER_PYTHON") or not python.exists():
            skip("Playwright is not installed; `tests/page/browser.py fetch` installs it in build/browser")
        os.environ["VS_BROWSER_PYTHON"] = "1"
        os.execv(python, [str(python), *sys.argv])


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


class Faults(list):
    """What a page did wrong: console errors, exceptions, requests."""

    def watch(self, page):
        page.on("console", lambda m: m.type == "error" and self.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: self.append(f"exception: {e}"))
        page.on("request", lambda r: r.url.split(":")[0] not in ("file", "blob", "data")
                and self.append(f"request: {r.url}"))


@contextlib.contextmanager
def opened(path, width=1280, height=720, scheme="light", fragment="", init_script=None, limit=30):
    """The page at *path* in a new browser: (page, faults). It loads within *limit* seconds."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        try:
            context = browser.new_context(viewport={"width": width, "height": height},
                                          color_scheme=scheme, accept_downloads=True)
            context.set_default_timeout(WAIT_MS)
            page = context.new_page()
            if init_script:
                page.add_init_script(init_script)
            faults = Faults()
            faults.watch(page)
            page.goto(pathlib.Path(path).resolve().as_uri() + fragment, timeout=1000 * limit)
            yield page, faults
        finally:
            browser.close()


if __name__ == "__main__":
    if sys.argv[1:] != ["fetch"]:
        sys.exit(__doc__)
    sys.exit(0 if fetch() else 1)
