#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Source lines on a page: those around a call site, as text, with the bytes of each line and a link to
the editor. The page says when a file has changed. Missing files, and files without source code, are not shown.

    test_page_sources.py VRAMSCOPE TRAIN_LM SCENARIO"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import pages as made  # noqa: E402
from test_page_views import settle  # noqa: E402

HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>\u202e"
PROGRAM = f'''import ctypes
cuda = ctypes.CDLL("libcudart.so")
PRIVATE = "far from any call"







def take(size):
\tp = ctypes.c_void_p()
\tcuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(size))  # {HOSTILE}
\treturn p

def keep_cache():
    return take(3 << 20)

def main():
    held = [keep_cache() for _ in range(2)]
    held.append(take(1 << 20))
    return held
main()
'''


def view(pages, name, *options):
    """The page of a trace as it is now, its text, and what the command says."""
    out = pages.folder / f"{name}.html"
    done = subprocess.run([pages.command, "view", pages.trace(name), "-o", str(out), *options], capture_output=True,
                          text=True, timeout=600, check=True)
    return out, done.stdout


def record(pages, name, file, device=made.DEVICE):
    path = pages.folder / file
    path.write_text(PROGRAM, encoding="utf-8")
    pages.record(name, device, [sys.executable, str(path)], "--allocator=observe")
    return path


def select_site(page, name):
    page.click(f".grid-row:has-text('{name}')")
    page.wait_for_selector("aside.detail:not([hidden])")


def lines_have_their_bytes(pages, path):
    out, said = view(pages, "lines")
    assert "source lines of 1 file" in said, said
    with browser.opened(out, fragment="#tab=table&color=site") as (page, faults):
        settle(page)
        select_site(page, "keep_cache")
        chosen = page.inner_text(".source-line.chosen")
        assert "7.0 MiB" in chosen and "onerror=alert(1)>\\u202e" in chosen, chosen
        page.click(".stack button:has-text('keep_cache (')")
        page.wait_for_selector(".source-line.chosen:has-text('take(3 << 20)')")
        assert "6.0 MiB" in page.inner_text(".source-line.chosen")
        line = page.inner_text(".source-line.chosen .source-number")
        assert page.get_attribute(".source figcaption a", "href") == f"vscode://file{path}:{line}"
        assert page.query_selector_all("#app img, #app script") == [] and "taken" not in page.title()
        assert "far from any call" not in page.inner_text("aside.detail")
        assert not page.is_visible(".source .note")
        assert not faults, faults


def an_editor_can_be_chosen(pages, path):
    for options, address in ((("--editor", "idea"), f"idea://open?file={path}&line="),
                             (("--editor", "x-ed://{path}?l={line}"), f"x-ed://{path}?l="), (("--editor", "none"), None)):
        with browser.opened(view(pages, "lines", *options)[0], fragment="#tab=table&color=site") as (page, _faults):
            settle(page)
            select_site(page, "keep_cache")
            link = page.query_selector(".source figcaption a")
            assert (link.get_attribute("href").startswith(address) if address else not link), (options, address)
    refused = subprocess.run([pages.command, "view", pages.trace("lines"), "-o", str(pages.folder / "x.html"), "--editor",
                              "javascript:alert(1)//{path}"], capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2 and "no editor" in refused.stderr and not (pages.folder / "x.html").exists(), refused


def what_is_not_certain_is_said(pages, path):
    os.utime(path, (2e9, 2e9))
    with browser.opened(view(pages, "lines")[0], fragment="#tab=table&color=site") as (page, _faults):
        settle(page)
        select_site(page, "keep_cache")
        assert "changed after the program started" in page.inner_text(".source .note")
    out, said = view(pages, "lines", "--no-source")
    assert "source" not in said and 'id="sources"' not in out.read_text(encoding="utf-8")
    for options, there in (([], True), (["--no-source"], False)):
        pages.record("run", made.DEVICE, [sys.executable, str(path)], "--allocator=observe", f"--view={out}", *options)
        assert ('id="sources"' in out.read_text(encoding="utf-8")) == there, options
    path.unlink()
    os.mkfifo(path)  # not opened, or not waited for
    out, said = view(pages, "lines")
    assert "source" not in said
    with browser.opened(out, fragment="#tab=table&color=site") as (page, _faults):
        settle(page)
        select_site(page, "keep_cache")
        assert "not readable where this page was made: lines.py" in page.inner_text("aside.detail")


def the_first_screen_has_the_line_to_look_at(pages):
    record(pages, "short", "short.py", "t4-16g,capacity=406MiB,context=400MiB")
    with browser.opened(view(pages, "short")[0]) as (page, faults):
        page.wait_for_selector("#answer .source-line.chosen:has-text('cudaMalloc')")
        assert "take (short.py" in page.inner_text("#answer .look .site") and not faults, faults


def only_source_code_is_read(pages):
    record(pages, "settings", "settings.conf")
    out, said = view(pages, "settings")
    text = out.read_text(encoding="utf-8")
    assert "source" not in said and 'id="sources"' not in text and '"sources_missing":null' in text, said


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        pages = made.Pages(*sys.argv[1:4], os.path.realpath(folder))
        path = record(pages, "lines", "lines.py")
        browser.run((lines_have_their_bytes, an_editor_can_be_chosen, what_is_not_certain_is_said), pages, path)
        browser.run((the_first_screen_has_the_line_to_look_at, only_source_code_is_read), pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
