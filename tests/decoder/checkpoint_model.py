# SPDX-License-Identifier: Apache-2.0
"""The expected state of a checkpoint, computed from the events before it by docs/trace-format.md
alone (§3.4 to §3.6), independently of the C replay: live allocations, segments, every device's
and the host's numbers and peaks, call sites, failures, kernels and copies, and the events that
still matter.

model.take(event) for each event, then model.differences(state): lines of text, none when the
state is correct."""
from checkpoint_lines import Retained, known_fields
from checkpoint_parts import DESCRIBED, FAMILIES, GRAPH, MASK, PEAKS, Account, Segments, raw
from phase_model import OUTSIDE, Phases
from vramscope.records import KINDS

HOST, HOST_FAMILIES, ASYNC, IPC, DEVICE = 64, (3, 8), 1, 6, 0
DEVICES_MAX, FAILURES_KEPT, COPY_KINDS = 64, 256, 11
LEVELS, REASONS = 2, 3  # of an event unrecorded
# undefined by the format where segments overlap
UNCERTAIN = ("unmatched_frees reserved segment_bytes segments segments_allocated segments_freed "
             "block_bytes live failures").split()


def place_of(record):
    return tuple(record["place"].values())


class Model:
    def __init__(self):
        self.events = self.first_ns = self.now_ns = self.unmatched = self.failed = 0
        self.ignored = self.activity_end = 0
        self.process = self.end = None
        self.accounts, self.host = {}, Account(0)
        self.live, self.segments, self.framework = {}, Segments(), {}
        self.sites, self.order = {}, []
        self.failures, self.kernels, self.activities = [], {}, {}
        self.phases, self.latest = Phases(), {}
        self.retained = Retained()
        self.all_recorded = True
        self.sensible = True  # segments do not overlap

    # --- one event ---

    def take(self, event):
        if event.code not in KINDS:
            return
        f = raw(event)
        self.events += 1
        self.first_ns = self.first_ns or event.time_ns
        self.now_ns = event.time_ns
        plain = dict(kind=event.code, tid=event.tid, time=event.time_ns, fields=[
            v & MASK for v in f.values()])
        self.retained.take(plain)
        handler = getattr(self, "_" + event.kind, None)
        if handler:
            handler(f, event)
        if event.kind in ("process", "end") and (event.kind == "end" or not self.process):
            setattr(self, event.kind, plain)

    def _raise(self, account, event):
        account.raised(self.events, self.now_ns, self.phases.place(event.tid))

    def account(self, device):
        """None when there are too many."""
        if device not in self.accounts:
            if len(self.accounts) == DEVICES_MAX:
                self.ignored += 1
                return None
            self.accounts[device] = Account(device)
        return self.accounts[device]

    def _device(self, f, _):
        account = self.account(f["device"])
        if account:
            account.n.update({name: f[name] for name in DESCRIBED}, described=1)

    def _alloc(self, f, event):
        if f["family"] >= FAMILIES or not f["addr"]:
            return
        host = f["family"] in HOST_FAMILIES
        account = self.host if host else self.account(f["device"])
        if not account:
            return
        if f["addr"] in self.live:  # its free was not recorded
            self.unmatched += 1
            self._drop(self.live[f["addr"]], True)
        segment = self.segments.at(f["addr"]) if f["family"] == DEVICE else None
        item = dict(addr=f["addr"], requested=f["requested"], size=f["size"], time=self.now_ns,
                    context=f["context"], epoch=self.phases.epoch(), family=f["family"],
                    account=account,
                    in_segment=int(bool(segment) and segment["account"] is account),
                    counted=int(f["family"] != IPC))
        key = (account, f["stack"] or ("api", f["api"]))
        if key not in self.sites:
            self.order.append(key)
            self.sites[key] = dict.fromkeys("allocs frees bytes largest live_bytes live_number "
                                            "lost_bytes lost temporaries lifetimes_ns".split(), 0)
        item["site"] = site = self.sites[key]
        site.update(stack=f["stack"], api=f["api"], family=f["family"])
        self.live[f["addr"]] = item
        self._count(item, account, site)
        self.latest[event.tid] = f["addr"]
        self.phases.thread(event.tid)
        self._raise(account, event)
        phase = self.phases.items[self.phases.place(event.tid)[0]]
        phase["allocations"] += 1
        phase["bytes"] = (phase["bytes"] + f["requested"]) & MASK
        self.phases.level(self.phases.place(event.tid)[0], self._index(account),
                          account.n["allocated"])
        self._served(account, event, f["requested"], f["stack"], False)

    def _served(self, account, event, size, stack, framework):
        """*size* bytes were allocated: answers to the thread's failures, recovery from small ones and
        from those of the same call site on the same thread."""
        for failure in self.failures:
            if failure["account"] is not account or failure["overhead"]:
                continue
            failure["answered"] |= failure["thread"] == event.tid
            less = (failure["thread"] == event.tid and stack and failure["stack"] == stack and
                    size < failure["requested"] and failure["framework"] == framework)
            goes_on = failure["thread"] == event.tid or failure["framework"]
            if less or goes_on and size >= failure["requested"] and failure["framework"] >= framework:
                failure["recovered"] = 1

    def _count(self, item, account, site):
        family, size = account.families[item["family"]], item["size"]
        for counts in (family, site):
            counts["allocs"] += 1
            counts["bytes"] = (counts["bytes"] + item["requested"]) & MASK
            counts["live_bytes"] = (counts["live_bytes"] + size) & MASK
            counts["live_number"] += 1
        family["peak"] = max(family["peak"], family["live_bytes"])
        site["largest"] = max(site["largest"], item["requested"])
        self._hold(item, account, 1)
        if item["counted"]:
            for name in ("largest", "step_largest"):
                account.n[name] = max(account.n[name], size)

    def _hold(self, item, account, sign):
        """Bytes that are counted, or no longer counted."""
        if not item["counted"]:
            return
        account.add(sign, allocated=item["size"], requested=item["requested"])
        if item["in_segment"]:
            account.add(sign, block_bytes=item["size"])
        elif item["family"] != GRAPH:
            account.add(sign, reserved=item["size"])
        else:
            self._graphs(account)

    @staticmethod
    def _graphs(account):
        held, account.held = account.held, account.graphs()
        account.add(1, reserved=account.held - held)

    def _drop(self, item, freed):
        account, site = item["account"], item["site"]
        family = account.families[item["family"]]
        for counts in (family, site):
            counts["live_bytes"] = (counts["live_bytes"] - item["size"]) & MASK
            counts["live_number"] -= 1
        self._hold(item, account, -1)
        if freed:
            family["frees"] += 1
            site["frees"] += 1
            site["lifetimes_ns"] = (site["lifetimes_ns"] + self.now_ns - item["time"]) & MASK
            account.add(1, freed_bytes=item["size"])
        else:
            site["lost_bytes"] = (site["lost_bytes"] + item["size"]) & MASK
            site["lost"] += 1
            account.add(item["counted"], lost_bytes=item["size"], lost=1)
        del self.live[item["addr"]]

    def _free(self, f, event):
        item = self.live.get(f["addr"]) if f["addr"] else None
        if not item:
            self.unmatched += f["addr"] != 0
            return
        self.phases.thread(event.tid)
        if self.latest.get(event.tid) == f["addr"]:
            item["site"]["temporaries"] += 1
            self.latest[event.tid] = 0
        self._drop(item, True)

    def _alloc_failed(self, f, event, framework=0, overhead=0):
        self_family = f.get("family", 0)
        family = self_family if self_family < FAMILIES else DEVICE
        account = self.host if family in HOST_FAMILIES else self.account(f["device"])
        if not account:
            return
        self.failed += 1
        if framework:
            account.n["framework_failures"] += 1
        elif not overhead:
            account.families[family]["failures"] += 1
        failure = dict(
            event=self.events, time=self.now_ns, requested=0 if overhead else f["requested"],
            overhead=overhead, context=f.get("context", 0), stream=f.get("stream", 0), api=f.get("api", 0),
            stack=f["stack"], error=f.get("error", 0), allocated=account.n["allocated"],
            reserved=account.n["reserved"], thread=event.tid, framework=framework, recovered=0,
            family=family, account=account, steps_begun=self.phases.steps["begun"],
            place=self.phases.place(event.tid), answered=False,
            attempts=1 - framework)
        if account is not self.host:
            self._reading(account, f.get("device_free_bytes", 0), f.get("device_total_bytes", 0), event)
        if framework:
            self._join(failure)
        self.failures.append(failure)
        del self.failures[:-FAILURES_KEPT]

    def _join(self, failure):
        """What the device refused and the framework then raised is one failure."""
        found = False
        for before in [x for x in self.failures[::-1] if x["thread"] == failure["thread"] and
                       x["account"] is failure["account"]]:
            if before["framework"] or before["overhead"] or before["answered"] or before["recovered"] or \
                    before["requested"] < failure["requested"]:
                return
            if not found:
                failure.update({name: before[name] for name in "context stream api error family".split()})
            found = True
            failure["attempts"] += before["attempts"]
            self.failures.remove(before)
            self.failed -= 1

    def _framework_oom(self, f, event):
        self._alloc_failed(f, event, 1)

    def _overhead_failed(self, f, event):
        """Memory that is no allocation, of unknown size; *what* is 0 to 3, and others are code."""
        self._alloc_failed(f, event, overhead=1 + (f["what"] if f["what"] <= 3 else 1))

    # --- segments ---

    def _forget(self, segment, freed):
        """Removes a whole segment."""
        self.segments.take(segment["addr"])
        if not segment["is_view"]:
            segment["account"].add(-1, segment_bytes=segment["size"], reserved=segment["size"],
                                   segments=1)
            segment["account"].add(freed, segments_freed=1)

    def _judge(self, f):
        if f["addr"] + f["size"] > MASK or self.segments.overlap(f["addr"], f["size"]):
            self.sensible = False

    def _segment_alloc(self, f, event):
        account = self.account(f["device"])
        if not account or not f["size"]:
            return
        self._judge(f)
        if self._unmap(f["addr"], f["size"]):
            self.unmatched += 1
        old = self.segments.by_addr.get(f["addr"])
        if old:
            self.unmatched += not old["is_view"]
            self._forget(old, 0)
        self.segments.put(dict(addr=f["addr"], size=f["size"], context=f["context"],
                               stream=f["stream"], pool=f["pool"], account=account, mapped=0,
                               is_view=0))
        account.add(1, segment_bytes=f["size"], reserved=f["size"], segments=1,
                    segments_allocated=1)
        self._raise(account, event)

    def _segment_free(self, f, _):
        segment = self.segments.by_addr.get(f["addr"])
        if segment:
            self._forget(segment, 1)
        else:
            self.unmatched += 1

    def _segment_map(self, f, event):
        account = self.account(f["device"])
        if not account or not f["size"]:
            return
        self._judge(f)
        if self.segments.overlap(f["addr"], f["size"]):
            self.unmatched += 1
            return
        new = dict(addr=f["addr"], size=f["size"], context=f["context"], stream=f["stream"],
                   pool=f["pool"], account=account, mapped=1, is_view=int(not f["reserved"]))
        joined = 0
        before = self.segments.at(f["addr"] - 1)
        if before and self._alike(before, new):
            new.update(addr=before["addr"], size=before["size"] + new["size"])
            self.segments.take(before["addr"])
            joined += 1
        after = self.segments.by_addr.get(new["addr"] + new["size"])
        if after and self._alike(after, new):
            new["size"] += after["size"]
            self.segments.take(after["addr"])
            joined += 1
        self.segments.put(new)
        if not new["is_view"]:
            account.add(1, segment_bytes=f["size"], reserved=f["size"], segments=1 - joined,
                        segments_allocated=1)
            self._raise(account, event)

    @staticmethod
    def _alike(a, b):
        """Whether one joins the other; a second mapping of the same memory stays separate."""
        return a["mapped"] and not a["is_view"] and not b["is_view"] and all(
            a[name] == b[name] for name in ("account", "context", "stream", "pool"))

    def _unmap(self, addr, size):
        """The account of the memory mapped there; None when there was none."""
        whose = None
        for segment in self.segments.overlap(addr, size) if size else ():
            if not segment["mapped"]:
                continue
            whose = segment["account"]
            self.segments.take(segment["addr"])
            start, end = segment["addr"], segment["addr"] + segment["size"]
            left = [(start, addr), (addr + size, end)]
            parts = [(a, b) for a, b in left if b > a]
            for a, b in parts:
                self.segments.put(dict(segment, addr=a, size=b - a))
            if not segment["is_view"]:
                gone = segment["size"] - sum(b - a for a, b in parts)
                whose.add(-1, segment_bytes=gone, reserved=gone, segments=1 - len(parts))
        return whose

    def _segment_unmap(self, f, _):
        whose = self._unmap(f["addr"], f["size"])
        if whose:
            whose.add(1, segments_freed=1)
        else:
            self.unmatched += 1

    # --- other memory ---

    def _context(self, f, _):
        account = self.account(f["device"]) if f["context"] else None
        if account and f["alive"]:
            for failure in self.failures:
                if failure["account"] is account and failure["overhead"] == 1:
                    failure["recovered"] = 1
        if not account or f["alive"]:
            return
        for item in [x for x in self.live.values() if x["context"] == f["context"] and
                     x["account"] is account and x["family"] != ASYNC]:
            self._drop(item, False)
        for segment in [s for s in self.segments.by_addr.values() if
                        s["context"] == f["context"] and s["account"] is account]:
            self._forget(segment, 0)

    def _framework_alloc(self, f, event):
        account = self.account(f["device"])
        if not account or not f["addr"]:
            return
        self.phases.thread(event.tid)
        n, old = account.n, self.framework.pop(f["addr"], 0)
        n["framework_allocated"] -= min(old, n["framework_allocated"])
        if event.kind == "framework_free":
            n["framework_frees"] += 1
            return
        self.framework[f["addr"]] = f["size"]
        n["framework_allocs"] += 1
        account.add(1, framework_allocated=f["size"])
        n["framework_allocated_high"] = max(n["framework_allocated_high"], n["framework_allocated"])
        n["framework_reserved_high"] = max(n["framework_reserved_high"], f["total_reserved"])
        self._served(account, event, f["size"], f["stack"], True)

    _framework_free = _framework_alloc

    def _device_sample(self, f, event):
        account = self.account(f["device"])
        if not account:
            return
        free, total = f["free_bytes"], f["total_bytes"]
        account.n.update(sample_free=free, sample_total=total)
        self._reading(account, free, total, event)

    def _reading(self, account, free, total, event):
        if total and free <= total:
            now = (total - free, free, total, self.events, self.now_ns,
                   self.phases.place(event.tid))
            highest = account.use[0]
            account.use = highest if highest and highest[0] >= now[0] else now, now

    def _graph_memory(self, f, event):
        account = self.account(f["device"])
        if account:
            n = account.n
            n["graph_reserved"] = f["reserved"]
            n["graph_reserved_high"] = max(n["graph_reserved_high"], f["reserved_high"])
            n["graph_used_high"] = max(n["graph_used_high"], f["used_high"])
            self._graphs(account)
            self._raise(account, event)

    def _device_usage(self, f, _):
        self.account(f["device"])

    _overhead = _device_usage

    def _unrecorded(self, f, _):
        self.all_recorded = False
        if f["level"] < LEVELS and f["why"] < REASONS and f["family"] < FAMILIES and f["family"] not in HOST_FAMILIES:
            self.account(f["device"])

    # --- device activity, ranges ---

    def _kernel(self, f, event):
        row = self.activities.get(f["device"])
        if row is None and len(self.activities) < DEVICES_MAX:
            row = self.activities[f["device"]] = {
                "kernel": [0, 0, 0], "memset": [0, 0, 0], "sync": [0, 0, 0],
                "copies": [[0, 0, 0] for _ in range(COPY_KINDS)]}
        # without a start it counts when it was recorded; none ends before it starts
        start, end = (f["start_ns"], f["end_ns"]) if f["start_ns"] else (event.time_ns, event.time_ns)
        end = max(start, end)
        length = end - start
        self.activity_end = max(self.activity_end, end)  # of devices without a row, too
        if row is None:
            return
        if event.kind == "memcpy":
            kind = f["copy_kind"] if f["copy_kind"] < COPY_KINDS else 0
            sums = row["copies"][kind]
        else:
            sums = row[event.kind]
        for i, value in enumerate((1, f.get("bytes", 0), length)):
            sums[i] = (sums[i] + value) & MASK
        if event.kind == "kernel":
            key = f["name"], f["device"] & 255  # more devices than that are not distinguished
            one = self.kernels.setdefault(key, [0, 0, MASK, 0])
            one[:] = one[0] + 1, (one[1] + length) & MASK, min(one[2], length), max(one[3], length)

    _memcpy = _memset = _sync = _kernel

    def _index(self, account):
        return HOST if account is self.host else list(self.accounts.values()).index(account)

    def _process(self, f, _):
        if not self.process:
            self.phases.main = f["pid"] & 0xFFFFFFFF

    def _range_push(self, f, event):
        place = self.phases.push(event.tid, event["name"], f["domain"], event.time_ns)
        for index, account in enumerate(self.accounts.values()):
            self.phases.level(place[0], index, account.n["allocated"])

    def _range_pop(self, f, event):
        if self.phases.pop(event.tid, f["domain"], event.time_ns):
            self._step_ended()

    def _mark(self, _, event):
        self.phases.mark(event.tid, event["name"], event["domain"])

    def _range_start(self, f, event):
        self.phases.start(event.tid, f["range"], event["name"], event.time_ns)

    def _range_end(self, f, event):
        if self.phases.end(f["range"], event.time_ns):
            self._step_ended()

    def _step_ended(self):
        for account in self.accounts.values():
            account.step_ended()
        for failure in self.failures:
            if self.phases.steps["begun"] > failure["steps_begun"]:
                failure["recovered"] = 1

    # --- the comparison ---

    def differences(self, state):
        found = []
        devices = [a for a in state["accounts"] if not a["is_host"]]
        host = [a for a in state["accounts"] if a["is_host"]]
        indexes = {account: i for i, account in enumerate(self.accounts.values())}
        indexes[self.host] = HOST

        def same(what, wanted, said):
            if not state["totals"]["user_level"] and (what in ("failures", "open ranges") or
                                                      what.endswith("_use")):
                return  # earlier versions did not join them, and took no readings from failures
            if wanted != said and (self.sensible or what.split()[-1] not in UNCERTAIN):
                found.append(f"{what}: {str(wanted)[:200]} by the events, "
                             f"{str(said)[:200]} in the checkpoint")

        self._totals(same, state["totals"])
        same("devices", [a.number for a in self.accounts.values()], [a["device"] for a in devices])
        for account, said in zip(list(self.accounts.values()) + [self.host], devices + host):
            self._account(lambda what, a, b, who=said["device"], h=said["is_host"]: same(
                f"{'host' if h else 'device'} {who} {what}", a, b), account, said)
        self._lists(same, state, indexes)
        self.phases.compare(same, state, self.all_recorded, self.latest)
        retained = [known_fields(e) for e in state["events"]]
        same("events that matter", self.retained.events(), retained)
        return found

    def _totals(self, same, said):
        for name, value in (("events", self.events), ("first_ns", self.first_ns),
                            ("latest_ns", self.now_ns), ("failures", self.failed),
                            ("unmatched_frees", self.unmatched), ("ignored", self.ignored),
                            ("activity_end", self.activity_end), ("process", self.process),
                            ("end", self.end)):
            same(name, value, said[name] and known_fields(said[name])
                 if name in ("process", "end") else said[name])

    def _account(self, same, account, said):
        """Where not every change has an event, only the fields counted from events."""
        if not self.all_recorded:
            return
        for name, value in account.n.items():
            same(name, value, said[name])
        same("families", account.families, said["families"])
        for name in PEAKS:
            peak = said["peak_" + name]
            same("highest " + name, account.peaks[name],
                 (peak["bytes"], peak["event"], peak["time"], place_of(peak)))
        same("first at highest reserved", account.first_reserved,
             (said["reserved_high_ns"], tuple(said["first_reserved_place"].values())))
        for wanted, mark in zip(account.use, ("highest_use", "latest_use")):
            names = ("used", "free", "total", "event", "time")
            same(mark, wanted or (0,) * 5 + (OUTSIDE,),
                 tuple(said[mark][n] for n in names) + (place_of(said[mark]),))

    def _lists(self, same, state, indexes):
        names = "addr requested size time context epoch family".split()
        same("live", [tuple(x[n] for n in names) + (indexes[x["account"]], x["in_segment"],
                                                    x["counted"])
                      for x in sorted(self.live.values(), key=lambda x: x["addr"])],
             [tuple(x[n] for n in names) + (x["device"], x["flags"] & 1, x["flags"] >> 1 & 1)
              for x in state["live"]])
        names = "addr size context stream pool mapped is_view".split()
        same("segments", [tuple(s[n] for n in names) + (indexes[s["account"]],) for s in
                          (self.segments.by_addr[a] for a in self.segments.addrs)],
             [tuple(s[n] for n in names) + (s["device"],) for s in state["segments"]])
        names = ("stack api family allocs frees bytes largest live_bytes live_number lost_bytes "
                 "lost temporaries lifetimes_ns").split()
        same("call sites", [(indexes[k[0]],) + tuple(self.sites[k][n] for n in names)
                            for k in self.order],
             [(s["device"],) + tuple(s[n] for n in names) for s in state["call_sites"]])
        same("framework's", self.framework, {x["addr"]: x["size"] for x in state["framework_live"]})
        names = ("event time requested context stream api stack error allocated reserved "
                 "steps_begun thread framework recovered family overhead").split()
        same("failures", [tuple(f[n] for n in names) + (indexes[f["account"]], f["place"])
                          for f in self.failures],
             [tuple(f[n] for n in names) + (f["device"], place_of(f)) for f in state["failures"]])
        same("kernels", {k: tuple(v) for k, v in self.kernels.items()},
             {(k["name"], k["device"] & 255): (k["number"], k["ns"], k["shortest"], k["longest"])
              for k in state["kernels"]})
        same("activities", {d: [a["kernel"], a["memset"], a["sync"], *a["copies"]]
                            for d, a in self.activities.items()},
             {a["device"]: [list(x.values()) for x in (a["kernels"], a["memsets"], a["waits"],
                                                       *a["copies"])]
              for a in state["activities"]})
