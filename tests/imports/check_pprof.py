#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope import` of a heap profile of known content, in the form in which JAX writes it, and of one that
vramscope exports; damaged and hostile ones are refused.

    check_pprof.py COMMAND      exit 1 and a line per problem
    check_pprof.py --corpus OUT     writes the profile as an input of the fuzzer
"""
import gzip
import os
import re
import resource
import sys
import tempfile

from imported import Imported, Problems

KIB = 1 << 10
PLACES = [("ones", "/env/lib/python3.11/site-packages/jax/_src/numpy/array_creation.py", 98),
          ("weights", "/home/user/train.py", 12), ("<module>", "/home/user/train.py", 40),
          ("tsl::BFCAllocator::Allocate", "xla/tsl/framework/bfc_allocator.cc", 400)]
SAMPLES = [((0, 1, 2), 3, 10 * KIB, "cuda:0"), ((3, 2), 1, 7 * KIB, "cuda:1"), ((1, 2), 5, 999, "cpu:0"),
           ((2,), 1, 0, None), ((1,) * 200, 0, 512, "cuda:0")] # places from the innermost on, blocks, bytes


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile(samples=SAMPLES, types=("allocations", "space"), packed=True, more=b"", apart=False):
    """*apart*: each value in a field of its own, and so the last two locations, which the format allows as well."""
    strings = ["", *types, "device"]

    def text(word):
        if word not in strings:
            strings.append(word)
        return strings.index(word)

    out = b"".join(field(1, field(1, text(t))) for t in types)
    for places, count, size, device in samples:
        ids = [place + 1 for place in places]
        label = field(3, field(1, text("device")) + field(2, text(device))) if device else b""
        single = ids[-2:] if apart else []
        out += field(2, field(1, b"".join(map(varint, ids[:len(ids) - len(single)]))) +
                     b"".join(field(1, i) for i in single) +
                     (field(2, count) + field(2, size) if apart else field(2, varint(count) + varint(size))) + label)
    for number, (name, path, line) in enumerate(PLACES, 1):
        out += field(4, field(1, number) + field(4, field(1, number) + field(2, line)))
        out += field(5, field(1, number) + field(2, text(name)) + field(4, text(path)))
    out += b"".join(field(6, s.encode()) for s in strings) + more
    return gzip.compress(out, mtime=0) if packed else out


def main():
    if sys.argv[1] == "--corpus":
        with open(sys.argv[2], "wb") as file:
            file.write(b"\x04" + profile(packed=False, apart=True))
        return 0
    problems = Problems()
    with tempfile.TemporaryDirectory() as folder:
        def load(name, content):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            return Imported(sys.argv[1], path, path + ".vst")

        made = load("memory.prof", profile())
        _, memory = made.live()
        problems.equal("blocks", {d: sorted(b.values()) for d, b in memory.items()},
                       {0: [512, 3413, 3413, 3414], 1: [7168]})
        problems.true(f"said: {made.out}",
                      "17.5 KiB in 5 blocks" in made.out and "1 sample of memory of the host" in made.out)
        first, second = made.report()["devices"]
        problems.equal("sites", [d["sites_at_peak_allocated"]["sites"][0]["text"] for d in (first, second)],
                       ["weights (train.py:12) < <module>:40",
                        "tsl::BFCAllocator::Allocate (bfc_allocator.cc:400) < <module> (train.py:40)"])
        problems.equal("not called a pool", first["frameworks"], [])
        host = load("host.prof", profile([((1,), 1, 512, None)]))
        problems.equal("memory of no device has a name", [d["name"] for d in (first, *host.report()["devices"])],
                       ["", "memory without a device (the profile names none)"])
        apart = load("apart.prof", profile(apart=True))
        problems.equal("numbers that are not packed", (apart.live()[1], apart.report()["devices"]),
                       (memory, [first, second]))
        over = load("over.prof", profile([*SAMPLES, ((1,), 1, 1 << 63, "cuda:0"), ((1,), 2 << 20, 4 << 20, "cuda:0")]))
        problems.true(f"beyond the limits: {over.out}", "left out: 2 samples outside the limits" in over.out and
                      "samples left out: 2, outside" in over.verb("report", over.path))
        with open(os.path.join(folder, "again.prof"), "wb") as file:
            made.verb("export", "-f", "pprof", made.path, "-o", file.name)
        with open(file.name, "rb") as again:
            problems.equal("exported and imported", sum(load("a", again.read()).live()[1][0].values()), 10 * KIB + 512)
        with open(sys.argv[1], "rb") as program:
            if not re.search(rb"__[at]san_init", program.read()):  # its shadow needs terabytes of addresses
                resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        # 2.5 million frames, 20000 of a name of 8 MiB, and ids that would meet in a table by hash
        name, lines = b"n" * (8 << 20), field(4, field(1, 5)) + field(4, field(1, 1)) * 124
        ids = [i * pow(0x9e3779b97f4a7c15, -1, 1 << 64) % (1 << 64) for i in range(1, 40001)]
        large = load("large.prof", profile(
            [((1, 8), 1, 64, None)] * 20000,
            more=field(4, field(1, 9) + lines) + field(5, field(1, 5) + field(2, 11)) + field(6, name) +
            b"".join(field(4, field(1, (i ^ i >> 32) or 1)) for i in ids)))
        problems.true(f"a large one: {large.err}", "left out: 4,127 samples" in large.out)
        packed = profile()
        for name, content in (("cut", packed[:-9]), ("of objects only", profile(types=("objects", "count"))),
                              ("of the host", profile([((1,), 1, 64, "cpu:0")])),
                              ("of zeros", gzip.compress(bytes(64 << 20), 1)),
                              ("another file", gzip.compress(b"\x80\x04]q\x00.")),
                              ("of endless work", profile([((3,) * 100000, 1, 64, "cuda:0")],
                                                           more=field(4, field(1, 4) + field(6, 1) * 100000))),
                              ("of many texts", gzip.compress(b"\x32\x00" * (15 << 20), 1))):
            bad = load("bad.prof", content)
            problems.equal(f"{name}: {bad.err}", (bad.code, bad.err.count("\n"), "gunzip it first" in bad.err), (2, 1, True))
    return 1 if problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
