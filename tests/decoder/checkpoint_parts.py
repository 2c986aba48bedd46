# SPDX-License-Identifier: Apache-2.0
"""Data structures of the checkpoint model (checkpoint_model.py): numbers of a device or of the
host, and segments by address."""
import bisect

from phase_model import OUTSIDE
from vramscope.records import KINDS, S

MASK = (1 << 64) - 1
FAMILIES, GRAPH = 9, 7
PEAKS = ("allocated", "requested", "reserved")
DESCRIBED = ("name", "uuid", "total_bytes", "sm_count", "cc_major", "cc_minor", "simulated",
             "driver_version")
COUNTED = ("allocated requested reserved segment_bytes segments segments_allocated segments_freed "
           "block_bytes graph_used_high graph_reserved graph_reserved_high lost_bytes lost "
           "framework_allocs framework_frees framework_allocated framework_allocated_high "
           "framework_reserved_high framework_failures sample_free sample_total step_high "
           "steps_high step_largest steps_largest freed_bytes largest described").split()


def raw(event):
    """The event's fields by name, as numbers; missing ones are 0."""
    found = dict.fromkeys(KINDS[event.code][1], 0)
    for name, value, codec in zip(event.layout.names, event.raw, event.layout.codecs):
        found[name] = value - (value >> 63 << 64) if codec == S else value
    return found


class Account:
    """A device's numbers, or the host's."""

    def __init__(self, number):
        self.number = number
        self.n = dict.fromkeys(COUNTED + list(DESCRIBED), 0)
        self.families = [dict.fromkeys("allocs frees failures bytes live_bytes live_number "
                                       "peak".split(), 0) for _ in range(FAMILIES)]
        self.peaks = {name: (0, 0, 0, OUTSIDE) for name in PEAKS}
        self.first_reserved = 0, OUTSIDE
        self.allocated_then = self.held = 0
        self.use = None, None  # highest, latest: (used, free, total, event, time)

    def graphs(self):
        return max(self.families[GRAPH]["live_bytes"], self.n["graph_reserved"])

    def add(self, number, **changes):
        for name, change in changes.items():
            self.n[name] = (self.n[name] + change * number) & MASK

    def raised(self, *when):
        """Updates the peaks after an allocation, segment or the driver's mark has increased the
        numbers; *when*: event, time, place."""
        now = self.n
        for name in ("allocated", "requested"):
            if now[name] > self.peaks[name][0]:
                self.peaks[name] = now[name], *when
        highest = self.peaks["reserved"][0]
        if now["reserved"] > highest:
            self.first_reserved, self.allocated_then = when[1:], now["allocated"]
            self.peaks["reserved"] = now["reserved"], *when
        elif now["reserved"] == highest and now["allocated"] > self.allocated_then:
            self.allocated_then = now["allocated"]
            self.peaks["reserved"] = now["reserved"], *when
        now["step_high"] = max(now["step_high"], now["allocated"])

    def step_ended(self):
        now = self.n
        now["steps_high"] = max(now["steps_high"], now["step_high"])
        now["steps_largest"] = max(now["steps_largest"], now["step_largest"])
        now.update(step_high=now["allocated"], step_largest=0)


class Segments:
    """Mapped or allocated memory by address; adjacent mapped memory counts as one."""

    def __init__(self):
        self.addrs, self.by_addr = [], {}

    def put(self, segment):
        if segment["addr"] not in self.by_addr:
            bisect.insort(self.addrs, segment["addr"])
        self.by_addr[segment["addr"]] = segment

    def take(self, addr):
        segment = self.by_addr.pop(addr, None)
        if segment:
            del self.addrs[bisect.bisect_left(self.addrs, addr)]
        return segment

    def at(self, addr):
        i = bisect.bisect_right(self.addrs, addr)
        found = self.by_addr[self.addrs[i - 1]] if i else None
        return found if found and addr < found["addr"] + found["size"] else None

    def overlap(self, addr, size):
        """Those that overlap [addr, addr + size)."""
        i = bisect.bisect_right(self.addrs, addr)
        first = self.at(addr)
        found = [first] if first else []
        end = bisect.bisect_left(self.addrs, addr + size)
        found += [self.by_addr[a] for a in self.addrs[i:end]]
        return found
