#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layout of the source tree: sizes of folders and names of types.

    check_layout.py ROOT      exit 1 and one line per violation
    check_layout.py --self-test

No folder holds more than FILES_MAX files (fuzzing corpora are data and do not count). No
struct, union, enum or static inline function is defined twice in src, tools and include, so
that a name means one thing wherever it is read.
"""
import os
import re
import sys
import tempfile

FILES_MAX = 40
CORPUS = "tests/fuzz/corpus"
TYPES_IN = ("src", "include", "tools")
TYPE = re.compile(r"^(?:typedef\s+)?(struct|union|enum)\s+(\w+)\s*\{", re.M)
INLINE = re.compile(r"^static inline\b[^;{]*?\b(\w+)\(", re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def folders(root):
    for top in sorted(os.listdir(root)):
        if top == ".git" or top.startswith("build") or not os.path.isdir(os.path.join(root, top)):
            continue
        for folder, inner, files in os.walk(os.path.join(root, top)):
            inner[:] = sorted(d for d in inner if d != "__pycache__")
            yield os.path.relpath(folder, root), sorted(files)


def large_folders(root):
    for folder, files in folders(root):
        if len(files) > FILES_MAX and not folder.startswith(CORPUS):
            yield f"{folder}: {len(files)} files, more than {FILES_MAX}; split it by subject"


def names_in(text):
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    for match in TYPE.finditer(text):
        yield f"{match.group(1)} {match.group(2)}"
    for name in set(INLINE.findall(text)):
        yield f"static inline {name}"


def repeated_names(root):
    first = {}
    for folder, files in folders(root):
        if folder.split(os.sep)[0] not in TYPES_IN:
            continue
        for name in files:
            if not name.endswith((".c", ".h", ".hpp")):
                continue
            path = os.path.join(folder, name)
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
                defined = list(names_in(f.read()))
            for what in defined:
                if first.setdefault(what, path) != path:
                    yield f"{path}: {what} is defined in {first[what]} too; give one of them another name"


def check(root):
    return list(large_folders(root)) + list(repeated_names(root))


def self_test():
    with tempfile.TemporaryDirectory() as root:
        def plant(path, text):
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text)
        for i in range(FILES_MAX):
            plant(f"src/base/f{i}.c", "")
        for i in range(FILES_MAX + 10):
            plant(f"{CORPUS}/reader/{i}", "")
        plant("src/trace/a.h", "struct vs_one {\n};\nstatic inline int vs_two(void)\n{\n}\n")
        plant("src/trace/b.h", "struct vs_one;\n/*\nstruct vs_one {\n*/\nint f(struct vs_one *a);\n")
        plant("tests/unit/c.c", "struct vs_one {\n};\n")
        assert check(root) == [], check(root)
        plant("src/base/one_more.c", "")
        for i in range(FILES_MAX + 1):
            plant(f"benchmarks/f{i}.c", "")
            plant(f"build-x/f{i}.c", "")
        plant("src/view/b.c", "struct vs_one {\n};\n")
        plant("tools/d.h", "static inline int vs_two(void)\n{\n}\n")
        plant("tools/e.c", "enum side {\n    A\n};\n")
        plant("tools/g.c", "enum side {\n    B\n};\n")
        found = check(root)
        assert len(found) == 5, found
        for i, part in enumerate(("src/base: 41 files", "benchmarks: 41 files", "struct vs_one", "static inline vs_two", "enum side")):
            assert any(part in line for line in found), (i, part, found)
    print("self-test: 5 planted violations found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if len(sys.argv) != 2 or not os.path.isdir(os.path.join(sys.argv[1], "src")):
        print(__doc__, file=sys.stderr)
        return 2
    found = check(sys.argv[1])
    print(*found, f"{len(found)} violations", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
