# SPDX-License-Identifier: Apache-2.0
"""Exports of a PyTorch program on the simulated GPU: tensors by call site, kind and phase, as the report
has them."""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "torch"))
import environments
import read_pprof
import read_rows
import read_stacks

PROGRAM = """
import torch, torch.nn as nn
model = nn.Sequential(*[nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(2)],
                      nn.Linear(64, 100)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
def train_step(number):
    torch.cuda.nvtx.range_push(f"step {number}")
    x = torch.randn(8, 32, 64, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.cuda.nvtx.range_pop()
for number in range(3):
    train_step(number)
"""


def missing():
    return None if environments.find() else "no PyTorch: scripts/test --torch installs it"


def record(recorded, environment):
    program = os.path.join(recorded.folder, "net.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    path = os.path.join(recorded.folder, "torch.vst")
    out = recorded.run("run", "-q", "--simulate", "h100-80g", "-o", path, "--", str(environment.python), program)
    if out.returncode:
        sys.exit(f"{environment.folder.name}: {out.stderr.decode()}")
    recorded.traces = {"torch": path}


def check(recorded, problems, root):
    environment = max(environments.find(), key=lambda e: tuple(map(int, e.release.split(".")[:2])))
    record(recorded, environment)
    report = recorded.report("torch")
    device = report["devices"][0]
    peak = device["peak_user"]
    problems.same("torch: level", device["level"], "framework")
    read_stacks.check_one(recorded, problems, "torch", report, ())
    text = recorded.export("torch", "csv")
    rows = [dict(zip(read_rows.COLUMNS, row)) for row in list(csv.reader(io.StringIO(text.decode(), newline="")))[1:]]
    read_rows.check_csv(problems, "torch", rows, report)
    kinds = {row["name"]: row["bytes"] for row in device["live"]["by"]["kind"]}
    live = read_rows.live_at(rows, 0, peak["event"])
    problems.same("torch: csv by kind", {k: v[0] for k, v in read_rows.sums(live, lambda r: r["kind"] or "no tensors").items()},
                  kinds)
    problems.true("torch: kinds are known", {"parameters", "optimizer state", "activations"} <= set(kinds))
    db = read_rows.database(recorded, "torch")
    if db:
        read_rows.check_same(problems, "torch", rows, db)
        read_rows.check_queries(problems, "torch", report, db, read_rows.queries(root))
    profile = read_pprof.Profile(recorded.export("torch", "pprof"))
    read_pprof.check_rules(problems, "torch", profile)
    found = {name or "no tensors": size for name, size in profile.by_label("kind", "inuse_space").items()}
    problems.same("torch: pprof by kind", found, kinds)
