#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the dependency law on the source tree, line by line.

    check_includes.py ROOT      exit 1 and one "file:line: why" per violation
    check_includes.py --self-test

The law (ARCHITECTURE.md): a module includes only what ALLOWED lists for it;
intercept sees the write side of trace, analysis and viewer its read side; CUDA
headers stay in intercept, simulator and examples; examples use public headers;
the environment is read in one file of base and in the simulator; no two source
files share a name.
"""
import os
import re
import sys
import tempfile

# module -> modules it may include, besides itself
ALLOWED = {
    "base": set(),
    "allocator": {"base"},
    "trace": {"base"},
    "intercept": {"allocator", "trace", "base"},
    "analysis": {"trace", "allocator", "base"},
    "viewer": {"analysis", "trace", "base"},
    "simulator": {"base"},
    "tools": {"base", "allocator", "trace", "analysis", "viewer"},
    "examples": set(),
    "public": set(),
}
# headers of trace that other modules may include; the rest are its own affair
TRACE_BOTH = {"event.h", "event_table.h"}
TRACE_WRITE = {"recorder.h", "selection.h", "thread_start.h"}
TRACE_READ = {"demangle.h", "reader.h", "rewrite.h", "symbolize.h", "symbols.h"}
TRACE_READ |= {"checkpoint.h", "checkpoint_cache.h", "definition_log.h", "seek.h", "state_record.h"}
TRACE_READ |= {"replacement.h"}
TRACE_SIDES = {
    "intercept": TRACE_BOTH | TRACE_WRITE,
    "analysis": TRACE_BOTH | TRACE_READ,
    "viewer": TRACE_BOTH | TRACE_READ,
    "tools": TRACE_BOTH | TRACE_WRITE | TRACE_READ,
}
SEES_PUBLIC = {"intercept", "simulator", "tools", "examples", "public"}
SEES_CUDA = {"intercept", "simulator", "examples"}
READS_ENVIRONMENT = {"simulator", "examples"}
ENVIRONMENT_FILE = "src/base/vs_option.c"

SOURCE = (".c", ".h", ".cu", ".cuh", ".inc", ".S", ".cpp")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(?:"([^"]+)"|<([^>]+)>|(.*))', re.M)
CUDA = re.compile(
    r"^(cuda[\w.]*\.h|cuda/.*|cupti.*|nvtx3/.*|nvToolsExt.*|nvperf.*|nvml\.h|crt/.*|fatbinary.*"
    r"|(driver|vector|device|surface|texture|library|builtin)_types\.h|channel_descriptor\.h"
    r"|cu(blas|dnn|fft|rand|sparse|Complex|solver).*|generated_cu.*)$")
GETENV = re.compile(r"\b(?:secure_)?getenv\b")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text, strings):
    """Comments (and, where asked, literals) replaced by spaces; lines kept."""
    def one(match):
        piece = match.group(0)
        if piece[0] in "\"'" and not strings:
            return piece
        return re.sub(r"[^\n]", " ", piece)
    return TOKEN.sub(one, text)


def module_of(path):
    """"trace" for src/trace/reader.h, "tools" for tools/x.c; None elsewhere."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == "include":
        return "public"
    return parts[0] if parts[0] in ("tools", "examples") and len(parts) > 1 else None


def sources(root):
    for top in ("src", "include", "tools", "examples"):
        for folder, dirs, files in os.walk(os.path.join(root, top)):
            dirs.sort()
            for name in sorted(files):
                if name.endswith(SOURCE):
                    yield os.path.relpath(os.path.join(folder, name), root)


def resolve(root, path, name):
    """The file of this tree that an include means; None for a foreign one."""
    for base in (os.path.dirname(path), "src", "include"):
        candidate = os.path.normpath(os.path.join(base, name))
        if not candidate.startswith("..") and os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def why_not(module, target):
    """Why *module* may not include the file *target* of this tree; None if it may."""
    other = module_of(target)
    if other == module:
        return None
    if other == "public":
        return None if module in SEES_PUBLIC else f"{module} may not include the public header {target}"
    if other not in ALLOWED[module]:
        allowed = ", ".join(sorted(ALLOWED[module])) or "no other module"
        return f"{module} may not include {target}: it may include {allowed}"
    if other == "trace" and os.path.basename(target) not in TRACE_SIDES[module]:
        return f"{module} may not include {target}: not on the side of trace that it may see"
    return None


def check_include(root, path, module, quoted, angled, other):
    name = quoted or angled
    if not name:
        return f"include of '{other.strip()}', which cannot be checked; name the file"
    target = resolve(root, path, name)
    if target:
        return why_not(module, target)
    if CUDA.match(name):
        return None if module in SEES_CUDA else f"{module} may not see the CUDA header {name}"
    if quoted:
        return f"\"{name}\" is not a file of this tree; system headers are included with <>"
    return None


def check_file(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        text = f.read()
    module = module_of(path)
    if module not in ALLOWED:
        return [(path, 1, f"'{module}' is not a module of the dependency law")]
    bare = blank(text, strings=False)
    found = []
    for m in INCLUDE.finditer(bare):
        why = check_include(root, path, module, *m.groups())
        if why:
            found.append((path, bare.count("\n", 0, m.start()) + 1, why))
    if module not in READS_ENVIRONMENT and path != ENVIRONMENT_FILE:
        code = blank(text, strings=True)
        for m in GETENV.finditer(code):
            found.append((path, code.count("\n", 0, m.start()) + 1,
                          f"getenv outside {ENVIRONMENT_FILE}; call vs_environment"))
    return found


def check_tree(root):
    found, first = [], {}
    for path in sources(root):
        found += check_file(root, path)
        name = os.path.basename(path)
        if not path.startswith("examples/") and first.setdefault(name, path) != path:
            found.append((path, 1, f"has the name of {first[name]}"))
    return found


# --- self-test: what must be found, and what must not -------------------------

GOOD = {
    "src/base/vs_map.h": "#include <stdint.h>\n",
    "src/base/vs_option.c": '#include "base/vs_map.h"\n#include <stdlib.h>\nchar *f(void) { return getenv("A"); }\n',
    "src/trace/event.h": '#include "trace/event_table.h"\n',
    "src/trace/event_table.h": "",
    "src/trace/frame.h": '#include "event.h"\n',
    "src/trace/recorder.h": "#include <stdint.h>\n",
    "src/trace/reader.h": "#include <stdint.h>\n",
    "src/intercept/hook.c": '#include <cuda.h>\n#include <nvtx3/nvToolsExt.h>\n#include "trace/recorder.h"\n'
                            '#include "vramscope.h"\n#include "hook_table.h"\n',
    "src/intercept/hook_table.h": "",
    "src/analysis/state.h": '#include "trace/reader.h"\n/* never calls getenv */\n',
    "src/viewer/text.c": '#include "analysis/state.h"\nconst char *s = "getenv \\" // not a comment";\n',
    "src/simulator/device.c": '#include <cuda.h>\n#include "base/vs_map.h"\nchar *g(void) { return getenv("B"); }\n',
    "include/vramscope.h": "#include <stddef.h>\n",
    "tools/report.c": '#include "analysis/state.h"\n// #include "intercept/hook_table.h"\n'
                      '/*\n#include "simulator/x.h"\n*/\n',
    "examples/a/main.c": '#include <cuda_runtime.h>\n#include "vramscope.h"\n#include "model.h"\n',
    "examples/a/model.h": "",
}
# planted file -> (content, line of the violation, a word of the message)
BAD = {
    "src/base/up.c": ('\n#include "trace/event.h"\n', 2, "base may not include"),
    "src/allocator/up.c": ('#include "trace/recorder.h"\n', 1, "allocator may not include"),
    "src/allocator/cuda.c": ("#include <cuda_runtime_api.h>\n", 1, "CUDA header"),
    "src/allocator/api.c": ('#include "vramscope.h"\n', 1, "public header"),
    "src/trace/side.c": ('#include <analysis/state.h>\n', 1, "trace may not include"),
    "src/intercept/read.c": ('/* a\n * b */\n#include "trace/reader.h"\n', 3, "side of trace"),
    "src/intercept/view.c": ('#include "analysis/state.h"\n', 1, "intercept may not include"),
    "src/analysis/write.c": ('#include "trace/recorder.h"\n', 1, "side of trace"),
    "src/analysis/inner.c": ('#include "../trace/frame.h"\n', 1, "side of trace"),
    "src/analysis/env.c": ('char *h(void)\n{\n    return getenv("C");\n}\n', 3, "getenv"),
    "src/base/env.c": ("char *i(void) { return secure_getenv(0); }\n", 1, "getenv"),
    "src/viewer/alloc.c": ('#  include "allocator/pool.h"\n', 1, "viewer may not include"),
    "src/allocator/pool.h": ('#include "nowhere.h"\n', 1, "not a file of this tree"),
    "src/viewer/macro.c": ("#include VS_HEADER\n", 1, "cannot be checked"),
    "src/simulator/trace.c": ('#include "trace/event.h"\n', 1, "simulator may not include"),
    "src/viewer/vs_map.h": ("", 1, "has the name of"),
    "tools/hook.c": ('#include "intercept/hook_table.h"\n', 1, "tools may not include"),
    "tools/sim.c": ("#include <cupti.h>\n", 1, "CUDA header"),
    "examples/a/inside.c": ('#include "base/vs_map.h"\n', 1, "examples may not include"),
    "include/vramscope_more.h": ('#include "base/vs_map.h"\n', 1, "public may not include"),
    "src/newroom/x.c": ("", 1, "not a module"),
}


def plant(root, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as f:
            f.write(text)


def self_test():
    with tempfile.TemporaryDirectory() as root:
        plant(root, GOOD)
        assert check_tree(root) == [], check_tree(root)
        plant(root, {path: text for path, (text, _, _) in BAD.items()})
        found = check_tree(root)
        for path, (_, line, word) in BAD.items():
            mine = [f for f in found if f[0] == path and f[1] == line and word in f[2]]
            assert mine, f"not found: {path}:{line} {word}\n{found}"
        # tools/hook.c also shares its name with src/intercept/hook.c, and so on
        extra = [f for f in found if f[0] not in BAD and "has the name of" not in f[2]]
        assert not extra, extra
    print(f"self-test: {len(BAD)} planted violations found, {len(GOOD)} clean files passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if len(sys.argv) != 2 or not os.path.isdir(os.path.join(sys.argv[1], "src")):
        print(__doc__, file=sys.stderr)
        return 2
    found = check_tree(sys.argv[1])
    for path, line, why in found:
        print(f"{path}:{line}: {why}")
    print(f"{sum(1 for _ in sources(sys.argv[1]))} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
