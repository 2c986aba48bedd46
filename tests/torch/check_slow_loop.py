#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three reasons for a slow training loop, planted in PyTorch on the simulated GPU: `.item()` in the loop, a DataLoader
whose batches are not pinned, and a host that does something else. `vramscope report` names each with its line.

    check_slow_loop.py --build DIR

Kernels take 20 ms, the host sleeps 1 s. Exit 77: no environment with torch.
"""
import json
import os
import sys
import tempfile

import environments
import simulated

PROGRAM = '''import time
import torch
from torch.utils.data import DataLoader, TensorDataset

STEPS = 4
weight = torch.ones(1024, 1024, device="cuda")
loader = DataLoader(TensorDataset(torch.ones(STEPS * 512, 8192)), batch_size=512, pin_memory=False)

def hidden_wait(x):
    for _ in range(STEPS):
        x = x @ weight
        total = x[0, 0].item()

def batches():
    for (batch,) in loader:
        batch = batch.to("cuda", non_blocking=True)

def slow_host(x):
    for _ in range(STEPS):
        x = x @ weight
        torch.cuda.synchronize()
        time.sleep(1)

hidden_wait(weight)
batches()
slow_host(weight)
'''
WAIT, COPY, IDLE = "hidden_wait (loop.py:12)", "batches (loop.py:16)", "slow_host (loop.py:21)"
STEPS = 4


def check(build, trace, status, out):
    assert status == 0, (status, out)
    device = json.loads(simulated.printed(build, "report", "--json", trace))["devices"][0]
    waits = {w["text"].split(" < ")[0]: w["count"] for w in device["waits_by_site"]}
    assert (waits.get(WAIT), waits.get(IDLE)) == (STEPS, STEPS), waits
    assert waits.get(COPY) == STEPS, waits
    timeline = device["timeline"]
    copies = {(c["site"] or {"text": ""})["text"].split(" < ")[0]: (c["count"], c["bytes"])
              for c in timeline["pageable_copies"]["rows"]}
    assert copies.get(COPY) == (STEPS, STEPS * 512 * 8192 * 4), copies
    longest = timeline["gaps_by_cause"]["rows"][0]
    assert longest["cause"] == "host" and longest["wait"]["text"].startswith(IDLE), longest
    assert longest["time_ns"] >= (STEPS - 1) * 1e9, longest
    assert any(gap["wait"] and gap["wait"]["text"].startswith(WAIT) for gap in timeline["gaps_by_cause"]["rows"]), timeline
    words = " ".join(simulated.printed(build, "report", trace).split())
    assert "device time: idle for" in words and IDLE in words, words


def main():
    build = environments.parser(__doc__).parse_args().build
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    with tempfile.TemporaryDirectory() as folder:
        status, out, trace = simulated.record_text(build, environment, "t4-16g,kernel_us=20000", PROGRAM, folder,
                                                   name="loop.py")
        check(build, trace, status, out)


if __name__ == "__main__":
    sys.exit(main())
