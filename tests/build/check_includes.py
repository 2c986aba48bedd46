#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the dependency law on the source tree, line by line.

    check_includes.py ROOT      exit 1 and one "file:line: why" per violation
    check_includes.py --self-test

The law (ARCHITECTURE.md): a room (a folder of sources) includes only the rooms that its
row in ROOMS lists, and of those only the headers that are their doors; no row breaks the
law of the modules; CUDA headers stay in intercept, simulator and examples; the
environment is read in one file of base and in the simulator; no two source files share a
name.
"""
import os
import re
import sys
import tempfile

# Every room: the other rooms that it may include, and its doors, the headers that
# other rooms may include ("*": all). A room may include any of its own headers. The order is
# from the bottom up, within a module as well; a row that names a room below itself in this
# list is an accepted cycle within one library.
ROOMS = {
    "base": ("", "*"),
    "ledger": ("base", "*"),
    "allocator/core": ("base",
                       "alloc_conf.h allocator.h allocator_internal.h block_ops.h block_store.h free_index.h "
                       "placement.h placement_policy.h"),
    "allocator/compact": ("base allocator/core", ""),
    "allocator/pytorch": ("base allocator/core", ""),
    "trace/format": ("base ledger", "columns.h event.h event_table.h format.h"),
    "trace/stacks": ("base", "cfi.h elf_symbols.h python.h walk.h"),
    "trace/record": ("base ledger trace/format trace/stacks", "recorder.h selection.h thread_start.h"),
    "trace/output": ("base trace/format", "frame_output.h"),
    "trace/read": ("base ledger trace/format trace/output",
                   "checkpoint.h definition_log.h follower.h job_rank.h reader.h "
                   "reader_internal.h rewrite.h seek.h state_record.h"),
    "trace/symbols": ("base trace/format trace/read", "demangle.h symbol_set.h symbols.h"),
    "trace/compose": ("base trace/format trace/output", "composer.h"),
    "intercept/route": ("base trace/record trace/stacks",
                        "definitions.h hook.h loaded.h real_symbols.h replayed_call.h route.h "
                        "upcalls.h"),
    "intercept/process": ("base public trace/record trace/stacks intercept/route", "process.h"),
    "intercept/track": ("base ledger allocator/core trace/format trace/record intercept/route intercept/process",
                        "array_bytes.h capture.h context.h holding.h ipc_import.h ipc_token.h "
                        "limit.h nvml.h peak_window.h physical.h track_change.h tracker.h usage.h wait.h"),
    "intercept/cupti": ("base trace/record intercept/route intercept/process intercept/track",
                        "automatic_steps.h call_site.h collector.h nvtx.h nvtx_pending.h"),
    "intercept/cache": ("base allocator/core trace/record intercept/route intercept/process intercept/track "
                        "intercept/cupti",
                        "caching.h device_ops.h policy.h room.h shareable.h sharing.h"),
    "intercept/api": ("base public allocator/core trace/record intercept/route intercept/process intercept/track "
                      "intercept/cache intercept/cupti", "api.h"),
    "intercept/torch": ("base public trace/record intercept/route intercept/process intercept/track "
                        "intercept/cache intercept/api", "attach.h torch_pool.h"),
    "intercept/hooks": ("base intercept/route intercept/process intercept/track intercept/cache "
                        "intercept/cupti intercept/torch", ""),
    "analysis/naming": ("base trace/format trace/read trace/symbols",
                        "frameworks.h kind.h library.h maker.h name_text.h naming.h python_file.h source_text.h stack_names.h"),
    "analysis/state": ("base ledger allocator/core trace/format trace/read trace/symbols analysis/naming",
                       "activity.h balance.h driver_pages.h failures.h findings.h history_blocks.h live_memory.h phases.h replay.h "
                       "peak_states.h reading.h replay_internal.h replay_totals.h segment_index.h sites.h user_level.h "
                       "work_calls.h"),
    "analysis/timeline": ("base trace/format analysis/state", "timeline.h"),
    "analysis/growth": ("base trace/format analysis/state", "growth.h"),
    "analysis/checkpoint": ("base trace/format trace/read analysis/naming analysis/state", "checkpoint_build.h stack_sums.h trace_state.h"),
    "analysis/kinds": ("base ledger trace/format trace/read trace/symbols analysis/naming analysis/state "
                       "analysis/growth analysis/checkpoint",
                       "allocation_log.h kinds.h"),
    "analysis/report": ("base trace/format trace/read trace/symbols analysis/naming analysis/state "
                        "analysis/timeline analysis/growth analysis/checkpoint analysis/kinds",
                        "balance_build.h growth_fill.h held_segments.h report.h report_failure.h report_site.h site_text.h "
                        "summary.h window_peaks.h"),
    "analysis/import": ("base allocator/core trace/format trace/symbols trace/compose analysis/state", "import.h"),
    "analysis/budget": ("base trace/format trace/read trace/symbols analysis/naming analysis/state analysis/checkpoint "
                        "analysis/report",
                        "baseline.h budget_key.h budget_verdict.h culprits.h phase_peaks.h quantities.h quantity_sites.h"),
    "analysis/compare": ("base trace/format trace/read analysis/state analysis/report analysis/budget",
                         "comparison.h"),
    "analysis/watch": ("base ledger trace/format trace/read trace/symbols analysis/naming analysis/state "
                       "analysis/growth analysis/report",
                       "watch.h"),
    "analysis/whatif": ("base ledger allocator/core trace/format trace/read trace/symbols analysis/naming "
                        "analysis/state analysis/growth", "whatif.h whatif_changes.h"),
    "analysis/oom": ("base allocator/core trace/read trace/symbols analysis/naming analysis/state analysis/report "
                     "analysis/whatif analysis/growth analysis/kinds",
                     "oom.h"),
    "analysis/processes": ("base trace/read analysis/state", "process_tree.h"),
    "analysis/merge": ("base trace/format trace/read analysis/state analysis/report",
                       "merge.h"),
    "analysis/fit": ("base ledger allocator/core trace/format trace/read trace/symbols analysis/naming "
                     "analysis/state analysis/report analysis/processes analysis/kinds",
                     "advice.h fit_answer.h"),
    "analysis/estimate": ("base", "model_memory.h peak_scaling.h"),
    "viewer/common": ("base analysis/report", "gzip_stream.h json_writer.h openmetrics.h pickle_writer.h proto_writer.h text_style.h"),
    "viewer/report": ("base analysis/state analysis/report analysis/whatif analysis/oom analysis/processes analysis/fit "
                      "analysis/kinds analysis/estimate viewer/common",
                      "answer_text.h estimate_text.h oom_text.h "
                      "report_parts.h report_text.h"),
    "viewer/check": ("base analysis/naming analysis/state analysis/report analysis/budget viewer/common viewer/report",
                     "check_output.h"),
    "viewer/diff": ("base trace/format trace/read analysis/naming analysis/state analysis/report analysis/budget "
                    "analysis/compare viewer/common viewer/report", "diff_output.h"),
    "viewer/chrome": ("base trace/format trace/read trace/symbols analysis/naming analysis/state analysis/checkpoint "
                      "analysis/growth analysis/kinds analysis/merge analysis/report viewer/common viewer/export", ""),
    "viewer/flame": ("base trace/read analysis/naming analysis/state analysis/checkpoint analysis/budget analysis/compare "
                     "analysis/report viewer/common viewer/export",
                     "stack_source.h svg_graph.h"),
    "viewer/pprof": ("base trace/read analysis/naming analysis/state analysis/checkpoint analysis/kinds viewer/common "
                     "viewer/export", ""),
    "viewer/sqlite": ("base trace/read analysis/naming analysis/state analysis/checkpoint analysis/growth analysis/kinds analysis/merge analysis/report viewer/export",
                      "sqlite_merge.h"),
    "viewer/export": ("base trace/format trace/read trace/symbols analysis/naming analysis/state "
                      "analysis/checkpoint analysis/growth analysis/kinds analysis/report "
                      "viewer/common viewer/flame", "export.h export_table.h site_labels.h"),
    "viewer/merge": ("base trace/format analysis/naming analysis/merge viewer/common", "merge_output.h"),
    "viewer/html": ("base trace/format trace/read trace/symbols analysis/naming analysis/state analysis/checkpoint "
                    "analysis/kinds analysis/report analysis/oom analysis/whatif analysis/budget analysis/compare "
                    "viewer/common viewer/report", "page.h"),
    "viewer/top": ("base analysis/naming analysis/growth analysis/state analysis/watch viewer/common", "grid.h top_frame.h"),
    "simulator/driver": ("base public",
                         "vs_sim_activity.h vs_sim_check.h vs_sim_clock.h vs_sim_driver.h "
                         "vs_sim_error_text_table.h vs_sim_host.h vs_sim_nvml.h vs_sim_spec.h "
                         "vs_sim_thunk.h vs_sim_work.h"),
    "simulator/memory": ("base simulator/driver",
                         "vs_sim_array.h vs_sim_ipc.h vs_sim_managed.h vs_sim_memory.h vs_sim_pool.h"),
    "simulator/context": ("base simulator/driver simulator/memory", ""),
    "simulator/graph": ("base simulator/driver simulator/memory", ""),
    "simulator/checker": ("base simulator/driver simulator/memory", ""),
    "simulator/libraries/common": ("base public simulator/driver", "vs_library_base.h vs_library_fallback.h"),
    "simulator/libraries/sizes": ("base simulator/driver simulator/libraries/common", "vs_library_sizes.h"),
    "simulator/libraries/cublaslt": ("base simulator/libraries/common", "vs_blas_handle.h"),
    "simulator/libraries/cublas": ("base simulator/libraries/common simulator/libraries/cublaslt "
                                   "simulator/libraries/sizes", ""),
    "simulator/libraries/cudnn": ("base simulator/libraries/common simulator/libraries/sizes", ""),
    "simulator/libraries/nccl": ("base simulator/libraries/common simulator/libraries/sizes", ""),
    "simulator/libraries/cusparse": ("base simulator/libraries/common", ""),
    "simulator/libraries/cusparselt": ("base simulator/libraries/common", ""),
    "simulator/libraries/cusolver": ("base simulator/libraries/common simulator/libraries/sizes", ""),
    "simulator/libraries/cufft": ("base simulator/libraries/common simulator/libraries/sizes", ""),
    "simulator/libraries/curand": ("base simulator/libraries/common", ""),
    "simulator/libraries/nvrtc": ("base simulator/libraries/common", ""),
    "simulator/libraries/nvjitlink": ("base simulator/libraries/common", ""),
    "simulator/libraries/nvjpeg": ("base simulator/libraries/common", ""),
    "simulator/libraries/cufile": ("base simulator/libraries/common", ""),
    "simulator/libraries/nvshmem": ("base simulator/libraries/common", ""),
    "simulator/nvml": ("base simulator/driver", ""),
    "simulator/audit": ("", ""),
    "simulator/runtime": ("base simulator/driver", ""),
    "simulator/cupti": ("base simulator/driver", ""),
    "tools/common": ("base allocator/core trace/read trace/symbols analysis/state analysis/growth analysis/checkpoint "
                     "analysis/report analysis/oom analysis/naming viewer/common viewer/report",
                     "command.h paths.h process_tree_tool.h report_names.h symbol_tool.h "
                     "tool_options.h trace_part.h verb_table.h whole_file.h"),
    "tools/check": ("base trace/read analysis/budget analysis/report viewer/check viewer/common viewer/report "
                    "tools/common", "check_command.h"),
    "tools/diff": ("base trace/read analysis/budget analysis/compare analysis/report viewer/common viewer/diff "
                   "viewer/flame viewer/report tools/common", ""),
    "tools/view": ("base trace/read analysis/checkpoint analysis/growth analysis/report analysis/oom analysis/whatif "
                   "viewer/common viewer/html viewer/report viewer/top tools/common tools/top", "view_trace.h"),
    "tools/run": ("base allocator/core trace/read trace/symbols analysis/naming analysis/state "
                  "analysis/report analysis/oom viewer/common viewer/report tools/common tools/check tools/view", "reach.h"),
    "tools/fit": ("base trace/read analysis/fit viewer/common viewer/report tools/common", "fit_internal.h"),
    "tools/advise": ("base trace/read analysis/naming analysis/kinds analysis/whatif analysis/fit viewer/common "
                     "viewer/report tools/common tools/fit tools/run", ""),
    "tools/estimate": ("base trace/read analysis/report analysis/estimate viewer/common viewer/report "
                       "tools/common", ""),
    "tools/replay": ("base allocator/core trace/read trace/symbols analysis/naming analysis/state analysis/growth "
                     "analysis/report analysis/fit analysis/whatif viewer/common viewer/report tools/common", ""),
    "tools/top": ("base trace/read analysis/watch viewer/common viewer/top tools/common", "top_command.h"),
    "tools/verbs": ("base trace/read trace/symbols analysis/naming analysis/fit analysis/import analysis/report viewer/common viewer/report viewer/export "
                    "analysis/merge viewer/merge viewer/sqlite tools/common tools/run", ""),
    "examples": ("public", ""),
    "public": ("", "*"),
}
# The dependency law of modules: every dependency in a row above must be in this table too
# (ARCHITECTURE.md, "Modules").
MODULES = {
    "base": set(),
    "ledger": {"base"},
    "allocator": {"base"},
    "trace": {"base", "ledger"},
    "intercept": {"allocator", "ledger", "trace", "base", "public"},
    "analysis": {"trace", "ledger", "allocator", "base"},
    "viewer": {"analysis", "trace", "base"},
    "simulator": {"base", "public"},
    "tools": {"base", "ledger", "allocator", "trace", "analysis", "viewer"},
    "examples": {"public"},
    "public": set(),
}
# the side of trace that a module may see
WRITE_SIDE, READ_SIDE = {"trace/record", "trace/stacks"}, {"trace/read", "trace/symbols"}
FORBIDDEN = {"intercept": READ_SIDE, "analysis": WRITE_SIDE, "viewer": WRITE_SIDE, "tools": WRITE_SIDE}
SEES_CUDA = {"intercept", "simulator", "examples"}
READS_ENVIRONMENT = {"simulator", "examples"}
ENVIRONMENT_FILE = "src/base/vs_option.c"
# the folder of base whose functions end the process when memory is short, and who may include it
ENDS_PROCESS = "src/base/reading/"
MAY_END = {"base", "analysis", "viewer", "tools", "trace/read", "trace/symbols", "trace/compose", "trace/output"}

SOURCE = (".c", ".h", ".cu", ".cuh", ".inc", ".S", ".cpp")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(?:"([^"]+)"|<([^>]+)>|(.*))', re.M)
CUDA = re.compile(
    r"^(cuda[\w.]*\.h|cuda/.*|cupti.*|nvtx3/.*|nvToolsExt.*|nvperf.*|nvml\.h|crt/.*|fatbinary.*"
    r"|(driver|vector|device|surface|texture|library|builtin)_types\.h|channel_descriptor\.h"
    r"|cu(blas|dnn|fft|rand|sparse|Complex|solver).*|generated_cu.*)$")
GETENV = re.compile(r"\b(?:secure_)?getenv\b")
NO_RANK = re.compile(r"\bpthread_(?:once|mutex_lock)\b")  # fork leaves it locked, and no debug build checks its order
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text, strings):
    """Comments (and, where asked, literals) replaced by spaces; lines kept."""
    def one(match):
        piece = match.group(0)
        if piece[0] in "\"'" and not strings:
            return piece
        return re.sub(r"[^\n]", " ", piece)
    return TOKEN.sub(one, text)


def room_of(path):
    """"trace/read" for src/trace/read/reader.h, "tools/run" for tools/run/x.c, "base" and
    "examples" for all below them; None for a file that lies in no room."""
    parts = path.split("/")
    if parts[0] in ("include", "examples"):
        return "public" if parts[0] == "include" else "examples"
    inner = parts[1:-1] if parts[0] == "src" else parts[:-1]
    room = "base" if inner[0] == "base" else "/".join(inner)
    return room if room in ROOMS else None


def sources(root):
    for top in ("src", "include", "tools", "examples"):
        for folder, dirs, files in os.walk(os.path.join(root, top)):
            dirs.sort()
            for name in sorted(files):
                if name.endswith(SOURCE):
                    yield os.path.relpath(os.path.join(folder, name), root)


def resolve(root, path, name):
    """The file of this tree that an include names; None for a file outside the tree."""
    for base in (os.path.dirname(path), "src", "include", ""):
        candidate = os.path.normpath(os.path.join(base, name))
        if not candidate.startswith("..") and os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def why_not(room, target):
    """The reason why *room* must not include the file *target* of this tree; None if it may."""
    other = room_of(target)
    if other == room:
        return None
    allowed, _ = ROOMS[room]
    if other not in allowed.split():
        return f"{room} may not include {target}: it may include {allowed or 'no other room'}"
    doors = ROOMS[other][1]
    if doors != "*" and os.path.basename(target) not in doors.split():
        return f"{room} may not include {target}: it is private to {other}"
    return None


def check_rows():
    """Rows of ROOMS that break the law of the modules."""
    for room, (allowed, _) in ROOMS.items():
        module = room.split("/")[0]
        for other in allowed.split():
            if other not in ROOMS:
                yield f"the row of {room} names {other}, which is not a room"
            elif other.split("/")[0] not in MODULES[module] | {module}:
                yield f"the row of {room} names {other}: {module} may not include that module"
            elif other in FORBIDDEN.get(module, ()):
                yield f"the row of {room} names {other}: the other side of trace"


def check_include(root, path, room, quoted, angled, other):
    name = quoted or angled
    if not name:
        return f"include of '{other.strip()}', which cannot be checked; name the file"
    target = resolve(root, path, name)
    if target and target.startswith(ENDS_PROCESS) and room not in MAY_END and room.split("/")[0] not in MAY_END:
        return f"{room} may not include {target}, whose functions end the process"
    if target:
        return why_not(room, target)
    if CUDA.match(name):
        return None if room.split("/")[0] in SEES_CUDA else f"{room} may not see the CUDA header {name}"
    if name.startswith("generated/") and room.startswith(("simulator/", "intercept/")):
        return None  # a table that cmake/cuda_tables.py or hook_tables.py writes
    if quoted:
        return f"\"{name}\" is not a file of this tree; system headers are included with <>"
    return None


def check_file(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        text = f.read()
    room = room_of(path)
    if not room:
        return [(path, 1, "lies in no room of the dependency law; ROOMS in check_includes.py lists them")]
    bare = blank(text, strings=False)
    found = []
    for m in INCLUDE.finditer(bare):
        why = check_include(root, path, room, *m.groups())
        if why:
            found.append((path, bare.count("\n", 0, m.start()) + 1, why))
    if room.split("/")[0] not in READS_ENVIRONMENT and path != ENVIRONMENT_FILE:
        code = blank(text, strings=True)
        for m in GETENV.finditer(code):
            found.append((path, code.count("\n", 0, m.start()) + 1,
                          f"getenv outside {ENVIRONMENT_FILE}; call vs_environment"))
    if room.startswith("intercept/"):
        found += [(path, bare.count("\n", 0, m.start()) + 1, "a lock without a rank; use vs_lock.h")
                  for m in NO_RANK.finditer(bare)]
    return found


def check_tree(root):
    found, first = [("tests/build/check_includes.py", 1, why) for why in check_rows()], {}
    for path in sources(root):
        found += check_file(root, path)
        name = os.path.basename(path)
        if not path.startswith("examples/") and first.setdefault(name, path) != path:
            found.append((path, 1, f"has the name of {first[name]}"))
    return found


# --- self-test: violations that must be found, and code that must pass --------

GOOD = {
    "src/base/vs_map.h": "#include <stdint.h>\n",
    "src/base/reading/vs_vec.h": "",
    "src/base/vs_option.c": '#include "base/vs_map.h"\n#include <stdlib.h>\nchar *f(void) { return getenv("A"); }\n',
    "src/ledger/ledger.h": '#include "base/vs_map.h"\n',
    "src/allocator/core/allocator.h": "",
    "src/allocator/compact/policy.c": '#include "allocator/core/placement.h"\n',
    "src/allocator/core/placement.h": "",
    "src/allocator/core/pool.h": "",
    "src/trace/format/event.h": '#include "trace/format/event_table.h"\n#include "ledger/ledger.h"\n',
    "src/trace/format/event_table.h": "",
    "src/trace/read/frame.h": '#include "trace/format/event.h"\n#include "reader.h"\n',
    "src/trace/read/reader.h": "#include <stdint.h>\n",
    "src/trace/record/recorder.h": "#include <stdint.h>\n",
    "src/intercept/route/hook.c": '#include <cuda.h>\n#include <nvtx3/nvToolsExt.h>\n'
                                  '#include "trace/record/recorder.h"\n#include "hook.h"\n',
    "src/intercept/route/hook.h": "",
    "src/intercept/api/api.c": '#include "vramscope.h"\n',
    "src/analysis/state/replay.h": '#include "trace/read/reader.h"\n/* never calls getenv */\n',
    "src/analysis/report/report.h": '#include "analysis/state/replay.h"\n',
    "src/viewer/report/text.c": '#include "analysis/report/report.h"\n'
                                'const char *s = "getenv \\" // not a comment";\n',
    "src/simulator/driver/device.c": '#include <cuda.h>\n#include "base/vs_map.h"\nchar *g(void) { return getenv("B"); }\n',
    "include/vramscope.h": "#include <stddef.h>\n",
    "tools/verbs/report.c": '#include "analysis/report/report.h"\n// #include "intercept/route/hook.h"\n'
                            '/*\n#include "simulator/x.h"\n*/\n',
    "examples/a/main.c": '#include <cuda_runtime.h>\n#include "vramscope.h"\n#include "model.h"\n',
    "examples/a/model.h": "",
}
# planted file -> (content, line of the violation, a word of the message)
BAD = {
    "src/ledger/ends.c": ('#include "base/reading/vs_vec.h"\n', 1, "end the process"),
    "src/base/up.c": ('\n#include "trace/format/event.h"\n', 2, "base may not include"),
    "src/ledger/up.c": ('#include "trace/format/event.h"\n', 1, "ledger may not include"),
    "src/allocator/core/sums.c": ('#include "ledger/ledger.h"\n', 1, "allocator/core may not include"),
    "src/allocator/core/up.c": ('#include "trace/record/recorder.h"\n', 1, "allocator/core may not include"),
    "src/allocator/core/cuda.c": ("#include <cuda_runtime_api.h>\n", 1, "CUDA header"),
    "src/allocator/core/api.c": ('#include "vramscope.h"\n', 1, "allocator/core may not include"),
    "src/allocator/pytorch/door.c": ('#include "allocator/core/pool.h"\n', 1, "private to allocator/core"),
    "src/trace/format/side.c": ('#include <analysis/report/report.h>\n', 1, "trace/format may not include"),
    "src/trace/record/read.c": ('#include "trace/read/reader.h"\n', 1, "trace/record may not include"),
    "src/intercept/hooks/read.c": ('/* a\n * b */\n#include "trace/read/reader.h"\n', 3, "hooks may not include"),
    "src/intercept/hooks/view.c": ('#include "analysis/report/report.h"\n', 1, "hooks may not include"),
    "src/intercept/route/lock.c": ('void f(void)\n{\n    pthread_mutex_lock(&lock);\n}\n', 3, "without a rank"),
    "src/analysis/state/write.c": ('#include "trace/record/recorder.h"\n', 1, "state may not include"),
    "src/analysis/state/above.c": ('#include "analysis/report/report.h"\n', 1, "state may not include"),
    "src/analysis/state/inner.c": ('#include "../../trace/read/frame.h"\n', 1, "private to trace/read"),
    "src/analysis/state/env.c": ('char *h(void)\n{\n    return getenv("C");\n}\n', 3, "getenv"),
    "src/base/env.c": ("char *i(void) { return secure_getenv(0); }\n", 1, "getenv"),
    "src/viewer/report/alloc.c": ('#  include "allocator/core/allocator.h"\n', 1, "viewer/report may not include"),
    "src/allocator/core/nowhere.c": ('#include "nowhere.h"\n', 1, "not a file of this tree"),
    "src/viewer/report/macro.c": ("#include VS_HEADER\n", 1, "cannot be checked"),
    "src/simulator/driver/trace.c": ('#include "trace/format/event.h"\n', 1, "driver may not include"),
    "src/viewer/report/vs_map.h": ("", 1, "has the name of"),
    "tools/verbs/hooked.c": ('#include "intercept/route/hook.h"\n', 1, "tools/verbs may not include"),
    "tools/run/frame.c": ('#include "trace/read/frame.h"\n', 1, "private to trace/read"),
    "tools/verbs/sim.c": ("#include <cupti.h>\n", 1, "CUDA header"),
    "examples/a/inside.c": ('#include "base/vs_map.h"\n', 1, "examples may not include"),
    "include/vramscope_more.h": ('#include "base/vs_map.h"\n', 1, "public may not include"),
    "src/newroom/x.c": ("", 1, "lies in no room"),
    "src/trace/flat.c": ("", 1, "lies in no room"),
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
        extra = [f for f in found if f[0] not in BAD and "has the name of" not in f[2]]
        assert not extra, extra
    ROOMS["base"] = ("viewer/common nowhere", "*")  # rows are checked as well
    ROOMS["analysis/state"] = ("trace/record", "")
    rows = list(check_rows())
    assert len(rows) == 3, rows
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
