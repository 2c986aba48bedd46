#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that run alone (`vramscope fit --ranks`) have the memory of the same ranks run together, to the
byte: PyTorch's peaks, and what the device holds.

    check_ranks.py --build DIR [--release RELEASE] [--worlds 2,4,8] [--kinds KIND,…] [--large WORLD,…]

--large: also runs rank 1 of larger worlds alone; prints its time and host memory, and checks that they hardly grow.
Exit 77: no environment with that torch.
"""
import json
import os
import subprocess
import sys
import tempfile

import environments

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "programs/parallel_mlp.py")
KINDS = ("ddp", "fsdp", "hsdp", "tp", "pp")
GPU = "h100-80g"


def lines_of(path):
    with open(path, encoding="utf-8") as f:
        return sorted(f.read().splitlines(), key=lambda line: int(line.split()[1]))


def vramscope(args, words, folder):
    done = subprocess.run([os.path.join(args.build, "bin/vramscope"), *words], cwd=folder, text=True,
                          capture_output=True, check=False)
    return done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


def compare(args, environment, kind, world, folder):
    """Whether the ranks of *kind* are equal; prints those that are not."""
    launch = [environment.python, "-m", "torch.distributed.run", f"--nproc-per-node={world}", PROGRAM, "--kind",
              kind, "--out"]
    together, alone = (os.path.join(folder, f"{kind}{world}.{name}") for name in ("together", "alone"))
    _, why = vramscope(args, ["fit", "-q", "--gpu", f"{GPU},devices={world}", "--", *launch, together], folder)
    if not os.path.exists(together):
        raise RuntimeError(why)
    _, why = vramscope(args, ["fit", "-q", "--gpu", GPU, "--ranks", str(world), "--rank",
                              ",".join(map(str, range(world))), "--", *launch, alone], folder)
    if not os.path.exists(alone):
        raise RuntimeError(why)
    all_of, each = lines_of(together), lines_of(alone)
    print(f"{environment.release} {kind} of {world}: {'equal' if all_of == each else 'different'}", flush=True)
    if all_of != each:
        print("together", *all_of, "alone", *each, sep="\n  ")
    return all_of == each and len(each) == world


def check_large(args, environment, folder):
    """Rank 1 of worlds of any size."""
    used = []
    for world in args.large:
        out, why = vramscope(args, ["fit", "-q", "--json", "--gpu", GPU, "--ranks", str(world), "--rank", "1", "--",
                                    environment.python, PROGRAM, "--kind", "fsdp"], folder)
        runs = [r for r in json.loads(out)["runs"] if r["rank"] == "1"] if out else []
        if not runs or runs[0]["fits"] != "yes":
            raise RuntimeError(why)
        used.append(runs[0]["host_bytes"])
        print(f"{environment.release} rank 1 of {world}: {runs[0]['wall_ns'] / 1e9:.1f} s, "
              f"{used[-1] / 2 ** 20:.0f} MiB of host memory", flush=True)
    return max(used, default=0) < 2 << 30


def main():
    p = environments.parser(__doc__)
    p.add_argument("--worlds", default="4")
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--large", type=lambda text: [int(word) for word in text.split(",")], default=[1024])
    args, environment = environments.parsed(p)
    with tempfile.TemporaryDirectory() as folder:
        good = all([compare(args, environment, kind, int(world), folder)
                    for world in args.worlds.split(",") for kind in args.kinds.split(",")])
        return 0 if good and check_large(args, environment, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
