# SPDX-License-Identifier: Apache-2.0
"""The allocator, out of memory, and the memory's own tools."""
import os

import torch

from feature_case import Unsupported, check, feature

GIB = 1 << 30


def allocate(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


@feature("memory_stats, mem_get_info, summary")
def statistics():
    free, total = torch.cuda.mem_get_info()
    t = allocate(3 * GIB)
    check(torch.cuda.memory_allocated() == 3 * GIB, f"{torch.cuda.memory_allocated()} bytes allocated")
    check(torch.cuda.memory_reserved() == 3 * GIB, f"{torch.cuda.memory_reserved()} bytes reserved")
    check(free - torch.cuda.mem_get_info()[0] == 3 * GIB, "free memory fell by as much")
    del t
    torch.cuda.empty_cache()
    check(torch.cuda.mem_get_info()[0] == free, "empty_cache gives it back")
    check(torch.cuda.max_memory_allocated() == 3 * GIB, "peak")
    check("Allocated memory" in torch.cuda.memory_summary(), "summary")
    check(total == torch.cuda.get_device_properties(0).total_memory, "total memory")


@feature("expandable segments", env={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
def expandable():
    a = allocate(30 << 20)
    b = allocate(50 << 20)
    del a, b
    c = allocate(78 << 20)
    check(torch.cuda.memory_reserved() == 80 << 20, f"{torch.cuda.memory_reserved()} bytes reserved")
    check(c.numel() == 78 << 20, "size")


@feature("max_split_size_mb", env={"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:32"})
def max_split_size():
    a = allocate(100 << 20)
    del a
    b = allocate(40 << 20)
    check(torch.cuda.memory_reserved() == 140 << 20, f"{torch.cuda.memory_reserved()} bytes reserved")
    del b


@feature("garbage_collection_threshold", env={
    "PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.5"})
def garbage_collection():
    torch.cuda.set_per_process_memory_fraction(0.1)
    limit = int(0.1 * torch.cuda.get_device_properties(0).total_memory)
    kept = []
    for i in range(6):
        t = allocate(limit // 8)
        del t
        kept.append(allocate(limit // 16 + (i << 21)))
    check(torch.cuda.memory_reserved() <= limit, "within the limit")


@feature("roundup_power2_divisions", env={
    "PYTORCH_CUDA_ALLOC_CONF": "roundup_power2_divisions:4"})
def roundup():
    t = allocate(1100 << 20)
    check(torch.cuda.memory_allocated() == 1280 << 20, f"{torch.cuda.memory_allocated()} bytes allocated")
    del t


@feature("backend cudaMallocAsync", env={"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})
def malloc_async():
    t = allocate(GIB)
    check(torch.cuda.get_allocator_backend() == "cudaMallocAsync", "backend")
    check(torch.cuda.memory_allocated() == GIB, f"{torch.cuda.memory_allocated()} bytes allocated")
    del t


@feature("OutOfMemoryError and its text", device="rtx4090-24g")
def out_of_memory():
    kept = allocate(20 * GIB)
    try:
        allocate(10 * GIB)
    except torch.OutOfMemoryError as error:
        text = str(error)
    else:
        raise AssertionError("20 and 10 GiB fit into 24 GiB")
    for part in ("CUDA out of memory. Tried to allocate 10.00 GiB", "GPU 0 has a total capacity of",
                 "is allocated by PyTorch", "reserved by PyTorch but unallocated"):
        check(part in text, f"the text lacks '{part}': {text}")
    check(kept.numel() == 20 * GIB, "size")


@feature("out of memory, caught, and a smaller batch", device="rtx4090-24g")
def smaller_batch():
    layer = torch.nn.Linear(8192, 8192, device="cuda", dtype=torch.bfloat16)
    batch, tried = 1 << 20, []
    while True:
        tried.append(batch)
        try:
            layer(torch.empty(batch, 8192, device="cuda", dtype=torch.bfloat16)).sum().backward()
            break
        except torch.OutOfMemoryError:
            batch //= 2
    check(len(tried) >= 2 and batch >= 1 << 17, f"tried {tried}")


@feature("out of memory frees cached segments first", device="rtx4090-24g")
def retry_after_cache():
    a = allocate(15 * GIB)
    del a
    b = allocate(16 * GIB)
    check(torch.cuda.memory_stats()["num_alloc_retries"] == 1, "one retry")
    check(b.numel() == 16 * GIB, "size")


@feature("an observer of out of memory", device="rtx4090-24g")
def oom_observer():
    seen = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *a: seen.append(a))
    try:
        allocate(100 * GIB)
    except torch.OutOfMemoryError:
        pass
    check(len(seen) == 1 and seen[0][1] == 100 * GIB, f"observer saw {seen}")


@feature("set_per_process_memory_fraction")
def fraction():
    torch.cuda.set_per_process_memory_fraction(0.25)
    try:
        allocate(int(0.3 * torch.cuda.get_device_properties(0).total_memory))
    except torch.OutOfMemoryError as error:
        check("of which" in str(error) or "allowed" in str(error), str(error))
        return
    raise AssertionError("0.3 of the memory fits into a quarter")


@feature("memory snapshot and its stacks")
def snapshot():
    torch.cuda.memory._record_memory_history(max_entries=1000)
    kept = allocate(5 << 20)
    snap = torch.cuda.memory._snapshot()
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    events = [e for e in snap["device_traces"][0] if e["action"] == "alloc"]
    check(len(events) == 1 and events[0]["size"] == 5 << 20, f"{len(events)} allocations")
    frames = [f["name"] for f in events[0]["frames"]]
    check("allocate" in frames, f"frames {frames[:5]}")
    check(os.path.getsize("snapshot.pickle") > 0 and kept.numel() == 5 << 20, "file")


@feature("memory pools (MemPool)", since="2.6")
def mem_pool():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        t = allocate(64 << 20)
    segments = [s for s in torch.cuda.memory_snapshot() if tuple(s["segment_pool_id"]) == tuple(pool.id)]
    check(sum(s["total_size"] for s in segments) == 64 << 20, f"{len(segments)} segments of the pool")
    del t


@feature("memory pools with an allocator of NCCL", since="2.7")
def nccl_pool():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0,
                                         world_size=1, device_id=torch.device("cuda:0"))
    backend = torch.distributed.group.WORLD._get_backend(torch.device("cuda"))
    try:
        pool = torch.cuda.MemPool(backend.mem_allocator)
    except RuntimeError as error:
        if "allocator is not supported" in str(error):
            raise Unsupported(f"{error} (the device has no multicast memory)") from error
        raise
    with torch.cuda.use_mem_pool(pool):
        t = torch.ones(1 << 20, device="cuda")
    backend.register_mem_pool(pool)
    torch.distributed.all_reduce(t)
    backend.deregister_mem_pool(pool)
    torch.distributed.destroy_process_group()


@feature("CUDAPluggableAllocator")
def pluggable():
    import subprocess
    with open("plug.c", "w", encoding="utf-8") as f:
        f.write("#include <stddef.h>\n"
                "int cudaMalloc(void **, size_t); int cudaFree(void *);\n"
                "static size_t total;\n"
                "size_t plug_total(void) { return total; }\n"
                "void *plug_malloc(ptrdiff_t n, int d, void *s)\n"
                "{ void *p = 0; total += n; cudaMalloc(&p, n); return p; }\n"
                "void plug_free(void *p, ptrdiff_t n, int d, void *s) { cudaFree(p); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "plug.so", "plug.c"], check=True)
    path = os.path.abspath("plug.so")
    torch.cuda.memory.change_current_allocator(
        torch.cuda.memory.CUDAPluggableAllocator(path, "plug_malloc", "plug_free"))
    t = allocate(3 << 20)
    import ctypes
    check(ctypes.CDLL(path).plug_total() == 3 << 20 == t.numel(), "the allocator was called")


@feature("raw allocations of the caching allocator")
def raw():
    p = torch.cuda.caching_allocator_alloc(1 << 20)
    check(torch.cuda.memory_allocated() == 1 << 20, "allocated")
    torch.cuda.caching_allocator_delete(p)
    check(torch.cuda.memory_allocated() == 0, "freed")


@feature("pinned memory and its statistics")
def pinned():
    t = torch.ones(1 << 20).pin_memory()
    check(t.is_pinned(), "pinned")
    small = torch.ones(1000).pin_memory()
    check(float(small.to("cuda", non_blocking=True).sum()) == 1000.0, "a copy without waiting")
    if hasattr(torch.cuda, "host_memory_stats"):
        check(torch.cuda.host_memory_stats()["allocated_bytes.current"] >= 4 << 20, "statistics")


@feature("NVML: utilisation, processes, temperature")
def nvml():
    check(torch.cuda.get_device_properties(0).name, "name")
    check(torch.cuda.get_device_capability() == (9, 0), "capability")
    try:
        import pynvml  # noqa: F401
    except ImportError:
        return
    torch.cuda.utilization()
    torch.cuda.temperature()
    torch.cuda.list_gpu_processes()


@feature("tensors larger than host memory", device="h200-141g,data=small")
def larger_than_host():
    a = torch.empty(100 * GIB, dtype=torch.uint8, device="cuda")
    a.zero_()
    b = torch.zeros(16 * GIB, dtype=torch.uint8, device="cuda")
    b.copy_(a[:16 * GIB])
    torch.cuda.synchronize()
    resident = int(open("/proc/self/statm", encoding="ascii").read().split()[1]) * 4096
    check(resident < 8 * GIB, f"{resident} bytes of host memory")
