# SPDX-License-Identifier: Apache-2.0
"""PyTorch memory snapshots of known content: a small model of the caching allocator, written from
its documented rules, serves requests and writes down the history, the segments at the end, and what
is true of them: peaks, live blocks, counts. No torch is needed."""

MIB = 1 << 20
SMALL, LARGE = 2 * MIB, 20 * MIB


class Random:
    """A fixed sequence: the same snapshots everywhere."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % n


class Block:
    def __init__(self, addr, size):
        self.addr, self.size, self.requested, self.state, self.frames = addr, size, 0, "inactive", []


class Segment:
    def __init__(self, addr, size, stream, small, expandable=False):
        self.addr, self.size, self.stream, self.small = addr, size, stream, small
        self.expandable, self.blocks, self.frames = expandable, [Block(addr, size)] if size else [], []


def frames_of(n):
    """A stack of the user's train.py below a function of torch, with the interpreter's own frames."""
    return [{"name": "torch::unwind::unwind()", "filename": "??", "line": 0},
            {"name": "at::_ops::empty_like::call(at::Tensor const&)", "filename": "??", "line": 0},
            {"name": "cfunction_call", "filename": "/tmp/python-build.1/Python-3.11.7/Objects/methodobject.c", "line": 542},
            {"name": "do_call", "filename": "/usr/src/python/./Include/internal/pycore_call.h", "line": 90},
            {"name": "_PyEval_EvalFrameDefault", "filename": "??", "line": 0},
            {"name": "relu", "filename": "/opt/lib/python3.11/site-packages/torch/nn/functional.py", "line": 7},
            {"name": f"layer{n}", "filename": "/home/me/train.py", "line": 100 + n},
            {"name": "main", "filename": "/home/me/train.py", "line": 9},
            {"name": "pymain_main", "filename": "/usr/src/python/Modules/main.c", "line": 710}]


class Device:
    def __init__(self, index, expandable=False, divisions=0):
        self.index, self.expandable, self.divisions = index, expandable, divisions
        self.segments, self.live, self.pending = [], {}, []
        self.entries, self.after = [], []  # (allocated, reserved) after each entry
        self.allocated = self.reserved = 0
        self.next_addr = 0x7f0000000000 + index * (1 << 40)
        self.stacks = [frames_of(n) for n in range(9)]

    def note(self, action, addr, size, stream, frames=(), **more):
        entry = {"action": action, "addr": addr, "size": size, "stream": stream, "frames": frames,
                 "compile_context": "N/A", "user_metadata": "", **more}
        if action == "oom":
            entry["device_free"] = entry.pop("addr")
        self.entries.append(entry)
        self.after.append((self.allocated, self.reserved))

    def rounded(self, size):
        if self.divisions > 1 and size > 512 * self.divisions and size & (size - 1):
            step = (1 << (size.bit_length() - 1)) // self.divisions
            return (size + step - 1) // step * step
        return max(512, (size + 511) // 512 * 512)

    def find(self, size, small, stream):
        fits = [(b.size, b.addr, s, b) for s in self.segments if s.small == small and s.stream == stream
                for b in s.blocks if b.state == "inactive" and b.size >= size]
        return min(fits, key=lambda fit: fit[:2])[2:] if fits else None

    def new_segment(self, size, small, stream, frames):
        """A segment, or memory mapped at the end of the pool's range."""
        if not self.expandable:
            bytes_ = SMALL if size <= MIB else LARGE if size < 10 * MIB else (size + SMALL - 1) // SMALL * SMALL
            segment = Segment(self.next_addr, bytes_, stream, small)
            self.next_addr += bytes_ + 16 * MIB
            segment.frames = frames
            self.segments.append(segment)
            self.reserved += bytes_
            self.note("segment_alloc", segment.addr, bytes_, stream, frames)
            return
        segment = next((s for s in self.segments if s.small == small and s.stream == stream), None)
        if not segment:
            segment = Segment(self.next_addr, 0, stream, small, True)
            self.next_addr += 1 << 34
            self.segments.append(segment)
        handle = SMALL if small else LARGE
        last = segment.blocks[-1] if segment.blocks and segment.blocks[-1].state == "inactive" else None
        bytes_ = (size - (last.size if last else 0) + handle - 1) // handle * handle
        addr = segment.addr + segment.size
        segment.size += bytes_
        if last:
            last.size += bytes_
        else:
            segment.blocks.append(Block(addr, bytes_))
        self.reserved += bytes_
        self.note("segment_map", addr, bytes_, stream, frames)

    def alloc(self, size, stream=0, stack=0):
        self.complete()
        rounded, frames = self.rounded(size), self.stacks[stack]
        small = rounded <= MIB
        found = self.find(rounded, small, stream)
        if not found:
            self.new_segment(rounded, small, stream, frames)
            found = self.find(rounded, small, stream)
        segment, block = found
        rest = block.size - rounded
        if rest >= 512 if small or self.expandable else rest > MIB:
            segment.blocks.insert(segment.blocks.index(block) + 1, Block(block.addr + rounded, rest))
            block.size = rounded
        block.state, block.requested, block.frames = "active_allocated", size, frames
        self.live[block.addr] = (segment, block)
        self.allocated += block.size
        self.note("alloc", block.addr, size, stream, frames)
        return block.addr

    def free(self, addr, waits=False):
        segment, block = self.live.pop(addr)
        self.allocated -= block.size
        block.state = "active_pending_free"
        self.note("free_requested", addr, block.requested, segment.stream, self.stacks[8])
        self.pending.append((segment, block))
        if not waits:
            self.complete()

    def complete(self):
        for segment, block in self.pending:
            self.note("free_completed", block.addr, block.requested, segment.stream, self.stacks[8])
            block.state, block.frames = "inactive", []
            at = segment.blocks.index(block)
            for first in (at, at - 1):  # the next one, then the previous one
                if first >= 0 and first + 1 < len(segment.blocks):
                    a, b = segment.blocks[first:first + 2]
                    if a.state == b.state == "inactive":
                        a.size += b.size
                        segment.blocks.pop(first + 1)
        self.pending = []

    def empty_cache(self):
        self.complete()
        for segment in list(self.segments):
            last = segment.blocks[-1] if segment.blocks else None
            if segment.expandable and last and last.state == "inactive":
                handle = SMALL if segment.small else LARGE
                start = segment.addr + (last.addr - segment.addr + handle - 1) // handle * handle
                bytes_ = segment.addr + segment.size - start
                if bytes_ > 0:
                    self.reserved -= bytes_
                    segment.size -= bytes_
                    last.size -= bytes_
                    if not last.size:
                        segment.blocks.pop()
                    self.note("segment_unmap", start, bytes_, segment.stream)
            elif not segment.expandable and len(segment.blocks) == 1 and last.state == "inactive":
                self.reserved -= segment.size
                self.segments.remove(segment)
                self.note("segment_free", segment.addr, segment.size, segment.stream)

    def oom(self, size, free):
        self.note("oom", free, self.rounded(size), 0, self.stacks[8])

    def final_segments(self):
        for s in sorted(self.segments, key=lambda s: s.addr):
            if not s.size:
                continue
            yield {"device": self.index, "address": s.addr, "total_size": s.size,
                   "allocated_size": sum(b.size for b in s.blocks if b.state == "active_allocated"),
                   "active_size": sum(b.size for b in s.blocks if b.state != "inactive"),
                   "requested_size": sum(b.requested for b in s.blocks if b.state != "inactive"),
                   "stream": s.stream, "segment_type": "small" if s.small else "large",
                   "segment_pool_id": (0, 0), "is_expandable": s.expandable, "frames": s.frames,
                   "blocks": [{"address": b.addr, "size": b.size,
                               "requested_size": b.requested if b.state != "inactive" else 0,
                               "state": b.state, "frames": b.frames} for b in s.blocks]}

    def exercise(self, seed, count, streams=1):
        """Requests of all sizes, frees in any order, some waiting for other streams."""
        random, sizes = Random(seed), (1, 512, 700, 5000, 300000, MIB, MIB + 1, 3 * MIB + 77, 9 * MIB,
                                       11 * MIB, 24 * MIB + 5)
        order = []
        for _ in range(count):
            if order and random.below(5) < 2 + (len(order) > 60):
                self.free(order.pop(random.below(len(order))), waits=random.below(4) == 0)
            else:
                order.append(self.alloc(sizes[random.below(len(sizes))] + random.below(3) * 512,
                                        random.below(streams), random.below(8)))
            if random.below(40) == 0:
                self.empty_cache()


def snapshot(devices, lost=0, timed=True, annotations=(), **settings):
    """The snapshot of *devices*, without the first *lost* entries of each history."""
    time_us = 1700000000000000
    traces = [[] for _ in range(max(d.index for d in devices) + 1)]
    for device in devices:
        for n, entry in enumerate(device.entries):
            entry = dict(entry)
            if timed:
                entry["time_us"] = time_us + 10 * n + device.index
            if n >= lost:
                traces[device.index].append(entry)
    return {"segments": [s for d in devices for s in d.final_segments()], "device_traces": traces,
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, **settings},
            "external_annotations": list(annotations)}


def truth(device, lost=0):
    """What is true of the history from its entry *lost* on."""
    states = device.after[max(lost - 1, 0):] if lost else [(0, 0), *device.after]
    kept = device.entries[lost:]
    actions = [entry["action"] for entry in kept]
    return {"peak_allocated": max(a for a, _ in states), "peak_reserved": max(r for _, r in states),
            "allocated_at_end": device.allocated, "reserved_at_end": device.reserved,
            "live": {addr: block.size for addr, (_, block) in device.live.items()},
            "allocs": actions.count("alloc"), "frees": actions.count("free_requested"),
            "failures": actions.count("oom")}
