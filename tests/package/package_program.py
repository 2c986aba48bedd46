# SPDX-License-Identifier: Apache-2.0
"""A program that measures itself with the package, on the simulated GPU, through ctypes. Prints
"ok", or fails with the assertion that did not hold.

    package_program.py CASE FOLDER
"""
import asyncio
import ctypes
import os
import sys
import threading
import types

import vramscope

MIB = 1 << 20
cuda = ctypes.CDLL("libcudart.so")
cuda.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
cuda.cudaFree.argtypes = [ctypes.c_void_p]


def allocate(mib):
    pointer = ctypes.c_void_p()
    status = cuda.cudaMalloc(ctypes.byref(pointer), mib * MIB)
    assert status in (0, 2), status
    return pointer if status == 0 else None


def free(pointer):
    assert cuda.cudaFree(pointer) == 0


def figures(folder):
    assert vramscope.loaded() and not vramscope.recording() and vramscope.trace_path() is None
    assert vramscope.version() == vramscope.__version__
    kept = allocate(4)
    assert vramscope.recording() and os.path.exists(vramscope.trace_path())
    with vramscope.GPUMemoryTracker("outer") as outer:
        with vramscope.GPUMemoryTracker() as inner:
            first = allocate(8)
            assert inner.peak_bytes == 12 * MIB and inner.memory_delta_bytes == 8 * MIB # so far
            free(first)
        held = allocate(6)
    free(held)
    assert (inner.begin_bytes, inner.peak_bytes, inner.end_bytes) == (4 * MIB, 12 * MIB, 4 * MIB)
    assert (inner.peak_memory_mb, inner.memory_delta_mb) == (12.0, 0.0)
    assert (inner.allocations, inner.frees, inner.failures) == (1, 1, 0)
    assert (outer.peak_bytes, outer.memory_delta_bytes) == (12 * MIB, 6 * MIB)
    assert outer.peak_increase_bytes == 8 * MIB and outer.reserved_peak_bytes >= 12 * MIB
    assert list(outer.per_device) == [0] and outer.stats.device == 0
    sites = inner.sites
    assert [s.bytes for s in sites] == [8 * MIB, 4 * MIB], sites
    assert sites[0].location[0].endswith("package_program.py"), sites[0]
    free(kept)
    with vramscope.GPUMemoryTracker() as none:
        pass
    assert (none.peak_bytes, none.memory_delta_bytes) == (0, 0)
    print(repr(outer))


def fake_torch():
    """As much of torch as the automatic steps watch. Returns (an optimizer's class, backward)."""
    torch, optim, optimizer = (types.ModuleType(n) for n in ("torch", "torch.optim", "optimizer"))
    torch.__file__ = "/site-packages/torch/__init__.py"
    hooks = {}

    class Optimizer:
        def __init__(self):
            pass

        def step(self, closure=None):
            hooks["before"](self, (self, closure), {})
            if closure is not None:
                closure()
            hooks["after"](self, (self, closure), {})

    optimizer.Optimizer, optim.optimizer, torch.optim = Optimizer, optimizer, optim
    optimizer.register_optimizer_step_pre_hook = lambda hook: hooks.update(before=hook)
    optimizer.register_optimizer_step_post_hook = lambda hook: hooks.update(after=hook)
    torch.compiler = types.SimpleNamespace(is_compiling=lambda: False)
    torch.autograd = types.SimpleNamespace(_engine_run_backward=lambda: free(allocate(1)))
    core = types.ModuleType("torch._C")
    core._nvtx = types.SimpleNamespace(rangePushA=lambda name: None)
    sys.modules.update({"torch": torch, "torch.optim": optim, "torch._C": core})
    from vramscope.values import steps
    steps.start(torch)
    return Optimizer, lambda: torch.autograd._engine_run_backward()


def train(optimizer, backward, steps):
    for _ in range(steps):
        free(allocate(1))
        backward()
        optimizer.step()


def times(folder):
    trace = vramscope.Trace(vramscope.dump(os.path.join(folder, "copy.vst")))
    return {p["path"]: p["times"] for p in trace.phases if p["times"]}


def automatic_steps(folder):
    """Steps that nobody marks: of a program; of each test; not beside the program's own."""
    Optimizer, backward = fake_torch()
    kept = allocate(1)
    train(Optimizer(), backward, 3)
    parts = ("", " / forward", " / backward", " / optimizer")
    found = times(folder) # the fourth is open
    assert found == {"step": 4, "step / forward": 4, "step / backward": 3, "step / optimizer": 3}, found
    with vramscope.range("test:a"): # the fourth was none
        train(Optimizer(), backward, 2)
    with vramscope.range("test:b"):
        free(allocate(1))
    with vramscope.range("test:c"):  # both passes and an update in step(): three phases, as without a closure
        Optimizer().step(lambda: (free(allocate(1)), backward()))
    found = times(folder)
    assert found == {**{"step" + p: 3 for p in parts}, "test:a": 1, "test:b": 1, "test:c": 1,
                     **{"test:a / step" + p: 2 for p in parts},
                     **{"test:c / step" + p: 1 for p in parts}}, found
    optimizer = Optimizer()
    for number in range(1, 5):
        with vramscope.range(f"batch {number}"):
            train(optimizer, backward, 1)
    vramscope.step(7)
    train(optimizer, backward, 2)
    vramscope.step_end()
    after = times(folder)
    assert after == {**found, "batch": 4, "step": 4}, after
    free(kept)


def last_allocation(folder):
    """The row of an allocation that is made now."""
    kept = allocate(1)
    trace = vramscope.Trace(vramscope.dump(os.path.join(folder, "last.vst")))
    free(kept)
    return trace.csv().splitlines()[-1]


def import_of_nvtx(folder):
    """A program that imports the package nvtx may mark its own steps: the automatic ones end, also the open one."""
    Optimizer, backward = fake_torch()
    optimizer = Optimizer()
    train(optimizer, backward, 3)
    assert times(folder)["step"] == 4 and "step" in last_allocation(folder)
    sys.modules["nvtx"] = types.ModuleType("nvtx")
    train(optimizer, backward, 2)
    found = times(folder)
    assert found["step"] == 3, found  # the one that was open was none
    assert "step" not in last_allocation(folder)


def range_of_another_thread(folder):
    """A range on another thread than that of the automatic steps: these end there."""
    Optimizer, backward = fake_torch()
    optimizer = Optimizer()
    train(optimizer, backward, 3)
    thread = threading.Thread(target=lambda: sys.modules["torch._C"]._nvtx.rangePushA("loader"))
    thread.start()
    thread.join()
    assert times(folder)["step"] == 4
    train(optimizer, backward, 2)
    found = times(folder)
    assert found["step"] == 3, found  # the one that was open was none
    assert "step" not in last_allocation(folder)


def decorated(folder):
    @vramscope.GPUMemoryTracker("work")
    def work(mib):
        free(allocate(mib))
        if mib == 3:
            raise KeyError("three")
        return mib

    assert work(5) == 5 and work.tracker.peak_bytes == 5 * MIB and work.__name__ == "work"
    try:
        work(3)
    except KeyError:
        pass
    assert work.tracker.peak_bytes == 3 * MIB
    unusual()
    failed = []

    def many():
        try:
            for _ in range(50):
                with vramscope.GPUMemoryTracker() as t:
                    free(allocate(1))
                assert MIB <= t.peak_bytes <= 4 * MIB, t
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    for wrong in (lambda: vramscope.GPUMemoryTracker(work), lambda: vramscope.step(-1)):
        try:
            wrong()
        except (TypeError, ValueError):
            continue
        raise AssertionError(wrong)
    tracker = vramscope.GPUMemoryTracker()
    with tracker:
        try:
            tracker.__enter__()
        except RuntimeError as error:
            assert "already in use" in str(error)
        else:
            raise AssertionError("entered twice")


def current_device(folder):
    """A tracker of "cuda" asks for PyTorch's current device when its block begins, and never initializes CUDA."""
    current = []  # the device that the program chose; empty: CUDA is not initialized

    def current_device():
        assert current, "CUDA is initialized"
        return current[-1]
    torch = types.ModuleType("torch")
    sys.modules["torch"] = torch  # still being imported
    trackers = [vramscope.GPUMemoryTracker(device="cuda")]
    assert trackers[0].stats.device == 0
    torch.cuda = types.SimpleNamespace(is_initialized=lambda: bool(current), current_device=current_device)
    trackers.append(vramscope.GPUMemoryTracker(device="cuda"))

    @vramscope.GPUMemoryTracker(device="cuda")
    def work():
        free(allocate(3))
    held = allocate(1)
    assert vramscope.device_stats("cuda") == vramscope.device_stats(0)
    for tracker in (*trackers, work.tracker):
        assert tracker.device == "cuda"
        for chosen in (None, 1, 0):
            current[:] = [] if chosen is None else [chosen]
            if tracker is work.tracker:
                work()
            else:
                with tracker:
                    free(allocate(3))
            assert tracker.stats.device == (chosen or 0), tracker.stats
            assert tracker.peak_increase_bytes == (0 if chosen else 3 * MIB), tracker.stats
    free(held)
    del sys.modules["torch"]
    for wrong, error_type in (("cpu", TypeError), (True, TypeError), (64, vramscope.Error)):
        try:
            vramscope.GPUMemoryTracker(device=wrong)
        except error_type as error:
            assert str(wrong) in str(error), error
        else:
            raise AssertionError(wrong)


def unusual():
    """Coroutines and generators are measured to their end; methods too."""
    @vramscope.GPUMemoryTracker()
    async def wait(mib):
        pointer = allocate(mib)
        await asyncio.sleep(0)
        free(pointer)
        return mib

    @vramscope.GPUMemoryTracker()
    def generate(mib):
        for _ in range(2):
            pointer = allocate(mib)
            yield pointer
            free(pointer)
        return mib

    class Model:
        @vramscope.GPUMemoryTracker()
        def work(self, mib):
            free(allocate(mib))

    assert asyncio.run(wait(20)) == 20 and wait.tracker.peak_bytes == 20 * MIB, wait.tracker
    assert len(list(generate(24))) == 2 and generate.tracker.peak_bytes == 24 * MIB, generate.tracker
    begun = generate(3)
    left = next(begun)
    begun.close()
    assert generate.tracker.memory_delta_bytes == 3 * MIB, generate.tracker
    free(left)
    Model().work(7)
    assert Model.work.tracker.peak_increase_bytes == 7 * MIB, Model.work.tracker

    async def stream():
        yield 1
    for decorator, function in ((vramscope.GPUMemoryTracker(), stream), (vramscope.GPUMemoryTracker("x"), wait),
                                (vramscope.range("x"), wait), (vramscope.range("x"), generate)):
        try:
            decorator(function)
        except TypeError as error:
            assert "context manager" in str(error) or "leave out the name" in str(error), error
        else:
            raise AssertionError((decorator, function))


def statistics(folder):
    p = allocate(5)
    keys = vramscope.stats()
    assert keys["allocated_bytes.all.current"] == keys["allocated_bytes.all.peak"] == 5 * MIB, keys
    assert keys["reserved_bytes.all.current"] == vramscope.device_stats()["reserved"]
    assert vramscope.device_stats()["allocated_peak"] == 5 * MIB
    free_now, total = vramscope.memory_info()
    assert 0 < free_now < total
    free(p)
    vramscope.reset_peaks()
    assert vramscope.device_stats()["allocated_peak"] == 0
    with vramscope.GPUMemoryTracker() as t:
        assert allocate(1 << 30) is None
    assert t.failures == 1
    functions = (vramscope.device_stats, vramscope.stats, vramscope.memory_info, vramscope.reset_peaks, vramscope.trim)
    for function in functions:
        assert function("cuda:0") == function(0) or function is vramscope.trim, function
        missing = [(number, vramscope.Error, f"device {number}") for number in (64, -1, 2 ** 80)]
        missing += [("cuda:64", vramscope.Error, "device 64")]
        wrong = [(value, TypeError, repr(value)) for value in ("cpu", None, True)]
        for device, error_type, says in missing + wrong:
            try:
                function(device)
            except error_type as error:
                assert says in str(error), (function, error)
            else:
                raise AssertionError((function, device))


def traced(folder):
    for number in range(10):
        assert vramscope.step() == number + 1
        with vramscope.range("load"):
            vramscope.annotate("cache")
            leak = allocate(4)
        vramscope.mark("loaded")
        free(allocate(2))
    vramscope.step_end()
    copy = vramscope.dump(os.path.join(folder, "copy.vst"))
    trace = vramscope.Trace(copy)
    peak = trace.peaks[0]
    assert (peak.device, peak.allocated, peak.level) == (0, 42 * MIB, "device"), peak
    assert trace.peak_bytes == 42 * MIB and trace.complete and peak.phase.startswith("step 10"), peak
    assert [s.bytes for s in trace.leaks()] == [40 * MIB] and trace.leaks()[0].count == 10
    assert sum(s.bytes for s in trace.sites()) == 42 * MIB
    assert trace.steps["begun"] == 10 and trace.growing()[0].growing
    assert {"load", "cache"} <= {p["name"] for p in trace.phases}, trace.phases
    assert len(list(trace.events("alloc"))) == 20 and trace.report()["schema"] == "vramscope.report/1"
    assert sum(event["size"] for event in trace.events("alloc")) == 60 * MIB
    rows = trace.csv().splitlines()
    assert len(rows) == 21 and rows[0].startswith("event,"), rows
    try:
        import pandas
    except ImportError:
        try:
            trace.to_pandas()
        except ImportError as error:
            assert "pip install pandas" in str(error)
    else:
        frame = trace.to_pandas()
        assert isinstance(frame, pandas.DataFrame) and frame.size_bytes.sum() == 60 * MIB
    vramscope.stop()
    assert not vramscope.recording()
    free(leak)
    with vramscope.GPUMemoryTracker() as t: # counted without a trace of it
        free(allocate(64))
    assert t.peak_bytes == 100 * MIB, t
    vramscope.start()
    vramscope.flush()
    assert vramscope.Trace(vramscope.trace_path()).peak_bytes == 100 * MIB
    for path, text in ((os.path.join(folder, "no", "t.vst"), "No such file"), ("", "Invalid argument")):
        try:
            vramscope.dump(path)
        except OSError as error:
            assert text in str(error), error
        else:
            raise AssertionError(path)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
    print("ok")
