# SPDX-License-Identifier: Apache-2.0
"""Values of small tensors change no allocation: each program of values_programs.py has the same
allocator events, peak and reserved memory with them and without them. The events are those of PyTorch's own
memory history: their stacks have no frame of vramscope's.

    check_values_events.py --build BUILD --release RELEASE [NAME…]

Exits with 77 where there is no PyTorch of that release. Memory that
is freed between two allocations is compared without its order, which follows addresses where
autocast clears its cache.
"""
import json
import os
import sys
import tempfile

import environments
import simulated

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "values_programs.py")
NAMES = ["gpt", "gpt_fused_autocast", "gpt_loop_optimizer", "gpt_scaler", "gpt_checkpoint",
         "gpt_compiled", "mlp", "convolutions", "inference", "graphs", "operators"]


def in_order(events):
    result, freed = [], []
    for event in events:
        if event[0].startswith("free"):
            freed.append(event)
        else:
            result += sorted(freed) + [event]
            freed = []
    return result + sorted(freed)


def run(build, environment, name, values, folder):
    path = os.path.join(folder, f"{name}.{values}.json")
    status, out, _ = simulated.record(
        build, environment, "a100-80g", [PROGRAMS, name, path], folder, ["--stacks=none"],
        {"VRAMSCOPE_VALUES": values, "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache")}, 1800)
    if status != 0:
        return None, out[-2000:]
    with open(path, encoding="utf-8") as f:
        result = json.load(f)
    result["events"] = in_order(result["events"])
    return result, ""


def difference(on, off):
    for i, (a, b) in enumerate(zip(on["events"], off["events"])):
        if a != b:
            return f"event {i}: {a} with values, {b} without"
    sizes = {k: (len(on[k]) if k == "events" else on[k]) for k in on}
    return f"{sizes} with values, {len(off['events'])} events without" if on != off else ""


def main():
    parser = environments.parser(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    args, environment = environments.parsed(parser)
    failed = 0
    for name in args.names:
        with tempfile.TemporaryDirectory() as folder:
            if name == "gpt_compiled":  # torch.compile's own work, which tries kernels by time, is not compared
                run(args.build, environment, name, "1MiB", folder)
            on, error = run(args.build, environment, name, "1MiB", folder)
            off, error_off = run(args.build, environment, name, "off", folder) if on else (None, "")
        what = error or error_off or difference(on, off)
        failed += bool(what)
        print("FAILED" if what else "ok", name, what or f"{len(on['events'])} events", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
