#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope estimate` beside a transformer that PyTorch trains on the simulated GPU.

    check_estimate.py --build DIR

Peaks of the forward pass, the backward pass and the optimizer step must be within 0.5 % of the
estimate; 24 MiB more are allowed for cuBLAS's workspaces, which are not estimated. Exit 77: no
environment with torch.
"""
import json
import sys
import tempfile

import environments
import simulated

SHAPE = "--layers 6 --width 768 --heads 12 --vocab 16000 --batch 6 --seq 512"
CASES = ["", "--dtype bf16", "--amp", "--dtype bf16 --mlp swiglu --ffn 2048 --kv-heads 4",
         "--dtype bf16 --checkpointing full", "--dtype bf16 --attention math --dropout 0.1",
         "--optimizer momentum --tied", "--dtype bf16 --fused"]


def main():
    build = environments.parser(__doc__).parse_args().build
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    program = str(environments.ROOT / "tests/torch/programs/transformer.py")
    bad = 0
    for case in CASES:
        options = f"{SHAPE} {case}".split()
        with tempfile.TemporaryDirectory() as folder:
            status, out, _ = simulated.record(build, environment, "h100-80g", [program, *options], folder)
        assert status == 0, (status, out)
        peaks = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
        described = [o for o in options if o != "0.1"]
        answer = json.loads(simulated.printed(build, "estimate", *described, "--json"))
        for moment in answer["phases"]:
            real = peaks[moment["name"]]
            error = moment["total_bytes"] / real - 1
            allowed = 0.005 + (24 << 20) / real
            bad += abs(error) > allowed
            print(f"{case or '(fp32)':50} {moment['name']:10} {real:14,} {100 * error:+.2f} %"
                  + ("  WRONG" if abs(error) > allowed else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
