#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page from `vramscope view --live` beside a program that waits for each step: it follows the program without
losing what is on the screen, stops while it is paused, and becomes the page of the whole trace in the end.

    test_page_live.py VRAMSCOPE SCENARIO"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "preload/top")]
import browser  # noqa: E402
from terminal import Victim  # noqa: E402
from test_page_served import SECONDS, address_of, refuses  # noqa: E402

DEVICE = "t4-16g,capacity=700MiB,context=400MiB"
STATE = "document.documentElement.dataset"


def until(good, what):
    end = time.monotonic() + SECONDS
    while not good():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.05)


class Live:
    """A server, and what it answers."""

    def __init__(self, command, *words):
        self.server = subprocess.Popen([command, "view", "--live", *map(str, words)], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        self.address = address_of(self.server)

    def url(self, name, query=""):
        return self.address.replace("/?", f"/{name}?") + query

    def get(self, name, query=""):
        return urllib.request.urlopen(self.url(name, query), timeout=SECONDS).read()

    def process(self):
        return json.loads(self.get("live"))["processes"][0]

    def allocated(self):
        return self.process()["devices"][0]["allocated_bytes"]

    def bytes_used(self):
        with open(f"/proc/{self.server.pid}/status", encoding="utf-8") as status:
            return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def end(self):
        self.server.kill()
        self.server.wait()


def steps(victim, live, count):
    """Does *count* steps and waits until the server knows them."""
    wanted = live.allocated() + 8000000 * count
    for _ in range(count):
        victim.step()
    until(lambda: live.allocated() == wanted, "the steps")
    return live.process()["events"]


def shows(page, events):
    """Waits until the page's data have *events*."""
    page.wait_for_function(f"events => Number({STATE}.events) >= events", arg=events)


def a_zoomed_function_stays_zoomed(live, victim, page):
    """Functions are ordered by bytes: the one that fills the flame graph is another row after this."""
    page.evaluate("() => { location.hash = '#tab=flame'; }")
    page.wait_for_selector(".flame-area .v-frame")
    while page.evaluate("() => !location.hash.includes('zoom=')"):
        page.focus(".flame-area .v-frame")
        for key in ["ArrowDown"] * 12 + ["Enter"]:
            page.keyboard.press(key)
        page.wait_for_timeout(100)
    zoom = page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('zoom')")
    victim.tell("a build_index device 120000000 7")
    until(lambda: live.allocated() > 200000000, "the block")
    page.wait_for_function("zoom => new URLSearchParams(location.hash.slice(1)).get('zoom') !== zoom", arg=zoom)
    victim.tell("f 7")
    until(lambda: live.allocated() < 200000000, "the free")


# of the block in the panel what stays the same while the program goes on
SELECTED = """[...document.querySelectorAll('aside.detail p.site, aside.detail dt')].filter((e) => e.matches('p') ||
    ['size', 'address'].includes(e.textContent)).map((e) => e.textContent + (e.matches('dt') ? e.nextSibling.textContent : '')).join()"""


def open_page(live, faults):
    page = browser.running().new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(browser.WAIT_MS)
    page.on("pageerror", lambda e: faults.append(str(e)))
    page.goto(live.address)
    page.wait_for_selector("html[data-blocks=ready]")
    return page


def the_page_follows_and_stays_where_it_is(live, victim):
    faults = []
    page = open_page(live, faults)
    shows(page, steps(victim, live, 1))
    def opened():  # a refresh may come in between
        page.evaluate("() => { location.hash = '#tab=blocks&from=1000&to=2000000000&theme=dark&selected=block:3'; }")
        page.wait_for_timeout(1000)
        return page.query_selector("aside.detail:not([hidden]) dl.facts dd")
    until(opened, "the panel of the block")
    block = page.evaluate(SELECTED)
    assert "size" in block and "address" in block, block
    events = steps(victim, live, 3)
    shows(page, events)
    values = dict(pair.split("=") for pair in page.evaluate("location.hash.slice(1)").split("&"))
    assert {"tab": "blocks", "from": "1000", "to": "2000000000", "theme": "dark"}.items() <= values.items(), values
    page.wait_for_function(f"text => ({SELECTED}) === text", arg=block)
    strip = page.inner_text(".live")
    assert "Live" in strip and "7.6 MiB/step" in strip and "left" in strip, strip
    page.click(".live button:has-text('Pause')")
    page.wait_for_function(f"() => {STATE}.live === 'paused'")
    before = page.evaluate(f"{STATE}.events")
    paused = steps(victim, live, 1)
    page.wait_for_timeout(2500)  # it would have asked twice
    assert page.evaluate(f"{STATE}.events") == before
    page.click(".live button:has-text('Resume')")
    shows(page, paused)
    assert not faults, faults
    return page, faults


def memory_of_the_server_does_not_grow(live):
    live.get("data")
    before = live.bytes_used()
    for _ in range(30):
        live.get("data")
        live.get("live")
    assert live.bytes_used() < before + (4 << 20), (before, live.bytes_used())


def a_long_trace_is_followed_at_its_end(command, victim):
    """A page of the latest events shows later ones after more steps."""
    live = Live(command, victim.trace + ".live", "--events", "40")
    page = open_page(live, faults := [])
    part = page.evaluate("JSON.parse(document.getElementById('head').textContent).window")
    assert part and part["from"] > 0, part
    events = steps(victim, live, 3)
    shows(page, events)
    page.wait_for_function(f"from => Number({STATE}.part.split(' ')[0]) > from && location.hash.includes("
                           f"`from=${{{STATE}.part.split(' ')[0]}}`)", arg=part["from"])
    page.close()
    live.server.send_signal(signal.SIGINT)
    assert live.server.wait(SECONDS) == 0
    assert not faults, faults


def the_end_of_the_program_is_the_end_of_the_page(live, victim, page, faults):
    os.kill(victim.pid(), signal.SIGKILL)
    page.wait_for_function(f"() => {STATE}.live === 'ended'")
    assert "killed by signal 9 (SIGKILL)" in page.inner_text(".live"), page.inner_text(".live")
    page.evaluate("location.hash = '#tab=overview'")
    page.wait_for_function("() => document.querySelector('.panel').innerText.includes('grows')")
    assert live.get("data", "&from=0&to=1000000000").startswith(b"<script")
    assert not faults, faults
    page.close()
    page = open_page(live, faults)  # now a page of a trace, which asks for nothing
    assert page.evaluate(f"{STATE}.live") is None and not faults, faults
    page.close()


def a_server_that_is_gone_is_said(command, victim):
    live = Live(command, victim.trace)
    page = open_page(live, [])
    shows(page, live.process()["events"])
    live.end()
    page.wait_for_function(f"() => {STATE}.live === 'lost'")
    assert "still running?" in page.inner_text(".live"), page.inner_text(".live")
    page.close()


def what_cannot_be_followed_is_said(command, live, folder):
    def fails(text, *words):
        done = subprocess.run([command, "view", "--live", *map(str, words)], capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        assert done.returncode == 2 and text in done.stderr and len(done.stderr.splitlines()) == 1, (words, done)

    fails("there is no process 4194305", 4194305)
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        fails("records no trace", sleeper.pid)
        sleeper.kill()
    fails("no such file", folder / "none.vst")
    fails("takes one process or trace", "-o", "x.html", folder / "x.vst")
    fails("cannot listen at 127.0.0.1", "--port", re.search(r":(\d+)/", live.address).group(1), folder / "x.vst")
    assert refuses(re.sub(r"token=\w+", "token=0", live.url("live"))) == 403
    assert refuses(re.sub(r"token=\w+", "", live.url("data"))) == 403
    assert refuses(live.url("data", "&from=5&to=2")) == 400


def main():
    browser.require()
    command, scenario = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        victim = Victim(command, scenario, name, "x.vst", DEVICE)
        servers = []
        try:
            for _ in range(8):
                victim.step()
            until(lambda: os.path.exists(victim.trace), "the trace")
            live = Live(command, victim.pid())
            servers.append(live)
            page, faults = the_page_follows_and_stays_where_it_is(live, victim)
            a_zoomed_function_stays_zoomed(live, victim, page)
            memory_of_the_server_does_not_grow(live)
            what_cannot_be_followed_is_said(command, live, folder)
            a_long_trace_is_followed_at_its_end(command, victim)
            a_server_that_is_gone_is_said(command, victim)
            the_end_of_the_program_is_the_end_of_the_page(live, victim, page, faults)
        finally:
            for server in servers:
                server.end()
            victim.end()
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
