# SPDX-License-Identifier: Apache-2.0
"""The page of a long trace, whose post-mortem is made on a thread of its own: it has the post-mortem of
`vramscope oom`, the blocks around that failure, and needs little memory.

    check_long_page.py VRAMSCOPE MAKE_VIEW_TRACE"""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

EVENTS = 1200000
SHOWN = 50000
MEMORY_KIB = 512 * 1024


def without(value, key):
    if isinstance(value, dict):
        return {k: without(v, key) for k, v in value.items() if k != key}
    return [without(v, key) for v in value] if isinstance(value, list) else value


def main():
    command, maker = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        trace, page = f"{folder}/long.vst", pathlib.Path(folder, "long.html")
        subprocess.run([maker, trace, str(EVENTS)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([command, "view", "--events", str(SHOWN), trace, "-o", str(page)], check=True,
                       capture_output=True)
        text = page.read_text(encoding="utf-8")
        done = subprocess.run([command, "oom", "--json", trace], check=False, capture_output=True)
    head = json.loads(re.search(r'<script type="application/json" id="head">(.*?)</script>', text).group(1))
    wanted = json.loads(done.stdout)
    assert without(head["oom"], "frames") == without(wanted, "frames"), "another post-mortem"
    window = head["window"]
    assert window["first_event"] <= wanted["failure"]["event"] <= window["last_event"], (window, wanted["failure"])
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert used < MEMORY_KIB, f"{used} KiB"
    print("ok")


if __name__ == "__main__":
    main()
