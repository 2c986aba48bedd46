#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs with a planted cause of running out of memory, on the simulated GPU.

    check_oom_causes.py --build DIR [CASE…]

Each program is a training loop without marks, with one change. The verdict of `vramscope oom` and
the user's function that it names must be the planted ones. Exit 77: no environment with torch.
"""
import json
import os
import sys
import tempfile

import environments
import simulated

# STEP is called in every iteration, with its number and the activation of the last layer.
PROGRAM = '''import torch, torch.nn as nn
kept = []
class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x

%(functions)s

def train(width=1024, depth=6, batch=2048, steps=%(steps)d):
    net = Net(width, depth).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(steps):
        out = net(torch.randn(batch, width, device="cuda"))
        step(i, out)
        optimizer.zero_grad()
        out.square().mean().backward()
        optimizer.step()

%(call)s
'''
CASES = {  # name: verdicts, function to name, functions, call, steps
    "activation_kept": (("growth",), "log_activation", '''def log_activation(x):
    kept.append(x.detach() * 1.0)
def step(i, out):
    log_activation(out)''', "train()", 400),
    "every_third_step": (("growth",), "snapshot", '''def snapshot(x):
    kept.append(x.detach().clone())
def step(i, out):
    if i > 10 and i % 3 == 0:
        snapshot(out)''', "train()", 1200),
    "result_after_the_step": (("growth",), "update", '''def update(x):
    kept.append(x.mean(dim=1, keepdim=True) * torch.ones(1, 1024, device="cuda"))
def step(i, out):
    global last
    if i:
        update(last.detach())
    last = out''', "train()", 400),
    "one_evaluation": (("single_spike",), "evaluate", '''def evaluate():
    return torch.empty(3 << 30, dtype=torch.uint8, device="cuda")
def step(i, out):
    if i == 15:
        evaluate()''', "train()", 40),
    "batch_too_large": (("true_capacity",), "forward", '''def step(i, out):
    pass''', "train(batch=131072)", 3),
    "overflowed_size": (("absurd_request",), "make_mask", '''def make_mask(n):
    return torch.empty(n, n, device="cuda")
def step(i, out):
    if i == 2:
        make_mask(1 << 20)''', "train()", 5),
    "batch_halved_until_it_fits": (("recovered",), None, '''def step(i, out):
    pass
def search():
    batch = 1 << 20
    while True:
        try:
            return train(batch=batch, steps=3)
        except torch.OutOfMemoryError:
            batch //= 2''', "search()", 3),
    "nothing_wrong": ((None,), None, '''def step(i, out):
    pass''', "train()", 5),
    "parts_of_pages_kept": (("fragmentation",), "fill_pages", '''def step(i, out):
    pass
def fill_pages():
    return [torch.empty(4 << 20, dtype=torch.uint8, device="cuda") for _ in range(600)]
def hold():
    kept.extend(fill_pages()[::5])
    torch.empty(1 << 30, dtype=torch.uint8, device="cuda")''', "hold()", 0),
    "sizes_that_grow": (("fragmentation",), "keep_result", '''def step(i, out):
    pass
def forward(size):
    return torch.empty((2 * size << 20) + (1 << 18), dtype=torch.uint8, device="cuda")
def keep_result():
    return torch.empty(1 << 20 | 1 << 19, dtype=torch.uint8, device="cuda")
def work():  # a result lies at the end of the segment of an activation, and keeps it
    results = []
    for i in range(200):
        made = []
        for _ in range(6):
            made.append(forward(8 + max(i - 30, 0)))
            results.append(keep_result())
        del made, results[:-80]''', "work()", 0),
    "library_beside_unused_segments": (("framework_cache",), "load", '''def step(i, out):
    pass
def load():
    import ctypes
    kept.append([torch.empty(50 << 20, dtype=torch.uint8, device="cuda") for _ in range(40)])
    kept.pop()
    runtime = ctypes.CDLL(next(l.split()[-1] for l in open("/proc/self/maps") if "libcudart.so" in l))
    error = runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(900 << 20))
    assert error == 0, error''', "load()", 0),
    "library_after_the_steps": (("framework_cache",), "measure", '''def step(i, out):
    pass
def measure():
    import ctypes
    runtime = ctypes.CDLL(next(l.split()[-1] for l in open("/proc/self/maps") if "libcudart.so" in l))
    error = runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(600 << 20))
    assert error == 0, error
def fit():
    train(depth=2, batch=81920)
    measure()''', "fit()", 4),
    "cache_of_another_stream": (("other_cache",), "on_the_side", '''def step(i, out):
    pass
def on_the_side():
    return [torch.empty(5 << 20, dtype=torch.uint8, device="cuda") for _ in range(480)]
def fill():
    with torch.cuda.stream(torch.cuda.Stream()):
        kept.extend(on_the_side()[::4])
    return [torch.empty(30 << 20, dtype=torch.uint8, device="cuda") for _ in range(500)]''', "fill()", 0),
    "pool_without_blocks": (("other_cache",), "build", '''def step(i, out):
    pass
def build():
    with torch.cuda.use_mem_pool(pool):
        made = [torch.empty(40 << 20, dtype=torch.uint8, device="cuda") for _ in range(40)]
def use():
    return [torch.empty(40 << 20, dtype=torch.uint8, device="cuda") for _ in range(40)]
def serve():
    global pool
    pool = torch.cuda.MemPool()
    build()
    kept.extend(use())''', "serve()", 0),
    "pool_of_a_graph": (("other_cache",), "capture", '''def step(i, out):
    pass
def capture(graph):
    with torch.cuda.graph(graph):
        made = [torch.empty(40 << 20, dtype=torch.uint8, device="cuda").zero_() for _ in range(40)]
def use():
    return [torch.empty(40 << 20, dtype=torch.uint8, device="cuda") for _ in range(40)]
def serve():
    graph = torch.cuda.CUDAGraph()
    capture(graph)
    graph.replay()
    kept.extend(use())''', "serve()", 0),
    "cache_that_grows": (("true_capacity",), "decode", '''def step(i, out):
    pass
def decode(cache):
    return torch.cat([cache, torch.randn(1, 4096, 2048, device="cuda")], dim=1)
@torch.no_grad()
def generate():
    cache = torch.empty(1, 0, 2048, device="cuda")
    for _ in range(400):
        cache = decode(cache)''', "generate()", 0),
    "batches_that_grow": (("true_capacity",), None, '''def step(i, out):
    pass
def make_batch(i):
    return torch.randn(4, 256 + 800 * i, 1024, device="cuda")
def fit():
    net = nn.Linear(1024, 1024).cuda()
    for i in range(400):
        x = make_batch(i)
        net(x).relu().sum().backward()
        net.zero_grad()''', "fit()", 0),
    "validation_with_gradients": (("growth",), "validate", '''def step(i, out):
    pass
def validate(net):
    total = 0
    for _ in range(400):
        total = total + net(torch.randn(2048, 1024, device="cuda")).square().mean()
    return total
def fit():
    net = Net(1024, 6).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(5):
        net(torch.randn(2048, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    validate(net)''', "fit()", 0),
    "losses_kept_by_an_evaluation": (("growth",), "evaluate", '''def step(i, out):
    pass
def evaluate(net):
    total = 0
    for x, y in [(torch.randn(2048, 1024), torch.randn(2048, 1024))] * 400:
        x, y = x.cuda(), y.cuda()
        out = net(x)
        total += nn.functional.mse_loss(out, y)
    return total
def fit():
    net = Net(1024, 6).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(3):
        net(torch.randn(512, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    evaluate(net)''', "fit()", 0),
    "one_evaluation_with_gradients": (("after_steps",), "evaluate", '''def step(i, out):
    pass
def evaluate(net):
    out = net(torch.randn(65536, 1024, device="cuda"))
    return out.argmax(dim=1)
def fit():
    net = Net(1024, 20).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(3):
        net(torch.randn(512, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    evaluate(net)''', "fit()", 0),
    "results_joined_by_an_evaluation": (("growth",), "gather", '''def step(i, out):
    pass
def gather(results, result):
    return torch.cat([results, result])
@torch.no_grad()
def evaluate(net):
    results, labels = [torch.empty(0, n, device="cuda") for n in (20480, 1)]
    for _ in range(100):
        labels = gather(labels, torch.ones(2048, 1, device="cuda"))
        results = gather(results, net(torch.randn(2048, 1024, device="cuda")).repeat(1, 20))
def fit():
    net = Net(1024, 6).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(3):
        net(torch.randn(512, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    evaluate(net)''', "fit()", 0),
    "copies_after_the_training": (("after_steps",), "hold_copies", '''def step(i, out):
    pass
def hold_copies(net):
    return [{k: v.clone() for k, v in net.state_dict().items()} for _ in range(200)]
def fit():
    net = Net(4096, 6).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(3):
        net(torch.randn(512, 4096, device="cuda")).square().mean().backward()
        optimizer.step()
    hold_copies(net)''', "fit()", 0),
    "graph_carried_on": (("growth",), "forward", '''def step(i, out):
    pass
def fit():
    net = Net(1024, 6).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    state = torch.zeros(2048, 1024, device="cuda")
    for i in range(400):
        state = net(state + torch.randn(2048, 1024, device="cuda"))
        state.square().mean().backward(retain_graph=True)''', "fit()", 0),
    "losses_summed_before_backward": (("growth",), "forward", '''def step(i, out):
    pass
def fit():
    net = Net(1024, 6).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    total = 0
    for i in range(400):
        total = total + net(torch.randn(2048, 1024).cuda()).square().mean()
    total.backward()''', "fit()", 0),
    "models_of_earlier_trials": (("growth",), None, '''def step(i, out):
    pass
def trial():
    net = Net(2048, 6).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(3):
        net(torch.randn(64, 2048, device="cuda")).square().mean().backward()
        optimizer.step()
    return net
def search():
    for _ in range(100):
        kept.append(trial())''', "search()", 0),
    "one_long_batch": (("larger_step",), "make_batch", '''def step(i, out):
    pass
def make_batch(size):
    return torch.randn(size, 1024, device="cuda")
def fit():
    net = Net(1024, 20).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for i in range(8):
        net(make_batch(40960 if i == 6 else 4096 + 256 * (i % 3))).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()''', "fit()", 0),
}
PRIVATE_POOL = ("in pieces of up to 40.0 MiB", "and hold no block now", "1. delete the private pool")
EVIDENCE = {  # what a program computes and keeps is not one of its inputs
    "activation_kept": ("live tensors: other",),
    "every_third_step": ("live tensors: other",),
    "result_after_the_step": ("live tensors: other",),
    "cache_that_grows": ("the requests at decode", "live tensors: temporaries"),
    "pool_without_blocks": PRIVATE_POOL,
    "pool_of_a_graph": PRIVATE_POOL,
    "batch_too_large": ("remedy use less memory in a step", "vramscope advise --gpu"),
    "validation_with_gradients": ("remedy the result of validate (valid", "under torch.no_grad()", "2. do not keep the blocks"),
    "losses_kept_by_an_evaluation": ("look at evaluate (losses_kept_by_an_evaluation.py:18)",
                                     "remedy the result of evaluate (losses", "if no backward() follows, keep .item()",
                                     "under torch.no_grad()", "only 3 steps were completed"),
    "one_evaluation_with_gradients": ("step 4 / forward", "1. run it under torch.no_grad()", "at evaluate (one",
                                      "what its rest needs is unknown", "2. vramscope advise --gpu", "vramscope fit"),
    "library_after_the_steps": ("1. call torch.cuda.empty_cache() before this line",),
    "results_joined_by_an_evaluation": ("replaced by a larger one each time: 160.0 MiB more",
                                        "remedy keep the result of each repetition on the host"),
    "copies_after_the_training": ("after 3 completed steps", "free the gradients before it"),
    "losses_summed_before_backward": ("inputs since", "remedy each input's graph is kept until backward() runs"),
    "models_of_earlier_trials": ("96.0 MiB every 3 steps", "2. a larger GPU only delays it"),
    "graph_carried_on": ("backward passes since", "remedy each backward pass goes through", "h = h.detach()"),
    "batches_that_grow": ("grow: the first was 4.0 MiB",),
}
# The same causes with segments that grow: one failure, with the device's figures.
EXPANDABLE = ("activation_kept", "one_evaluation", "batch_too_large", "parts_of_pages_kept",
              "cache_of_another_stream", "library_beside_unused_segments")


def functions(found):
    sites = (found.get("guilty") or {}).get("sites", ())
    return [frame["function"] for site in sites for frame in site["frames"]]


def check(name, args, environment, folder):
    case, _, conf = name.partition("/")
    verdicts, function, code, call, steps = CASES[case]
    status, out, trace = simulated.record_text(
        args.build, environment, "t4-16g,capacity=3GiB,context=400MiB",
        PROGRAM % {"functions": code, "call": call, "steps": steps}, folder, name=case + ".py",
        settings=conf and {"PYTORCH_ALLOC_CONF": conf, "PYTORCH_CUDA_ALLOC_CONF": conf})
    assert (status == 0) == (verdicts[0] in (None, "recovered")), (name, status, out[-2000:])
    found = json.loads(simulated.printed(args.build, "oom", "--json", trace))
    text = simulated.printed(args.build, "oom", trace)
    if conf and found["verdict"] not in (None, "single_spike"):
        table = json.loads(simulated.printed(args.build, "replay", "--json", trace))
        settings = [row["setting"] for row in table["rows"]]
        assert settings[:2] == [conf, "pytorch"], settings
    if conf:
        bytes_of = found["device_bytes"]
        assert found["failure_count"] == 1 and bytes_of["missing"], (name, found["failure_count"], bytes_of)
    os.unlink(trace)
    assert found["verdict"] in verdicts, f"{name}: {found['verdict']} instead of {verdicts}\n{text}"
    names = functions(found)
    assert not function or any(function in n for n in names), f"{name}: {names} lacks {function}\n{text}"
    for part in EVIDENCE.get(case, ()):
        assert part in " ".join(text.split()), f"{name}: '{part}' is missing\n{text}"
    print(f"{name}: {found['verdict']}{', ' + function if function else ''}", flush=True)


def main():
    p = environments.parser(__doc__)
    p.add_argument("cases", nargs="*")
    args = p.parse_args()
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    wrong = 0
    for name in args.cases or [*CASES, *(c + "/expandable_segments:True" for c in EXPANDABLE)]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(name, args, environment, folder)
            except AssertionError as why:
                print(why)
                wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
