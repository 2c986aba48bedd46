#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `vramscope merge` in a browser, of 64 and of 1,024 ranks: it names the rank that differs and the one
that failed, says where the ranks are uneven, and a rank is chosen by its row, its line, its place in the map, keys
and the link.

    test_page_ranks.py MAKE_RANKS_PAGE"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

COLOURS = """(id) => {
    const canvas = document.getElementById(id);
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
}"""


def said(page, text):
    page.wait_for_selector(f"#said:has-text({json.dumps(text)})")


def ranks_are_compared(page, count):
    assert "rank 3: 6.01 GiB" in page.inner_text("pre") and "rank 3 ran out of memory first" in page.inner_text("pre")
    assert page.locator("tbody tr").count() == count
    assert min(page.evaluate(COLOURS, id) for id in ("curves", "uneven", "map")) > 3
    said(page, "rank 4 has 3.7")
    assert page.inner_text("#said").startswith("Most uneven in step" + (" " if count == 64 else "s 6 to 8"))


def a_rank_is_chosen(page, count):
    page.click("tr[data-rank='5'] td:last-child")
    said(page, "rank 5: peak")
    assert "vramscope view job/node.5.vst" in page.inner_text("#said")
    assert page.locator("tr[aria-current]").get_attribute("data-rank") == "5"
    assert page.evaluate("location.hash") == "#rank=5"
    page.focus("#map")
    page.keyboard.press("ArrowDown")
    said(page, "rank 6: peak")
    page.keyboard.press("Escape")
    said(page, "Most uneven")
    box = page.locator("#curves").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 15)  # the highest line
    said(page, "rank 3, step")
    page.mouse.click(box["x"] + box["width"] * 0.9, box["y"] + 15)
    assert page.evaluate("location.hash") == "#rank=3"
    box = page.locator("#map").bounding_box()
    page.click("#map", position={"x": box["width"] / 2, "y": box["height"] * (count - 0.5) / count})
    assert page.evaluate("location.hash") == f"#rank={count - 1}"
    page.click("th:has-text('peak') button")
    assert page.locator("tbody tr").first.get_attribute("data-rank") == "3", "the largest first"


def main():
    browser.require()
    with tempfile.TemporaryDirectory() as folder:
        for count, steps, width, scheme in ((64, 100, 1280, "light"), (1024, 1500, 400, "dark")):
            path = pathlib.Path(folder) / f"{count}.html"
            path.write_bytes(subprocess.run([sys.argv[1], str(count), str(steps)], check=True, capture_output=True).stdout)
            with browser.opened(path, width, 900, scheme) as (page, faults):
                browser.run((ranks_are_compared, a_rank_is_chosen), page, count, about=count)
                assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
                assert not faults, faults
    return 0


if __name__ == "__main__":
    sys.exit(main())
