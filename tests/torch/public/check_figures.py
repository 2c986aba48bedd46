#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of public threads (figures.py), the remedy in the answer of `vramscope fit`, and a tensor
that grows until the bytes of the GPU run out.

    check_figures.py [--build DIR] [--only TEXT] figures|remedy|growing

Exit 77: no environment with torch 2.15.0.
"""
import json
import os
import subprocess
import sys
import tempfile

import figures

sys.path.insert(0, str(figures.PROGRAMS.parents[1]))
import environments  # noqa: E402
import simulated  # noqa: E402

# Ten segments of 1 GiB are freed, and each is filled up to 0.7 GiB.
HOLES = '''import torch

def tensors(count, gib):
    return [torch.empty(int(gib * (1 << 30)), dtype=torch.uint8, device="cuda") for _ in range(count)]

tensors(10, 1)
kept = tensors(10, 0.7)
tensors(1, 5)
'''


def check_figures(args, python, folder):
    wrong = 0
    for row, ours in figures.measured(args.build, python, folder, args.only):
        good = row.holds(ours)
        wrong += not good
        print(f"{'ok' if good else 'WRONG':6}{row.thread} {row.gpu} {row.what}: {row.real}, ours {ours}", flush=True)
    return wrong


def check_remedy(args, python, folder):
    program = os.path.join(folder, "holes.py")
    with open(program, "w", encoding="utf-8") as f:
        f.write(HOLES)
    command = [os.path.join(args.build, "bin/vramscope"), "fit", "-q", "--gpu", "rtx4090-24g,capacity=15GiB"]
    text = subprocess.run([*command, "--", python, program], stdout=subprocess.PIPE, text=True, check=False).stdout
    answer = subprocess.run([*command, "--json", "--", python, program], stdout=subprocess.PIPE, text=True, check=False)
    print(text)
    remedy = json.loads(answer.stdout)["runs"][0]["remedy"]
    expected = "`PYTORCH_ALLOC_CONF=expandable_segments:True`: this request fits"
    assert answer.returncode == 1 and remedy["replayed"] and remedy["text"].startswith(expected), remedy
    assert expected in " ".join(text.split()), text
    return 0


# Each step needs a larger gap of addresses than the one before left. The last that fits holds 76.6 GiB.
GROWING = '''import sys, torch

kept = []
for step in range(int(sys.argv[1])):
    large = torch.empty((1000 + 400 * step) << 20, dtype=torch.uint8, device="cuda")
    kept.append(torch.empty(12 << 20, dtype=torch.uint8, device="cuda"))
    del large
    torch.cuda.empty_cache()
'''


def check_growing(args, python, folder):
    program = os.path.join(folder, "growing.py")
    with open(program, "w", encoding="utf-8") as f:
        f.write(GROWING)
    for steps, answer in (("190", "yes"), ("200", "no")):
        out = simulated.printed(args.build, "fit", "-q", "--json", "--gpu", "h100-80g", "--", python, program, steps)
        run, = json.loads(out)["runs"]
        assert run["fits"] == answer, (steps, out)
    return 0


def main():
    p = environments.parser(__doc__)
    p.add_argument("--only", help="rows with this in thread, program or GPU")
    p.add_argument("what", choices=("figures", "remedy", "growing"))
    args = p.parse_args()
    environment = environments.needed_release("2.15.0")
    with tempfile.TemporaryDirectory() as folder:
        check = {"figures": check_figures, "remedy": check_remedy, "growing": check_growing}[args.what]
        return 1 if check(args, environment.python, folder) else 0


if __name__ == "__main__":
    sys.exit(main())
