# SPDX-License-Identifier: Apache-2.0
"""A small deterministic training run in PyTorch, for comparing runs bit by bit.

Prints one "result" line for each step with the loss as a hexadecimal float, and one
at the end with a checksum of all weights. Matrix products, normalisation, dropout and
Adam are in it; sizes vary from step to step, so that PyTorch's allocator splits,
reuses and grows. With --profile under torch.profiler: how much of the device's work it saw is a result too.
"""
import argparse
import contextlib
import os
import zlib

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS repeats itself only so

import torch  # noqa: E402


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.heads, self.qkv = heads, torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(),
                                       torch.nn.Linear(4 * width, width), torch.nn.Dropout(0.1))

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        mask = torch.full((t, t), float("-inf"), device=x.device).triu(1)
        weights = torch.softmax(q @ k.transpose(-1, -2) / (w // self.heads) ** 0.5 + mask, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, t, w))
        return x + self.mlp(self.norm2(x))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--profile", action="store_true")
    args = p.parse_args()
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    vocabulary, width = 512, 256
    embed = torch.nn.Embedding(vocabulary, width)
    model = torch.nn.Sequential(embed, *[Block(width, 8) for _ in range(4)],
                                torch.nn.Linear(width, vocabulary)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    profiler = torch.profiler.profile() if args.profile else contextlib.nullcontext()
    with profiler:
        train(args.steps, model, optimizer, vocabulary)
        torch.cuda.synchronize()
    if args.profile:
        print("result profiled", sum(e.device_type == torch.autograd.DeviceType.CUDA for e in profiler.events()))
    checksum = 0
    for parameter in model.parameters():
        checksum = zlib.crc32(parameter.detach().cpu().numpy().tobytes(), checksum)
    print(f"result weights {checksum:08x}")
    print(f"peak allocated {torch.cuda.max_memory_allocated()} reserved {torch.cuda.max_memory_reserved()}")


def train(steps, model, optimizer, vocabulary):
    for step in range(steps):
        length = 64 + 32 * (step % 5)
        generator = torch.Generator().manual_seed(step)
        tokens = torch.randint(vocabulary, (8, length + 1), generator=generator)
        tokens = tokens.pin_memory().cuda(non_blocking=True)
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"result step {step} loss {loss.item().hex()}")


if __name__ == "__main__":
    main()
