# SPDX-License-Identifier: Apache-2.0
"""Programs whose allocations depend neither on data nor on time, for check_values_events.py.

    values_programs.py NAME OUT.json

runs one and writes its allocator events with their Python stacks. None of them knows that it runs on a simulated GPU.
"""
import json
import os
import pickle
import sys

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(self.before(x)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(n, t, c))
        return x + self.down(F.gelu(self.up(self.after(x))))


class Model(nn.Module):
    def __init__(self, width=256, heads=4, layers=2, words=500, checkpoint=False):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words, bias=False)
        self.checkpoint = checkpoint

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            if self.checkpoint:
                x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.head(x)


def batches(n, t=64, words=500):
    for i in range(n):
        ids = torch.arange(4 * (t + 1)).mul(7 + i).remainder(words).view(4, t + 1)
        yield ids[:, :-1].cuda(), ids[:, 1:].cuda()


def train(model, optimizer, steps=3, autocast=False, scaler=None):
    for ids, targets in batches(steps):
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16 if scaler else torch.bfloat16, enabled=autocast):
            loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        (scaler.scale(loss) if scaler else loss).backward()
        if scaler:
            scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        loss.item()


def gpt():
    model = Model().cuda()
    train(model, torch.optim.AdamW(model.parameters()))


def gpt_fused_autocast():
    model = Model().cuda()
    train(model, torch.optim.AdamW(model.parameters(), fused=True), autocast=True)


def gpt_loop_optimizer():
    model = Model().cuda()
    train(model, torch.optim.Adam(model.parameters(), foreach=False))


def gpt_scaler():
    model = Model().cuda()
    train(model, torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9), autocast=True,
          scaler=torch.amp.GradScaler("cuda"))


def gpt_checkpoint():
    model = Model(checkpoint=True).cuda()
    train(model, torch.optim.AdamW(model.parameters()), autocast=True)


def gpt_compiled():
    model = torch.compile(Model().cuda())
    train(model, torch.optim.AdamW(model.parameters()))


def mlp():
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(5):
        x = torch.randn(32, 16, device="cuda")
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def convolutions():
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3), nn.GroupNorm(4, 32), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(32, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        x = torch.randn(4, 3, 32, 32, device="cuda")
        loss = F.cross_entropy(model(x), torch.arange(4, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def inference():
    model = Model().cuda().eval()
    with torch.inference_mode():
        for ids, _ in batches(3):
            model(ids).softmax(-1).argmax(-1).sum().item()


def graphs():
    model = nn.Linear(64, 64).cuda()
    x = torch.randn(8, 64, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        model(x).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x).sum().backward()
    for _ in range(3):
        graph.replay()


def define(namespace):
    """Operations with a kernel for CUDA that allocates less than the one for all devices."""
    def smaller(x):
        return torch.empty_like(x)

    def anywhere(x):
        return ((x * 2 + 1) * 3).clone()

    library = torch.library.Library(namespace, "DEF")
    for name, key in (("explicit", "CompositeExplicitAutograd"), ("implicit", "CompositeImplicitAutograd")):
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, anywhere, key)
        library.impl(name, smaller, "CUDA")
    library.define("last(Tensor x) -> Tensor")
    library.impl("last", smaller, "CUDA")
    library.impl("last", anywhere, "CompositeExplicitAutograd")
    custom = torch.library.custom_op(f"{namespace}::custom", lambda x: anywhere(x), mutates_args=(),
                                     schema="(Tensor x) -> Tensor")
    custom.register_kernel("cuda")(smaller)
    return library


def operators():
    later = define("values_later")
    for operations in (torch.ops.values_sooner, torch.ops.values_later):
        for elements in (64, 1 << 20):
            x = torch.randn(elements, device="cuda")
            for operation in (operations.explicit, operations.implicit, operations.last, operations.custom):
                operation(x)
    del later


PROGRAMS = [gpt, gpt_fused_autocast, gpt_loop_optimizer, gpt_scaler, gpt_checkpoint, gpt_compiled,
            mlp, convolutions, inference, graphs, operators]


def stack(event):
    """The Python frames, without those of generated files, whose names differ from run to run. Of a free, which
    may wait for Python's collector, only frames that are no file's."""
    names = (".py", ">") if "alloc" in event["action"] else (">",)
    return [f"{f['filename']}:{f['line']}" for f in event["frames"] if f["filename"].endswith(names)
            and not f["filename"].startswith(os.environ["TORCHINDUCTOR_CACHE_DIR"])]


def main():
    program = {p.__name__: p for p in PROGRAMS}[sys.argv[1]]
    torch.manual_seed(1)
    sooner = define("values_sooner")
    torch.cuda.init()
    torch.cuda.memory._record_memory_history(max_entries=1000000)
    program()
    torch.cuda.synchronize()
    torch.cuda.memory._dump_snapshot(sys.argv[2] + ".pickle")
    with open(sys.argv[2] + ".pickle", "rb") as f:
        snapshot = pickle.load(f)
    streams_seen = {}
    events = [[e["action"], e["size"], streams_seen.setdefault(e["stream"], len(streams_seen)), stack(e)]
              for e in snapshot["device_traces"][0]]
    del sooner
    result = {"events": events, "peak": torch.cuda.max_memory_allocated(),
              "reserved": torch.cuda.max_memory_reserved()}
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(result, f)


if __name__ == "__main__":
    main()
