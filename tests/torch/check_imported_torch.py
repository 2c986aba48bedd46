#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope import` of snapshots that PyTorch itself writes, on the simulated GPU: the sums are
PyTorch's own statistics, and those of the recording of the same run.

    check_imported_torch.py --build DIR      exit 1 and a line per problem; 77: no environment with torch
"""
import json
import os
import pathlib
import sys
import tempfile

import environments
import simulated

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "imports"))
from imported import Imported, Problems  # noqa: E402

PROGRAM = '''import json, sys
import torch
import torch.nn as nn

early = torch.zeros(3 << 20, dtype=torch.uint8, device="cuda")  # before the history
torch.cuda.memory._record_memory_history(max_entries=int(sys.argv[1]))
start = torch.cuda.memory_allocated()
torch.cuda.reset_peak_memory_stats()
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
side = torch.cuda.Stream()
for step in range(6):
    optimizer.zero_grad()
    x = torch.randn(64, 512, device="cuda")
    with torch.cuda.stream(side):
        y = torch.ones(700_000, device="cuda")
        y.record_stream(torch.cuda.current_stream())
    loss = model(x).square().mean() + y.sum() * 0
    loss.backward()
    optimizer.step()
    if step == 3:
        torch.cuda.empty_cache()
try:
    torch.empty(1 << 40, device="cuda")
except torch.OutOfMemoryError:
    pass
torch.cuda.synchronize()
torch.cuda.memory._dump_snapshot("snapshot.pickle")
stats = torch.cuda.memory_stats()
json.dump({"peak": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(),
           "now": torch.cuda.memory_allocated(), "held": torch.cuda.memory_reserved(), "start": start,
           "ooms": stats["num_ooms"]}, open("stats.json", "w"))
'''


def run(build, environment, folder, entries, conf):
    status, out, recording = simulated.record_text(
        build, environment, "h100-80g", PROGRAM, folder, entries, name="train.py", timeout_s=900,
        settings={"PYTORCH_CUDA_ALLOC_CONF": conf})
    if status:
        raise SystemExit(f"the program ended with {status}:\n{out[-2000:]}")
    with open(os.path.join(folder, "stats.json"), encoding="utf-8") as f:
        stats = json.load(f)
    made = Imported(os.path.join(build, "bin/vramscope"), os.path.join(folder, "snapshot.pickle"),
                    os.path.join(folder, "imported.vst"))
    return stats, made, json.loads(made.verb("report", "--json", recording))


def check(problems, what, stats, made, recorded, whole):
    problems.equal(f"{what}: exit code", (made.code, made.err), (0, ""))
    device = made.report()["devices"][0]
    framework = device["framework"]
    problems.equal(f"{what}: allocated at the end", framework["allocated_at_end_bytes"], stats["now"])
    problems.equal(f"{what}: reserved at the end", device["reserved_at_end_bytes"], stats["held"])
    problems.equal(f"{what}: failures", framework["failures"], stats["ooms"])
    if not whole:
        problems.true(f"{what}: the loss is said", "lost its beginning" in made.out)
        return
    problems.equal(f"{what}: peak allocated", framework["peak_allocated_bytes"], stats["peak"])
    problems.equal(f"{what}: peak reserved", device["peak_reserved"]["bytes"], stats["reserved"])
    problems.true(f"{what}: memory before the history", f"{stats['start'] / (1 << 20):.1f} MiB in" in made.out)
    same = recorded["devices"][0]["framework"]
    for key in ("allocations", "peak_allocated_bytes", "peak_reserved_bytes", "failures"):
        problems.equal(f"{what}: {key} as recorded", framework[key], same[key])
    sites = [s["text"] for s in device["sites_at_peak_allocated"]["sites"]]
    problems.true(f"{what}: lines of the program in {sites}", any("train.py:" in text for text in sites))


def main():
    build = environments.parser(__doc__).parse_args().build
    found = environments.needed(environments.find(), "an environment with torch")
    problems = Problems()
    cases = [(e, 100000, conf) for e in found for conf in ("", "expandable_segments:True")]
    cases.append((found[-1], 200, ""))
    for environment, entries, conf in cases:
        before = problems.count
        what = f"torch {environment.release}, {entries} entries, {conf or 'default'}"
        with tempfile.TemporaryDirectory() as folder:
            check(problems, what, *run(build, environment, folder, entries, conf), entries > 1000)
        print(f"{what}: {'ok' if problems.count == before else 'failed'}")
    return 1 if problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
