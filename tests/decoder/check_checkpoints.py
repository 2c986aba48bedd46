#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints (docs/trace-format.md §2.8): compares the decoder in Python with the C reader, record
by record, and both with the state computed from the events before each checkpoint.

  check_checkpoints.py CHECKPOINT_TEXT RANDOM_TRACE GOLDEN_FOLDER [SEED [ROUNDS]]
      golden, random, changed and damaged checkpoints"""

import glob
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
import both_readers  # noqa: E402
import checkpoint_lines  # noqa: E402
from checkpoint_model import Model  # noqa: E402
from damage import changed, opened, rebuilt, signed_again  # noqa: E402
from vramscope import checkpoint, vst  # noqa: E402
from vramscope.records import Damage, varint  # noqa: E402

TABLE, STATE, DEFINITIONS = checkpoint.TABLE, checkpoint.STATE, checkpoint.DEFINITIONS


def add_checkpoints(tool, path, every):
    """Adds checkpoints to the trace at *path*, one at every *every*th event."""
    subprocess.run([tool, str(every)], input=path + "\n", stdout=subprocess.DEVNULL, text=True,
                   check=True, timeout=600)


def decoded(path):
    try:
        trace = vst.open(path)
    except vst.Error:
        return ["!!"]
    with trace:
        return list(checkpoint_lines.lines(trace))


class Comparison(both_readers.Comparison):
    def __init__(self, tool):
        super().__init__(tool)
        self.checkpoints = self.judged = 0

    def check(self, paths, name):
        paths = list(paths)
        texts = both_readers.read_by_c(self.tool, paths)
        for path in paths:
            ours = decoded(path)
            self.checkpoints += sum(line.startswith("checkpoint ") for line in ours)
            refused = [line for line in ours if line.endswith(" refused")]
            outcome = refused[0] if refused else "whole" if ours[:1] not in ([], ["!!"]) else "none"
            self.compare(f"{name} {os.path.basename(path)}", outcome, texts[path], ours)

    def _states(self, found, name, sensible):
        states = {}
        for c in found:
            try:
                states[c.events] = c.state()
            except Damage:
                if sensible:  # others may have sums that exceed 64 bits
                    self.wrong.append(f"{name}: the state before {c.sequence} does not fit")
        return states

    def judge(self, path, name, sensible=True):
        """Checks that each state follows from the events before it, that each definition is the
        trace's, and that the events after each checkpoint are those of the trace."""
        with vst.open(path) as trace:
            found = list(trace.checkpoints())
            states, model, events = self._states(found, name, sensible), Model(), []
            modules, modules_at = [], {}
            for event in trace:
                modules_at[len(events)] = modules
                if len(events) in states:
                    self.judged += 1
                    self.wrong += [f"{name}: at event {len(events)} {line}"
                                   for line in model.differences(states.pop(len(events)))]
                model.take(event)
                events.append(vst.canonical(event))
                if event.kind == "module":
                    modules = list(checkpoint_lines.module_lines(trace))
            if states:
                self.wrong.append(f"{name}: checkpoints at no event: {sorted(states)}")
            some = found[:1] + found[len(found) // 2:][:1] + found[-1:]
            defined = [list(checkpoint_lines.defined_up_to(trace, c.strings, c.stack_nodes)) +
                       modules_at.get(c.events, []) for c in some]
            for c, wanted in zip(some, defined):
                if list(checkpoint_lines.definition_lines(c.definitions(), 0, 0)) != wanted:
                    self.wrong.append(f"{name}: other definitions before {c.sequence}")
                if [vst.canonical(e) for e in trace.since(c)] != events[c.events:]:
                    self.wrong.append(f"{name}: other events since {c.sequence}")


# --- changed in one way ---

def payload_changed(data, what, change, once=True):
    """*data* with the payload of the (first) part *what* of a checkpoint changed."""
    done = []

    def frame(kind, codec, raw, body):
        if kind != checkpoint.FRAME_TYPE or (done and once):
            return codec, raw, body
        payload = vst.unzstd(body, raw) if codec else bytes(body)
        if struct.unpack_from("<I", payload, 4)[0] != what:
            return codec, raw, body
        done.append(1)
        payload = change(payload)
        return 0, len(payload), payload

    return rebuilt(data, frame)


def put(at, form, value):
    return lambda payload: payload[:at] + struct.pack(form, value) + \
        payload[at + struct.calcsize(form):]


def totals_cut(payload):
    """Keeps only the first 20 fields of the totals, the first record."""
    tag, size = payload[8], payload[9]
    assert tag == 1 and size < 128
    at = 10
    for _ in range(20):
        _, at = varint(payload, at)
    return payload[:9] + bytes([at - 10]) + payload[10:at] + payload[10 + size:]


def variants(data):
    """(name, file, outcome of the first checkpoint)."""
    with_kinds = struct.unpack_from("<Q", table_of(data), 8)[0]
    fewer = with_kinds & ~(1 << 52)
    all_kinds = sum(1 << kind for kind in vst.KINDS)
    yield "as it is", data, "whole"
    yield "unknown version", payload_changed(data, TABLE, put(0, "<I", 2)), "none"
    yield "a kind we do not know", payload_changed(
        data, TABLE, put(8, "<Q", with_kinds | 1 << 59)), "none"
    yield "made without `mark`", payload_changed(data, TABLE, put(8, "<Q", fewer)), "whole"
    yield "and some were unknown", payload_changed(
        payload_changed(data, TABLE, put(8, "<Q", fewer)), TABLE, put(16, "<Q", 1)), "none"
    yield "unknown alone", payload_changed(
        payload_changed(data, TABLE, put(8, "<Q", with_kinds | all_kinds)), TABLE, put(16, "<Q", 1)), "whole"
    yield "other frames", payload_changed(data, TABLE, put(24, "<Q", 1)), "none"
    yield "more frames than there are", payload_changed(data, TABLE, put(32, "<Q", 1 << 40)), "none"
    yield "fewer frames than checkpoints", payload_changed(payload_changed(
        data, TABLE, put(24, "<Q", fingerprint_of(data, 3))), TABLE, put(32, "<Q", 3)), "none"
    yield "a frame too much", payload_changed(data, TABLE, put(68, "<I", 1)), "none"
    yield "cut table", payload_changed(data, TABLE, lambda p: p[:-1]), "none"
    yield "longer table", payload_changed(data, TABLE, lambda p: p + bytes(9)), "whole"
    yield "before frame 0", payload_changed(data, TABLE, put(72, "<Q", 0)), "none"
    yield "other first event", payload_changed(data, TABLE, put(80, "<Q", 1)), "none"
    yield "of another moment", payload_changed(data, TABLE, put(88, "<Q", 0)), "state refused"
    yield "more texts", payload_changed(data, TABLE, put(104, "<Q", 0)), "definitions refused"
    yield "unknown tag", payload_changed(data, STATE, lambda p: p + b"\x63\x02\x80\x00"), "whole"
    yield "tag 0", payload_changed(data, STATE, lambda p: p + b"\x00\x00"), "state refused"
    yield "cut record", payload_changed(data, STATE, lambda p: p + b"\x63\x02\x80"), "state refused"
    yield "fields to come", payload_changed(
        data, STATE, lambda p: p[:9] + bytes([p[9] + 6]) + p[10:10 + p[9]] +
        b"\0\0\0\0\x07\x08" + p[10 + p[9]:]), "whole"  # the first four came since
    yield "fields of before", payload_changed(data, STATE, totals_cut), "whole"
    yield "nothing in it", payload_changed(data, STATE, lambda p: p[:8]), "state refused"
    yield "not definitions", payload_changed(
        data, DEFINITIONS, lambda p: p + b"\xd0"), "definitions refused"
    yield "a module with a thread", payload_changed(
        data, DEFINITIONS, lambda p: p + b"\xc7" + bytes(9)), "definitions refused"


def in_trace(data, get):
    """Returns get(trace) of the trace with the bytes *data*."""
    with tempfile.NamedTemporaryFile(suffix=".vst") as file:
        file.write(data)
        file.flush()
        with vst.open(file.name) as trace:
            return get(trace)


def table_of(data):
    return in_trace(data, lambda trace: trace.read_frame(
        [e.offset for e in trace.directory() if e.type == checkpoint.FRAME_TYPE][-1])[2])


def fingerprint_of(data, count):
    return in_trace(data, lambda trace: checkpoint.fingerprint(trace.frames()[:count]))


def write(folder, name, data):
    path = os.path.join(folder, name.replace(" ", "_") + ".vst")
    with open(path, "wb") as out:
        out.write(data)
    return path


def check_command(comparison, path):
    """python3 -m vramscope.vst --checkpoints: prints the table, then each checkpoint with its
    state."""
    done = subprocess.run([sys.executable, "-m", "vramscope.vst", "--checkpoints", path],
                          capture_output=True, timeout=600, check=False,
                          env=dict(os.environ, PYTHONPATH=sys.path[0]))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    with vst.open(path) as trace:
        wanted = [(c.sequence, c.state()["totals"]["events"]) for c in trace.checkpoints()]
    if done.returncode or done.stderr or not rows or rows[0]["count"] != len(wanted) or \
            [(r["sequence"], r["state"]["totals"]["events"]) for r in rows[1:]] != wanted:
        comparison.wrong.append(f"--checkpoints: status {done.returncode}, {done.stderr[:300]}")


def check_variants(comparison, folder, data):
    for name, file, wanted in variants(data):
        path = write(folder, name, file)
        comparison.check([path], "changed:")
        lines = decoded(path)
        refused = [line for line in lines if line.endswith(" refused")]
        outcome = refused[0] if refused else "whole" if lines else "none"
        if outcome != wanted:
            comparison.wrong.append(f"{name}: {outcome}, not {wanted}")


def check_random(comparison, folder, generator, rng):
    """Random traces with checkpoints; returns the smallest one's path."""
    for i, (events, compression, every) in enumerate((
            (2500, 1, 300), (700, 0, 90), (700, 3, 200), (100, 3, 20))):
        path = os.path.join(folder, f"random.{i}.vst")
        subprocess.run([generator, str(rng.randrange(1 << 60)), str(events), str(compression), path],
                       check=True, timeout=600)
        add_checkpoints(comparison.tool, path, every)
        comparison.check([path], "random")
        comparison.judge(path, os.path.basename(path), False)
    return path


def check_golden(comparison, folder, files):
    """Unchanged, and with new checkpoints before every frame."""
    comparison.check(files, "golden")
    for path in files:
        name = os.path.basename(path)
        comparison.judge(path, name)
        copy = shutil.copyfile(path, os.path.join(folder, name))
        add_checkpoints(comparison.tool, copy, 1)
        comparison.check([copy], "golden, made now:")
        comparison.judge(copy, name + " made now", "checkpoints" in name)


def main():
    tool, generator, golden, *rest = sys.argv[1:]
    seed = int(rest[0]) if rest else time.time_ns() % 10**9
    print("seed", seed)
    rng, comparison = random.Random(seed), Comparison(tool)
    folder = tempfile.mkdtemp(prefix="checkpoints-")
    try:
        check_golden(comparison, folder, sorted(glob.glob(os.path.join(golden, "*.vst"))))
        path = os.path.join(golden, "v2_0_checkpoints.vst")
        with open(path[:-4] + ".checkpoints.txt", encoding="utf-8") as file:
            if decoded(path) != file.read().split("\n")[:-1]:
                comparison.wrong.append(f"{path}: not as it always was")
        check_command(comparison, path)
        last = check_random(comparison, folder, generator, rng)
        with open(path, "rb") as file:
            check_variants(comparison, folder, file.read())
        rounds = int(rest[1]) if len(rest) > 1 else 60
        for source in (path, last):
            with open(source, "rb") as file:
                loose = opened(file.read())
            comparison.check([write(folder, f"damaged {i}", signed(loose, rng))
                              for i in range(rounds // 2)], os.path.basename(source))
        comparison.expect({"whole", "none", "state refused", "definitions refused"})
        return comparison.close(f"{comparison.checkpoints:,} checkpoints compared, "
                                f"{comparison.judged} of them with the events")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def signed(loose, rng):
    """With changes in the checkpoints' frames or the directory, and correct checksums."""
    types = (checkpoint.FRAME_TYPE,) if rng.random() < 0.8 else (checkpoint.FRAME_TYPE,
                                                                 vst.DIRECTORY)
    return signed_again(changed(loose, rng, rng.random() < 0.1, types))


if __name__ == "__main__":
    sys.exit(main())
