# SPDX-License-Identifier: Apache-2.0
"""A terminal for tests, by tmux: its own server, a size, keys in, the screen's text out. And a program
under `vramscope run` that works in steps: it reads each from a pipe and waits there for the next."""
import errno
import os
import subprocess
import time

DEADLINE = 150  # seconds that a test waits for what must come; none is measured


def child_of(pid):
    """The oldest child of process *pid*."""
    children = []
    for other in os.listdir("/proc"):
        if not other.isdigit():
            continue
        try:
            with open(f"/proc/{other}/stat", encoding="utf-8", errors="replace") as file:
                parent = file.read().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if parent == str(pid):
            children.append(int(other))
    return min(children)


class Terminal:
    """A tmux server with a shell of *columns* x *rows*."""

    count = 0

    def __init__(self, folder, columns, rows):
        Terminal.count += 1
        self.socket = os.path.join(folder, f"tmux.{Terminal.count}")
        self.folder = folder
        env = dict(os.environ, LC_ALL="C.UTF-8", PS1="$ ", ENV="")
        self.env = {name: value for name, value in env.items()
                    if name not in ("TMUX", "NO_COLOR") and not name.startswith("VRAMSCOPE_")}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "-c", folder, "/bin/sh")
        self.tmux("set-option", "-g", "status", "off")
        self.wait(lambda s: s.strip(), "the shell")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-u", "-S", self.socket, *words], env=self.env, check=True,
                              capture_output=True, text=True, timeout=600).stdout

    def screen(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def value(self, name):
        return self.tmux("display-message", "-p", f"#{{{name}}}").strip()

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def line(self, text):
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", "Enter")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def wait(self, good, what):
        """The screen, once *good* accepts it."""
        end = time.monotonic() + DEADLINE
        while True:
            screen = self.screen()
            if good(screen):
                return screen
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come; the screen:\n{screen}")
            time.sleep(0.05)

    def wait_for_shell(self, what):
        """Until the shell reads the next line: input may be lost while the terminal is being restored."""
        return self.wait(lambda s: self.value("alternate_on") == "0" and s.strip()[-1:] in ("$", "#"), what)

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, timeout=600,
                       check=False)


class Victim:
    """A scenario (tests/scenarios/scenario.c) that reads its lines from a pipe."""

    def __init__(self, command, program, folder, name, simulate, *options):
        self.pipe, self.trace = os.path.join(folder, name + ".pipe"), os.path.join(folder, name)
        self.log = os.path.join(folder, name + ".log")
        os.mkfifo(self.pipe)
        with open(self.log, "w", encoding="utf-8") as log:
            self.run = subprocess.Popen(
                [command, "run", "-q", "--simulate", simulate, "--allocator=observe", *options,
                 "-o", self.trace, "--", program, self.pipe], stdout=log, stderr=log)
        self.out = self.open_pipe()
        os.set_blocking(self.out, True)

    def open_pipe(self):
        """Waits until the program reads its pipe; fails at once if it ends instead."""
        end = time.monotonic() + DEADLINE
        while True:
            try:
                return os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as why:
                if why.errno != errno.ENXIO:
                    raise
            if self.run.poll() is not None or time.monotonic() > end:
                with open(self.log, encoding="utf-8", errors="replace") as log:
                    raise AssertionError(f"the program does not read its steps: {log.read()}")
            time.sleep(0.02)

    def tell(self, *lines):
        os.write(self.out, ("\n".join(lines) + "\n").encode())

    def step(self, size=8000000):
        self.tell("push step", "a stage_batch device 30000000 1",
                  f"a append_history device {size} -1", "f 1", "pop")

    def pid(self):
        """Of the program itself, which `run` started."""
        return child_of(self.run.pid)

    def end(self):
        if self.out >= 0:
            os.close(self.out)
            self.out = -1
        if self.run.poll() is None:
            try:
                self.run.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                self.run.kill()
                self.run.wait()
