#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope report --by op` compared with torch.profiler in the same run of a training program.

    check_operations.py --build DIR [--release RELEASE]

The profiler's table subtracts what is freed while an operation runs, which no allocator's record tells by
operation: here its own code makes the table from its records of allocations alone. What each operation of ATen
and each node of the backward pass allocated, itself and with what it calls, must then be equal to the byte, and
so must the profiler's usual figures for operations in which nothing is freed. Exit 77: no environment with torch.
"""
import json
import os
import sys
import tempfile

import environments
import simulated

PROGRAM = '''import json, sys, torch, torch.nn as nn, torch.nn.functional as F
from torch.autograd import profiler, profiler_util

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.qkv = nn.Embedding(500, 64), nn.LayerNorm(64), nn.Linear(64, 192)
        self.conv, self.head = nn.Conv1d(64, 64, 3), nn.Linear(64, 500)
    def forward(self, ids):
        x = self.embed(ids)
        q, k, v = (t.view(4, 64, 4, 16).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        return self.head(F.gelu(Scale.apply(self.conv(x.transpose(1, 2))).transpose(1, 2)))

class Allocations(profiler.MemRecordsAcc):
    def __init__(self, records):
        super().__init__([record for record in records if record[0].nbytes() > 0])

def table(run):
    events = [e for e in run._parse_kineto_results(run.kineto_results) if e.name != "[memory]"]
    events = profiler_util.EventList(events, use_device="cuda", profile_memory=True)
    events._build_tree()
    rows = {}
    for event in events:
        outer = event.cpu_parent
        while outer is not None and outer.name != event.name:
            outer = outer.cpu_parent
        row = rows.setdefault(event.name, [0, 0])
        row[0] += event.self_device_memory_usage
        row[1] += 0 if outer else event.device_memory_usage
    return rows

with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as run:
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        ids = torch.randint(0, 500, (4, 64)).cuda()
        F.cross_entropy(model(ids).flatten(0, 1), ids[:, 2:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
usual = table(run.profiler)
profiler.MemRecordsAcc = Allocations
with open(sys.argv[1], "w") as f:
    json.dump([usual, table(run.profiler)], f)
'''


def main():
    args, environment = environments.parsed(environments.parser(__doc__))
    with tempfile.TemporaryDirectory() as folder:
        tables = os.path.join(folder, "tables.json")
        status, out, trace = simulated.record_text(args.build, environment, "h100-80g", PROGRAM, folder, tables)
        assert status == 0, out
        with open(tables, encoding="utf-8") as f:
            usual, allocated = json.load(f)
        report = json.loads(simulated.printed(args.build, "report", "--json", "--by", "op", trace))
    ours = {row["name"]: [row["allocated_bytes"], row["allocated_bytes_with_calls"]]
            for row in report["devices"][0]["live"]["by"]["op"]}
    # ranges of the engine and of the optimizer, which are no operations
    theirs = {name: row for name, row in allocated.items() if any(row) and not name.startswith(("autograd::", "Optimizer"))}
    outside = ours.pop("outside of operations", None)
    wrong = {name: (theirs.get(name), ours.get(name)) for name in {*theirs, *ours} if theirs.get(name) != ours.get(name)}
    assert not wrong, f"torch.profiler and the trace: {wrong}"
    assert outside is None and sum(row[0] for row in ours.values()) == sum(row[0] for row in theirs.values())
    assert "ScaleBackward" in ours and "aten::_efficient_attention_backward" in ours, sorted(ours)
    same = sum(usual[name] == row for name, row in ours.items())
    print(f"{len(ours)} operations are equal to the byte, {same} of them in the profiler's usual table as well")
    assert same >= 20, same
    return 0


sys.exit(main())
