# SPDX-License-Identifier: Apache-2.0
"""The state in a checkpoint (docs/trace-format.md §2.8): records of varints, their fields by
the document's names, and the rules for invalid states.

RECORDS is the document's table; `read_state` returns the state as lists of records.
"""
from vramscope.records import KINDS, Damage, unzigzag, varint

MASK = (1 << 64) - 1
HOST, GRAPH = 64, 7
MARKS_MAX = 1 << 22
PHASES_MAX, THREADS_MAX, FAILURES_MAX, ROOM_MAX, ACTIVITIES_MAX = 65536, 65536, 256, 262144, 64

# Numbers with an upper bound: of 32 bits, 0/1, a family, a device index, recording's *what*
BOUNDS = {"U": MASK, "H": (1 << 32) - 1, "B": 1, "F": 8, "D": HOST, "W": 3}
# Highest counts in a record
COUNTS = {"families": 9, "processes": 4, "copies": 11, "peaks": HOST + 1, "ranges": 64,
          "fields": 16, "user_peaks": HOST + 1}

# A layout is a list of (name, type, how many). Type: one of BOUNDS, S, step, text, or another
# layout. How many: None for one, a number, "?" (0/1 and then it), "[]" (number, then they) or
# the name of the field that counts them.
LAYOUTS = {}


def _layout(name, text):
    """*text*: fields with their types, "time addr:step families:family[]"."""
    fields = []
    for word in text.split():
        field, _, kind = word.partition(":")
        times = None
        if kind.endswith("?"):
            kind, times = kind[:-1], "?"
        elif kind.endswith("]"):
            kind, _, times = kind[:-1].partition("[")
            times = int(times) if times.isdigit() else times or "[]"
        fields.append((field, LAYOUTS.get(kind, kind or "U"), times))
    LAYOUTS[name] = fields
    return fields


_layout("place", "phase step_known:B step")
_layout("event", "kind:H tid:H time fields:U[]")
_layout("since", "time file_bytes")
_layout("peak", "bytes event time place:place allocated requested reserved")
_layout("family", "allocs frees failures bytes live_bytes live_number peak")
_layout("use", "used free total event time place:place")
_layout("growth", "start lately first_step first_number latest_step rises:H falls:H")
_layout("unrecorded", "allocs requested size frees freed_requested freed_size")
_layout("process", "pid bytes")
_layout("context", "context measured:B how:H sizes:S[3]")
_layout("range", "domain time place:place is_step:B")
_layout("sum", "number bytes ns")
_layout("steps", "open:B thread:H range begun done number begin total shortest longest "
                 "longest_number")
_layout("recording", "selects:B min_size sample seed limit_bytes latest:W since:since[4]")

# tag: name, whether items repeat to the record's end, layout
RECORDS = {
    1: ("totals", False, _layout(
        "totals", "events first_ns latest_ns failures unmatched_frees ignored unmatched_pops "
                  "activity_end main_thread:H step_seen:B process:event? end:event? "
                  "steps:steps recording:recording user_level:B mark mark_thread:H mark_depth:H "
                  "stops stopped_since stopped_ns")),
    2: ("phases", False, _layout(
        "phase", "index parent:H is_step:B name:text prefix:text times ns allocations bytes "
                 "peaks:U[] user_allocations user_bytes user_peaks:U[]")),
    3: ("accounts", False, _layout(
        "account", "is_host:B device name uuid total_bytes sm_count cc_major cc_minor simulated "
                   "driver_version allocated requested reserved segment_bytes segments "
                   "segments_allocated segments_freed block_bytes graph_used_high "
                   "graph_reserved graph_reserved_high graph_in_reserved reserved_high_ns "
                   "lost_bytes lost framework_allocs framework_frees framework_allocated "
                   "framework_allocated_high framework_reserved_high framework_failures "
                   "sample_free sample_total step_high steps_high step_largest steps_largest "
                   "freed_bytes largest described:B families:family[] peak_allocated:peak "
                   "peak_requested:peak peak_reserved:peak first_reserved_place:place "
                   "highest_use:use latest_use:use growth:growth unrecorded:unrecorded[12]")),
    4: ("usage", False, _layout(
        "usage", "device own pools others other_count graphs own_known:B pools_known:B "
                 "others_known:B graphs_known:B how:H processes:process[] contexts:context[]")),
    5: ("call_sites", True, _layout(
        "site", "device:D family:F stack api allocs frees bytes largest live_bytes live_number "
                "lost_bytes lost temporaries lifetimes_ns steps_largest step_largest "
                "growth:growth step_used:B")),
    6: ("threads", False, _layout(
        "thread", "tid:H latest_address open_ranges:H ranges:range[open_ranges] "
                  "latest_framework_address")),
    7: ("open_steps", True, _layout("open_step", "range number_plus_1")),
    8: ("live", True, _layout(
        "live", "addr:step requested extra:S time:step context epoch:step site:H family:F "
                "device:D flags")),
    9: ("segments", True, _layout(
        "segment", "addr:step size context stream pool device:D mapped:B is_view:B")),
    10: ("framework_live", True, _layout("framework", "addr size")),
    11: ("failures", False, _layout(
        "failure", "event time requested context stream api stack error device_free "
                   "device_total allocated reserved steps_begun thread:H framework:B recovered:B "
                   "device:D family:F place:place mark device_requested device_event "
                   "device_stack attempts answered:B overhead")),
    12: ("kernels", True, _layout("kernel", "name device number ns shortest longest")),
    13: ("activities", True, _layout(
        "activity", "device kernels:sum memsets:sum waits:sum copies:sum[]")),
    14: ("events", True, LAYOUTS["event"]),
    15: ("user_levels", False, _layout(
        "user_level", "device reports:B backing step_high steps_high step_largest steps_largest "
                      "largest freed_bytes retries peak:peak growth:growth")),
    16: ("framework_sites", True, _layout(
        "framework_site", "device:D stack mark by_mark:B allocs frees bytes largest live_bytes "
                          "live_number lost_bytes lost temporaries lifetimes_ns steps_largest "
                          "step_largest growth:growth step_used:B")),
    17: ("framework_births", True, _layout(
        "framework_birth", "time:step epoch:step site:H device:D thread:H mark:H place:place")),
    18: ("births", True, _layout("birth", "thread:H mark:H place:place")),
    19: ("backing", True, _layout("backing", "site")),
    20: ("mappings", True, _layout("mapping", "addr:step size memory device:D")),
}


class _Fields:
    """The bytes of one record."""

    def __init__(self, data, phases):
        self.data, self.at, self.before, self.phases = data, 0, {}, phases

    def left(self):
        return len(self.data) - self.at

    def number(self):
        """The next varint; 0 after the last."""
        if not self.left():
            return 0
        try:
            value, self.at = varint(self.data, self.at)
        except IndexError:
            raise Damage("is cut off") from None
        return value

    def text(self):
        size = self.number()
        if size > self.left():
            raise Damage("contains a text that is cut off")
        self.at += size
        return bytes(self.data[self.at - size:self.at])

    def one(self, name, kind):
        if isinstance(kind, list):
            item = self.item(kind)
            if kind is LAYOUTS["place"] and item["phase"] >= self.phases:
                raise Damage("refers to an undefined phase")
            return item
        if kind == "text":
            return self.text()
        value = self.number()
        if kind in BOUNDS:
            if value > BOUNDS[kind]:
                raise Damage("contains a number that is too large")
            return value
        value = unzigzag(value)
        if kind == "step":
            value = self.before[name] = (self.before.get(name, 0) + value) & MASK
            return value
        return value - (value >> 63 << 64)

    def many(self, name, kind, number):
        if kind is LAYOUTS["context"]:  # as many as the list contains
            found = []
            while len(found) < number:
                if not self.left():
                    raise Damage("states more items than it contains")
                found.append(self.one(name, kind))
            return found
        return [self.one(name, kind) for _ in range(number)]

    def count(self, item, name, times):
        if isinstance(times, int):
            return times
        if times != "[]":
            return min(item[times], COUNTS[name])
        number = self.number()
        if number > COUNTS.get(name, MASK):
            raise Damage("states more items than allowed")
        return number

    def item(self, layout):
        out = {}
        for name, kind, times in layout:
            if times is None:
                out[name] = self.one(name, kind)
            elif times == "?":
                out[name] = self.one(name, kind) if self.one(name, "B") else None
            else:
                out[name] = self.many(name, kind, self.count(out, name, times))
        if layout is LAYOUTS["event"] and out["kind"] not in KINDS:
            raise Damage("contains an event of an unknown kind")
        return out


class _State:
    """A state, checked record by record against the records before."""

    def __init__(self):
        self.found = {name: [] for name, _, _ in RECORDS.values()}
        self.phases, self.first_phase, self.devices, self.room = 1, False, 0, 0
        self.sets = {}

    def _once(self, what, key):
        """Raises Damage if a key occurs twice."""
        known = self.sets.setdefault(what, set())
        if key in known:
            raise Damage("contains a duplicate")
        known.add(key)

    def _account(self, index):
        if index >= self.devices and index != HOST:
            raise Damage("refers to an undefined device")

    def phases_(self, phase):
        outside = phase["index"] == 0 and self.phases == 1 and not self.first_phase
        if not outside and not 0 < phase["index"] == self.phases < PHASES_MAX or \
                phase["parent"] >= self.phases:
            raise Damage("has phases out of order")
        self.first_phase = self.first_phase or (outside and bool(phase["peaks"]))
        self.phases += not outside

    def accounts_(self, account):
        if not account["is_host"] and self.devices == HOST:
            raise Damage("has too many devices")
        self.devices += not account["is_host"]

    def usage_(self, usage):
        if usage["device"] >= self.devices:
            raise Damage("refers to an undefined device")
        if usage["device"] in self.sets.get("usage", ()):
            raise Damage("contains a duplicate")
        if usage["contexts"]:
            self._once("usage", usage["device"])

    def call_sites_(self, site):
        self._account(site["device"])
        if self.found["framework_sites"]:
            raise Damage("has call sites out of order")
        self._once("site", (site["device"], site["stack"] or ("api", site["api"])))

    def threads_(self, thread):
        self._once("thread", thread["tid"])
        kept, room = len(thread["ranges"]), 2
        while room < kept:
            room *= 2
        self.room += room if kept else 0
        if len(self.sets["thread"]) > THREADS_MAX or self.room > ROOM_MAX:
            raise Damage("has too many threads or ranges")

    def open_steps_(self, step):
        if not step["range"]:
            raise Damage("has no range")

    def live_(self, live):
        self._account(live["device"])
        if not live["addr"] or live["site"] >= len(self.found["call_sites"]):
            raise Damage("has memory without a call site or device")
        self._once("live", live["addr"])

    def segments_(self, segment):
        before = self.found["segments"]
        if not segment["size"] or segment["device"] >= self.devices or \
                (before and before[-1]["addr"] >= segment["addr"]):
            raise Damage("has segments out of order")

    def mappings_(self, mapping):
        before = self.found["mappings"]
        if not mapping["size"] or mapping["device"] >= self.devices or \
                (before and before[-1]["addr"] >= mapping["addr"]):
            raise Damage("has mappings out of order")

    def framework_live_(self, item):
        if not item["addr"]:
            raise Damage("has no address")
        self._once("framework", item["addr"])

    def user_levels_(self, level):
        if level["device"] >= self.devices:
            raise Damage("refers to an undefined device")
        self._once("user level", level["device"])

    def framework_sites_(self, site):
        self._account(site["device"])
        told_apart = site["mark"] < MARKS_MAX and site["stack"] >> 32 == 0
        self._once("framework site",
                   (site["device"], site["stack"], site["mark"] if told_apart else 0))

    def births_(self, _):
        if len(self.found["births"]) == len(self.found["live"]):
            raise Damage("has more births than live memory")

    def framework_births_(self, birth):
        if len(self.found["framework_births"]) == len(self.found["framework_live"]) or \
                birth["site"] >= len(self.found["framework_sites"]) or \
                birth["device"] >= self.devices:
            raise Damage("has a framework's block without a call site or device")

    def backing_(self, item):
        sites = self.found["call_sites"]
        if item["site"] >= len(sites) or sites[item["site"]]["device"] == HOST:
            raise Damage("refers to an undefined call site")

    def failures_(self, failure):
        self._account(failure["device"])
        if len(self.found["failures"]) == FAILURES_MAX:
            raise Damage("has too many failures")

    def kernels_(self, kernel):
        self._once("kernel", (kernel["name"], kernel["device"] & 255))

    def activities_(self, row):
        self._once("activity", row["device"])
        if len(self.sets["activity"]) > ACTIVITIES_MAX:
            raise Damage("has too many devices")

    def add(self, tag, data):
        if not tag or tag >> 32:
            raise Damage("has an invalid tag")
        if tag not in RECORDS:
            return
        name, repeats, layout = RECORDS[tag]
        fields = _Fields(data, self.phases)
        check = getattr(self, name + "_", None)
        while fields.left() or not repeats:
            item = fields.item(layout)
            if check:
                check(item)
            self.found[name].append(item)
            if not repeats:
                break


def read_state(payloads):
    """The state in the *payloads* of a checkpoint's state frames, after their first 8 bytes: a
    dictionary with "totals" (one record) and lists of records by the names in RECORDS, in file
    order. Unknown tags are skipped. Raises Damage if the state is invalid."""
    state = _State()
    for data in payloads:
        at = 0
        while at < len(data):
            try:
                tag, at = varint(data, at)
                size, at = varint(data, at)
            except IndexError:
                raise Damage("is cut off") from None
            if size > len(data) - at:
                raise Damage("is cut off")
            state.add(tag, data[at:at + size])
            at += size
    found = state.found
    found["totals"] = found["totals"][-1] if found["totals"] else None
    if not found["totals"] or not found["totals"]["events"] or not adds_up(found) or \
            not user_level_adds_up(found):
        raise Damage("has inconsistent sums")
    return found


# --- sums ---

def _account_adds_up(account, live, segments):
    if any(sums["allocs"] or sums["frees"] for sums in account["unrecorded"]):
        wanted = {}  # allocations without events are only in the sums
    else:
        graphs = sum(x["size"] for x in live if x["family"] == GRAPH)
        counted = [x for x in live if x["flags"] & 2]
        plain = [x for x in counted if x["family"] != GRAPH]
        blocks = sum(x["size"] for x in plain if x["flags"] & 1)
        own = [s for s in segments if not s["is_view"]]
        held = sum(s["size"] for s in own)
        wanted = {
            "allocated": sum(x["size"] for x in counted), "block_bytes": blocks,
            "requested": sum(x["requested"] for x in counted),
            "segment_bytes": held, "segments": len(own),
            "reserved": held + sum(x["size"] for x in plain) - blocks +
            max(graphs & MASK, account["graph_reserved"])}
        missing = COUNTS["families"] - len(account["families"])
        for number, family in enumerate(account["families"] + [nothing("family")] * missing):
            mine = [x["size"] for x in live if x["family"] == number]
            if family["live_bytes"] != sum(mine) & MASK or family["live_number"] != len(mine) or \
                    family["peak"] < sum(mine) & MASK:
                return False
    return all(account[name] == value & MASK for name, value in wanted.items()) and \
        all(account["peak_" + name]["bytes"] >= account[name]
            for name in ("allocated", "requested", "reserved"))


def nothing(name):
    """A record of layout *name* whose fields are all 0."""
    return _Fields(b"", 1).item(LAYOUTS[name])


def adds_up(state):
    """Whether accounts and call sites match live memory and segments. Adds "size" to the live
    records."""
    for item in state["live"]:
        item["size"] = (item["requested"] + item["extra"]) & MASK
    hosts = [nothing("account")]  # always present
    hosts += [a for a in state["accounts"] if a["is_host"]]
    accounts = dict(enumerate(a for a in state["accounts"] if not a["is_host"]))
    accounts[HOST] = hosts[-1]
    for index, account in accounts.items():
        if not _account_adds_up(account, [x for x in state["live"] if x["device"] == index],
                                [s for s in state["segments"] if s["device"] == index]):
            return False
    sites = state["call_sites"]
    return all(s["allocs"] == (s["frees"] + s["live_number"] + s["lost"]) & MASK for s in sites) \
        and sum(s["live_bytes"] for s in sites) & MASK == \
        sum(x["size"] for x in state["live"]) & MASK and \
        sum(s["live_number"] for s in sites) & MASK == len(state["live"])


NEW = ("user_levels", "framework_sites", "framework_births", "births", "backing")


def _user_level_agrees(state, level, backing):
    account = [a for a in state["accounts"] if not a["is_host"]][level["device"]]
    outside = (account["allocated"] - level["backing"]) & MASK
    outside = 0 if outside >> 63 else outside
    if level["peak"]["bytes"] < (account["framework_allocated"] + outside) & MASK:
        return False
    if any(sums["allocs"] or sums["frees"] for sums in account["unrecorded"]):
        return True
    return level["backing"] == sum(x["size"] for x in state["live"] if x["flags"] & 2 and
                                   x["device"] == level["device"] and x["site"] in backing) & MASK


def user_level_adds_up(state):
    """Whether the user's level matches the blocks of frameworks and the memory that holds them;
    states of earlier versions have none."""
    if not state["totals"]["user_level"]:
        return not any(state[name] for name in NEW)
    if len(state["births"]) != len(state["live"]) or \
            len(state["framework_births"]) != len(state["framework_live"]):
        return False
    backing = {x["site"] for x in state["backing"]}
    known = {level["device"] for level in state["user_levels"]}
    if any(state["call_sites"][site]["device"] not in known for site in backing):
        return False
    sites = state["framework_sites"]
    return all(_user_level_agrees(state, level, backing) for level in state["user_levels"]) and \
        all(s["allocs"] == (s["frees"] + s["live_number"] + s["lost"]) & MASK for s in sites) and \
        sum(s["live_bytes"] for s in sites) & MASK == \
        sum(x["size"] for x in state["framework_live"]) & MASK and \
        sum(s["live_number"] for s in sites) & MASK == len(state["framework_live"])
