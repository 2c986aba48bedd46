#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page of the C API agrees with the headers, and its examples compile.

    check_api_manual.py ROOT COMPILER [LIBRARY]

With the library the first example is linked with it and run as well. --self-test ROOT: the check
finds what is taken away from the page.
"""
import os
import re
import subprocess
import sys
import tempfile

PAGE = "docs/man/vramscope.3"


def text_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def one_line(text):
    """A prototype without line breaks and double spaces."""
    return re.sub(r"\s+", " ", text).strip()


def synopsis(page):
    """{function: prototype} of the page."""
    part = page[page.index(".SH SYNOPSIS"):page.index(".SH DESCRIPTION")]
    text = " ".join(m.strip('"') for m in re.findall(r"^\.B (.*)$", part, re.M))
    return {m[1]: one_line(m[0]) for m in re.finditer(r"[a-z0-9_]+ (?:\*)?(vramscope_\w+)\([^;]*\);", text)}


def headers(root):
    """{function: prototype} of vramscope.h, the members of a window, and the client's functions."""
    public, client = text_of(root, "include/vramscope.h"), text_of(root, "include/vramscope_client.h")
    prototypes = {}
    for m in re.finditer(r"^VRAMSCOPE_API ([^;]*;)", public, re.M):
        prototypes[re.search(r"(vramscope_\w+)\(", m[1])[1]] = one_line(m[1])
    body = re.search(r"struct vramscope_window_stats \{(.*?)\};", public, re.S)[1]
    members = re.findall(r"\w+_\w+|\b(?:allocations|frees|failures)\b",
                         re.sub(r"/\*.*?\*/|uint64_t", "", body, flags=re.S))
    functions = set(re.findall(r"^VRAMSCOPE_CLIENT_FN .*?(vramscope_client_\w+)\(", client, re.M))
    return prototypes, members, functions - {"vramscope_client_find"}


def disagreements(root, page):
    """A sentence for each difference between the page and the headers."""
    prototypes, members, functions = headers(root)
    words = set(re.findall(r"\w+", page))
    names = page[page.index(".SH NAME"):page.index(".SH SYNOPSIS")]
    described = synopsis(page)
    for name, prototype in described.items():
        if prototypes.get(name) != prototype:
            yield f"{name}: '{prototype}' in the page, '{prototypes.get(name)}' in vramscope.h"
        if not re.search(r"\b%s\b" % name, names):
            yield f"{name}: not in the page's NAME"
        if len(re.findall(r"\b%s\b" % name, page[page.index(".SH DESCRIPTION"):])) < 1:
            yield f"{name}: not described"
    for name in set(re.findall(r"vramscope_\w+", names)) - set(described):
        yield f"{name}: no prototype in the page's SYNOPSIS"
    for name in prototypes:
        if name not in words and not name.startswith("vramscope_torch_"):
            yield f"{name}: of vramscope.h, not in the page"
    for name in list(members) + sorted(functions):
        if name not in words:
            yield f"{name}: not in the page"


def examples(page):
    """The C sources of the page's examples."""
    for part in re.findall(r"^\.EX\n(.*?)^\.EE$", page, re.M | re.S):
        yield part.replace("\\-", "-").replace("\\e", "\\")


def run(arguments, **more):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, **more)


def compile_examples(root, compiler, library, folder):
    """Compiles each; runs those that can be linked here."""
    sources = list(examples(text_of(root, PAGE)))
    if len(sources) != 2:
        yield f"{len(sources)} examples instead of 2"
    for i, source in enumerate(sources):
        path, program = os.path.join(folder, f"example{i}.c"), os.path.join(folder, f"example{i}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        client = "vramscope_client.h" in source
        link = ["-ldl"] if client else [library, "-Wl,-rpath," + os.path.dirname(library)] if library else ["-c"]
        done = run([compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I",
                    os.path.join(root, "include"), path, "-o", program, *link])
        if done.returncode:
            yield f"example {i + 1} does not compile: {done.stdout}"
            continue
        if "-c" in link:
            continue
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        done = run([program], cwd=folder, env=environment)
        if (done.returncode, done.stdout) != (0, "recorded: 0\n" if client else ""):
            yield f"example {i + 1} ended with {done.returncode}: {done.stdout}"


def self_test(root):
    page = text_of(root, PAGE)
    for what in ("const char *path);", "tensors_peak", "vramscope_client_dump", "vramscope_trim"):
        if not list(disagreements(root, page.replace(what, "x"))):
            sys.exit(f"the check does not miss {what}")


def main():
    if sys.argv[1] == "--self-test":
        return self_test(sys.argv[2])
    root, compiler = sys.argv[1:3]
    library = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(disagreements(root, text_of(root, PAGE))) + \
            list(compile_examples(root, compiler, library, folder))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
