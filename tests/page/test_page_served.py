#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page from `vramscope view --serve`: it asks for the part of the trace that is visible, of its own
server alone; the server refuses requests without the token and ends with status 0 on Ctrl-C.

    test_page_served.py VRAMSCOPE TRAIN_LM SCENARIO"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
from pages import Pages  # noqa: E402

SECONDS = 90


def address_of(server):
    """The address that the server prints."""
    watchdog = threading.Timer(SECONDS, server.kill)
    watchdog.start()
    seen = ""
    for line in server.stdout:
        seen += line
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\w+", line)
        if found:
            watchdog.cancel()
            return found.group(0)
    watchdog.cancel()
    if "not in this build" in seen:
        browser.skip("vramscope was built without libmicrohttpd")
    raise AssertionError(f"no address: {seen}")


def refuses(address):
    try:
        urllib.request.urlopen(address, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        return error.code
    return 0


def as_long_elsewhere(part, duration):
    """A range beside *part* that is no longer: of much longer ones the page shows the curves alone."""
    length = part["to"] - part["from"]
    if part["from"] > duration - part["to"]:
        return [max(0, part["from"] - 2 * length), part["from"] - 1]
    return [part["to"] + 1, min(duration, part["to"] + 2 * length)]


def parts_are_asked_for(address):
    page = browser.running().new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(browser.WAIT_MS)
    faults = browser.Faults()
    page.on("console", lambda m: m.type == "error" and faults.append(m.text))
    page.on("pageerror", lambda e: faults.append(str(e)))
    requests = []
    page.on("request", lambda r: requests.append(r.url))
    page.goto(address)
    page.wait_for_selector("html[data-blocks=ready]")
    duration, part = page.evaluate("() => { const h = JSON.parse(document.getElementById('head').textContent); "
                                   "return [h.duration, h.window]; }")
    assert part and part["to"] - part["from"] < duration, part
    away = as_long_elsewhere(part, duration)
    page.evaluate("([from, to]) => { location.hash = `#tab=blocks&from=${from}&to=${to}`; }", away)
    # Before this the page may have asked for the whole trace, which it shows first: the part that counts is
    # the one that shows what was asked for.
    page.wait_for_function("""([from, to]) => {
            const [start, end] = (document.documentElement.dataset.part || '0 0').split(' ').map(Number);
            return start < to && end > from;
        }""", arg=away, timeout=SECONDS * 1000)
    assert any("/data?" in url for url in requests), requests
    base = address.split("?", maxsplit=1)[0]
    assert all(url.startswith((base, "data:", "blob:")) for url in requests), requests
    assert not faults, faults
    page.close()


def the_browser_is_given_no_token(command, trace, folder):
    """Arguments of a process are visible to other users: xdg-open gets a private file that leads to the page."""
    opened, copied = folder / "opened", folder / "copied"
    fake = folder / "bin/xdg-open"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\nstat -c %a "$1" > {copied}.mode\ncat "$1" > {copied}\n'
                    f'echo "$@" > {opened}.new\nmv {opened}.new {opened}\n')
    fake.chmod(0o755)
    environment = {**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}", "DISPLAY": ":0",
                   "XDG_RUNTIME_DIR": str(folder)}
    server = subprocess.Popen([command, "view", "--serve", "--open", trace], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        address = address_of(server)
        for _ in range(SECONDS * 20):
            if opened.exists():
                break
            time.sleep(0.05)
        path = pathlib.Path(opened.read_text().strip())
        assert path.parent == folder and path.suffix == ".html" and "token" not in str(path), path
        text = copied.read_text()
        assert address in text and pathlib.Path(f"{copied}.mode").read_text() == "600\n", text
        assert path.exists()
        assert refuses(address.split("?", maxsplit=1)[0]) == 403 and path.exists()
        assert urllib.request.urlopen(address, timeout=SECONDS).status == 200
        assert not path.exists(), "the page was asked for"
        server.send_signal(signal.SIGINT)
        assert server.wait(SECONDS) == 0, server.returncode
    finally:
        server.kill()
        server.wait()


def main():
    browser.require()
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages(*sys.argv[1:4], folder)
        server = subprocess.Popen([command, "view", "--serve", "--events", "500", pages.trace("training")],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = address_of(server)
            parts_are_asked_for(address)
            assert refuses(address.split("?", maxsplit=1)[0]) == 403
            assert refuses(re.sub(r"token=.*", "token=0", address)) == 403
            server.send_signal(signal.SIGINT)
            assert server.wait(SECONDS) == 0, server.returncode
        finally:
            server.kill()
            server.wait()
        the_browser_is_given_no_token(command, pages.trace("training"), pathlib.Path(folder))
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
