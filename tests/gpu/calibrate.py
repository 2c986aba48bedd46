# SPDX-License-Identifier: Apache-2.0
"""Sizes that are measured on a real GPU, as rows for the simulated GPU's table (sizes.tsv).

`tests/gpu/run --calibrate FILE` runs calibrate_problems.py twice with the same python: on the real
GPU, which gives the bytes of each problem, and on the simulated one of the same architecture, which
gives the name under which the stand-in library looks them up. A problem makes a row if its bytes and
its name are unambiguous. Rows: library, versions, architecture, what, key, bytes, kind, source.
"""
import datetime
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROBLEMS = os.path.join(HERE, "calibrate_problems.py")
# The simulated device of an architecture: the names of the libraries' rows do not depend on its size.
SIMULATED = {"sm_60": "p100-16g", "sm_70": "v100-16g", "sm_75": "t4-16g", "sm_80": "a100-80g",
             "sm_86": "rtx3090-24g", "sm_89": "rtx4090-24g", "sm_90": "h100-80g", "sm_100": "b200-192g",
             "sm_103": "gb300-288g", "sm_120": "rtx5090-32g"}
NAME = re.compile(r"(\S+) ?(.*)")
ROUNDING = 512  # PyTorch's allocator rounds the sizes of blocks up to it
# What lies outside PyTorch's allocator; all other names are workspaces.
OUTSIDE = ("handle", "communicator", "context", "module")


def read(path):
    """(versions, {problem: line}) of an output of calibrate_problems.py."""
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f if line.strip()]
    versions = next((line["versions"] for line in lines if "versions" in line), None)
    if not versions:
        raise ValueError(f"{path} does not begin with the versions; calibrate_problems.py did not start")
    return versions, {line["problem"]: line for line in lines if "problem" in line}


def bytes_of(line):
    """The one size that the library asked for; None if several allocations could be it."""
    sizes = [n for n in line["sizes"] if n > 0]
    if not sizes:
        return 0
    return sizes[0] if len(sizes) == 1 else None


def in_place_of(assumed, real, simulated):
    """The real allocation in the place of the simulated one that has the assumed size; None if there
    is not exactly one, or if the two runs differ in their number of allocations."""
    block = -(-assumed // ROUNDING) * ROUNDING
    places = [i for i, n in enumerate(simulated["sizes"]) if n == block]
    if not assumed or len(places) != 1 or len(real["sizes"]) != len(simulated["sizes"]):
        return None
    return real["sizes"][places[0]]


def names_of(line, kind):
    """{name: bytes assumed} that the stand-ins looked up for a problem of this kind; a name is
    (library, what and key)."""
    return {(n[0], n[1]): n[2] if len(n) > 2 else 0 for n in line["names"]
            if (NAME.match(n[1]).group(1) in OUTSIDE) == (kind == "outside")}


def sizes_of(line, other):
    """([(library, name, bytes)], why not, or None), for one problem on both devices."""
    if "error" in line:
        return [], f"the real GPU: {line['error']}"
    if other is None or "error" in other:
        return [], f"the simulated GPU: {(other or {}).get('error', 'not run')}"
    names = names_of(other, line["kind"])
    if not names:
        return [], "its stand-in looks no size up (measured already, or exact)"
    found = [(*name, in_place_of(assumed, line, other)) for name, assumed in sorted(names.items())]
    if len(names) == 1 and found[0][2] is None and bytes_of(line) is not None:
        found = [(*next(iter(names)), bytes_of(line))]
    known = [f for f in found if f[2] is not None]
    if known:
        return known, None
    return [], (f"{len(names)} sizes are looked up for it" if len(names) > 1 else
                f"{len(line['sizes'])} allocations could be the workspace")


def version_range(library, versions):
    """cuDNN says its version; rows of the other libraries are for the torch release's."""
    if library != "cudnn" or not versions.get("cudnn"):
        return "*"
    n = versions["cudnn"]  # 91002: 9.10.2
    text = f"{n // 10000}.{n % 10000 // 100}.{n % 100}"
    return f"{text}-{text}"


def pair(real, simulated):
    """(rows, reasons why problems gave none), from two outputs as *read* returns them."""
    versions, measured = real
    _, named = simulated
    source = (f"{versions['device']}, torch {versions['torch']}, {datetime.date.today().isoformat()}, "
              "tests/gpu/run --calibrate").replace("\t", " ")
    rows, left_out, seen, differing = [], [], {}, set()
    for problem, line in measured.items():
        sizes, why = sizes_of(line, named.get(problem))
        if why:
            left_out.append(f"{problem}: {why}")
        for library, name, size in sizes:
            what, key = NAME.match(name).groups()
            library = library.lower()  # as the table names it
            architecture = versions["architecture"]
            if (library, what) == ("driver", "context"):  # its key is the GPU
                architecture, key = "*", versions.get("gpu")
                if not key:
                    left_out.append(f"{problem}: no simulated GPU is named like {versions['device']}")
                    continue
            row = (library, version_range(library, versions), architecture, what, key or "*",
                   str(size), "measured", source)
            if seen.setdefault(row[:5], row) != row:
                left_out.append(f"{problem}: {row[5]} bytes, and another problem of the same name {seen[row[:5]][5]}: "
                                f"{what} {key} gets no row")
                differing.add(row[:5])
            elif row not in rows:
                rows.append(row)
    return [row for row in rows if row[:5] not in differing], left_out


def write(path, rows):
    """Adds the rows to a table, or begins one; rows for the same problem are replaced."""
    try:
        with open(path, encoding="utf-8") as f:
            old = f.read().splitlines()
    except FileNotFoundError:
        old = ["# library\tversions\tarchitecture\twhat\tkey\tbytes\tkind\tsource"]
    new = {row[:5] for row in rows}
    kept = [line for line in old if line.startswith("#") or tuple(line.split("\t")[:5]) not in new
            or line.split("\t")[6:7] != ["measured"]]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(kept + ["\t".join(row) for row in rows]) + "\n")


def gpu_of(versions, vramscope):
    """The simulated GPU with the architecture, the multiprocessors and nearly the memory of the real
    one; None if there is none."""
    listed = json.loads(subprocess.run([vramscope, "doctor", "--gpus", "--json"], stdout=subprocess.PIPE,
                                       check=True).stdout)["gpus"]
    alike = [g for g in listed if f"sm_{g['compute_capability']}" == versions["architecture"]
             and g["sms"] == versions.get("sms")
             and abs(g["total_bytes"] - versions.get("total_bytes", 0)) < g["total_bytes"] / 20]
    return alike[0]["name"] if len(alike) == 1 else None


def calibrate(run, python, vramscope, path, scratch):
    """Both runs and the table. *run*: tests/gpu/run's. Returns the lines of the report."""
    real, simulated = (os.path.join(scratch, f"calibrate.{kind}.json") for kind in ("real", "simulated"))
    ran = run([python, PROBLEMS, real], {}, timeout=3600, cwd=scratch)
    if ran.status:
        raise SystemExit(f"tests/gpu/run: the problems ended with {ran.why()}\n    --calibrate needs a python3 with "
                         "PyTorch for CUDA (pip install torch)")
    measured = read(real)
    architecture = measured[0]["architecture"]
    measured[0]["gpu"] = gpu_of(measured[0], vramscope)
    if architecture not in SIMULATED:
        raise SystemExit(f"tests/gpu/run: no simulated GPU has the architecture {architecture}; "
                         f"there are {', '.join(SIMULATED)}")
    command = [vramscope, "run", "-q", "--simulate", f"{measured[0]['gpu'] or SIMULATED[architecture]},data=small", "-o",
               os.path.join(scratch, "calibrate.%p.vst"), "--values=off", "--", python, PROBLEMS, simulated]
    notes = os.path.join(scratch, "calibrate.notes")
    with open(notes, "w", encoding="utf-8"):
        pass  # the libraries write to a file that exists
    ran = run(command, {"VRAMSCOPE_SIMULATE_NOTES": notes}, timeout=3600, cwd=scratch)
    if ran.status:
        raise SystemExit(f"tests/gpu/run: the problems on the simulated GPU ended with {ran.why()}")
    rows, left_out = pair(measured, read(simulated))
    write(path, rows)
    return [f"{len(rows)} sizes measured and written to {path}", *left_out]
