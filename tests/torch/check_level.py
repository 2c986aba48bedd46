#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The level of a training script on the simulated GPU: its tensors, named by its own lines.

    check_level.py --build DIR

The program below keeps an activation every step in a function of its own. The report must name that
function, the line of the backward pass and the one that waits for the GPU; without memory for all steps,
`vramscope oom` must name the first two, with one failure for both levels. Exit 77: no environment with torch.
"""
import json
import os
import sys
import tempfile

import environments
import simulated

PROGRAM = '''import sys
import torch
import torch.nn as nn

kept = []

def log_activation(x):
    kept.append((x * 2).detach())

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(1024, 4096)
        self.b = nn.Linear(4096, 1024)

    def forward(self, x):
        h = torch.relu(self.a(x))
        log_activation(h)
        return self.b(h)

def train_step(model, optimizer, x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()

def main(steps):
    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        train_step(model, optimizer, torch.randn(512, 1024, device="cuda"))

main(int(sys.argv[1]))
'''
STEPS, ACTIVATION = 30, 512 * 4096 * 4
KEEPS, BACKWARD, WAITS = 8, "loss.backward() (train.py:24)", "train_step (train.py:26)"


def recorded(build, environment, steps, check, *options, python=()):
    """*check* of the program's run with so many steps: of its trace, exit status and output. *python*: options of
    Python."""
    with tempfile.TemporaryDirectory() as folder:
        status, out, trace = simulated.record_text(build, environment, "t4-16g", PROGRAM, folder, steps,
                                                   name="train.py", python=python, options=options)
        check(build, trace, status, out)


def user_frame(site):
    """The innermost frame of the user's."""
    return next(f for f in site["frames"] if not f["library"])


def check_report(build, trace, status, out):
    assert status == 0, (status, out)
    device = json.loads(simulated.printed(build, "report", "--json", trace))["devices"][0]
    assert device["level"] == "framework", device["level"]
    first = device["sites_at_peak_allocated"]["sites"][0]
    frame = user_frame(first)
    assert (frame["function"], os.path.basename(frame["file"]), frame["line"]) == \
        ("log_activation", "train.py", KEEPS), frame
    assert first["bytes"] >= (STEPS - 3) * ACTIVATION and first["level"] == "framework", first["bytes"]
    assert first["through"] == "torch.mul", first["through"]
    peak, tensors = device["peak_user"]["bytes"], device["framework"]["peak_allocated_bytes"]
    beside = [s["bytes"] for s in device["sites_at_peak_allocated"]["sites"] if s["level"] == "device"]
    assert len(beside) == 2 and peak == tensors + sum(beside), (peak, tensors, beside)  # cuBLAS's, of two threads
    assert any(s["level"] == "device" for s in device["device_sites_at_peak_allocated"]["sites"])
    text = simulated.printed(build, "report", trace)
    for part in (f"log_activation (train.py:{KEEPS})", BACKWARD):
        assert part in text, f"the report lacks '{part}':\n{text}"
    waits = device["waits_by_site"][0]
    assert (waits["text"].startswith(WAITS), waits["count"], waits["through"]) == (True, STEPS, "torch.item"), waits
    # each phase once a step
    phases = {p["name"]: p["times"] for p in json.loads(simulated.printed(build, "report", "--json", trace))["phases"]}
    assert phases == dict.fromkeys(("step", "forward", "backward", "optimizer"), STEPS), phases


def check_without_marks(build, trace, *_):
    """As on a GPU: nothing says which line runs the backward pass, so its memory has the name of its function."""
    text = simulated.printed(build, "report", trace)
    assert "PyTorch's backward pass: AddmmBackward0" in text and "CachingAllocator" not in text, text
    for form in ("csv", "collapsed", "chrome --min-bytes 1MiB"):
        out = simulated.printed(build, "export", *f"-f {form}".split(), trace)
        assert "PyTorch's backward pass: AddmmBackward0" in out, form


def check_oom(build, trace, status, out):
    assert status == 1 and "OutOfMemoryError" in out, (status, out)
    report = json.loads(simulated.printed(build, "report", "--json", trace))
    last = [f for f in report["failures"] if not f["recovered"]]
    assert len(last) == 1, f"{len(last)} failures"
    assert last[0]["level"] == "framework" and last[0]["device_refusals"] >= 1, last[0]
    text = simulated.printed(build, "oom", trace)
    assert f"log_activation (train.py:{KEEPS})" in text, f"the verdict does not name log_activation:\n{text}"


def main():
    build = environments.parser(__doc__).parse_args().build
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    recorded(build, environment, STEPS, check_report)
    recorded(build, environment, 3, check_without_marks, python=["-E"])
    recorded(build, environment, 1000, check_oom, "--limit=600MiB")
    print("the report and the verdict name log_activation and the line of the backward pass")
    return 0


if __name__ == "__main__":
    sys.exit(main())
