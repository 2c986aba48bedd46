#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch is refused the workspace of a convolution, and does without: that is no failure of the
program. It once counted as one, and could be taken for the cause of the program's end.

    check_oom_workspace.py --build DIR

Exit 77: no environment with torch.
"""
import argparse
import json
import os
import subprocess
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


def record(args, environment, folder, left):
    program = os.path.join(folder, "convolve.py")
    with open(program, "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    for old in os.listdir(folder):
        if old.endswith(".vst"):
            os.remove(os.path.join(folder, old))
    command, env = simulated.command(args.build, "t4-16g,capacity=3GiB,context=400MiB,workspace=512MiB",
                                     [environment.python, program, str(left)], folder)
    status, out = simulated.run(command, env, folder, 600)
    trace = next(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".vst"))
    tool = os.path.join(args.build, "bin/vramscope")
    oom = json.loads(subprocess.run([tool, "oom", "--json", trace], stdout=subprocess.PIPE, check=True).stdout)
    text = subprocess.run([tool, "report", trace], stdout=subprocess.PIPE, text=True, check=True).stdout
    return status, out, oom, text


def fits(args, environment, folder, left):
    """What `vramscope fit` says about the same run."""
    command = [os.path.join(args.build, "bin/vramscope"), "fit", "--gpu",
               "t4-16g,capacity=3GiB,context=400MiB,workspace=512MiB", "--json", "--", environment.python,
               os.path.join(folder, "convolve.py"), str(left)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600)
    assert done.returncode == 1, done
    return json.loads(done.stdout)["runs"][0]["device"]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", default=str(environments.ROOT / "build/dev"))
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    environment = environments.of_cuda(13)
    if not environment:
        return environments.skip("an environment with torch for CUDA 13")
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
