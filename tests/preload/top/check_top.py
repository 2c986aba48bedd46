#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope top` beside programs that wait for each step, in a terminal.

    check_top.py COMMAND SCENARIO_PLAIN SCENARIO_TENSORS [TEST...]    exit 77 without tmux

Each test starts its own programs and terminal. What must appear is waited for; figures are compared
with the bytes that the programs were told to allocate, and with `report --json` in the end.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
from terminal import DEADLINE, Terminal, Victim, child_of  # noqa: E402

COMMAND, PLAIN, TENSORS = sys.argv[1:4]
DEVICE = "t4-16g,capacity=600MiB,context=400MiB"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
EXAMPLES, PARSERS = os.path.join(ROOT, "examples/grafana"), pathlib.Path(ROOT, "build/parsers/bin/python")
KEPT, STAGED = 8000000, 30000000  # bytes that a step keeps, and that it frees (Victim.step)


def mib(size):
    return f"{size / (1 << 20):.1f} MiB"


def once(*words, may_fail=False, env=None):
    done = subprocess.run([COMMAND, "top", "--once", "--json", *map(str, words)], capture_output=True,
                          text=True, timeout=DEADLINE, check=False, env=env)
    assert done.returncode == 0 or may_fail, (words, done.returncode, done.stderr)
    return json.loads(done.stdout)["processes"] if done.returncode == 0 else [None]


def until(good, what):
    end = time.monotonic() + DEADLINE
    while not good():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.05)


def start(folder, steps=8, name="x.vst", program=PLAIN, device=DEVICE):
    """A program that has done *steps*."""
    victim = Victim(COMMAND, program, folder, name, device)
    victims.append(victim)
    for _ in range(steps):
        victim.step()
    until(lambda: os.path.exists(victim.trace), "the trace")
    until(lambda: (allocated(victim) == steps * KEPT), f"{steps} steps")
    return victim


def state(victim):
    """Its process as --once has it; None while the trace cannot be read yet."""
    return once(victim.trace, may_fail=True)[0]


def allocated(victim):
    process = state(victim)
    return process["devices"][0]["allocated_bytes"] if process and process["devices"] else -1


def steps_begun(victim):
    process = state(victim)
    return process["steps"]["begun"] if process else -1


def open_terminal(folder, columns=80, rows=24):
    terminals.append(Terminal(folder, columns, rows))
    return terminals[-1]


def open_top(folder, columns, rows, words="x.vst"):
    terminal = open_terminal(folder, columns, rows)
    terminal.line(f"stty -a > before; {COMMAND} top --interval 0.1 {words}; echo status $?; stty -a > after")
    return terminal


def selected_row(terminal):
    """The text in reverse."""
    for line in terminal.screen(colours=True).splitlines():
        if re.match(r"\x1b\[[0-9;]*7[0-9;]*m", line):
            return re.sub(r"\x1b\[[0-9;]*m", "", line)
    return ""


# --- tests ---

def the_screen_fits_every_size(folder):
    victim = start(folder)
    for columns, rows, expected in ((80, 24, ("PEAK", "RESERVED", "reserved", "rate", "BLOCKS")),
                                    (120, 40, ("GROWTH/STEP", "UNUSED", "ALLOC/S", "step")),
                                    (40, 12, ("ALLOCATED", "LEFT", "growth", "SHARE"))):
        terminal = open_top(folder, columns, rows)
        words = expected + ("PID", str(victim.pid()), "10 st.", "about 10 steps left", mib(8 * KEPT), "100 %",
                            *(("82 %", "append_h") if columns >= 80 else ("allocate (",)))
        screen = terminal.wait(lambda s: all(word in s for word in words) and
                               "quit" in (s.splitlines()[rows - 1:] or [""])[0], f"{columns}x{rows}: {words}")
        lines = screen.splitlines()
        assert len(lines) <= rows and max(map(len, lines)) <= columns, screen
        terminal.keys("q")
        terminal.wait(lambda s: "status 0" in s, "the end of top")
        terminal.close()


def each_step_appears(folder):
    victim = start(folder, 3)
    terminal = open_top(folder, 80, 24)
    for steps in range(4, 9):
        victim.step()
        terminal.wait(lambda s: mib(steps * KEPT) + ", peak " + mib(steps * KEPT + STAGED) in s,
                      f"step {steps}")
    terminal.wait(lambda s: "7.6 MiB a step since step" in s, "the growth")
    # exactly what `report` finds in the end
    victim.end()
    terminal.wait(lambda s: "ended after" in s and "exited with status 0" in s, "the end")
    report = json.loads(subprocess.run([COMMAND, "report", "--json", victim.trace], check=True,
                                       capture_output=True, timeout=DEADLINE).stdout)["devices"][0]
    last = once(victim.trace)[0]["devices"][0]
    assert report["peak_user"]["bytes"] == last["peak_bytes"], last
    assert report["allocated_at_end_bytes"] == last["allocated_bytes"], last
    terminal.wait(lambda s: mib(8 * KEPT) in s and "LEFT" in s, "the last figures")


def keys_select_sort_expand_pause_and_explain(folder):
    first = start(folder, 2, "a.vst")
    second = start(folder, 6, "b.vst")
    terminal = open_top(folder, 100, 30, "--sort pid a.vst b.vst")
    terminal.wait(lambda s: "2 processes" in s and s.count("scenario_plain") == 3, "both")
    low, high = sorted((first.pid(), second.pid()))
    until(lambda: str(low) in selected_row(terminal), "the first row")
    for key in ("Down", "Up", "Tab", "Up", "BTab"):
        before = selected_row(terminal)
        terminal.keys(key)
        until(lambda: selected_row(terminal) not in ("", before), f"the key {key}")
    terminal.keys("s", "s")
    wanted = [str(second.pid()), str(first.pid())]
    terminal.wait(lambda s: "sort: allocated" in s and re.findall(r"(?m)^ +(\d+) +\d ", s) == wanted, f"the order {wanted}")
    terminal.keys("e")
    terminal.wait(lambda s: "CALL TREE" in s and "> append_h" in s, "the tree")
    terminal.keys("e")
    terminal.keys("?")
    terminal.wait(lambda s: "close this help" in s, "help")
    terminal.keys("?")
    terminal.wait(lambda s: "reserved" in s, "the details again")
    terminal.keys("p")
    terminal.wait(lambda s: "PAUSED" in s, "the pause")
    second.step()
    until(lambda: allocated(second) == 7 * KEPT, "the step")
    assert mib(7 * KEPT) not in terminal.screen()
    terminal.keys("p")
    terminal.wait(lambda s: mib(7 * KEPT) in s and "PAUSED" not in s, "the view after the pause")
    terminal.wait(lambda s: str(high) in s, "the other process")


def the_screen_follows_the_size_of_the_terminal(folder):
    start(folder)
    terminal = open_top(folder, 120, 40)
    terminal.wait(lambda s: "GROWTH/STEP" in s, "the wide table")
    for columns, rows in ((80, 24), (40, 12), (30, 6), (12, 3), (200, 50)):
        terminal.resize(columns, rows)
        wide = columns >= 110
        terminal.wait(lambda s: ("GROWTH/STEP" in s) == wide and s.startswith("vramscope t") and
                      (rows < 6 or "quit" in (s.splitlines()[rows - 1:] or [""])[0]),
                      f"{columns}x{rows}")


def assert_restored(terminal, folder, what):
    terminal.line("clear; echo done")
    terminal.wait(lambda s: "done" in s.splitlines()[0:2], f"the shell after {what}")
    until(lambda: os.path.exists(os.path.join(folder, "after")), "stty")
    settings = [open(os.path.join(folder, name), encoding="utf-8").read() for name in ("before", "after")]
    assert settings[0] == settings[1], (what, settings)
    assert terminal.value("alternate_on") == "0", what
    assert terminal.value("cursor_flag") == "1", what


def the_terminal_is_restored(folder):
    start(folder)
    for what, act, status in (("q", lambda t, pid: t.keys("q"), 0),
                              ("Ctrl-C", lambda t, pid: t.keys("C-c"), 130),
                              ("SIGTERM", lambda t, pid: os.kill(pid, signal.SIGTERM), 143),
                              ("SIGHUP", lambda t, pid: os.kill(pid, signal.SIGHUP), 129),
                              ("a crash", lambda t, pid: os.kill(pid, signal.SIGSEGV), 139)):
        terminal = open_top(folder, 80, 24)
        terminal.wait(lambda s: "quit" in s and "allocated" in s, "the screen")
        assert terminal.value("alternate_on") == "1"
        pid = child_of(terminal.value("pane_pid"))
        act(terminal, pid)
        if status == 130:  # the shell gives up the line as well
            terminal.wait_for_shell("the end")
            terminal.line("echo status $?; stty -a > after")
        terminal.wait(lambda s: f"status {status}" in s, f"status {status} after {what}")
        assert_restored(terminal, folder, what)
        terminal.close()
        os.unlink(os.path.join(folder, "after"))


def a_suspended_view_leaves_the_terminal_and_returns(folder):
    start(folder)
    terminal = open_terminal(folder)
    terminal.line(f"set -m; stty -a > before; {COMMAND} top --interval 0.1 x.vst")
    terminal.wait(lambda s: "quit" in s and "allocated" in s, "the screen")
    terminal.keys("C-z")
    terminal.wait_for_shell("the shell's screen")
    terminal.line("stty -a > after")
    assert_restored(terminal, folder, "Ctrl-Z")
    terminal.line("fg")
    terminal.wait(lambda s: "quit" in s and "allocated" in s and "vramscope top  1" in s, "the screen again")
    assert terminal.value("alternate_on") == "1"
    terminal.keys("q")
    until(lambda: terminal.value("alternate_on") == "0", "the end")


def a_killed_program_stays_shown_as_ended(folder):
    victim = start(folder)
    terminal = open_top(folder, 80, 24)
    terminal.wait(lambda s: "append_h" in s, "the screen")
    os.kill(victim.pid(), signal.SIGKILL)
    terminal.wait(lambda s: "1 ended" in s and "killed" in s and mib(8 * KEPT) in s, "the end of the program")
    terminal.keys("q")
    terminal.wait(lambda s: "status 0" in s, "the end of top")
    assert_restored(terminal, folder, "the kill of the program")


def colours_and_letters_follow_the_environment(folder):
    start(folder)
    for variable, coloured, ascii_only in (("", True, False), ("NO_COLOR=1", False, False), ("LC_ALL=C", True, True)):
        terminal = open_terminal(folder)
        terminal.line(f"env {variable} TERM=screen-256color {COMMAND} top --interval 0.1 x.vst")
        screen = terminal.wait(lambda s: "allocate (" in s, "the screen")
        found = re.search(r"\x1b\[[0-9;]*3[1-7]", terminal.screen(colours=True)) is not None
        assert found == coloured, (variable, terminal.screen(colours=True))
        assert screen.isascii() == ascii_only, (variable, screen)
        terminal.close()


def what_cannot_be_shown_is_said(folder):
    victim = start(folder)

    def fails(words, code, *texts, **more):
        done = subprocess.run([COMMAND, "top", *words], capture_output=True, text=True, check=False,
                              timeout=DEADLINE, stdin=subprocess.DEVNULL, **more)
        assert done.returncode == code, (words, done)
        for text in texts:
            assert text in done.stderr, (words, done.stderr)

    fails(["x.vst"], 2, "needs a terminal", "--once", cwd=folder)
    fails(["--once", "no_such.vst"], 2, "no such file", cwd=folder)
    fails(["--once", "4194305"], 2, "there is no process 4194305")
    fails(["--json"], 2, "--json needs --once")
    fails(["--interval", "0"], 2, "0.1 to 3600")
    fails(["--sort", "size"], 2, "auto, allocated, reserved, rate, left or pid")
    sleeper = subprocess.Popen(["sleep", "1000"])
    fails(["--once", str(sleeper.pid)], 2, "records no trace", "vramscope run")
    terminal = open_top(folder, 80, 24, sleeper.pid)  # it may begin to record
    terminal.wait(lambda s: "records no trace" in s and "0 processes" in s, "the reason")
    terminal.close()
    sleeper.kill()
    sleeper.wait()
    terminal = open_terminal(folder)
    terminal.line(f"TERM=dumb {COMMAND} top x.vst; echo status $?")
    terminal.wait(lambda s: 'type "dumb"' in s and "status 2" in s, "the message")
    # found by its own number, by that of `run`, and without any
    for words in ((victim.pid(),), (victim.run.pid,), ()):
        traces = [process["trace"] for process in once(*words)]
        assert [os.path.realpath(t) for t in traces].count(os.path.realpath(victim.trace)) == 1, words


def tensors_of_a_framework_are_shown(folder):
    victim = Victim(COMMAND, TENSORS, folder, "x.vst", DEVICE)
    victims.append(victim)
    for _ in range(8):
        victim.tell("push step", "a make_activation tensor 9000000 1",
                    "a append_history tensor 4000000 -1", "f 1", "pop")
    until(lambda: os.path.exists(victim.trace), "the trace")
    until(lambda: allocated(victim) > 8 * 4000000 - 1 and steps_begun(victim) == 8, "steps")
    terminal = open_top(folder, 80, 24)
    terminal.wait(lambda s: all(word in s for word in ("tensors ", "append_h", "unused in")), "tensors")
    device = once("x.vst" if os.getcwd() == folder else victim.trace)[0]["devices"][0]
    assert device["level"] == "framework" and device["unused"]["holes"] > 0, device
    assert device["reserved_bytes"] - device["allocated_bytes"] == device["unused"]["bytes"], device


def a_cache_that_is_dropped_is_no_alarm(folder):
    """The first request of a server grows as a leak does: growth, but no forecast; with the second there is neither."""
    victim = Victim(COMMAND, PLAIN, folder, "x.vst", "t4-16g")
    victims.append(victim)
    figures = []
    for request in range(3):
        for token in range(16):
            victim.tell("push step", f"a cache_response device 1000000 {token}", "pop")
        until(lambda: steps_begun(victim) == 16 * (request + 1) and allocated(victim) == 16000000, "the tokens")
        figures.append(state(victim)["devices"][0])
        victim.tell(*(f"f {token}" for token in range(16)))
    assert figures[0]["growth"]["early"] and figures[0]["forecast"] is None, figures[0]
    assert figures[2]["growth"] is None and figures[2]["forecast"] is None, figures[2]


def the_device_is_as_busy_as_nvml_says(folder):
    victim = start(folder)
    library = os.path.join(os.path.dirname(COMMAND), "../lib/vramscope/simulator")
    env = dict(os.environ, LD_LIBRARY_PATH=library, VRAMSCOPE_SIMULATE=DEVICE)
    assert once(victim.trace, env=env)[0]["devices"][0]["busy_percent"] == 0  # it knows its own process only
    if not shutil.which("nvidia-smi"):
        assert "busy_percent" not in state(victim)["devices"][0]


def samples_of(text):
    """{(name, labels): value}; every line follows OpenMetrics, by prometheus_client as well where it is installed."""
    found = {}
    *lines, end, last = text.split("\n")
    assert (end, last) == ("# EOF", ""), text
    for line in lines:
        if not re.fullmatch(r"# (TYPE \w+ (gauge|counter)|UNIT \w+ \w+|HELP \w+ .*)", line):
            name, labels, value = re.fullmatch(r"(\w+)\{([^{}]*)\} (\d+)", line).groups()
            found[name.removeprefix("vramscope_"), tuple(re.findall(r'(\w+)="([^"]*)"', labels))] = int(value)
    if PARSERS.exists():
        subprocess.run([PARSERS, "-c", "import sys; from prometheus_client.openmetrics import parser\n"
                        "list(parser.text_string_to_metric_families(sys.stdin.read()))"], input=text, text=True, check=True)
    return found


def metrics_are_the_figures_of_the_view(folder):
    os.environ.update(VRAMSCOPE_JOB='a "b"', RANK="3")
    victim = start(folder)
    del os.environ["VRAMSCOPE_JOB"], os.environ["RANK"]
    path = os.path.join(folder, "metrics.prom")
    following = subprocess.Popen([COMMAND, "top", "--metrics", path, "--interval", "0.1", victim.trace])
    servers = []

    def serve(*options):
        servers.append(subprocess.Popen([COMMAND, "view", "--live", *options, victim.trace], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True))
        return servers[-1].stdout.readline().strip()

    try:
        private = serve().replace("/?", "/metrics?")
        with urllib.request.urlopen(private) as served:
            samples_of(served.read().decode())
        try:
            urllib.request.urlopen(private.split("?")[0])
            raise AssertionError("metrics without a token and without --port")
        except urllib.error.HTTPError as refused:
            assert refused.code == 403, refused
        address = next(filter(None, (serve("--port", str(port)) for port in range(9411, 9511)))).split("?")[0]
        for steps in (8, 9):
            until(lambda: os.path.exists(path) and f"}} {steps * KEPT}\n" in open(path, encoding="utf-8").read(), "the file")
            process = state(victim)
            device = process["devices"][0]
            with open(path, encoding="utf-8") as file, urllib.request.urlopen(address + "metrics") as served:
                texts = file.read(), served.read().decode()
            refused = subprocess.run([COMMAND, "top", "--once", "--metrics", victim.trace], check=False, text=True,
                                     capture_output=True)
            assert refused.returncode == 2 and "not overwritten" in refused.stderr, refused
            printed = subprocess.run([COMMAND, "top", "--once", "--metrics", "-", victim.trace], check=True, text=True,
                                     capture_output=True).stdout
            for text in (*texts, printed):
                text = text.replace('a \\"b\\"', "a b")
                found = samples_of(text)
                who = (("pid", str(process["pid"])), ("program", "scenario_plain"), ("job", "a b"), ("rank", "3"))
                place = who + (("device", "0"), ("uuid", next(dict(labels)["uuid"] for _, labels in found if len(labels) == 6)))
                wanted = {"allocated_bytes": steps * KEPT, "peak_bytes": steps * KEPT + STAGED,
                          "reserved_bytes": device["reserved_bytes"], "device_total_bytes": device["total_bytes"],
                          "growth_per_step_bytes": KEPT, "steps_to_failure": device["forecast"]["steps_left"]}
                for name, value in wanted.items():
                    assert found[name, place] == value, (name, value, found)
                assert (found["failures_total", who], found["steps_total", who]) == (0, steps), found
                names = {name for name, _ in found} | set(re.findall("TYPE vramscope_(\\w+) gauge", text))
                for example in ("dashboard.json", "alerts.yml"):
                    with open(os.path.join(EXAMPLES, example), encoding="utf-8") as file:
                        assert set(re.findall(r"\bvramscope_(\w+)", file.read())) <= names, example
            victim.step()
    finally:
        for process in (following, *servers):
            process.terminate()
            process.wait()


TESTS = [the_screen_fits_every_size, each_step_appears, keys_select_sort_expand_pause_and_explain,
         the_screen_follows_the_size_of_the_terminal, the_terminal_is_restored,
         a_suspended_view_leaves_the_terminal_and_returns, a_killed_program_stays_shown_as_ended,
         colours_and_letters_follow_the_environment, what_cannot_be_shown_is_said,
         tensors_of_a_framework_are_shown, a_cache_that_is_dropped_is_no_alarm,
         the_device_is_as_busy_as_nvml_says, metrics_are_the_figures_of_the_view]
victims, terminals = [], []


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux (scripts/test installs it)")
        return 77
    chosen = [t for t in TESTS if not sys.argv[4:] or t.__name__ in sys.argv[4:]]
    failed = 0
    for test in chosen:
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            try:
                test(folder)
                print(f"ok      {test.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
            except (AssertionError, subprocess.SubprocessError, OSError, KeyError, IndexError) as why:
                failed += 1
                print(f"FAILED  {test.__name__}: {type(why).__name__}: {why}", flush=True)
            finally:
                for one in terminals:
                    one.close()
                for one in victims:
                    one.end()
                del victims[:], terminals[:]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
