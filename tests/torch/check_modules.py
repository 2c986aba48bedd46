#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope run --modules` of a training program: its allocations are those of a run without the option, event by
event, and each module has the bytes that the program itself sums up.

    check_modules.py --build DIR --release RELEASE

The program has a gradient checkpoint, tied weights, a module called with keywords, and one compiled
by torch.compile where that needs no compiler (backend "eager"). Exit 77: no environment with torch.
"""
import contextlib
import itertools
import json
import os
import sqlite3
import sys
import tempfile

import environments
import simulated

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../decoder"))
import vst  # noqa: E402

PROGRAM = '''import json, os, sys, time, torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
    def forward(self, x, scale=1):
        return x + self.down(F.gelu(self.up(input=self.norm(x)))) * scale

class Net(nn.Module):
    def __init__(self, words=2000, width=256):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(words, width), nn.ModuleList(Block(width) for _ in range(4))
        self.norm, self.head = nn.BatchNorm1d(width), nn.Linear(width, words, bias=False)
        self.head.weight, self.gain = self.embed.weight, nn.Parameter(torch.ones(width * 300))
        self.last = torch.compile(self.blocks[3], backend="eager")
    def forward(self, ids):
        x = self.blocks[0](self.embed(ids))
        x = checkpoint(self.blocks[1], x, use_reentrant=False)
        x = self.last(checkpoint(self.blocks[2], x, 2, use_reentrant=True))
        return self.head(self.norm(x.transpose(1, 2)).transpose(1, 2)) * self.gain.sum()

def bytes_of(tensor, sizes):
    return sizes[tensor.data_ptr()] if tensor is not None and tensor.is_cuda else 0

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
times = [time.process_time()]
for step in range(8):
    optimizer.zero_grad()
    for _ in range(2):
        ids = torch.randint(0, 2000, (8, 64)).cuda()
        F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
    optimizer.step()
    times.append(time.process_time())
sizes = {b["address"]: b["size"] for s in torch.cuda.memory_snapshot() for b in s["blocks"]}
sums = {}
for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
    module = sums.setdefault(name.rpartition(".")[0].replace("_orig_mod.", ""), [0, 0, 0])
    module[0] += bytes_of(tensor, sizes)
    module[1] += bytes_of(tensor.grad, sizes)
    module[2] += sum(bytes_of(t, sizes) for t in optimizer.state.get(tensor, {}).values())
with open(sys.argv[1], "w") as f:
    json.dump([sums, min(b - a for a, b in zip(times[1:], times[2:]))], f)
sys.stdout.flush()
os._exit(0)
'''
# what must not end the recording of modules, and must not see it
ODD = '''import os, torch, torch.nn as nn
from torch._subclasses import FakeTensorMode
from torch.func import functional_call, grad, vmap
from torch.overrides import TorchFunctionMode

class Fails(torch.autograd.Function):
    forward, on = staticmethod(lambda ctx, x: x.clone()), True
    @staticmethod
    def backward(ctx, g):
        if Fails.on: raise RuntimeError("it fails")
        return g

class Odd(nn.Module):
    __hash__ = nn.Module.__hash__
    def __eq__(self, other): raise TypeError("no comparison")
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(256, 512, bias=False), nn.Linear(512, 256, bias=False)
    def forward(self, x): return self.b(Fails.apply(self.a(x)))

class Seen(TorchFunctionMode):
    names = []
    def __torch_function__(self, function, types, args=(), kwargs=None):
        Seen.names.append(function.__name__)
        return function(*args, **(kwargs or {}))

x = torch.ones(4, 256, device="cuda")
lazy = nn.LazyLinear(64).cuda()
lazy(x)
parameters = {k: v.detach() for k, v in lazy.named_parameters()}
vmap(grad(lambda p, x: functional_call(lazy, p, (x,)).sum()), in_dims=(None, 0))(parameters, x)
with FakeTensorMode():
    nn.Linear(8, 8, device="cuda")(torch.empty(4, 8, device="cuda"))
with torch.no_grad():
    view = lazy.weight[:8]
    lazy.weight.mul_(0.9)
    nn.Linear(256, 1).cuda()(view)
torch.__future__.set_swap_module_params_on_conversion(True)
model, other = Odd(), Odd()
for m in (model, other):
    try: m(torch.ones(4, 256)).sum().backward()
    except RuntimeError: pass
model.zero_grad()
model.cuda()
Fails.on = False
with Seen():
    model(x)
assert not {"__get__", "data_ptr"} & set(Seen.names), Seen.names
whole = nn.Sequential(model)
whole(x).sum().backward()
late = torch.empty(1 << 24, device="cuda")
os._exit(0)
'''
KINDS = ["parameters", "gradients", "optimizer_state"]


def events(trace):
    """(events of memory without addresses, numbers of events of modules)"""
    memory, modules = [], 0
    with vst.open(trace) as reader:
        for event in reader:
            if event.kind in ("framework_alloc", "framework_free", "alloc", "free"):
                memory.append((event.kind, event["size"] if "framework" in event.kind else None))
            modules += event.kind in ("torch_module", "torch_tensor")
    return memory, modules


def main():
    args, environment = environments.parsed(environments.parser(__doc__))
    with tempfile.TemporaryDirectory() as folder:
        sums = os.path.join(folder, "sums.json")
        status, out, trace = simulated.record_text(args.build, environment, "h100-80g", PROGRAM, folder, sums)
        assert status == 0, out
        (plain, none), plain_out = events(trace), out
        with open(sums, encoding="utf-8") as f:
            seconds = [json.load(f)[1]]
        status, out, trace = simulated.record_text(args.build, environment, "h100-80g", PROGRAM, folder, sums,
                                                   options=["--modules"])
        assert status == 0 and out == plain_out, out
        with open(sums, encoding="utf-8") as f:
            wanted, more = json.load(f)
            seconds.append(more)
        memory, modules = events(trace)
        status, out, odd = simulated.record_text(args.build, environment, "h100-80g", ODD, tempfile.mkdtemp(dir=folder),
                                                 options=["--modules"])
        assert status == 0 and "vramscope" not in out, out
        rows = json.loads(simulated.printed(args.build, "report", "--json", "--at", "end", odd))["devices"][0]["live"]["by"]["module"]
        sizes = {(row["model"], row["module"], row["kind"]): row["bytes"] for row in rows}
        for kind, part in itertools.product(KINDS[:2], "ab"):
            assert sizes["Sequential", f"0.{part}", kind] == 512 * 256 * 4, sizes
        assert sum(row["bytes"] for row in rows if not row["model"]) >= 1 << 26, sizes
        at_end, at_peak = (json.loads(simulated.printed(args.build, "report", "--json", *part, trace))["devices"][0]["live"]
                           for part in (["--at", "end"], []))
        simulated.printed(args.build, "export", "-f", "sqlite", trace, "-o", os.path.join(folder, "t.db"))
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "t.db"))) as database:
            table = dict(database.execute("SELECT module, sum(size) FROM allocations WHERE end IS NULL AND "
                                          "kind = 'parameters' GROUP BY module"))
    assert table == {f"Net:{name}": sums[0] for name, sums in wanted.items() if sums[0]}, table
    assert memory == plain, "the allocations differ"
    assert none == 0 and modules > 800, modules
    found = {}
    for row in at_end["by"]["module"]:
        if row["kind"] in KINDS:
            assert row["model"] == "Net", row
            found.setdefault(row["module"], [0, 0, 0])[KINDS.index(row["kind"])] += row["bytes"]
    assert found == {name: sum_ for name, sum_ in wanted.items() if any(sum_)}, (found, wanted)
    kinds = {row["name"]: row["bytes"] for row in at_peak["by"]["kind"]}
    activations = [row for row in at_peak["by"]["module"] if row["kind"] == "activations"]
    inside = sum(row["bytes"] for row in activations if row["model"])
    passes = {(row["module"].split(".")[0], row["pass"]) for row in at_peak["by"]["module"] if row["model"]}
    assert sum(row["bytes"] for row in activations) == kinds["activations"]
    assert inside > 0.7 * kinds["activations"], (inside, kinds)
    assert ("head", "forward") in passes or ("", "forward") in passes, passes
    print(f"{len(found)} modules are equal to the byte, {modules} events more, the allocations are the same; a step takes "
          f"{1000 * seconds[0]:.1f} ms of CPU time, {1000 * seconds[1]:.1f} ms with --modules")
    return 0


sys.exit(main())
