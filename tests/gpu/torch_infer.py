# SPDX-License-Identifier: Apache-2.0
"""A small deterministic text generation in PyTorch, for comparing runs bit by bit.

Requests of mixed lengths arrive in batches; each keeps keys and values that grow by
one position per step, as serving does, so that the allocator meets lengths it has not
seen and frees in another order than it allocated. One part runs from a CUDA graph,
whose memory is a private pool. Prints a "result" line for each batch.
"""
import argparse
import os
import zlib

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS repeats itself only so

import torch  # noqa: E402


class Layer(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv = heads, torch.nn.Linear(width, 3 * width)
        self.out, self.norm = torch.nn.Linear(width, width), torch.nn.LayerNorm(width)

    def forward(self, x, past):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        weights = torch.softmax(q @ k.transpose(-1, -2) / (w // self.heads) ** 0.5, -1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(b, t, w)), (k, v)


def generate(embed, layers, head, tokens, count):
    past, made = [None] * len(layers), []
    for _ in range(count):
        x = embed(tokens)
        for i, layer in enumerate(layers):
            x, past[i] = layer(x, past[i])
        tokens = head(x[:, -1:]).argmax(-1)
        made.append(tokens)
    return torch.cat(made, 1), x


def graphed(head, x):
    """The same product from a captured graph as without one."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        head(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = head(x).softmax(-1)
    graph.replay()
    torch.cuda.synchronize()
    return y.clone()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=20, help="batches")
    args = p.parse_args()
    torch.manual_seed(2)
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    vocabulary, width = 512, 256
    embed = torch.nn.Embedding(vocabulary, width).cuda().eval()
    layers = torch.nn.ModuleList([Layer(width, 8) for _ in range(4)]).cuda().eval()
    head = torch.nn.Linear(width, vocabulary).cuda().eval()
    with torch.inference_mode():
        for step in range(args.steps):
            generator = torch.Generator().manual_seed(step)
            batch, length = 1 + step % 7, 16 + 23 * (step % 5)
            tokens = torch.randint(vocabulary, (batch, length), generator=generator).cuda()
            made, x = generate(embed, layers, head, tokens, 8 + 5 * (step % 4))
            print(f"result batch {step} tokens {zlib.crc32(made.cpu().numpy().tobytes()):08x}")
        y = graphed(head, x)
        print(f"result graph {zlib.crc32(y.cpu().numpy().tobytes()):08x}")
    print(f"peak allocated {torch.cuda.max_memory_allocated()} reserved {torch.cuda.max_memory_reserved()}")


if __name__ == "__main__":
    main()
