# SPDX-License-Identifier: Apache-2.0
"""Streams, events, graphs, profilers."""
import torch
from torch import nn

from feature_case import check, feature


@feature("streams and events")
def streams():
    side = torch.cuda.Stream()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    x = torch.ones(64, 64, device="cuda")
    start.record()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x @ x
    torch.cuda.current_stream().wait_stream(side)
    end.record()
    end.synchronize()
    check(y.shape == (64, 64) and start.elapsed_time(end) >= 0, "time between events")
    check(side.query() and end.query(), "all work is done")


@feature("a large product takes simulated time")
def time_of_work():
    a = torch.empty(8192, 8192, device="cuda", dtype=torch.bfloat16)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    a @ a
    start.record()
    a @ a
    end.record()
    end.synchronize()
    check(0.5 < start.elapsed_time(end) < 20, f"{start.elapsed_time(end)} ms for 1.1 TFLOP")


@feature("record_stream")
def record_stream():
    side = torch.cuda.Stream()
    x = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    a = torch.empty(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.empty_like(a)
    torch.mm(a, a, out=b)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(1000):  # about a second of the device's time
            torch.mm(a, a, out=b)
        y = x + 1
    x.record_stream(side)
    address = x.data_ptr()
    del x
    z = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    check(z.data_ptr() != address, "memory in use by the other stream is not handed out")
    check(y.numel() == 64 << 20, "size")


@feature("priority and external streams")
def other_streams():
    low, high = torch.cuda.Stream.priority_range()
    stream = torch.cuda.Stream(priority=high)
    external = torch.cuda.ExternalStream(stream.cuda_stream)
    with torch.cuda.stream(external):
        torch.ones(5, device="cuda").sum()
    check(external.query() or True, f"range {low} to {high}")


@feature("CUDA graph, forward")
def graph():
    x, w = torch.ones(8, 8, device="cuda"), torch.ones(8, 8, device="cuda")
    (x @ w).relu()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = (x @ w).relu()
    g.replay()
    torch.cuda.synchronize()
    check(y.shape == (8, 8), "shape")


@feature("CUDA graph, forward and backward")
def graph_training():
    model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), capturable=True)
    x = torch.randn(8, 32, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(side)
    g = torch.cuda.CUDAGraph()
    optimizer.zero_grad()
    with torch.cuda.graph(g):
        model(x).sum().backward()
        optimizer.step()
    for _ in range(3):
        g.replay()
    torch.cuda.synchronize()


@feature("make_graphed_callables")
def graphed_callables():
    model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)).cuda()
    x = torch.randn(8, 32, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(model, (x,))
    graphed(torch.randn(8, 32, device="cuda", requires_grad=True)).sum().backward()
    check(model[0].weight.grad is not None, "gradient")


@feature("graphs with a shared pool")
def graph_pool():
    x = torch.ones(1 << 20, device="cuda")
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        a = x * 2
    with torch.cuda.graph(second, pool=first.pool()):
        b = a + 1
    first.replay()
    second.replay()
    torch.cuda.synchronize()
    check(b.shape == x.shape, "shape")


@feature("DataLoader, pinned, with workers")
def data_loader():
    data = torch.utils.data.TensorDataset(torch.arange(64).float())
    loader = torch.utils.data.DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
    total = 0.0
    for (batch,) in loader:
        check(batch.is_pinned(), "pinned")
        total += float(batch.cuda(non_blocking=True).sum())
    check(total == 64 * 63 / 2, f"the sum of the batches is {total}")


@feature("torch.profiler with CUDA activities")
def profiler():
    from torch.profiler import ProfilerActivity, profile
    x = torch.randn(64, 64, device="cuda")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True,
                 with_stack=True) as p:
        (x @ x).relu().sum().backward() if x.requires_grad else (x @ x).relu().sum()
        torch.cuda.synchronize()
    events = p.key_averages()
    check(any(e.key == "aten::mm" for e in events), "aten::mm")
    device = sum(getattr(e, "device_time_total", 0) for e in events)
    check(device > 0, "kernels have a time")
    p.export_chrome_trace("trace.json")


@feature("NVTX ranges and emit_nvtx")
def nvtx():
    torch.cuda.nvtx.range_push("outer")
    torch.cuda.nvtx.mark("mark")
    with torch.cuda.nvtx.range("inner"), torch.autograd.profiler.emit_nvtx():
        torch.ones(4, device="cuda").sum()
    torch.cuda.nvtx.range_pop()


@feature("cudart: profiler start and stop, host registration")
def cudart():
    rt = torch.cuda.cudart()
    rt.cudaProfilerStart()
    t = torch.zeros(1 << 20)
    check(int(rt.cudaHostRegister(t.data_ptr(), t.numel() * 4, 0)) == 0, "cudaHostRegister")
    check(t.is_pinned(), "pinned")
    check(int(rt.cudaHostUnregister(t.data_ptr())) == 0, "cudaHostUnregister")
    rt.cudaProfilerStop()


@feature("device assertions and synchronous launches", env={"CUDA_LAUNCH_BLOCKING": "1"})
def launch_blocking():
    torch.cuda.set_sync_debug_mode("warn")
    x = torch.ones(8, device="cuda")
    check(float(x.sum()) == 8.0, "sum")


@feature("DLPack and __cuda_array_interface__")
def dlpack():
    x = torch.arange(6, device="cuda")
    y = torch.from_dlpack(x)
    check(y.data_ptr() == x.data_ptr() and y.device.type == "cuda", "the same memory")
    interface = x.__cuda_array_interface__
    check(interface["data"][0] == x.data_ptr() and interface["shape"] == (6,), "interface")
