#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Experiments with placement rules, compared by their memory: peak reserved / peak live.

Usage: placement_ideas.py TRACE...

TRACE is the output of snapshot_to_events.py or `workload NAME`. One stream is assumed, device
calls are only counted. The allocator has its own rules in C; they were chosen with this script,
and bench_policies measures the shipped ones. Sizes are in granules of 512 bytes.
"""
import bisect
import os
import sys

PAGE = 4096  # granules: 2 MiB
SMALL = 2048  # largest request of PyTorch's small pool


def read(path):
    """(alloc?, id, bytes) in order; blocks live at the start are requested first"""
    events, live, count, address = [], {}, 0, 0
    for line in open(path, encoding="ascii"):
        word, *rest = line.split()
        rest = [int(x) if x.isdigit() else x for x in rest]
        if word == "segment":
            address = rest[0]
        elif word == "block":
            if rest[2]:
                count += 1
                live[address] = count
                events.append((True, count, rest[1]))
            address += rest[0]
        elif word == "alloc":
            count += 1
            live[rest[0]] = count
            events.append((True, count, rest[1]))
        elif word == "free":
            events.append((False, live.pop(rest[0]), 0))
    return events


def peak_live(events):
    sizes, now, peak = {}, 0, 0
    for alloc, ident, size in events:
        if alloc:
            sizes[ident] = size
            now += size
            peak = max(peak, now)
        else:
            now -= sizes.pop(ident)
    return peak


class Holes:
    """Free memory of one range of addresses."""

    def __init__(self):
        self.starts, self.size, self.order = [], {}, []

    def insert(self, start, size):
        bisect.insort(self.starts, start)
        self.size[start] = size
        bisect.insort(self.order, (size, start))

    def remove(self, start):
        size = self.size.pop(start)
        self.starts.pop(bisect.bisect_left(self.starts, start))
        self.order.pop(bisect.bisect_left(self.order, (size, start)))
        return size

    def free(self, start, size):
        i = bisect.bisect_left(self.starts, start)
        if i < len(self.starts) and self.starts[i] == start + size:
            size += self.remove(start + size)
        if i and self.starts[i - 1] + self.size[self.starts[i - 1]] == start:
            before = self.starts[i - 1]
            size += self.remove(before)
            start = before
        self.insert(start, size)

    def around(self, at):
        i = bisect.bisect_right(self.starts, at) - 1
        if i >= 0 and self.starts[i] + self.size[self.starts[i]] > at:
            return self.starts[i]
        return None

    def is_free(self, start, size):
        hole = self.around(start)
        return hole is not None and hole + self.size[hole] >= start + size

    def carve(self, start, size):
        hole = self.around(start)
        whole = self.remove(hole)
        if start > hole:
            self.insert(hole, start - hole)
        if start + size < hole + whole:
            self.insert(start + size, hole + whole - start - size)


class Segments:
    """PyTorch's rules: separate segments, split, merged, never moved."""

    def __init__(self):
        self.holes = {False: Holes(), True: Holes()}
        self.end, self.reserved, self.calls = 0, 0, 0
        self.live, self.tails = {}, {}

    def alloc(self, ident, size):
        small = size <= SMALL
        holes = self.holes[small]
        i = bisect.bisect_left(holes.order, (size, 0))
        if i == len(holes.order):
            grow = PAGE if small else 10 * PAGE if size < 5 * PAGE else -(-size // PAGE) * PAGE
            holes.insert(self.end, grow)
            self.end += grow + PAGE  # segments are never adjacent
            self.reserved += grow
            self.calls += 1
            i = bisect.bisect_left(holes.order, (size, 0))
        have, start = holes.order[i]
        if not small and have - size <= SMALL:
            size = have  # the tail stays in the block
        holes.carve(start, size)
        self.live[ident] = (small, start, size)

    def free(self, ident):
        small, start, size = self.live.pop(ident)
        self.holes[small].free(start, size)


class Ranges:
    """Ranges whose memory grows at the end, in steps of *step* granules."""

    def __init__(self, split=SMALL, fit="best", steps=(PAGE, PAGE), lifetimes=False):
        self.split, self.fit, self.steps, self.lifetimes = split, fit, steps, lifetimes
        self.holes = [Holes(), Holes()]
        self.ends = [0, 1 << 40]
        self.reserved, self.calls, self.live = 0, 0, {}
        self.clock, self.age = 0, {}

    def kind(self, size):
        if self.lifetimes:
            return int(self.age.get(size, 0) < 1000)
        return int(size > self.split)

    def find(self, holes, size):
        if self.fit == "best":
            i = bisect.bisect_left(holes.order, (size, 0))
            return holes.order[i][1] if i < len(holes.order) else None
        return next((s for s in holes.starts if holes.size[s] >= size), None)

    def grow(self, kind, granules):
        pages = -(-granules // self.steps[kind]) * self.steps[kind]
        self.holes[kind].free(self.ends[kind], pages)
        self.ends[kind] += pages
        self.reserved += pages
        self.calls += pages // self.steps[kind]

    def take(self, ident, kind, pieces, view=None):
        for start, size in pieces:
            self.holes[kind].carve(start, size)
        self.live[ident] = (kind, pieces, view, self.clock)

    def alloc(self, ident, size):
        self.clock += 1
        kind = self.kind(size)
        holes = self.holes[kind]
        start = self.find(holes, size)
        if start is None:
            tail = holes.around(self.ends[kind] - 1) if holes.starts else None
            self.grow(kind, size - (holes.size[tail] if tail is not None else 0))
            start = self.find(holes, size)
        self.take(ident, kind, [(start, size)])

    def free(self, ident):
        self.clock += 1
        kind, pieces, view, since = self.live.pop(ident)
        for start, size in pieces:
            self.holes[kind].free(start, size)
        if self.lifetimes:
            size = sum(s for _, s in pieces)
            self.age[size] = (self.age.get(size, self.clock - since) + self.clock - since) / 2
        return view


class Views(Ranges):
    """One range; when no hole is large enough, separate pages are mapped side by side. *edges*: the first
    and the last page may be used in part. *align*: large blocks start at a page.
    *dormant_first*: a view before a hole."""

    def __init__(self, split=0, edges=True, align=False, dormant_first=False, extents=64):
        super().__init__(split=split)
        self.edges, self.align, self.dormant_first = edges, align, dormant_first
        self.extents, self.dormant = extents, []

    def find(self, holes, size):
        if self.align and size >= PAGE:
            i = bisect.bisect_left(holes.order, (size, 0))
            for have, start in holes.order[i:i + 8]:
                if have - -start % PAGE >= size:
                    return start + -start % PAGE
        return super().find(holes, size)

    def alloc(self, ident, size):
        kind = self.kind(size)
        view = self.wake(size, PAGE) if kind and self.dormant_first else None
        start = None if view else self.find(self.holes[kind], size)
        if start is not None or not kind:
            return super().alloc(ident, size)
        self.clock += 1
        view = view or self.wake(size, 1 << 60)
        if not view:
            pieces = self.gather(size)
            if len(pieces) == 1:
                return self.take(ident, 1, pieces)
            pages = [p for s, n in pieces for p in range(s // PAGE, -(-(s + n) // PAGE))]
            view = (pages, pieces[0][0] % PAGE)
            self.calls += len(pieces)
        return self.take(ident, 1, self.pieces(view, size), view)

    def free(self, ident):
        view = super().free(ident)
        if view:
            self.dormant.append(view)
            del self.dormant[:-256]

    @staticmethod
    def pieces(view, size):
        pages, skip = view
        out = []
        for page in pages:
            take = min(PAGE - skip, size)
            if out and sum(out[-1]) == page * PAGE + skip:
                out[-1] = (out[-1][0], out[-1][1] + take)
            else:
                out.append((page * PAGE + skip, take))
            size -= take
            skip = 0
            if not size:
                break
        return out

    def wake(self, size, slack):
        fits = [(len(v[0]) * PAGE - v[1], i) for i, v in enumerate(self.dormant)]
        for have, i in sorted(f for f in fits if size <= f[0] < size + slack)[:16]:
            if all(self.holes[1].is_free(*p) for p in self.pieces(self.dormant[i], size)):
                return self.dormant.pop(i)
        return None

    def edge(self, size):
        """The smallest part of a page at one of its ends that holds *size*"""
        best = (PAGE + 1, None, None)
        for have, start in self.holes[1].order:
            if have < size or best[0] == size:
                continue
            head, tail = (start + have) % PAGE, -start % PAGE
            if start + have - head >= start and size <= head < best[0]:
                best = (head, start + have - head, False)
            if start % PAGE and tail <= have and size <= tail < best[0]:
                best = (tail, start + tail - size, True)
        return best

    def gather(self, size):
        pages, part = divmod(size, PAGE)
        at, first = None, False
        if part and pages and self.edges:
            _, at, first = self.edge(part)
        left = pages + (part > 0 and at is None)
        holes = [((s + n) // PAGE - -(-s // PAGE), -(-s // PAGE) * PAGE)
                 for s, n in self.holes[1].size.items()]
        chosen = []
        for count, start in sorted((h for h in holes if h[0] > 0), reverse=True):
            if not left or len(chosen) == self.extents - 2:
                break
            if count >= left:
                count, start = min(h for h in holes if h[0] >= left)
            chosen.append((start, min(count, left) * PAGE))
            left -= min(count, left)
        if left:
            chosen.append((self.ends[1], left * PAGE))
            self.grow(1, left * PAGE)
        chosen.sort()
        if part and at is None:
            chosen[-1] = (chosen[-1][0], chosen[-1][1] - (PAGE - part))
        if at is not None:
            chosen.insert(0 if first else len(chosen), (at, part))
        joined = []
        for piece in chosen:
            if joined and sum(joined[-1]) == piece[0]:
                joined[-1] = (joined[-1][0], joined[-1][1] + piece[1])
            else:
                joined.append(piece)
        return joined


IDEAS = [
    ("segments (PyTorch)", Segments),
    ("growing ranges (PyTorch expandable)", lambda: Ranges(steps=(PAGE, 10 * PAGE))),
    ("growing ranges, pages of 2 MiB", Ranges),
    ("one range, best fit", lambda: Ranges(split=0)),
    ("one range, first fit", lambda: Ranges(split=0, fit="first")),
    ("two ranges by past lifetime of the size", lambda: Ranges(lifetimes=True)),
    ("views of whole pages only", lambda: Views(edges=False)),
    ("views, small blocks apart", lambda: Views(split=SMALL)),
    ("views, large blocks begin a page", lambda: Views(align=True)),
    ("views before holes", lambda: Views(dormant_first=True)),
    ("views (shipped)", Views),
]


def run(events, make):
    policy, peak = make(), 0
    for alloc, ident, size in events:
        if alloc:
            policy.alloc(ident, max(1, (size + 511) // 512))
            peak = max(peak, policy.reserved)
        else:
            policy.free(ident)
    return peak * 512, policy.calls


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        events = read(path)
        live = peak_live(events)
        print(f"{os.path.basename(path)}: {len(events)} requests, {live / 2**20:.1f} MiB live")
        for name, make in IDEAS:
            peak, calls = run(events, make)
            print(f"  {name:42} {peak / live:7.4f}  {calls:6} device calls", flush=True)


if __name__ == "__main__":
    main()
