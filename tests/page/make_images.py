#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/images again, and those of docs/internals: every view of the HTML page, a flame graph and `top`.

    make_images.py BUILD [--python PYTHON] [--snapshot FILE] [--out FOLDER] [--only NAME…]

BUILD: a build with train_lm. PYTHON: `bin/python` of an environment with PyTorch for CUDA; without
it torch-*.png are left as they are. FILE: a PyTorch memory snapshot, for import-*.png and
snapshot-*.png; by default gpt_medium_ctx1024_training.pickle beside the checkout, without which they
are left as they are. Runs on the simulated GPU. Needs tmux, and Pillow beside Playwright to write small files: build/browser/bin/pip install pillow
"""
import argparse
import contextlib
import io
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
from test_page_views import settle  # noqa: E402

LARGEST = 150 << 10
SNAPSHOT = ROOT.parent / "shared/traces/gpt_medium_ctx1024_training.pickle"
DEVICES = {"oom": "t4-16g,capacity=600MiB,context=200MiB", "leak": "t4-16g", "healthy": "t4-16g", "torch": "h100-80g"}
OPTIONS = {"oom": ["--leak", "16MiB", "--steps", "60"], "leak": ["--leak", "2MiB", "--steps", "20"],
           "healthy": ["--steps", "8"]}
# picture: traces, fragment of the link ({step2}: start of step 2, {end}: end of the last one),
# where to point (a selector and the share of its width and height)
PICTURES = {
    "oom-overview": (["oom"], "", None),
    "oom-segments": (["oom"], "#tab=segments&color=site", None),
    "leak-overview": (["leak"], "", None),
    "healthy-overview": (["healthy"], "", None),
    "healthy-timeline": (["healthy"], "#tab=timeline", (".view-is-timeline canvas", 0.6, 0.5)),
    "torch-overview": (["torch"], "", None),
    "torch-timeline": (["torch"], "#tab=timeline&from={step2}&to={end}", None),
    "torch-blocks": (["torch"], "#tab=blocks&color=kind&from={step2}&to={end}", (".view-is-blockmap canvas", 0.12, 0.6)),
    "torch-segments": (["torch"], "#tab=segments&color=kind", None),
    "torch-flame": (["torch"], "#tab=flame", None),
    "torch-table": (["torch"], "#tab=table&color=kind", None),
    "import-overview": (["import"], "", None),
    "import-blocks": (["import"], "#tab=blocks&color=kind", None),
    "snapshot-blocks": (["import"], "#tab=blocks&color=site", None),
    "../internals/page-stack": (["import"], "#tab=timeline&axis=events", (".view-is-timeline canvas", 0.35, 0.5)),
    "../internals/page-segments": (["import"], "#tab=timeline&bands=segments", (".view-is-timeline canvas", 0.35, 0.5)),
    "../internals/page-state": (["import"], "#tab=segments&bands=segments", (".view-is-segmentmap canvas", 0.3, 0.5)),
    "leak-steps": (["leak"], "#tab=steps", None),
    "compare": (["healthy", "leak"], "#tab=compare", None),
}


def record(name, args, folder):
    """The trace of a program; its output is not shown."""
    trace, bin_ = folder / f"{name}.vst", args.build / "bin"
    environment = dict(os.environ)
    if name == "import":  # by a name that is the page's title
        subprocess.run([bin_.absolute() / "vramscope", "import", "-q", args.snapshot.name, "-o", trace],
                       cwd=args.snapshot.parent, check=True)
        return trace
    if name == "torch":  # by short names, which the pictures have
        environment["PATH"] = f"{pathlib.Path(args.python).parent.absolute()}:{environment['PATH']}"
        program, where = ["python", "train.py", "--batch", "4", "--steps", "3"], ROOT / "examples/train_gpt"
    else:
        program, where = ["./train_lm", *OPTIONS[name]], bin_
    subprocess.run([bin_ / "vramscope", "run", "-q", "--simulate", DEVICES[name], "-o", trace, "--", *program],
                   cwd=where, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600,
                   check=False)
    if not trace.exists():
        raise SystemExit(f"{name}: no trace was recorded; run the program under vramscope by hand for its message")
    return trace


def steps_of(trace, args):
    """Start of each step that ended, by its number, and the end of the last one, in ns."""
    database = trace.with_suffix(".db")
    subprocess.run([args.build / "bin/vramscope", "export", "-f", "sqlite", "-o", database, trace], check=True)
    with contextlib.closing(sqlite3.connect(database)) as db:
        rows = db.execute("SELECT step, start_ns, end_ns FROM steps ORDER BY step").fetchall()
    return {**{f"step{step}": start for step, start, _ in rows}, "end": rows[-1][2]}


def shrink(png):
    """The same picture in fewer bytes; only one that is still too large gets fewer colours."""
    from PIL import Image
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    for picture in (picture, picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)):
        out = io.BytesIO()
        picture.save(out, "PNG", optimize=True)
        if out.tell() <= LARGEST:
            break
    return out.getvalue()


def photograph(html, fragment, pointer):
    with browser.opened(html, fragment=fragment) as (page, faults):
        settle(page)
        if pointer:
            selector, x, y = pointer
            box = page.locator(selector).first.bounding_box()
            page.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
        page.wait_for_timeout(1000)  # painting goes on in frames
        png = page.screenshot()
        assert not faults, faults
    return png


def top_text(args, folder):
    """What `vramscope top` shows of a leaking program, as text of a terminal of 100 x 20."""
    trace = folder / "top.vst"
    running = subprocess.Popen(["./vramscope", "run", "-q", "--simulate", DEVICES["leak"], "-o", trace, "--",
                                "./train_lm", "--leak", "16MiB", "--steps", "800"],
                               cwd=args.build / "bin", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    terminal = ["tmux", "-L", f"vramscope-images-{running.pid}", "-f", "/dev/null"]
    try:
        time.sleep(2)
        subprocess.run([*terminal, "new-session", "-d", "-x", "100", "-y", "20",
                        f"./vramscope top '{trace}'"], cwd=args.build / "bin", check=True)
        time.sleep(3)
        shown = subprocess.run([*terminal, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout
    finally:
        subprocess.run([*terminal, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        running.terminate()
        running.wait()
    return re.sub(r"[ \t]+\n", "\n", shown).rstrip() + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    p.add_argument("--python")
    p.add_argument("--snapshot", type=lambda text: pathlib.Path(text).resolve(), default=SNAPSHOT)
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/images")
    p.add_argument("--traces", type=pathlib.Path, help="keep the traces here, and use those that are there")
    p.add_argument("--only", nargs="+")
    args = p.parse_args()
    browser.require()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = (args.traces or pathlib.Path(folder)).resolve()

        def trace_of(name):
            path = folder / f"{name}.vst"
            return path if path.exists() else record(name, args, folder)

        def wanted(name, traces):
            return (not args.only or name in args.only) and (args.python or "torch" not in traces) and \
                (args.snapshot.exists() or "import" not in traces)

        def save(name, data):
            if len(data) > LARGEST:
                print(f"{name}: {len(data) >> 10} KiB, more than {LARGEST >> 10}", file=sys.stderr)
            (args.out / name).write_bytes(data)
            print(f"{name:<24} {len(data) / 1024:6.1f} KiB", flush=True)

        for name, (traces, fragment, pointer) in PICTURES.items():
            if wanted(name, traces):
                html = folder / f"{'-'.join(traces)}.html"
                subprocess.run(["./vramscope", "view", *[trace_of(t) for t in traces], "-o", html],
                               cwd=args.build / "bin", check=True, stdout=subprocess.DEVNULL)
                if "{" in fragment:
                    fragment = fragment.format(**steps_of(trace_of(traces[0]), args))
                save(f"{name}.png", shrink(photograph(html, fragment, pointer)))
        if wanted("flamegraph", ["healthy"]):
            save("flamegraph.svg", subprocess.run(
                ["./vramscope", "export", "-f", "flamegraph", trace_of("healthy")], cwd=args.build / "bin", check=True,
                capture_output=True).stdout.replace(f"{ROOT}/".encode(), b""))
        if wanted("top", []):
            save("top.txt", top_text(args, folder).encode())


if __name__ == "__main__":
    main()
