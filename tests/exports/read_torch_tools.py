# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tools, of every release that is installed: its memory_summary() at the end of a recorded program has the
figures of `report --torch-summary`, and its _memory_viz reads the exports of a recording and of imported snapshots."""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "torch"))
import environments

PROGRAM = """
import os, sys, torch
large = [torch.empty(3_000_000, device="cuda") for _ in range(6)]
small = [torch.empty(1000 + i, device="cuda") for i in range(50)]
del large[1], large[2]
for size in 240 << 20, 50 << 30, 400 << 20, 560 << 20: # the second is refused; the last needs what is cached
    try:
        block = torch.empty(size, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        pass
    block = None
kept = torch.empty(560 << 20, dtype=torch.uint8, device="cuda")
with torch.cuda.stream(torch.cuda.Stream()):
    other = torch.ones(5_000_000, device="cuda")
torch.cuda.synchronize()
sys.stdout.write(torch.cuda.memory_summary())
sys.stdout.flush()
os._exit(0) # with its tensors
"""
VIEWER = """
import json, pickle, sys
import torch.cuda._memory_viz as viz
plain = lambda lines, script=None: lines
def size(folded):
    return sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines() if line.strip())
def load(path):
    with open(path, "rb") as file:
        return pickle.load(file)
found = []
for path in sys.argv[1:]:
    snapshot = load(path)
    plots = [viz.trace_plot(load(path)), viz.segment_plot(load(path))]
    found.append({"stats": viz.segsum(snapshot), "trace": viz.trace(snapshot), "memory": size(viz.memory(snapshot, plain)),
                  "segments": size(viz.segments(snapshot, plain)), "plots": [len(p) > 10000 for p in plots],
                  "compare": size(viz.compare(load(sys.argv[1])["segments"], snapshot["segments"], plain))})
print()
print(json.dumps(found)) # `compare` has printed, too
"""
CONFIGURATIONS = ("", "expandable_segments:True", "max_split_size_mb:40")


def missing():
    return None if environments.find() else "no PyTorch: scripts/test --torch installs it"


def check_summary(recorded, problems, environment, program, configuration):
    what = f"{environment.folder.name} {configuration}"
    path = os.path.join(recorded.folder, "summary.vst")
    out = subprocess.run([recorded.command, "run", "-q", "--simulate", "t4-16g,capacity=900MiB,context=100MiB", "-o", path, "--",
                          str(environment.python), program], capture_output=True, text=True, timeout=600, check=False,
                         env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": configuration})
    wanted, found = out.stdout.splitlines(), recorded.run("report", "--torch-summary", path).stdout.decode().splitlines()
    problems.same(f"{what}: lines, {out.stderr[-300:]}", len(found), len(wanted))
    cells = [(a, b) for left, right in zip(found, wanted) for a, b in zip(left.split("|"), right.split("|"))]
    told = [(a, b) for a, b in cells if "not recorded" not in a]
    problems.same(f"{what}: cells", [(a, b) for a, b in told if a != b], [])
    problems.same(f"{what}: cells that are not recorded", len(cells) - len(told), 61 if "expandable" in configuration else 60)
    recorded.traces["summary"] = path


def view(recorded, environment, viewer, *paths):
    env = {**os.environ, "LD_LIBRARY_PATH": os.path.join(os.path.dirname(recorded.command), "../lib/vramscope/simulator")}
    out = subprocess.run([str(environment.python), viewer, *paths], capture_output=True, text=True, timeout=600, check=False, env=env)
    return json.loads(out.stdout.splitlines()[-1]) if out.returncode == 0 else sys.exit(f"{environment.folder.name}: {out.stderr}")


def check(recorded, problems, root):
    program, viewer = (os.path.join(recorded.folder, name) for name in ("program.py", "viewer.py"))
    for path, text in ((program, PROGRAM), (viewer, VIEWER)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    shared = sorted(glob.glob(os.path.join(root, os.pardir, "shared/traces/*.pickle")))
    made = []
    for snapshot in shared:
        trace = os.path.join(recorded.folder, os.path.basename(snapshot))
        made.append(trace + ".pickle")
        recorded.run("import", "-q", snapshot, "-o", trace + ".vst")
        recorded.run("export", "-f", "torch-snapshot", trace + ".vst", "-o", made[-1])
    found = environments.find()
    for number, environment in enumerate(found):
        for configuration in CONFIGURATIONS:
            check_summary(recorded, problems, environment, program, configuration)
        export = os.path.join(recorded.folder, "recording.pickle")
        recorded.run("export", "-f", "torch-snapshot", recorded.traces["summary"], "-o", export)
        device = recorded.report("summary")["devices"][0]
        one = view(recorded, environment, viewer, export)[0]
        problems.same(f"{environment.folder.name}: bytes in _memory_viz", (one["memory"], one["segments"]),
                      (device["reserved_at_end_bytes"],) * 2)
        problems.same(f"{environment.folder.name}: plots", one["plots"], [True, True])
        for snapshot, path in list(zip(shared, made))[number::len(found)]: # each by one release
            theirs, ours = view(recorded, environment, viewer, snapshot, path)
            problems.same(f"{environment.folder.name}: {os.path.basename(snapshot)}", {k: v for k, v in ours.items() if k != "trace"},
                          {k: v for k, v in theirs.items() if k != "trace"})
            problems.same("entries of the history", ours["trace"].count("\n"), theirs["trace"].count("\n"))
