#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vramscope attach to a training that runs, with each of PyTorch's two kinds of segments.

    check_attached.py --build DIR

At the end the trace has the tensors that PyTorch counts, with those from before, and no memory of the device is
unexplained. Exit 77: no environment with torch.
"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

import environments
import simulated

PROGRAM = '''import sys
import threading
import torch

ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), ended.set())).start()
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
steps = after = 0
while steps < 20 or after < 5:
    optimizer.zero_grad()
    model(torch.randn(64, 256, device="cuda")).sum().backward()
    optimizer.step()
    steps += 1
    after += ended.is_set()
    if steps == 3:
        print("training", flush=True)
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), flush=True)
import os
os._exit(4)  # no thread frees anything more
'''


def check(build, environment, conf, folder):
    trace, program = os.path.join(folder, "attached.vst"), os.path.join(folder, "train.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    libraries = build + "/lib/vramscope/"
    env = dict(os.environ, VRAMSCOPE_SIMULATE="t4-16g", PYTHONPATH=libraries + "python/startup",
               LD_LIBRARY_PATH=libraries + "simulator", LD_AUDIT=libraries + "libvramscope_audit.so",
               PYTORCH_CUDA_ALLOC_CONF=conf)
    training = subprocess.Popen([environment.python, program], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
    assert training.stdout.readline() == "training\n", training.communicate("\n")
    said = simulated.printed(build, "attach", "-o", trace, str(training.pid))
    assert said == f"process {training.pid} is recorded: {trace}\n", said
    out, error = training.communicate("\n", timeout=600)
    assert training.returncode == 4 and not error, (training.returncode, error)
    allocated, reserved = map(int, out.split())
    rows = list(csv.DictReader(io.StringIO(simulated.printed(build, "export", "-f", "csv", "-o", "-", trace))))
    live = [row for row in rows if row["family"] == "tensor" and row["end"] != "freed"]
    assert sum(int(row["size_bytes"]) for row in live) == allocated, (conf, allocated, live)
    assert any(row["phase"] == "before the recording" for row in live), (conf, live)
    report = simulated.printed(build, "report", trace)
    assert re.search(r"unexplained +0 B", report), (conf, report)
    assert f"{reserved / (1 << 20):.1f} MiB\n  device memory in use" in report, (conf, reserved, report)
    assert ("expandable segments" in report) == bool(conf), (conf, report)


def main():
    build = os.path.abspath(environments.parser(__doc__).parse_args().build)
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    for conf in ("", "expandable_segments:True"):
        with tempfile.TemporaryDirectory() as folder:
            check(build, environment, conf, folder)
    print("the training was recorded from the middle, with what it held")
    return 0


if __name__ == "__main__":
    sys.exit(main())
