#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replayed settings of PYTORCH_ALLOC_CONF against real runs of PyTorch under them.

    check_replayed_torch.py --build DIR [PROGRAM [ARGUMENT…]]

The program (tests/torch/programs/mixture_of_experts.py, one batch of 2, unless given) runs on the
simulated GPU with PyTorch's defaults. Its trace is replayed with each setting and on a smaller
GPU; then the program runs with it: the same outcome, and the peak that PyTorch itself reports as
reserved within 1 %. Exit 77: no environment with torch.
"""
import json
import os
import subprocess
import sys
import tempfile

import environments
import simulated

CONFS = ("expandable_segments:True", "max_split_size_mb:128", "garbage_collection_threshold:0.8",
         "garbage_collection_threshold:0.6,per_process_memory_fraction:{fraction}",
         "roundup_power2_divisions:4")


class Check:
    def __init__(self, build, environment, program, folder):
        self.command, self.folder, self.environment = os.path.join(build, "bin/vramscope"), folder, environment
        self.build, self.program, self.failed = build, program, 0

    def record(self, name, conf, device):
        """(exit status, trace) of the program."""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        status, out, trace = simulated.record(self.build, self.environment, device, self.program, folder, settings={
            "PYTORCH_ALLOC_CONF": conf, "PYTORCH_CUDA_ALLOC_CONF": conf})
        assert status in (0, 1), (status, out)
        return status, trace

    def replay(self, trace, *options):
        run = subprocess.run([self.command, "replay", "--json", *options, trace], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        assert run.returncode in (0, 1), run.stderr
        return json.loads(run.stdout)

    def compare(self, what, row, status, trace):
        """A replayed row, and the recording of a run under that setting."""
        answer = self.replay(trace, "--policy", "compact")
        recorded = answer["recorded"]["reserved_peak_bytes"]
        again = answer["rows"][0]["reserved_peak_bytes"]
        off, itself = row["reserved_peak_bytes"] / recorded - 1, again / recorded - 1
        good = row["survives"] == (status == 0) and abs(off) < 0.01 and abs(itself) < 0.01
        print(f"{what:66s} reserved {recorded / 2**20:9.1f} MiB, replayed {off:+.2%}, "
              f"as recorded {itself:+.2%}{'' if good else '  DIFFERENT'}", flush=True)
        self.failed += not good


def main():
    p = environments.parser(__doc__)
    p.add_argument("program", nargs="*")
    args = p.parse_args()
    environment = environments.needed(environments.of_release("2.15.0") or environments.of_cuda(13),
                                      "an environment with torch for CUDA 13")
    program = args.program or [str(environments.ROOT / "tests/torch/programs/mixture_of_experts.py"),
                               "--batch", "2", "--steps", "3"]
    with tempfile.TemporaryDirectory() as folder:
        check = Check(args.build, environment, program, folder)
        status, trace = check.record("default", "", "h100-80g")
        assert status == 0
        first = check.replay(trace, "--policy", "pytorch")
        check.compare("pytorch", first["rows"][0], status, trace)
        # a fraction of the device at which memory has to be collected
        fraction = first["rows"][0]["reserved_peak_bytes"] * 1.02 / first["total_bytes"]
        for conf in CONFS:
            conf = conf.format(fraction=f"{fraction:.5f}")
            row = check.replay(trace, "--set", conf)["rows"][-1]
            check.compare(conf, row, *check.record(conf.replace(",", "_"), conf, "h100-80g"))
        # just too small, and just large enough
        least = check.replay(trace, "--find-capacity", "--policy", "pytorch")["rows"][0]["least_capacity_bytes"]
        for size in (least - (64 << 20), least + (64 << 20)):
            row = check.replay(trace, "--policy", "pytorch", "--capacity", str(size))["rows"][-1]
            check.compare(f"a device of {size >> 20} MiB", row,
                          *check.record(str(size), "", f"h100-80g,capacity={size}"))
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
