#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch is refused the workspace of a convolution, and does without: that is no failure of the
program. It once counted as one, and could be taken for the cause of the program's end.

    check_oom_workspace.py --build DIR

Exit 77: no environment with torch.
"""
import json
import os
import sys
import tempfile

import environments
import simulated

# Argument 1: MiB that are left on the device. A convolution of cuDNN wants a workspace of 512 MiB
# there; the results of an operation have 128 MiB.
PROGRAM = '''import sys, torch
net = torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.ReLU()).cuda()
x = torch.zeros(32, 64, 128, 128, device="cuda")
left = int(sys.argv[1]) << 20
kept = torch.empty(torch.cuda.mem_get_info()[0] - left, dtype=torch.uint8, device="cuda")
with torch.no_grad():
    if left > 400 << 20:
        net[0](x)
    else:
        net(x)
print("done")
'''


DEVICE = "t4-16g,capacity=3GiB,context=400MiB,workspace=512MiB"


def record(args, environment, folder, left):
    status, out, trace = simulated.record_text(args.build, environment, DEVICE, PROGRAM, folder, left,
                                               name="convolve.py")
    oom = json.loads(simulated.printed(args.build, "oom", "--json", trace))
    return status, out, oom, simulated.printed(args.build, "report", trace)


def fits(args, environment, folder, left):
    """What `vramscope fit` says about the same run."""
    run = json.loads(simulated.printed(args.build, "fit", "--gpu", DEVICE, "--json", "--", environment.python,
                                       os.path.join(folder, "convolve.py"), left))["runs"][0]
    assert run["fits"] == "no", run
    return run["device"]


def main():
    args = environments.parser(__doc__).parse_args()
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    went_on = "1 allocation failed, and the program went on\n  512.0 MiB on device 0"
    reason = "a library's workspace: PyTorch took less, or a slower algorithm"
    with tempfile.TemporaryDirectory() as folder:
        # the workspace is the last request of all: nothing is allocated after it
        status, out, oom, text = record(args, environment, folder, 420)
        assert status == 0 and "done" in out, (status, out)
        assert oom["verdict"] == "recovered" and "workspace" in oom["evidence"][0], oom
        assert went_on in text and reason in text, text
        # the result of the ReLU is what ends this one, of the same line
        status, out, oom, text = record(args, environment, folder, 200)
        assert status == 1 and "Tried to allocate 128.00 MiB" in out, (status, out)
        assert oom["failure"]["requested_bytes"] == 128 << 20 and oom["verdict"] != "recovered", oom
        assert went_on in text and reason in text, text
        assert "\n1 allocation failed\n  128.0 MiB" in text, text
        fit = fits(args, environment, folder, 200)
        assert fit["failure"]["requested_bytes"] == 128 << 20, fit
    print(f"torch {environment.release}: a refused workspace is listed apart")
    return 0


if __name__ == "__main__":
    sys.exit(main())
