#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks "Where to add what" of ARCHITECTURE.md against the tree, and the tables that it names
against the code, manuals and tests that belong to their rows.

    check_places.py [ROOT]    exit 1 and one line per violation
    check_places.py --self-test [ROOT]   remove something from a copy, and see it reported
"""
import glob
import os
import re
import shutil
import sys
import tempfile

SECTION = re.compile(r"^## Where to add what\n(.*?)^## ", re.M | re.S)
ROW = re.compile(r"^\| ([^|]*\((\d+)\)) \| (.*) \|$", re.M)
NEEDED = ("ARCHITECTURE.md", "CMakeLists.txt")
FOLDERS = ("src", "tools", "docs", "cmake", "tests/build", "tests/decoder", "tests/unit", "tests/exports",
           "tests/preload/compat", "tests/simulator/conformance", "tests/simulator/libraries", "scripts")


def text_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def rows_of(root, table, macro):
    text = re.sub(r"/\*.*?\*/", "", text_of(root, table), flags=re.S)
    return re.findall(rf"^{macro}\((\w+)(?:,\s*\"([^\"]*)\")?", text, flags=re.M)


def section(root):
    """The paths of each row exist, and their number matches the row's count."""
    found = SECTION.search(text_of(root, "ARCHITECTURE.md"))
    rows = ROW.findall(found.group(1)) if found else []
    if len(rows) < 8:
        yield f"ARCHITECTURE.md: {len(rows)} rows in \"Where to add what\""
    for title, count, cell in rows:
        if len(cell.split("; ")) != int(count):
            yield f"ARCHITECTURE.md: {title} names {len(cell.split('; '))} places"
        for path in re.findall(r"`([\w./-]+/[\w./-]+)`", cell):
            if "NAME" in path:
                folder, name = os.path.split(path)
                cmake = os.path.join(root, folder, "CMakeLists.txt")
                listed = os.path.exists(cmake) and name.replace("NAME", "*") in text_of(root, cmake)
                if not glob.glob(os.path.join(root, path.replace("NAME", "*"))) and not listed:
                    yield f"ARCHITECTURE.md: {title}: there is no {path}"
            elif not os.path.exists(os.path.join(root, path)):
                yield f"ARCHITECTURE.md: {title}: there is no {path}"


def formats(root):
    manual = text_of(root, "docs/man/vramscope-export.1")
    for _, name in rows_of(root, "src/viewer/export/export_table.h", "VS_EXPORT_FORMAT"):
        if f"\n.B {name}\n" not in manual.replace("\\-", "-"):
            yield f"export format {name}: not in docs/man/vramscope-export.1"


def verdicts(root):
    manual, tests = text_of(root, "docs/man/vramscope-oom.1"), text_of(root, "tests/unit/analysis/test_oom.c")
    code = "".join(text_of(root, p) for p in glob.glob(os.path.join(root, "src/analysis/oom/verdict_*.c")))
    ids = {row for row, _ in rows_of(root, "src/analysis/oom/verdict_table.h", "VS_VERDICT")}
    defined = dict(re.findall(r"^const struct vs_verdict vs_verdict_(\w+) = \{\s*\.name = \"(\w+)\"", code, flags=re.M))
    for wrong in sorted(ids ^ defined.keys()):
        yield f"verdict {wrong}: in verdict_table.h or in a file verdict_*.c, not in both"
    for name in defined.values():
        if not re.search(rf"\bverdict {name}\b", tests):
            yield f"verdict {name}: no case in tests/unit/analysis/test_oom.c"
        if f"\n.B {name}\n" not in manual:
            yield f"verdict {name}: not in docs/man/vramscope-oom.1"


def verbs(root):
    for name, _ in rows_of(root, "tools/common/verb_table.h", "VS_VERB"):
        if not glob.glob(os.path.join(root, f"tools/*/cmd_{name}.c")):
            yield f"verb {name}: no file cmd_{name}.c"
        if not os.path.exists(os.path.join(root, f"docs/man/vramscope-{name}.1")):
            yield f"verb {name}: no manual page"


def policies(root):
    manual = text_of(root, "docs/allocator.md")
    for _, name in re.findall(r"^VS_POLICY\((\w+), (\w+),", text_of(root, "src/base/vs_policy_table.h"), re.M):
        if name not in manual:
            yield f"policy {name}: not in docs/allocator.md"
        if not os.path.exists(os.path.join(root, f"tests/unit/allocator/test_{name}.c")) and \
                name != "pytorch":  # whose rules test_placement.c and the differential test have
            yield f"policy {name}: no tests/unit/allocator/test_{name}.c"


def check(root):
    return [line for part in (section, formats, verdicts, verbs, policies) for line in part(root)]


PLANTED = (  # file, the text to remove (None: the file), the text that the violation must contain
    ("docs/internals/trace-format.md", None, "docs/internals/trace-format.md"),
    ("ARCHITECTURE.md", "`src/trace/format/event_table.h`; ", "event (4)"),
    ("docs/man/vramscope-export.1", ".B chrome\n", "export format chrome"),
    ("docs/man/vramscope-doctor.1", None, "verb doctor"),
    ("src/analysis/oom/verdict_table.h", "VS_VERDICT(spike)\n", "verdict spike"),
    ("tests/unit/analysis/test_oom.c", "verdict refused", "verdict refused: no case"),
    ("tools/verbs/cmd_index.c", None, "verb index"),
    ("tests/unit/allocator/test_compact.c", None, "policy compact"),
)


def self_test(root):
    with tempfile.TemporaryDirectory() as copy:
        for name in NEEDED:
            shutil.copy(os.path.join(root, name), copy)
        for name in FOLDERS:
            shutil.copytree(os.path.join(root, name), os.path.join(copy, name), dirs_exist_ok=True)
        failures = [f"planted nothing, found {line}" for line in check(copy)]
        for path, part, wanted in PLANTED:
            whole = text_of(copy, path)
            at = os.path.join(copy, path)
            if part is None:
                os.unlink(at)
            else:
                assert part in whole, (path, part)
                with open(at, "w", encoding="utf-8") as f:
                    f.write(whole.replace(part, ""))
            if not any(wanted in line for line in check(copy)):
                failures.append(f"{path} without {part or 'itself'}: not detected")
            with open(at, "w", encoding="utf-8") as f:
                f.write(whole)
    return failures


if __name__ == "__main__":
    arguments = sys.argv[1:]
    testing = arguments[:1] == ["--self-test"]
    tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
    root = (arguments[testing:] or [tree])[0]
    violations = self_test(root) if testing else check(root)
    print(*violations, f"{len(violations)} violations", sep="\n")
    sys.exit(1 if violations else 0)
