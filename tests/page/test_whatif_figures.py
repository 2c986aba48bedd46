#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every figure of the page's changes equals that of `vramscope replay` with the options beside it, and every curve
has the peak of its change; on recorded traces, golden ones, and the snapshots of shared/ where there are any. No browser.

    test_whatif_figures.py VRAMSCOPE TRAIN_LM SCENARIO GOLDEN_TRACE..."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pages as made  # noqa: E402

SHARED = pathlib.Path(__file__).parents[3] / "shared/traces"
# steps that only its requests show, a limit, and a call site whose name is an expression
UNMARKED = "a load_weights device 30000000 -1;" + ("a grow_a_little tensor 3000000 -1;" + "a forward tensor 9000000 1;a backward tensor 7000000 1;") * 40
FIGURES = {"survives": "survives", **{key: f"{key}_bytes" for key in ("reserved_peak", "allocated_peak", "held_peak", "used_peak")},
           "retries": "retries"}


def page_of(command, trace, *options):
    """The page's head, and the columns of its what-if section."""
    html = subprocess.run([command, "view", *options, trace, "-o", "-"], capture_output=True, check=True, timeout=600).stdout.decode()
    head = json.loads(re.search(r'id="head">(.*?)</script>', html).group(1))
    texts = re.findall(r'id="whatif(?:\.\d+)?">(.*?)</script>', html)
    data = b"".join(zlib.decompress(made.bytes_of_text(text), -15) for text in texts)
    columns, at = {}, 0
    for column in head["sections"]["whatif"]["columns"]:
        values, last = [], 0
        for _ in range(column["count"]):
            coded = shift = 0
            more = True
            while more:
                more, coded, shift, at = data[at] & 128, coded | (data[at] & 127) << shift, shift + 7, at + 1
            last += -(coded + 1) // 2 if coded % 2 else coded // 2
            values.append(last)
        columns[column["name"]] = values
    return head, columns


def replayed(command, text):
    """The row of the change that the command *text* prints, and what it says of the trace."""
    words = shlex.split(text)
    assert words[:2] == ["vramscope", "replay"], text
    done = subprocess.run([command, "replay", "--json", *words[2:]], capture_output=True, timeout=600, check=False)
    assert done.returncode in (0, 1), (text, done.stderr)
    answer = json.loads(done.stdout)
    return answer["rows"][-1 if len(words) > 3 else 0], answer["recorded"]


def check(command, trace, *options):
    """How many changes are the same in both."""
    head, curves = page_of(command, trace, *options)
    whatif = head["whatif"]
    if whatif is None:
        return 0
    for index, row in enumerate(whatif["rows"]):
        real, recorded = replayed(command, row["command"])
        for key, member in FIGURES.items():
            assert row[key] == real[member], (trace, row, key, real[member])
        assert (row.get("failure") or {}).get("event") == (real["failure"] or {}).get("event"), (trace, row)
        assert recorded["steps"] <= max(1, head["report"]["steps"]["done"]), (trace, row["command"], recorded)
        for key in ("reserved", "allocated"):
            assert max(curves[f"{index}.{key}"]) == row[f"{key}_peak"], (trace, row, key)
    return len(whatif["rows"])


def main():
    command, golden = sys.argv[1], sys.argv[4:]
    with tempfile.TemporaryDirectory(prefix="it's a $folder ") as folder:  # commands are quoted
        pages = made.Pages(*sys.argv[1:4], folder)
        pages.recorded["unmarked"] = (made.DEVICE, [sys.argv[3], pages.script("unmarked", UNMARKED)], "--allocator=observe")
        pages.recorded["limited"] = (made.DEVICE, [sys.argv[2], "--steps", "3"], "--allocator=caching", "--limit=40MiB")
        counts = {name: check(command, pages.trace(name)) for name in pages.recorded}
        assert all(counts.values()), counts
        oom = page_of(command, pages.trace("oom"))[0]["whatif"]["rows"]
        assert not oom[0]["survives"] and any(row["what"] == "free_at_step_end" and row["survives"] for row in oom), oom
        few = page_of(command, pages.trace("oom"), "--what-if", "2")[0]["whatif"]
        assert few["tried"] == 2 and few["left_out"] > 10, few
        assert page_of(command, pages.trace("oom"), "--what-if=off")[0]["whatif"] is None
        pages.record("sampled", made.DEVICE, [sys.argv[2], "--steps", "2"], "--sample=4")
        sampled = page_of(command, pages.traces["sampled"])[0]["whatif"]
        assert not sampled["rows"] and "every allocation" in sampled["why"], sampled
        for path in golden:
            counts[path] = check(command, path)
        for path in sorted(SHARED.glob("*.pickle")):
            out = str(pathlib.Path(folder) / f"{path.stem}.vst")
            subprocess.run([command, "import", str(path), "-o", out], check=True, capture_output=True, timeout=600)
            counts[path.stem] = check(command, out)
        print(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
