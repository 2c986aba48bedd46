# SPDX-License-Identifier: Apache-2.0
"""Operations whose results, or whose shapes, depend on data: equal to the CPU's."""
import torch
import torch.nn.functional as F
from torch import nn

from feature_case import alike, check, feature, features, leaf, same, same_gradients


def distinct(*shape):
    count = torch.Size(shape).numel()
    return (torch.randperm(count).float() / count).reshape(shape)


@feature("creation: arange, linspace, eye, full, tril_indices")
def creation():
    def create(x):
        d = x.device
        return (torch.arange(10, device=d), torch.linspace(0, 1, 7, device=d),
                torch.eye(4, device=d), torch.full((3,), 2.5, device=d),
                torch.tril_indices(4, 4, device=d), torch.logspace(0, 2, 5, device=d))
    same(create, torch.zeros(1))


@feature(".item(), a branch and a loop over values")
def item():
    x = torch.arange(6, device="cuda")
    check(x.sum().item() == 15, f"the sum is {x.sum().item()}")
    check(bool((x > 4).any()), "a branch")
    check([int(v) for v in x] == list(range(6)), "a loop")
    check(x.tolist() == list(range(6)), "tolist")


@feature("sort and index backward on rtx4090-24g", device="rtx4090-24g")
def sort_on_ada():
    same(lambda x: x.sort(), distinct(4000))
    same_gradients(lambda x: x[torch.tensor([0, 2, 2, 1])], leaf(5, 3))


features({
    "elementwise arithmetic": lambda: (
        same_gradients(lambda x: (x.exp(), x.sigmoid() * x.sin(), x.abs().sqrt(), x.clamp(-1, 1)),
                       leaf(5, 7)),
        same(lambda a: (a // 3, a % 5, a << 1, a.bitwise_xor(7), a.gcd(torch.full_like(a, 6))),
             torch.arange(1, 40))),
    "reductions": lambda: same(lambda x: (
        x.sum(), x.mean(0), x.var(1), x.prod(1), x.max(), x.min(1), x.argmax(), x.logsumexp(0),
        x.median(), x.any(), x.amax((0, 1)), x.mode(1)), distinct(6, 9)),
    "sort and argsort": lambda: (
        same(lambda x: (x.sort(1), x.argsort(0, descending=True), x.msort()), distinct(5, 40)),
        same(lambda x: x.sort(stable=True), torch.randint(0, 9, (5000,)))),
    "cumsum, cummax, searchsorted, bucketize": lambda: (
        same(lambda x: (x.cumsum(1), x.cumprod(0), x.cummax(1), x.logcumsumexp(1), x.diff()),
             distinct(6, 30)),
        same(lambda e, v: (torch.searchsorted(e, v), torch.bucketize(v, e)),
             distinct(20).sort()[0], torch.rand(9))),
    "isnan, isfinite and nan_to_num": lambda: same(
        lambda x: (x.isnan(), x.isfinite(), x.nan_to_num(), x.nansum()),
        torch.tensor([1.0, float("nan"), float("inf"), -2.0])),
    "cat, stack, split, roll, flip, pad": lambda: same_gradients(
        lambda x: (torch.cat([x, x * 2]), torch.stack([x, x]), x.roll(2, 1), x.flip(0),
                   F.pad(x, (1, 2)), x.unfold(1, 3, 2), *x.split([1, 3])), leaf(4, 6)),
    "topk and kthvalue": lambda: (
        same(lambda x: (x.topk(4, dim=1), x.kthvalue(3, dim=0)), distinct(6, 50)),
        same_gradients(lambda x: x.topk(3)[0], distinct(6, 20).requires_grad_())),
    "masked_scatter": lambda: (
        same(lambda x, m: x.masked_scatter(m, torch.arange(99, device=x.device).float()),
             torch.randn(9, 11), torch.randint(0, 2, (9, 11)).bool())),
    "bincount, histc and histogram": lambda: (
        same(torch.bincount, torch.randint(0, 9, (50,))),
        same(lambda x: torch.bincount(x, minlength=20), torch.randint(0, 9, (50,))),
        same(lambda x: torch.histc(x, 8, 0, 1), distinct(64))),
    "repeat_interleave": lambda: (
        same(lambda x, n: x.repeat_interleave(n, 0), torch.randn(5, 3),
             torch.tensor([1, 0, 3, 2, 1])),
        same(torch.repeat_interleave, torch.tensor([2, 1, 3]))),
    "index backward and index_put": lambda: (
        same_gradients(lambda x: x[torch.tensor([0, 2, 2, 1])], leaf(5, 3)),
        same(lambda x: x.index_put((torch.tensor([0, 2, 2], device=x.device),),
                                   torch.ones(3, 3, device=x.device), accumulate=True),
             torch.randn(5, 3))),
})


@feature("unique and unique_consecutive")
def unique():
    x = torch.randint(0, 7, (40,))
    same(lambda x: torch.unique(x, return_inverse=True, return_counts=True), x)
    same(lambda x: torch.unique_consecutive(x, return_counts=True), x.sort()[0])
    same(lambda x: torch.unique(x.reshape(20, 2), dim=0), x)


@feature("nonzero, argwhere and where")
def nonzero():
    x = torch.randint(0, 2, (9, 11))
    same(lambda x: (x.nonzero(), torch.argwhere(x), torch.where(x), x.count_nonzero()), x)
    same(lambda x: x.nonzero(as_tuple=True), x)


@feature("masked_select and boolean indexing")
def masked_select():
    x, m = torch.randn(9, 11), torch.randint(0, 2, (9, 11)).bool()
    same(lambda x, m: (x.masked_select(m), x[m], x.masked_fill(m, 0)), x, m)
    same_gradients(lambda x, m: x[m], x.requires_grad_(), m)


@feature("gather, scatter, index_add, index_select")
def scatter():
    x, i = torch.randn(6, 8), torch.randint(0, 6, (4, 8))
    same(lambda x, i: (x.gather(0, i), torch.zeros_like(x).scatter_add(0, i, x[:4]),
                       x.index_select(0, i[0]), x.index_add(0, i[:, 0], x[:4]),
                       x.scatter_reduce(0, i, x[:4], "amax"), x.take(i)), x, i)
    same_gradients(lambda x, i: x.gather(0, i), x.requires_grad_(), i)


@feature("embedding and embedding_bag")
def embedding():
    ids = torch.randint(0, 20, (4, 6))
    same_gradients(lambda m, i: m(i), nn.Embedding(20, 8, padding_idx=0), ids)
    same_gradients(lambda m, i: m(i), nn.EmbeddingBag(20, 8, mode="sum"), ids)
    same(lambda m, i: m(i), nn.EmbeddingBag(20, 8, mode="max"), ids)
    same_gradients(lambda m, i: m(i), nn.Embedding(20, 8), torch.randint(0, 20, (4000,)))


@feature("one_hot and cross entropy")
def losses():
    labels = torch.randint(0, 9, (12,))
    same(F.one_hot, labels)
    same_gradients(F.cross_entropy, leaf(12, 9), labels)
    same_gradients(lambda x, y: (F.nll_loss(x.log_softmax(1), y), F.multi_margin_loss(x, y)),
                   leaf(12, 9), labels)
    same_gradients(lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.huber_loss(x, y)),
                   leaf(5, 4), torch.randn(5, 4))
    same_gradients(lambda x, y: F.binary_cross_entropy_with_logits(x, y), leaf(5), torch.rand(5))


@feature("routing of a mixture of experts")
def routing():
    def route(x, w):
        weights, chosen = (x @ w).softmax(-1).topk(2)
        out = torch.zeros_like(x)
        for expert in range(4):
            token, slot = torch.where(chosen == expert)
            out.index_add_(0, token, x[token] * weights[token, slot, None])
        counts = torch.bincount(chosen.flatten(), minlength=4)
        return out, counts, *x.repeat(2, 1).split(counts.tolist())
    same(route, torch.randn(24, 16), torch.randn(16, 4))


@feature("equal, allclose and comparisons")
def comparisons():
    x = torch.arange(5, device="cuda")
    check(torch.equal(x, x.clone()) and not torch.equal(x, x + 1), "torch.equal")
    check(torch.allclose(x.float(), x.float() + 1e-9), "allclose")


@feature("types and copies between types")
def types():
    x = torch.randint(0, 100, (40,))
    for dtype in (torch.uint8, torch.int16, torch.float16, torch.bfloat16, torch.float64, torch.bool,
                  torch.complex64):
        same(lambda x: (x.to(dtype), x.to(dtype) * 2), x)
    check(torch.arange(3).cuda().cpu().tolist() == [0, 1, 2], "there and back")


@feature("NMS-like loops over a mask")
def loop_over_mask():
    scores, keep = distinct(30).cuda(), []
    alive = torch.ones(30, dtype=torch.bool, device="cuda")
    while alive.any():
        best = int(torch.where(alive, scores, -1.0).argmax())
        keep.append(best)
        alive &= (scores - scores[best]).abs() > 0.1
    cpu = scores.cpu()
    check(5 <= len(keep) <= 11 and keep[0] == int(cpu.argmax()), f"kept {keep}")


@feature("fill, zero, copy and in-place operations")
def in_place():
    def change(x):
        x = x.clone()
        x[1:3] = 7
        x[:, 0].zero_()
        x.add_(1).mul_(2)
        x[0].copy_(x[3])
        x.T.fill_diagonal_(5)
        return x
    same(change, torch.randn(5, 6))


@feature("foreach functions and gradient norm")
def foreach():
    def clip(*ts):
        ts = [t.clone() for t in ts]
        return torch._foreach_mul(list(ts), 2.0), torch._foreach_norm(list(ts))
    same(clip, *[torch.randn(3, 4) for _ in range(4)])

    def norm(m, x):
        m.zero_grad()
        m(x).square().sum().backward()
        return nn.utils.clip_grad_norm_(m.parameters(), 0.1)
    same(norm, nn.Linear(5, 4), torch.randn(3, 5))


@feature("random numbers: generators, state, shapes")
def random_numbers():
    torch.cuda.manual_seed_all(7)
    state = torch.cuda.get_rng_state()
    a = torch.rand(1000, device="cuda")
    torch.cuda.set_rng_state(state)
    b = torch.rand(1000, device="cuda")
    check(torch.equal(a, b), "the same state gives the same numbers")
    check(0 <= float(a.min()) and float(a.max()) < 1 and 0.4 < float(a.mean()) < 0.6, "uniform")
    n = torch.randn(10000, device="cuda")
    check(0.9 < float(n.std()) < 1.1, f"standard deviation {float(n.std())}")
    g = torch.Generator(device="cuda").manual_seed(3)
    i = torch.randint(5, 9, (1000,), device="cuda", generator=g)
    check(i.min() >= 5 and i.max() < 9, "range of randint")


@feature("randperm, multinomial, bernoulli")
def permutations():
    p = torch.randperm(500, device="cuda")
    check(sorted(p.tolist()) == list(range(500)), "randperm is a permutation")
    m = torch.multinomial(torch.ones(10, device="cuda"), 10)
    check(sorted(m.tolist()) == list(range(10)), "multinomial without replacement")
    b = torch.bernoulli(torch.full((1000,), 0.5, device="cuda"))
    check(set(b.tolist()) == {0.0, 1.0}, "bernoulli")
    for name in ("exponential_", "log_normal_", "cauchy_", "geometric_"):
        t = torch.empty(100, device="cuda")
        getattr(t, name)(*((0.5,) if name == "geometric_" else ()))


@feature("dropout")
def dropout():
    x = torch.ones(64, 64, device="cuda", requires_grad=True)
    y = F.dropout(x, 0.5)
    kept = int((y != 0).sum())
    check(1000 < kept < 3000, f"dropout kept {kept} of 4096")
    y.sum().backward()
    check(torch.equal(x.grad != 0, y != 0), "the gradient has the mask of the output")
    alike(lambda x: F.alpha_dropout(x, 0.2), torch.randn(5, 5))


@feature("distributions")
def distributions():
    d = torch.distributions
    one = torch.ones(3, device="cuda")
    for dist in (d.Normal(one, one), d.Gamma(one, one), d.Dirichlet(one), d.Poisson(one),
                 d.Categorical(one), d.Beta(one, one), d.Binomial(5, one / 2)):
        sample = dist.sample((4,))
        check(dist.log_prob(sample).device.type == "cuda", "log_prob")
