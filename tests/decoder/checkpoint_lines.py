# SPDX-License-Identifier: Apache-2.0
"""A trace's checkpoints by the decoder, in the text format of checkpoint_print.c."""

from vramscope.checkpoint_state import COUNTS, NEW, nothing
from vramscope.records import KINDS, Damage

SETS = ("device", "context", "stream", "thread", "range_start")
LINES = {"option": 100, "note": 100, "dropped": 100}
KEPT_MAX = 1 << 18


SHOWN = {b: f"\\x{b:02x}" for b in range(256) if not 0x20 <= b < 0x7F}
SHOWN.update({ord(c): "\\" + c for c in '"\\'})


def quoted(data):
    """Bytes as text, up to a NUL."""
    data = data.encode() if isinstance(data, str) else data
    return '"' + data.split(b"\0")[0].decode("latin-1").translate(SHOWN) + '"'


def flat(value):
    """The numbers of a record, in order; a list is preceded by its length."""
    if isinstance(value, dict):
        for part in value.values():
            yield from flat(part)
    elif isinstance(value, list):
        yield len(value)
        for part in value:
            yield from flat(part)
    elif isinstance(value, bytes):
        yield quoted(value)
    else:
        yield value or 0


class Retained:
    """The earlier events that still matter (tag 14)."""

    def __init__(self):
        self.items, self.lines = [], dict.fromkeys(LINES, 0)

    def _find(self, name, key):
        for i, (other, event) in enumerate(self.items):
            if other == name and event["fields"][0] == key:
                return i
        return None

    def _add(self, name, event):
        if len(self.items) < KEPT_MAX:
            self.items.append((name, event))

    def take(self, event):
        """*event* as stored in a state, with all known fields."""
        name, names, _ = KINDS[event["kind"]]
        fields = dict(zip(names, event["fields"]))
        if name == "process":
            if not self.items or self.items[0][0] != name:
                self._add(name, event)
        elif name in LINES:
            if self.lines[name] < LINES[name]:
                self.lines[name] += 1
                self._add(name, event)
        elif name in SETS:
            at = self._find(name, event["fields"][0])
            if name in ("context", "stream") and not fields["alive"]:
                if at is not None:
                    del self.items[at]
            elif at is None:
                self._add(name, event)
            else:
                self.items[at] = (name, event)
        elif name == "range_end":
            at = self._find("range_start", fields["range"])
            if at is not None:
                del self.items[at]
        elif name == "range_push":
            self._add(name, event)
        elif name == "range_pop":
            self._pop(event["tid"], fields["domain"])

    def _pop(self, tid, domain):
        for i in range(len(self.items) - 1, -1, -1):
            name, event = self.items[i]
            if name == "range_push" and event["tid"] == tid and event["fields"][1] == domain:
                del self.items[i]
                return

    def events(self):
        return [event for _, event in self.items]


def known_fields(event):
    """The event with exactly the fields of its kind."""
    count = len(KINDS[event["kind"]][1])
    return dict(event, fields=(event["fields"] + [0] * count)[:count])


def _filled(items, name, count):
    return items + [nothing(name)] * (count - len(items))


def normal(state):
    """The state with missing fields filled in, in the order of comparison."""
    out = dict(state)
    totals = dict(state["totals"])
    for name in ("process", "end"):
        totals[name] = totals[name] and known_fields(totals[name])
    totals["recording"] = dict(totals["recording"])
    totals["recording"]["since"] = {i: x for i, x in enumerate(totals["recording"]["since"])}
    out["totals"] = [totals]
    phases = {0: nothing("phase")}
    phases.update((p["index"], p) for p in state["phases"])
    out["phases"] = [dict(p, prefix=p["prefix"][:-1] if p["prefix"] else p["name"])
                     for p in phases.values()]
    hosts = [a for a in state["accounts"] if a["is_host"]] or [dict(nothing("account"), is_host=1)]
    devices = [a for a in state["accounts"] if not a["is_host"]]
    out["accounts"] = [dict(a, families=_filled(a["families"], "family", COUNTS["families"]),
                            unrecorded=dict(enumerate(a["unrecorded"])))
                       for a in devices + hosts[-1:]]
    usage = {u["device"]: u for u in state["usage"]}
    out["usage"] = [usage.get(i, dict(nothing("usage"), device=i)) for i in range(len(devices))]
    for u in out["usage"]:
        u["contexts"] = [dict(c, sizes=dict(enumerate(c["sizes"]))) for c in u["contexts"]]
    for t in state["threads"]:
        t["ranges"] = dict(enumerate(t["ranges"]))
    for name, key in (("open_steps", "range"), ("framework_live", "addr")):
        merged = {x[key]: x for x in state[name]}
        out[name] = [merged[k] for k in sorted(merged)]
    out["live"] = [dict(addr=x["addr"], requested=x["requested"], size=x["size"], time=x["time"],
                        context=x["context"], epoch=x["epoch"], site=x["site"],
                        family=x["family"], device=x["device"], in_segment=x["flags"] & 1,
                        counted=x["flags"] >> 1 & 1)
                   for x in sorted(state["live"], key=lambda x: x["addr"])]
    out["activities"] = [dict(a, copies=_filled(a["copies"], "sum", COUNTS["copies"]))
                         for a in state["activities"]]
    retained = Retained()
    for event in state["events"]:
        retained.take(known_fields(event))
    out["events"] = retained.events()
    if not totals["stops"]: # not in the states of earlier versions
        out["totals"] = [{k: v for k, v in x.items() if not k.startswith("stop")} for x in out["totals"]]
    if not totals["user_level"]:
        _without_user_level(out)
    else:
        out["backing"] = [dict(site=n) for n in sorted({x["site"] for x in state["backing"]})]
        levels = {x["device"]: x for x in state["user_levels"]}
        out["user_levels"] = [levels[i] for i in sorted(levels)]
    return out


# fields and records of states of later versions
USERS = {"totals": "user_level mark mark_thread mark_depth",
         "phases": "user_allocations user_bytes user_peaks", "threads": "latest_framework_address",
         "failures": "mark device_requested device_event device_stack attempts answered overhead"}


def _without_user_level(out):
    for name, fields in USERS.items():
        out[name] = [{k: v for k, v in x.items() if k not in fields.split()} for x in out[name]]
    for name in NEW:
        out[name] = []


def state_lines(state):
    for name, records in normal(state).items():
        for record in records:
            yield " ".join([name] + [str(x) for x in flat(record)])


def defined_up_to(found, texts, nodes, after=(0, 0)):
    """The texts and stack nodes up to these numbers, starting after *after*."""
    for text_id in range(after[0] + 1, texts + 1):
        yield "string " + quoted(found.string(text_id))
    for number in range(after[1] + 1, nodes + 1):
        pc, parent, module = found.node(number)
        yield f"node {pc} {parent} {module.index + 1 if module else 0}"


def definition_lines(found, texts, nodes):
    """The definitions after the first *texts* and *nodes*, and all modules."""
    yield from defined_up_to(found, *found.counts(), (texts, nodes))
    yield from module_lines(found)


def module_lines(found):
    for m in found.modules():
        yield (f"module {m.base} {m.start} {m.end} {quoted(m.path)} {quoted(m.build_id)} "
               f"{quoted(m.function)}")


def lines(trace):
    found = trace.checkpoints()
    if found.table:
        yield "table " + " ".join(map(str, found.table))
    texts = nodes = 0
    growing = found.growing_definitions()
    for one in found:
        yield "checkpoint " + " ".join(map(str, one[:8]))
        try:
            yield from definition_lines(next(growing), texts, nodes)
        except Damage:
            yield "definitions refused"
            return
        texts, nodes = one.strings, one.stack_nodes
        try:
            yield from state_lines(one.state())
        except Damage:
            yield "state refused"
