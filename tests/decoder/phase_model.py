# SPDX-License-Identifier: Apache-2.0
"""Phases, steps and open ranges by docs/trace-format.md §2.8, computed from range events: the
expected contents of a checkpoint's state."""
import re

STEP_WORDS = ("profilerstep", "training_iteration", "training iteration", "training_step",
              "training step", "train_iteration", "train iteration", "train_step", "train step",
              "trainstep", "global_step", "global step", "iteration", "minibatch", "batch", "iter",
              "step")
DEPTH_MAX, PHASES_MAX = 64, 65536
OUTSIDE = (0, 0, 0)
NO_STEP = ("no step", "vramscope.automatic")


def step_name(name):
    """(length of its word, length before the number, number or None) of a step's name; None for any
    other name."""
    word = next((w for w in STEP_WORDS if name[:len(w)].lower() == w), None)
    if word is None:
        return None
    rest = name[len(word):]
    if not rest:
        return len(word), len(word), None
    found = re.match(r"[ _#:=-]*(?=[0-9])", rest)
    if not found:
        return None
    before = len(word) + found.end()
    digits = re.match(r"[0-9]{1,18}", name[before:]).group()
    after = name[before + len(digits):]
    if after and after[0] != "/" and not after.startswith(" of "):
        return None
    return len(word), before, int(digits)


class Phases:
    def __init__(self):
        self.items = [self._phase(0, "", 0, "")]
        self.by_name, self.threads, self.main = {}, {}, 0
        self.steps = dict.fromkeys("open thread range begun done number begin total shortest "
                                   "longest longest_number".split(), 0)
        self.open_steps, self.unmatched = {}, 0

    @staticmethod
    def _phase(parent, name, is_step, prefix):
        return dict(parent=parent, is_step=is_step, name=name, prefix=prefix, times=0, ns=0,
                    allocations=0, bytes=0, peaks={})

    def thread(self, tid):
        """Its open ranges, outermost first; and their number, including deeper ones."""
        return self.threads.setdefault(tid, [[], 0])

    def place(self, tid):
        for one in (tid, self.main):
            ranges = self.threads.get(one, ((), 0))[0]
            if ranges and (one == tid or one):
                return ranges[-1]["place"]
        if self.steps["open"] and self.steps["range"]:
            return 0, 1, self.steps["number"]
        return OUTSIDE

    def level(self, phase, device, allocated):
        """*allocated* bytes are live on *device* while *phase* is open."""
        while True:
            peaks = self.items[phase]["peaks"]
            peaks[device] = max(peaks.get(device, 0), allocated)
            if not phase:
                return
            phase = self.items[phase]["parent"]

    def epoch(self):
        return self.steps["begun"] + self.steps["done"]

    # --- the events ---

    def _child(self, parent, name, step, is_step):
        stem = name[:step[0]] if step else name
        if (parent, stem) not in self.by_name:
            if len(self.items) >= PHASES_MAX:
                return parent
            self.by_name[parent, stem] = len(self.items)
            self.items.append(self._phase(parent, stem, int(is_step), name[:step[1]]
                                          if step and step[2] is not None else stem))
        return self.by_name[parent, stem]

    def _begin(self, tid, range_id, step, time):
        steps = self.steps
        steps.update(open=1, thread=tid, range=range_id, begin=time,
                     number=steps["begun"] + 1 if step[2] is None else step[2],
                     begun=steps["begun"] + 1)

    def _end(self, time):
        steps = self.steps
        length = max(0, time - steps["begin"])
        if not steps["done"] or length < steps["shortest"]:
            steps["shortest"] = length
        if not steps["done"] or length > steps["longest"]:
            steps.update(longest=length, longest_number=steps["number"])
        steps.update(open=0, total=steps["total"] + length, done=steps["done"] + 1)

    def push(self, tid, name, domain, time):
        """The thread's present place."""
        thread = self.thread(tid)
        ranges = thread[0]
        thread[1] += 1
        if thread[1] > DEPTH_MAX:
            return self.place(tid)
        phase, known, number = ranges[-1]["place"] if ranges else OUTSIDE
        step = step_name(name)
        outermost = bool(step) and not known
        phase = self._child(phase, name, step, outermost)
        is_step = 0
        if outermost:
            known = 1
            number = self.steps["begun"] + (not self.steps["open"]) if step[2] is None else step[2]
            if not self.steps["open"] and self.steps["thread"] in (0, tid):
                self._begin(tid, 0, step, time)
                is_step = 1
        self.items[phase]["times"] += 1
        ranges.append(dict(domain=domain, time=time, place=(phase, known, number),
                           is_step=is_step))
        return ranges[-1]["place"]

    def pop(self, tid, domain, time):
        """Whether a step ended."""
        thread = self.thread(tid)
        ranges = thread[0]
        if thread[1] > DEPTH_MAX:
            thread[1] -= 1
            return False
        at = next((i for i in range(len(ranges) - 1, -1, -1) if ranges[i]["domain"] == domain),
                  None)
        if at is None:
            self.unmatched += 1
            return False
        one = ranges.pop(at)
        thread[1] -= 1
        self.items[one["place"][0]]["ns"] += max(0, time - one["time"])
        if one["is_step"]:
            self._end(time)
        return bool(one["is_step"])

    def mark(self, tid, name, domain):
        """A mark that says: the open step is none."""
        ranges = self.threads.get(tid, [[]])[0]
        at = next((i for i, r in enumerate(ranges) if r["is_step"]), None)
        if (name, domain) != NO_STEP or at is None or not self.steps["open"] or self.steps["range"]:
            return
        for one in ranges[at:]:
            self.items[one["place"][0]]["times"] -= 1
        ranges[at]["is_step"] = 0
        self.steps.update(open=0, begun=self.steps["begun"] - 1)
        if not self.steps["begun"]:
            self.steps["thread"] = 0

    def start(self, tid, range_id, name, time):
        step = step_name(name)
        if step and range_id and not self.steps["open"] and self.steps["thread"] in (0, tid):
            self._begin(tid, range_id, step, time)
            self.open_steps[range_id] = self.steps["number"] + 1

    def end(self, range_id, time):
        """Whether a step ended."""
        if not range_id or self.open_steps.pop(range_id, None) is None or \
                not self.steps["open"] or self.steps["range"] != range_id:
            return False
        self._end(time)
        return True

    # --- the comparison ---

    def compare(self, same, state, all_recorded, latest):
        """*latest*: each thread's latest allocation; *all_recorded*: each has an event."""
        totals = state["totals"]
        same("steps", self.steps, totals["steps"])
        same("main thread", self.main, totals["main_thread"])
        same("unmatched pops", self.unmatched, totals["unmatched_pops"])
        same("open steps", self.open_steps,
             {x["range"]: x["number_plus_1"] for x in state["open_steps"]})
        same("open ranges", [
            (tid, latest.get(tid, 0), depth,
             [(r["domain"], r["time"], r["place"], r["is_step"]) for r in ranges])
            for tid, (ranges, depth) in self.threads.items()],
             [(t["tid"], t["latest_address"], t["open_ranges"],
               [(r["domain"], r["time"], tuple(r["place"].values()), r["is_step"])
                for r in t["ranges"]]) for t in state["threads"]])
        names = "parent is_step times ns".split() + ["allocations", "bytes"] * all_recorded
        said = state["phases"]
        same("phases", [tuple(p[n] for n in names) + (p["name"].encode(),
                                                      p["prefix"].encode()) for p in self.items],
             [tuple(p[n] for n in names) + (p["name"], p["prefix"][:-1] or p["name"])
              for p in said])
        if all_recorded:
            same("phases' peaks", [[p["peaks"].get(d, 0) for d in range(max(p["peaks"], default=-1)
                                                                      + 1)] for p in self.items],
                 [p["peaks"] for p in said])
