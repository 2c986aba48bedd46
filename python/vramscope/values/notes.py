# SPDX-License-Identifier: Apache-2.0
"""Counts of computed and skipped operations, for the command that started the program.

Lines `KIND TAB PID TAB LIBRARY TAB NAME TAB BYTES TAB TEXT`, each appended with one write to the
file of VRAMSCOPE_SIMULATE_NOTES. Without the variable nothing is written. Lines of the kinds
`decided` and `read` have a number of occurrences in the place of BYTES.
"""
import atexit
import os

computed = skipped = failed = read = decided = 0
host = 0  # bytes of tensors of the CPU whose random numbers were not drawn

_said = set()
_sites = {}  # by kind and name: [occurrences, how many of them are written, the first
             # text, whether another one followed]


def write(kind, name, text, nbytes=0, library="values"):
    path = os.environ.get("VRAMSCOPE_SIMULATE_NOTES")
    if not path:
        return
    text = " ".join(str(text).split())
    line = f"{kind}\t{os.getpid()}\t{library}\t{name}\t{nbytes}\t{text}\n"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.write(fd, line.encode(errors="replace"))
        finally:
            os.close(fd)
    except OSError:
        pass


def once(kind, name, text, nbytes=0):
    """The same line is written once per process."""
    line = (kind, name, text)
    if line not in _said:
        _said.add(line)
        write(kind, name, text, nbytes)


def count(kind, name, text):
    """One more occurrence. The first is written at once, so that it is not lost if the program is
    killed, and so is the first other text; later ones together, each time that their number has
    doubled and at the end. Returns the first text."""
    site = _sites.get((kind, name))
    if site is None:
        site = _sites[kind, name] = [0, 0, text, False]
    site[0] += 1
    differs = text != site[2] and not site[3]
    if differs or site[0] >= 2 * site[1]:
        write(kind, name, text, site[0] - site[1])
        site[1], site[3] = site[0], site[3] or differs
    return site[2]


def by_host(name, what, values):
    """The host gave the result of the operation *name* its *what*, with the tensors *values*."""
    once("assumed", name, f"{what} computed by the host; temporary memory of the operation may differ",
         sum(v.nbytes for v in values))


def _write_counts():
    for (kind, name), site in _sites.items():
        if site[0] > site[1]:
            write(kind, name, site[2], site[0] - site[1])
            site[1] = site[0]


def failure(name, error):
    """The values of one operation were not computed because something failed."""
    global failed
    failed += 1
    first = str(error).splitlines()[:1]
    once("failed", name, f"{type(error).__name__}: {''.join(first)[:120]}")


def complain(what, error):
    try:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        os.write(2, f"vramscope[{os.getpid()}]: {what}: {text}\n".encode(errors="replace"))
    except OSError:
        pass


def _end(pid):
    if pid != os.getpid():
        return
    _write_counts()
    if computed or skipped or failed or host:
        write("values", "counts", f"computed={computed} skipped={skipped} failed={failed} "
              f"read={read} decided={decided} host={host}")


def at_exit():
    atexit.register(_end, os.getpid())
