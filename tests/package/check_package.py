#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package from the tree, with the command and library of a build.

    check_package.py SOURCE BUILD CASE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent


class Package:
    def __init__(self, source, build, scratch):
        self.source, self.build = pathlib.Path(source).resolve(), pathlib.Path(build).resolve()
        self.scratch = scratch
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith("VRAMSCOPE_") and k not in ("LD_PRELOAD", "PYTHONPATH")}
        self.env.update(PYTHONPATH=str(self.source / "python"), PYTHONDONTWRITEBYTECODE="1",
                        PATH=f"{self.build / 'bin'}:{self.env['PATH']}")

    def run(self, *words, status=0, python=sys.executable):
        done = subprocess.run([python, *map(str, words)], capture_output=True, text=True, env=self.env,
                              cwd=self.scratch, timeout=600)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout, done.stderr

    def recorded(self, case, *options):
        out, err = self.run("-m", "vramscope", "run", "-q", "--simulate", "t4-16g", "-o", "t.vst", *options,
                            HERE / "package_program.py", case, self.scratch)
        assert out.endswith("ok\n"), (out, err)
        return out


def not_recorded(package):
    """In any other process: no crash, a message that says how to start it, the same names."""
    out, _ = package.run("-c", """
import sys, types, vramscope
def current_device(): raise RuntimeError("Found no NVIDIA driver")
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["torch"].cuda = types.SimpleNamespace(is_initialized=lambda: False, current_device=current_device)
@vramscope.GPUMemoryTracker(device="cuda", required=False)
def work(): return 7
assert work() == 7 and work.tracker.peak_bytes == 0 and not work.tracker.recorded
with vramscope.GPUMemoryTracker("x", required=False) as t, vramscope.range("y"):
    vramscope.step(4); vramscope.annotate("z"); vramscope.mark("m"); vramscope.flush()
assert (t.recorded, t.peak_bytes, t.memory_delta_mb, t.sites, t.per_device) == (False, 0, 0.0, [], {})
assert not vramscope.loaded() and not vramscope.recording() and vramscope.trace_path() is None
assert vramscope.step() == 5 and "not recorded" in repr(t)
for name in ("device_stats", "stats", "memory_info", "reset_peaks", "start", "stop"):
    try: getattr(vramscope, name)()
    except vramscope.NotLoaded as error: assert "python -m vramscope run" in str(error)
    else: raise AssertionError(name)
try: vramscope.GPUMemoryTracker().__enter__()
except vramscope.NotLoaded as error: print(error)
for name in vramscope.__all__: getattr(vramscope, name)
try: vramscope.Trace("no.vst")
except FileNotFoundError: pass
open("bad.vst", "w").write("nothing")
try: vramscope.Trace("bad.vst").peaks
except vramscope.Error as error: assert "bad.vst" in str(error), error
try: list(vramscope.Trace("bad.vst").events())
except vramscope.Error as error: assert "bad.vst" in str(error), error
else: raise AssertionError("events of bad.vst")
""")
    assert "GPUMemoryTracker needs a process that vramscope records" in out and "--simulate" in out, out


def versions(package):
    """One version: CMakeLists.txt has it, the header and the package repeat it."""
    def found(path, expression):
        return re.search(expression, (package.source / path).read_text(encoding="utf-8")).group(1)
    versions = {found("CMakeLists.txt", r"project\(vramscope VERSION ([0-9.]+)"),
                found("include/vramscope.h", r'VRAMSCOPE_VERSION "([^"]+)"'),
                found("python/vramscope/library.py", r'FALLBACK_VERSION = "([^"]+)"')}
    assert len(versions) == 1, versions
    fields = found("include/vramscope.h", r"(?s)struct vramscope_window_stats \{(.*?)\};")
    client = found("include/vramscope_client.h", r"(?s)struct vramscope_client_window \{(.*?)\};")
    names, again = [re.findall(r"\b(\w+)[,;]", re.sub(r"/\*.*?\*/", "", text)) for text in (fields, client)]
    assert again == names, (again, names)
    out, _ = package.run("-c", "from vramscope import library as l, tracker as t; import dataclasses as d;"
                         "print(*l.WINDOW_FIELDS); print(*[f.name for f in d.fields(t.WindowStats)][1:len(l.WINDOW_FIELDS) + 1])")
    assert [line.split() for line in out.splitlines()] == [names, names], (out, names)


def figures(package):
    for options in ((), ("--allocator=observe",), ("--stacks=python",)):
        out = package.recorded("figures", *options)
        assert "<GPUMemoryTracker 'outer': peak 12.0 MiB, +6.0 MiB>" in out, out


def automatic_steps(package):
    package.recorded("automatic_steps")


def range_of_another_thread(package):
    package.recorded("range_of_another_thread")


def import_of_nvtx(package):
    package.recorded("import_of_nvtx")


def without_a_trace(package):
    for case in ("decorated", "statistics"):
        package.recorded(case, "--record=off")


def decorated(package):
    package.recorded("decorated")


def statistics(package):
    package.recorded("statistics")
    package.recorded("statistics", "--allocator=observe")


def current_device(package):
    package.recorded("current_device", "--simulate", "t4-16g,devices=2")


def traced(package):
    package.recorded("traced")
    package.recorded("traced", "--allocator=observe")


def restarts(package):
    out, _ = package.run(HERE / "package_restart.py", "r.vst")
    assert out == "before ['r.vst']\nafter ['r.vst']\n3.0\n", out
    assert os.path.exists(os.path.join(package.scratch, "r.vst"))


def demo(package):
    out, _ = package.run("-m", "vramscope", "demo", "-o", "demo")
    assert "verdict  growth" in out and "keep_for_debugging" in out, out
    page = urllib.request.url2pathname(re.search(r"file://(\S+\.html)\n$", out).group(1))
    assert pathlib.Path(page).read_text(encoding="utf-8-sig").lower().startswith("<!doctype html>"), page
    # again and again without -o: the same folder, and none in the system's
    temporary = os.path.join(package.scratch, "temporary")
    os.mkdir(temporary)
    package.env["TMPDIR"] = temporary
    for _ in range(2):
        out, _ = package.run("-m", "vramscope", "demo")
        assert "vramscope-demo/demo.html" in out, out
    assert sorted(os.listdir(os.path.join(package.scratch, "vramscope-demo"))) == ["demo.html", "demo.vst"]
    assert not os.listdir(temporary), os.listdir(temporary)


def locations(package):
    """The user's own line of a call site, also where its stack has none."""
    package.run("-c", """
from vramscope import Frame, Site
torch, own = Frame("empty", "t.py", 3, "torch"), Frame("main", "/a/m.py", 7)
assert Site(1, 1, "", frames=(torch, own)).location == ("/a/m.py", 7)
assert Site(1, 1, "", frames=(torch,)).location is None
assert Site(1, 1, "", frames=(torch,), source="loss.backward() (train.py:40)").location == ("train.py", 40)
assert Site(1, 1, "", source="Adam.step").location is None
assert str(own) == "main (m.py:7)" and "2.0 MiB in 3: x" == str(Site(2 << 20, 3, "x"))
""")


def command_line(package):
    """`run` finds the script among the options; other words are passed as they are."""
    out, _ = package.run("-c", """
from vramscope.__main__ import with_python as w
import sys
open("s.py", "w").close()
p = sys.executable
assert w(["run", "s.py", "x.py"]) == ["run", p, "s.py", "x.py"]
assert w(["run", "-o", "t.vst", "--simulate", "h100-80g", "--", "s.py"]) == [
    "run", "-o", "t.vst", "--simulate", "h100-80g", "--", p, "s.py"]
assert w(["run", "--simulate=h100-80g", "-q", "s.py"]) == ["run", "--simulate=h100-80g", "-q", p, "s.py"]
assert w(["run", "--", "prog", "s.py"]) == ["run", "--", "prog", "s.py"]
assert w(["run", "-o", "t.vst", "prog", "s.py"]) == ["run", "-o", "t.vst", "prog", "s.py"]
assert w(["run", "-m", "a.b", "x"]) == ["run", "--", p, "-m", "a.b", "x"]
assert w(["run", "-o", "t.vst", "-q", "-m", "a"]) == ["run", "-o", "t.vst", "-q", "--", p, "-m", "a"]
assert w(["run", "-o", "t.vst", "--", "-m", "a"]) == ["run", "-o", "t.vst", "--", p, "-m", "a"]
for same in (["run", "-q", "sh", "-m", "a"], ["run", "sh", "-m", "a"], ["run", "-q", "--", "sh", "-m", "a"], ["run", "-m"]):
    assert w(same) == same, same
assert w(["report", "s.py"]) == ["report", "s.py"] and w([]) == [] and w(["run"]) == ["run"]
from vramscope import run_command
assert run_command(["s.py", "1"], simulate="t4-16g", output="o.vst")[1:] == [
    "run", "--simulate=t4-16g", "-o", "o.vst", "--", p, "s.py", "1"]
""")
    out, _ = package.run("-m", "vramscope", "--version")
    assert "0.1.0" in out, out
    _, err = package.run("-m", "vramscope", "report", "no.vst", status=2)
    assert "no.vst" in err, err
    package.env["PATH"] = "/nowhere"
    _, err = package.run("-m", "vramscope", "report", "no.vst", status=1)
    assert "was not found" in err and "pip install vramscope" in err, err


def main():
    source, build, case = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        globals()[case](Package(source, build, scratch))


if __name__ == "__main__":
    main()
