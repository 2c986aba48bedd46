# SPDX-License-Identifier: Apache-2.0
"""Profiles opened by pprof itself: what it reads of them is compared with the report. Skipped where
there is no pprof: in PATH, as a tool of Go, or where scripts/test puts it, in build/pprof."""
import os
import re
import shutil
import subprocess

from read_pprof import Profile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OWN = os.path.join(ROOT, "build", "pprof", "pprof")


def tool():
    for path in (OWN, shutil.which("pprof")):
        if path and os.access(path, os.X_OK):
            return [path]
    go = shutil.which("go")  # newer releases build their pprof at the first use
    if go and subprocess.run([go, "tool", "pprof", "-h"], capture_output=True, check=False).returncode in (0, 2):
        return [go, "tool", "pprof"]
    return None


def missing():
    return None if tool() else "no pprof (scripts/test puts it into build/pprof)"


def run(recorded, problems, name, *words):
    """Its output for the profile of *name*. Symbols and sources are looked for nowhere else."""
    path = os.path.join(recorded.folder, name + ".pb.gz")
    nowhere = os.path.join(recorded.folder, "nowhere")
    done = subprocess.run([*tool(), "-symbolize=none", *words, path], capture_output=True, timeout=600, check=False,
                          env=dict(os.environ, PPROF_TMPDIR=recorded.folder, HOME=recorded.folder,
                                   PPROF_BINARY_PATH=nowhere))
    problems.true(f"{name}: pprof {' '.join(words)}: {done.stderr.decode()}", done.returncode == 0)
    return done.stdout.decode()


def raw_sums(text):
    """-raw: the types, and the sum of each over the samples."""
    lines = text.splitlines()
    at = lines.index("Samples:")
    types = [word.split("[")[0] for word in lines[at + 1].split()]
    sums = [0] * len(types)
    for line in lines[at + 2:lines.index("Locations")]:
        found = re.fullmatch(r" *((?:\d+ +)*\d+): [\d ]+", line)
        if found:
            sums = [a + int(b) for a, b in zip(sums, found.group(1).split(), strict=True)]
    return types, sums


def tops(text):
    """-top: the total, and (flat, cumulative) by function."""
    total = int(re.search(r"accounting for .* of (\d+)(?:B)? total", text).group(1))
    rows = re.findall(r"^ *(\d+)B? +[\d.]+% +[\d.]+% +(\d+)B? +[\d.]+%  (.+?)(?: \((?:partial-)?inline\))?$", text,
                      re.MULTILINE)
    return total, {name: (int(flat), int(cumulative)) for flat, cumulative, name in rows}


def by_function(profile, column):
    """The same, from the profile as decoded here."""
    out = {}
    for sample in profile.raw["sample"]:
        names = [name for name, _, _ in profile.lines(sample)]
        for name in set(names):
            flat, cumulative = out.get(name, (0, 0))
            value = sample["value"][column]
            out[name] = (flat + (value if name == names[0] else 0), cumulative + value)
    return {name: values for name, values in out.items() if any(values)}


def check_one(recorded, problems, name):
    device = recorded.report(name)["devices"][0]
    sites = device["sites_at_peak_allocated"]["sites"]
    data = recorded.export(name, "pprof")
    with open(os.path.join(recorded.folder, name + ".pb.gz"), "wb") as file:
        file.write(data)
    profile = Profile(data)
    types, sums = raw_sums(run(recorded, problems, name, "-raw"))
    problems.same(f"{name}: types", types, ["alloc_objects/count", "alloc_space/bytes", "inuse_objects/count",
                                            "inuse_space/bytes"])
    problems.same(f"{name}: in use", sums[2:], [sum(s["count"] for s in sites), device["peak_user"]["bytes"]])
    if device["level"] != "framework":
        allocations = sum(f["allocations"] for family, f in device["families"].items() if family != "ipc")
        problems.same(f"{name}: allocated", sums[0], allocations)
    problems.same(f"{name}: allocated bytes", sums[1], profile.sum("alloc_space"))
    for column, kind in enumerate(t.split("/")[0] for t in types):
        text = run(recorded, problems, name, "-top", "-nodecount=100000", "-nodefraction=0", "-unit=B",
                   "-sample_index=" + kind)
        total, functions = tops(text)
        problems.true(f"{name}: type {kind}", f"Type: {kind}" in text)
        problems.same(f"{name}: total of {kind}", total, sums[column])
        problems.same(f"{name}: functions by {kind}", functions, by_function(profile, column))
    tags = run(recorded, problems, name, "-tags", "-unit=B")
    for row in device["live"]["by"]["phase"]:
        if row["name"] != "outside of any range":
            problems.true(f"{name}: {row['name']} in\n{tags}",
                          re.search(rf"{row['bytes']}\.?0*B? *\([^)]*\): {re.escape(row['name'])}$", tags, re.MULTILINE))


def check(recorded, problems, root):
    del root
    for name in ("plain", "observed", "tensors"):
        check_one(recorded, problems, name)
