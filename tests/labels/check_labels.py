#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call site has one label in report, oom, check, top, the page and the exports, and it is the user's
own line: also below templates of the toolkit's headers and below a package that drives the loop.

    check_labels.py COMMAND [PROGRAM]     exit 1 and a line per problem
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

PACKAGE = """
import ctypes
cuda = ctypes.CDLL('libcudart.so.13')
def empty(mib):
    pointer = ctypes.c_void_p()
    return cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(mib << 20))
class Mlp:
    def forward(self):
        return self._project(8)
    def _project(self, mib):
        return empty(mib)
class Attention:
    def forward(self):
        empty(2)
        return empty(2)
class Trainer:
    def train(self):
        for _ in range(3):
            Mlp().forward()
            Attention().forward()
        empty(1)
def load(mib):
    return empty(mib)
"""
PROGRAM = """import sys; sys.path.insert(0, 'site-packages')
from driver import Trainer, empty, load
def data():
    return load(16)
def train():
    Trainer().train()
train()
data()
load(5)
empty(1 << 20)
"""
COUNT = 0


def expect(what, found, wanted):
    global COUNT
    if found != wanted:
        COUNT += 1
        print(f"{what}: {found}, expected {wanted}")


def run(*words, code=0, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False, **more)
    expect(" ".join(words[1:3]) + f": {done.stderr}", done.returncode, code)
    return done.stdout


def record(command, folder, *program, options=()):
    path = os.path.join(folder, "t.vst")
    subprocess.run([command, "run", "-q", "--simulate", "h100-80g", "-o", path, *options, "--", *program], cwd=folder,
                   timeout=600, check=False, capture_output=True)
    return path


def sites_of(command, path, *options):
    report = json.loads(run(command, "report", "--json", *options, path))
    return report["devices"][0]["sites_at_peak_allocated"]["sites"]


def page_labels(command, path):
    page = path + ".html"
    run(command, "view", path, "-o", page)
    with open(page, encoding="utf-8") as text:
        head = re.search(r'id="head"[^>]*>(.*?)</script>', text.read(), re.S).group(1)
    return {site["label"] for site in json.loads(head)["sites"]}


def one_label(command, path):
    """The labels of a trace's call sites, which are those of all other verbs."""
    labels = {site["text"] for site in sites_of(command, path)}
    oom = json.loads(run(command, "oom", "--json", path))
    expect("oom", {site["text"] for site in oom["sites_live"]["sites"]}, labels)
    refused = oom["failure"]["text"]
    check = json.loads(run(command, "check", "--format", "json", "--max-peak", "1", path, code=1))
    culprits = [one["text"] for one in check["traces"][0]["limits"][0]["culprits"]]
    expect("check", {label for label in labels if any(text.endswith(": " + label) for text in culprits)}, labels)
    top = json.loads(run(command, "top", "--once", "--json", path))
    expect("top", {site["name"] for site in top["processes"][0]["devices"][0]["sites"]}, labels)
    page = page_labels(command, path)
    expect("page", page - {refused}, labels)
    rows = csv.DictReader(io.StringIO(run(command, "export", "-f", "csv", path)))
    expect("csv", {row["site"] for row in rows}, labels)
    lines = run(command, "export", "-f", "collapsed", path).splitlines()
    stacks = [line.rsplit(" ", 1)[0].split(";") for line in lines]
    heads = {label.split(" < ")[0] for label in labels}
    expect("flame graph", {head for head in heads if not any(head in stack for stack in stacks)}, set())
    return labels


def thrust(command, folder, program):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "labels_thrust.cu"), encoding="utf-8") as text:
        lines = text.read().splitlines()
    line = {word: n + 1 for n, text in enumerate(lines) for word in ("grow", "indices", "own") if text.endswith("// " + word)}
    call = next(n + 1 for n, text in enumerate(lines) if "grow(*points, 4" in text)
    path = record(command, folder, program)
    expect("Thrust", one_label(command, path),
           {f"grow (labels_thrust.cu:{line['grow']}) < main:{call}", f"main (labels_thrust.cu:{line['indices']})",
            f"main (labels_thrust.cu:{line['own']})"})
    through = {site["through"] for site in sites_of(command, path) if site["through"]}
    expect("what was called", all(name.startswith("Thrust: thrust::") and len(name) < 80 for name in through), True)
    labels = {site["text"] for site in sites_of(command, path, "--library", "grow")}
    expect("--library", f"main (labels_thrust.cu:{call})" in labels, True)


def package(command, folder):
    os.mkdir(os.path.join(folder, "site-packages"))
    for name, text in (("site-packages/driver.py", PACKAGE), ("train.py", PROGRAM)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    path = record(command, folder, sys.executable, "train.py")
    expect("package", one_label(command, path),
           {"train (train.py:6) < <module>:7", "data (train.py:4) < <module>:8", "load(5) (train.py:9)"})
    site = next(site for site in sites_of(command, path) if site["text"].startswith("train "))
    parts = [(part["function"], part["line"], part["library"], part["bytes"] >> 20, part["count"]) for part in site["parts"]]
    names = (("Mlp.forward", "Attention.forward", "empty") if sys.version_info >= (3, 11)
             else ("forward", "forward", "empty"))
    if sys.version_info >= (3, 11):  # without qualified names both are "forward"
        expect("parts", parts, [(names[0], 9, "driver", 24, 3), (names[1], 0, "driver", 12, 6), (names[2], 6, "driver", 1, 1)])
        text = run(command, "report", path)
        expect("report has a row for each", re.findall(r"(\S+ MiB) +\S+ % +(\d)×    (\w+\.forward)", text),
               [("24.0 MiB", "3", "Mlp.forward"), ("12.0 MiB", "6", "Attention.forward")])
        fit = [command, "fit", "--gpu", "h100-80g"]
        failure = json.loads(run(*fit, "--json", "--", sys.executable, "train.py", code=1, cwd=folder))
        holder = next(one for one in failure["runs"][0]["device"]["failure"]["held_by"] if one["where"].startswith("train "))
        expect("parts of fit", [(part["function"], part["bytes"] >> 20, part["count"]) for part in holder["parts"]],
               [("Mlp.forward", 24, 3), ("Attention.forward", 12, 6), ("empty", 1, 1)])
        text = run(*fit, "--", sys.executable, "train.py", code=1, cwd=folder)
        expect("fit has a row for each", re.findall(r"^ +(\S+ MiB)(?: +(\d)×)?  (train|\w+\.forward) \(", text, re.M),
               [("37.0 MiB", "", "train"), ("24.0 MiB", "3", "Mlp.forward"), ("12.0 MiB", "6", "Attention.forward")])
    expect("one call", next(s for s in sites_of(command, path) if s["text"].startswith("data"))["through"], "driver: empty")


def own_library(command, folder):
    """The same package in a folder that no rule knows: the user's, until it is named."""
    os.mkdir(os.path.join(folder, "vendor"))
    for name, text in (("vendor/driver.py", PACKAGE), ("train.py", PROGRAM.replace("site-packages", "vendor"))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    path = record(command, folder, sys.executable, "train.py")
    wanted = {"train (train.py:6) < <module>:7", "data (train.py:4) < <module>:8", "load(5) (train.py:9)"}
    expect("without", {site["text"] for site in sites_of(command, path)} & wanted, set())
    expect("--library", {site["text"] for site in sites_of(command, path, "--library", "vendor")}, wanted)
    os.environ["VRAMSCOPE_LIBRARY"] = "nothing,vendor"
    try:
        expect("VRAMSCOPE_LIBRARY", one_label(command, path), wanted)
    finally:
        del os.environ["VRAMSCOPE_LIBRARY"]


def main():
    command = os.path.abspath(sys.argv[1])
    checks = [(package,), (own_library,)] + [(thrust, os.path.abspath(program)) for program in sys.argv[2:]]
    for check, *rest in checks:
        with tempfile.TemporaryDirectory() as folder:
            check(command, folder, *rest)
    return 1 if COUNT else 0


if __name__ == "__main__":
    sys.exit(main())
