#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope fit` beside PyTorch's fake tensors, against recorded runs of a real GPU.

    python3 tests/bench/fit/bench_fit.py --build build/release [NAME…]

For each shared snapshot: the program that was recorded, once with `vramscope fit` and once
counted by MemTracker on fake tensors (fake_estimate.py). Prints seconds, host memory of the
largest process, and the error of the peak and of the reserved memory against the recording.
Exit 77 without the recordings or PyTorch 2.11 (scripts/test --torch).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/torch"), str(ROOT / "tests/torch/snapshots")]
import check_snapshot  # noqa: E402
import environments  # noqa: E402
import simulated  # noqa: E402

NAMES = ("ctx128_inference", "ctx128_training", "ctx256_training", "ctx512_inference", "ctx1024_inference",
         "ctx1024_training")


def measure(command, env, folder, timeout):
    """(output, seconds, MiB of the largest process)"""
    used = os.path.join(folder, "used")
    timed = ["/usr/bin/env", "python3", "-c", "import resource, subprocess, sys\n"
             "status = subprocess.call(sys.argv[2:])\n"
             "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))\n"
             "sys.exit(status)", used, *command]
    began = time.monotonic()
    ran = subprocess.run(timed, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=timeout, check=False)
    seconds = time.monotonic() - began
    if ran.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(map(str, command))} ended with {ran.returncode}\n{ran.stderr[-2000:]}")
    with open(used, encoding="ascii") as f:
        return ran.stdout, seconds, int(f.read()) / 1024


def by_fit(args, environment, name, model, scratch):
    os.makedirs(os.path.join(scratch, "work"))
    os.makedirs(os.path.join(scratch, "results"))
    program = ROOT / "tests/torch/snapshots/snapshot_program.py"
    command = [os.path.join(args.build, "bin/vramscope"), "fit", "--json", "--gpu", check_snapshot.DEVICE, "--",
               environment.python, program, model, *check_snapshot.arguments_of(f"gpt_medium_{name}")]
    out, seconds, memory = measure([str(c) for c in command], dict(os.environ, OMP_NUM_THREADS="1"),
                                   os.path.join(scratch, "work"), args.timeout)
    device = json.loads(out)["runs"][0]["device"]
    return seconds, memory, device["peak_allocated_bytes"], device["peak_reserved_bytes"]


def by_fake_tensors(args, environment, name, model, scratch):
    length, kind = name.removeprefix("ctx").split("_")
    autocast = "autocast" if (length, kind) in check_snapshot.AUTOCAST else "plain"
    program = [environment.python, ROOT / "tests/bench/fit/fake_estimate.py", model, length, kind, autocast]
    command, env = simulated.command(args.build, check_snapshot.DEVICE, program, scratch,
                                     ["--values=off", "--kernels=off"])  # torch links libraries of CUDA
    out, seconds, memory = measure(command, env, scratch, args.timeout)
    return seconds, memory, json.loads(out.splitlines()[-1])["peak_bytes"]


def row(args, environment, name, model):
    recorded = check_snapshot.Snapshot(os.path.join(args.shared, "traces", f"gpt_medium_{name}.pickle"))
    with tempfile.TemporaryDirectory() as scratch:
        seconds, memory, peak, reserved = by_fit(args, environment, name, model, scratch)
        cells = [name, f"{recorded.peak}", f"{seconds:.0f}", f"{memory:.0f}",
                 f"{(peak - recorded.peak) / recorded.peak:+.3%}",
                 f"{(reserved - recorded.reserved) / recorded.reserved:+.3%}"]
        seconds, memory, peak = by_fake_tensors(args, environment, name, model, scratch)
        return cells + [f"{seconds:.0f}", f"{memory:.0f}", f"{(peak - recorded.peak) / recorded.peak:+.3%}",
                        f"{(peak - recorded.reserved) / recorded.reserved:+.3%}"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    p.add_argument("--build", default=str(ROOT / "build/release"))
    p.add_argument("--shared", default=str(ROOT.parent / "shared"))
    p.add_argument("--timeout", type=float, default=1800)
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    unknown = set(args.names) - set(NAMES)
    if unknown:
        p.error(f"unknown recording {sorted(unknown)[0]}; the recordings are {', '.join(NAMES)}")
    model = os.path.join(args.shared, "traces/model")
    environment = environments.of_release(check_snapshot.RELEASE)
    if not os.path.isdir(model) or not environment:
        return environments.skip(f"{model} and an environment with torch {check_snapshot.RELEASE}")
    head = ("recording", "recorded peak", "fit: s", "MiB", "peak", "reserved", "fake tensors: s", "MiB", "peak",
            "as reserved")
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for name in args.names or NAMES:
        print("| " + " | ".join(row(args, environment, name, model)) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
