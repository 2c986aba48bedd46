#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the simulated GPU's tables of functions from NVIDIA's public headers.

usage: cuda_tables.py OUT SIMULATOR INCLUDE...

OUT is the folder for the tables, SIMULATOR that of the sources: runtime has the stand-in
runtime and its forwards.txt, the rooms of DRIVER the driver; each INCLUDE is a folder of CUDA or CUPTI headers. Files whose content stays are not
written again. Exits with 1 and one line when a header is missing or has no functions
in the form that is expected here.

  vs_sim_entry_table.h        VS_SIM_FN(name, version, symbol) and, where there is a form
                              for per-thread default streams, VS_SIM_FN_PT(name, version,
                              symbol, per-thread symbol): every driver function of
                              cudaTypedefs.h, by name, then version
  vs_sim_runtime_api_table.h  VS_RT_API(symbol, cbid): every runtime function that returns a
                              cudaError_t, with the newest callback number of its name,
                              except those that nvcc's start-up and launch code calls
  vs_sim_runtime_table.h      VS_RT_FN(field, name, version, flags, type): the driver
                              functions that the runtime's sources and forwards.txt name, as
                              vs_rt.<field>, with the arguments of cuGetProcAddress
  vs_sim_params_table.h       VS_DRIVER_PARAMS(cbid, members), VS_RUNTIME_PARAMS(cbid,
                              members): VS_PARAM(structure, member) for each member of the
                              parameter structures of CUPTI's callbacks
  vs_sim_entry_fallback_table.h, vs_sim_runtime_fallback_table.h
                              what each of these does where no file defines it:
                              VS_PER_THREAD(symbol, base, parameters, arguments) for the
                              per-thread form of a function of streams, with VS_STREAM(name)
                              for each; VS_DEFAULT_STREAM, likewise, for that of a driver
                              function which takes none; VS_OLDER(symbol, newer, parameters,
                              arguments, newer parameters) for an older form of a driver function
                              that at most lacks edge data; VS_FORWARD(symbol, parameters, entered,
                              call) for the rows of forwards.txt and of the next table, and
                              VS_SAME_SIZE(type, type) for structures passed on by address;
                              VS_NOT_SUPPORTED(symbol) for the others
  vs_sim_runtime_entered.h    declarations of the runtime's functions <symbol>_context, _driver,
                              _function and _result, which their entry points call after
                              they entered that (forwards.txt) and checked pointers that are [static 1]
  vs_sim_runtime_older_table.h
                              VS_OLDER(symbol, newer, parameters, arguments), likewise
  vs_sim_runtime_old_table.h  VS_RT_OLD(symbol, cbid): what the runtimes of CUDA 11 and 12 export
                              besides, or instead of, the functions of CUDA 13, by VS_SIM_RT_MAJOR
  vs_sim_runtime_major_names.h
                              the names that functions of CUDA 13 have in an older library which has
                              another form under their own: those CUDA 12 exports (_v2, _v3), or
                              vs_rt13_X for cudaX, which is not exported
  vs_sim_cupti_table.h        VS_CUPTI_API(symbol): every function of CUPTI
  vs_sim_enter_table.h        VS_ENTRY(symbol, parameters, variables, before, after, definition, call) for
                              each driver function that is defined as <symbol>_entered, _in or _safe, with
                              parameters that its entry point finds (ENTRY_TYPES), VS_LOCKED likewise for
                              <symbol>_locked. *before* and *after* (the lock is taken): is it refused?
  vs_sim_node_table.h         VS_DRIVER_NODE(symbol, parameters, what, of, form, given),
                              VS_RT_NODE likewise: the functions that add a graph node (what:
                              add) or change one (change, change_exec) *of* these arguments;
                              node_<form> converts the others, those *given*
  vs_sim_error_table.h        VS_RT_ERROR(name), VS_CUPTI_RESULT(name): every code of an error
  cudart_NN.map, cupti_NN.map version scripts of the libraries of CUDA 11, 12 and 13: an older
                              one exports only what NVIDIA's last library of that major has
"""
import os
import re
import sys

# The runtime's sources call these in their first form, without the context parameter.
FIRST_FORM = {"cuCtxGetDevice", "cuCtxSynchronize"}
DRIVER = ("driver", "memory", "context", "graph")  # rooms of the driver that define its functions
# What a generated entry point of the driver finds for a parameter of this type, given one of that type: an
# expression that stores it in OWN and is an error or 0. Those of LOCKED_TYPES need the lock of graphs.
ENTRY_TYPES = {
    ("struct vs_sim_stream", "CUstream"): "vs_sim_stream_of(current, %s, &OWN)",
    ("struct vs_sim_event", "CUevent"): "vs_sim_event_of(%s, &OWN)",
    ("struct vs_sim_image", "CUmodule"): "vs_sim_module_of(%s, &OWN)",
    ("struct vs_sim_image", "CUlibrary"): "vs_sim_library_of(%s, &OWN)",
    ("struct vs_sim_pool", "CUmemoryPool"): "vs_sim_pool_of(%s, &OWN)",
    ("struct vs_sim_context", "CUcontext"): "vs_sim_context_given(%s, &OWN)",
    ("struct vs_sim_device", "CUdevice"): "((OWN = vs_sim_device_find(%s)) ? 0 : CUDA_ERROR_INVALID_DEVICE)",
    ("struct vs_sim_device", "int"): "((OWN = vs_sim_device_find(%s)) ? 0 : CUDA_ERROR_INVALID_DEVICE)",
    ("struct vs_sim_function", "CUfunction"): "((OWN = vs_sim_function_of(%s)) ? 0 : CUDA_ERROR_INVALID_HANDLE)",
    ("struct vs_sim_function", "CUkernel"): "((OWN = vs_sim_function_of(%s)) ? 0 : CUDA_ERROR_INVALID_HANDLE)",
    ("struct vs_sim_graph", "CUgraph"): "((OWN = vs_sim_graph_of(%s)) ? 0 : CUDA_ERROR_INVALID_VALUE)",
    ("struct vs_sim_node", "CUgraphNode"): "((OWN = vs_sim_node_of(%s)) ? 0 : CUDA_ERROR_INVALID_VALUE)",
    ("struct vs_sim_graph_exec", "CUgraphExec"): "((OWN = vs_sim_exec_of(%s)) ? 0 : CUDA_ERROR_INVALID_VALUE)",
}
LOCKED_TYPES = {"struct vs_sim_graph", "struct vs_sim_node", "struct vs_sim_graph_exec"}
NEWEST = 13000  # the release that the sources are written for
# Not in cuda_runtime_api.h: nvcc's launch code calls them, and they can be watched.
LAUNCHES = ["__cudaLaunchKernel", "__cudaLaunchKernel_ptsz"]
# Stream memory operations of before CUDA 11.7 need an option of the driver, unlike the later form.
NOT_LIKE_NEWER = re.compile(r"cuStream(Wait|Write)Value|cuStreamBatchMemOp")
LEGACY, PER_THREAD = 1, 2  # CU_GET_PROC_ADDRESS_*_STREAM
PER_THREAD_SINCE = 7000
# Structures of the runtime that are arguments themselves.
BY_VALUE = {"cudaIpcEventHandle_t", "cudaIpcMemHandle_t", "struct cudaMemLocation"}
# Older than their callback numbers say.
UNNUMBERED = {"cudaGetExportTable"}
# By the dynamic symbols of NVIDIA's libraries: what nvcc's start-up code calls since
# CUDA 12 or 13, and CUPTI's functions, of which no header says when they came.
STARTUP_SINCE = {12: ["__cudaGetKernel", "__cudaRegisterUnifiedTable"] + LAUNCHES,
                 13: ["__cudaGetProcAddress"]}
CUPTI_SINCE = {
    12: r"cupti(PmSampling|ProfilerHost|RangeProfiler|SassMetrics)\w+|cuptiProfilerIsPassCollected|"
        r"cuptiGet(ErrorMessage|GraphExecId)|cuptiActivityEnable(AllSyncRecords|AllocationSource|"
        r"DeviceGraph|DriverApi|HWTrace|RuntimeApi)",
    13: r"cuptiActivityEnableCudaEventDeviceTimestamps|cuptiSubscribe_v2"}


class Headers:
    def __init__(self, folders):
        self.folders = folders

    def read(self, name, optional=False):
        """The text of a header without its comments."""
        for folder in self.folders:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    return re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)
        if optional:
            return ""
        sys.exit("cuda_tables.py: %s is not in %s: install CUDA's runtime, CUPTI and profiler headers "
                 "(13.0 or later), or configure with -DVRAMSCOPE_CUDA=OFF"
                 % (name, " or ".join(self.folders)))

    def find(self, pattern, *names, optional=False):
        """All matches in some headers; none in all of them is an error."""
        found = [m for n in names for m in re.findall(pattern, self.read(n, optional), re.S)]
        if not found and not optional:
            sys.exit("cuda_tables.py: %s has another form than that of CUDA 13: configure with headers "
                     "of CUDA 13.0" % names[0])
        return found


def driver_entries(headers):
    """(name, version, symbol, per-thread symbol or "", its version), ascending."""
    forms = {}
    for name, version, thread in headers.find(r"\*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)",
                                              "cudaTypedefs.h", "cudaProfilerTypedefs.h"):
        forms.setdefault(name, []).append((int(version), thread))
    for name in sorted(forms):
        plain = sorted(v for v, thread in forms[name] if not thread)
        # a per-thread form belongs to the newest plain form that is not younger
        threads = {max(p for p in plain if p <= v): (thread, v) for v, thread in forms[name] if thread}
        for i, version in enumerate(plain):
            symbol = name if i == 0 else "%s_v%d" % (name, i + 1)
            thread, since = threads.get(version, ("", 0))
            yield name, version, symbol, symbol + thread if thread else "", since


def entry_table(entries):
    for name, version, symbol, thread, _ in entries:
        if thread:
            yield "VS_SIM_FN_PT(%s, %d, %s, %s)" % (name, version, symbol, thread)
        else:
            yield "VS_SIM_FN(%s, %d, %s)" % (name, version, symbol)


def runtime_callbacks(headers):
    """name -> [(version, cbid)], ascending."""
    names = {}
    for cbid, name, version in headers.find(r"CUPTI_RUNTIME_TRACE_CBID_((\w+?)_v(\d+))\s*=",
                                            "cupti_runtime_cbid.h"):
        names.setdefault(name, []).append((int(version), cbid))
    return {name: sorted(forms) for name, forms in names.items()}


def runtime_functions(headers):
    pattern = r"cudaError_t\s+(?:CUDARTAPI(?:_CDECL)?|CUDAAPI)?\s*(cuda\w+)\s*\("
    names = set(headers.find(pattern, "cuda_runtime_api.h"))
    names |= set(headers.find(pattern, "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h",
                              "cuda_profiler_api.h", optional=True))
    names |= {name + "_" + kind.lower() for kind, name in headers.find(
        r"#define \w+\s+__CUDART_API_(PTDS|PTSZ)\((\w+)\)", "cuda_runtime_api.h")}
    return {n for n in names | set(LAUNCHES) if "WGL" not in n}  # not of another system


def older_forms(headers, entries, parameters):
    """The driver functions that are a newer form, with NULL for edge data which they do not have."""
    types = {key: re.findall(r"\s*([^,]*?)\s*\w+\s*(?:,|$)", text) for key, text in headers.find(
        r"\*(PFN_cu\w+)\)\(([^)]*)\);", "cudaTypedefs.h")}
    forms = {}
    for name, version, symbol, _, _ in entries:
        forms.setdefault(name, []).append((symbol, types.get("PFN_%s_v%d" % (name, version))))
    for name, same in forms.items():
        for (symbol, kinds), (newer, newer_kinds) in zip(same, same[1:]):
            members = parameters.get(newer, [])
            edges = [kind for kind in newer_kinds or [] if "CUgraphEdgeData" in kind]
            if (kinds and kinds == [kind for kind in newer_kinds if kind not in edges]
                    and len(members) == len(newer_kinds) and not NOT_LIKE_NEWER.match(name)):
                yield symbol, "VS_OLDER(%s, %s, (%s), (%s), (%s))" % (symbol, newer, ", ".join(
                    kind + " " + name for kind, name in members if "CUgraphEdgeData" not in kind),
                    ", ".join("NULL" if "CUgraphEdgeData" in kind else name for kind, name in members),
                    ", ".join(kind + " " + name for kind, name in members))


def runtime_forwards(sources):
    """symbol -> (section, driver field, added arguments), of forwards.txt; and a condition
    for the major version -> the functions that only such a library has."""
    forwards, older, enter = {}, {}, ""
    with open(os.path.join(sources, "forwards.txt"), encoding="utf-8") as file:
        for words in (line.split("#")[0].split() for line in file):
            if words and words[0].endswith(":"):
                enter = words[0][:-1]
            elif enter.startswith(("<", "=")):
                older.setdefault(enter, []).extend(words)
            elif words and enter == "older":  # beside the newer form of the same name
                forwards["@" + words[0]] = (enter, words[1], words[2:])
            elif words and enter == "ways":
                forwards.update((words[0] + form, (enter, words[1], []))
                                for form in ("", "_ptds", "Async"))
            elif words:
                field = words[1] if len(words) > 1 else words[0][len("cuda"):]
                forwards[words[0]] = (enter, field, words[2:])
    return forwards, older


def runtime_pointers(entries, sources, forwards):
    """(field, name, version, flags, type) of each driver function that the runtime calls."""
    text = " ".join(field for _, field, _ in forwards.values())
    for name in sorted(os.listdir(sources)):
        if re.fullmatch(r"rt_\w+\.c", name):
            with open(os.path.join(sources, name), encoding="utf-8") as file:
                text += file.read()
    words = set(re.findall(r"\w+", text))
    chosen = {}
    for entry in entries:
        name, version = entry[:2]
        if version <= NEWEST and not (name in FIRST_FORM and name in chosen):
            chosen[name] = entry
    for name, version, _, thread, since in chosen.values():
        field = name[2:]
        suffix = thread[-5:]  # _ptds, _ptsz or nothing
        if field in words:
            yield field, name, version, LEGACY if thread else 0, "PFN_%s_v%d" % (name, version)
        if suffix and field + suffix in words:
            yield (field + suffix, name, max(version, PER_THREAD_SINCE), PER_THREAD,
                   "PFN_%s_v%d%s" % (name, since, suffix if since != version else ""))


def parameters_of(headers, domain, header):
    """cbid -> [(type, name)], of the structures that CUPTI's callbacks show."""
    cbids = set(headers.find(r"CUPTI_%s_TRACE_CBID_(\w+)\s*=" % domain,
                             "cupti_%s_cbid.h" % domain.lower()))
    return {cbid: [(kind.strip(), name) for kind, name in
                   re.findall(r"([^;{]*?[\s*])(\w+)\s*(?:__dv)?;", body)]
            for cbid, body in headers.find(r"typedef struct (\w+)_params_st \{(.*?)\}", header)
            if cbid in cbids}


def params_table(domain, parameters):
    for cbid, members in parameters.items():
        if members:
            yield "VS_%s_PARAMS(%s, %s)" % (domain, cbid, " ".join(
                "VS_PARAM(%s_params, %s)" % (cbid, name) for _, name in members))


def fallback_table(symbols, parameters, stream_type, defined=()):
    """What a function does that no file defines: its per-thread form calls it."""
    for symbol in (s for s in symbols if s not in defined):
        base, members = symbol[:-5], parameters.get(symbol, [])
        streams = [name for kind, name in members if kind == stream_type]
        if re.search("_ptsz$", symbol) and streams and base in symbols:
            yield "VS_PER_THREAD(%s, %s, (%s), (%s))" % (
                symbol, base, ", ".join(kind + " " + name for kind, name in members),
                ", ".join("VS_STREAM(%s)" % n if n in streams else n for _, n in members))
        elif stream_type == "CUstream" and re.search("_pt[ds][sz]$", symbol) and members:
            yield "VS_DEFAULT_STREAM(%s, %s, (%s), (%s))" % (
                symbol, base, ", ".join(kind + " " + name for kind, name in members),
                ", ".join(name for _, name in members))
        else:
            yield "VS_NOT_SUPPORTED(%s)" % symbol


def forward_table(headers, forwards, pointers, parameters):
    """The functions that are one call of the driver, each argument cast to the driver's type."""
    types = dict(headers.find(r"\*(PFN_cu\w+)\)\(([^)]*)\);", "cudaTypedefs.h",
                              "cudaProfilerTypedefs.h"))
    fields = {field: types[kind] for field, _, _, _, kind in pointers}
    same = set()
    for symbol, (enter, field, more) in forwards.items():
        members = parameters.get(symbol, [])
        if enter == "older":
            continue
        form = "VS_FORWARD(%s, (%s), " % (symbol, ", ".join(ours + " " + name for ours, name in members)
                                          or "void") + "%s, %s)"
        if enter == "ways":
            way = ("{stream, false, true}" if symbol.endswith("Async") else
                   "{NULL, %s, false}" % str(symbol.endswith("_ptds")).lower())
            if symbol in parameters:
                yield form % ("cudaSuccess", "vs_rt_%s(%s, (struct vs_rt_way)%s)" % (
                    field, ", ".join(name for kind, name in members if kind != "cudaStream_t"), way))
            continue
        kinds = [re.sub(r"\s*\w+$", "", p.strip()) for p in fields.get(field, "").split(",")
                 if p.strip() != "void"]
        if field not in fields or len(members) + len(more) != len(kinds):
            sys.exit("cuda_tables.py: forwards.txt: %s is not one call of cu%s" % (symbol, field))
        casts = []
        for (ours, name), theirs in zip(members, kinds):
            if ours in BY_VALUE:
                same.add("VS_SAME_SIZE(%s, %s)" % (ours, theirs))
                casts.append("((union { %s ours; %s theirs; }){%s}).theirs" % (ours, theirs, name))
                continue
            if ours != theirs and ours[-1] == theirs[-1] == "*" and "void *" not in (ours, theirs):
                same.add("VS_SAME_SIZE(%s, %s)" % (ours[:-1].strip(), theirs[:-1].strip()))
            casts.append("function" if (ours, theirs) == ("const void *", "CUfunction") else
                         "(%s)%s" % (theirs, name))
        yield form % (entered(enter, members), "vs_rt_error(vs_rt.%s(%s))" % (field, ", ".join(casts + more)))
    yield from sorted(same)


def entered(kind, members):
    """What a function of the runtime enters first."""
    if kind == "function":
        return "vs_rt_enter_function(%s, &function)" % next(n for k, n in members if k == "const void *")
    return {"context": "vs_rt_enter_context()", "driver": "vs_rt_enter()", "result": "cudaSuccess"}[kind]


def definitions(folders, pattern):
    """(symbol, kind, parameters) of the functions that leave their entry to a generated one."""
    for folder in folders:
        for name in sorted(n for n in os.listdir(folder) if n.endswith(".c")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for symbol, kind, ours in re.findall(
                        r"^(?:\w+ |VS_\w+\()%s(?:,\s+)?\(([^)]*)\)(?:\n\{|,)" % pattern, file.read(), re.M):
                    ours = [] if ours == "void" else [" ".join(p.split()) for p in ours.split(",")]
                    yield symbol, kind, ours


def entered_rows(defined, parameters):
    """The entry points of the runtime's *defined* functions."""
    for symbol, kind, ours in defined:
        members = parameters.get(symbol, [])
        if len(ours) != len(members):
            sys.exit("cuda_tables.py: %s_%s has not the parameters of %s" % (symbol, kind, symbol))
        nulls = [name for own, (_, name) in zip(ours, members) if own.endswith("[static 1]")]
        enter = entered(kind, members)
        yield "VS_FORWARD(%s, (%s), %s, %s_%s(%s))" % (
            symbol, ", ".join(theirs + " " + name for theirs, name in members) or "void",
            "!(%s) ? cudaErrorInvalidValue : %s" % (" && ".join(nulls), enter) if nulls else enter,
            symbol, kind, ", ".join("function" if own.startswith("CUfunction ") else name
                                    for own, (_, name) in zip(ours, members)))


def enter_table(simulator, parameters):
    """The entry points of *definitions*. A condition stores an error in *entered*, or 0."""
    for symbol, kind, ours in definitions([os.path.join(simulator, room) for room in DRIVER],
                                          r"(cu\w+)_(entered|locked|in|safe)"):
        members = parameters.get(symbol, [])
        context = len(ours) == len(members) + 1  # a parameter before the program's
        if len(ours) != len(members) + context:
            sys.exit("cuda_tables.py: %s_%s has not the parameters of %s" % (symbol, kind, symbol))
        given, variables, found, in_lock, nulls = ["current"] * context, [], [], [], []
        for own, (theirs, name) in zip(ours[context:], members):
            wanted = re.match(r"(struct \w+) \*\w+$", own)
            condition = wanted and ENTRY_TYPES.get((wanted[1], theirs))
            given.append("own_" + name if condition else name)
            if condition:
                variables.append("%s *own_%s; " % (wanted[1], name))
                (in_lock if wanted[1] in LOCKED_TYPES else found).append(
                    condition.replace("OWN", "own_" + name) % name)
            if own.endswith("[static 1]"):
                nulls.append("(%s ? 0 : CUDA_ERROR_INVALID_VALUE)" % name)
        enter = "vs_sim_enter()"
        if context or kind in ("in", "safe") or "current" in " ".join(found):
            variables.append("struct vs_sim_context *current; ")
            enter = "vs_sim_enter_context(&current)"
        if kind == "safe":
            found.insert(0, "vs_sim_safe()")
        after = in_lock
        if "vs_sim_device_find" in " ".join(found):  # the results' places are checked first
            before = nulls + [enter] + found
        elif re.search("_(module|library)_of", " ".join(found)):
            before = [enter] + nulls + found
        else:
            before, after = [enter] + found, in_lock + nulls
        yield "VS_%s(%s, (%s), %s, (%s), (%s), %s_%s(%s), %s_%s(%s))" % (
            "LOCKED" if kind == "locked" else "ENTRY", symbol,
            ", ".join(theirs + " " + name for theirs, name in members) or "void", "".join(variables),
            " || ".join("(entered = %s)" % c for c in before),
            " || ".join("(entered = %s)" % c for c in after) or "0",
            symbol, kind, ", ".join(ours) or "void", symbol, kind, ", ".join(given))


def node_table(domain, parameters):
    """The functions that convert one form of a node's parameters."""
    pattern = re.compile(r"cu(?:da)?Graph(Add|Exec|)((?:Kernel|Memcpy|Memset|Host|EventRecord|EventWait|"
                         r"BatchMemOp)Node)(?:SetParams|SetEvent|)(1D|ToSymbol|FromSymbol|)(_v2|)")
    rows, most = [], {}
    for symbol, members in parameters.items():
        found = pattern.fullmatch(symbol)
        if not found or not members:
            continue
        what, form = found[1], found[2] + found[3] + found[4]
        first = {"Add": 4, "Exec": 2}.get(what, 1)
        rows.append((symbol, members, what, form, first))
        most[form] = max(most.get(form, 0), len(members) - first)
    for symbol, members, what, form, first in rows:
        names = [name for _, name in members]
        given = names[first:] + ["NULL"] * (most[form] - len(names[first:]))
        yield "VS_%s_NODE(%s, (%s), %s, (%s, &all), %s, (&all, %s))" % (
            domain, symbol, ", ".join(kind + " " + name for kind, name in members),
            {"Add": "add", "Exec": "change_exec"}.get(what, "change"), ", ".join(names[:first]), form,
            ", ".join(given))


def cupti_functions(headers):
    names = {n for folder in headers.folders if os.path.isdir(folder) for n in os.listdir(folder)
             if re.fullmatch(r"cupti\w*\.h", n) and n != "cupti_checkpoint.h"}  # of a library of its own
    pattern = r"\s(?:CUPTIAPI|CUPTIUTILAPI)?\s*(cupti\w+)\s*\("
    functions = set(headers.find(r"CUptiResult" + pattern, *sorted(names)))
    functions |= set(headers.find(r"(?:CUptiResult|int)" + pattern, "Openacc/cupti_openacc.h",
                                  "Openmp/cupti_openmp.h", optional=True))
    return sorted(functions)


def older_table(forwards, parameters):
    """The functions that are a newer form with constants for what it has more."""
    for symbol, (enter, newer, arguments) in forwards.items():
        if enter != "older":
            continue
        given = {name: kind for kind, name in parameters.get(newer, [])}
        if len(arguments) != len(given):
            sys.exit("cuda_tables.py: forwards.txt: %s is not %s with less" % (symbol[1:], newer))
        yield "VS_OLDER(%s, %s, (%s), (%s))" % (
            symbol[1:], newer, ", ".join(given[a] + " " + a for a in arguments if a in given) or "void",
            ", ".join(arguments))


def old_table(only_older, callbacks):
    """Their oldest callbacks; a _v2 without one of its name has the newest of the plain name."""
    for condition, symbols in only_older.items():
        yield "#if VS_SIM_RT_MAJOR %s" % condition
        for symbol in symbols:
            forms = callbacks.get(symbol)
            yield "VS_RT_OLD(%s, %s)" % (
                symbol, forms[0][1] if forms else callbacks[symbol[:-len("_v2")]][-1][1])
        yield "#endif"


def major_names(only_older, runtime, callbacks):
    """(the first major version with the plain name, a function of CUDA 13, its name before that)."""
    older = {symbol for symbols in only_older.values() for symbol in symbols}
    for condition, symbols in only_older.items():
        for symbol in (s for s in symbols if s in runtime):
            base, thread = re.fullmatch(r"(\w+?)(_ptsz|)", symbol).groups()
            second = base + "_v2"
            exported = (condition != "==11" and sum(version < NEWEST for version, _ in callbacks[symbol]) > 1
                        and (second in callbacks or second not in older))
            yield (12 if condition == "==11" else 13, symbol,
                   base + ("_v3" if second in older else "_v2") + thread if exported else
                   "vs_rt13_" + symbol[len("cuda"):])


def members_of(headers, enumeration, header):
    """The names in an enumeration."""
    body = headers.find(r"enum\s+(?:\w+\s+)?%s\s*\{(.*?)\}" % enumeration, header)[0]
    return [name for name in re.findall(r"(\w+)\s*=", body)
            if not name.endswith(("FORCE_INT", "ApiFailureBase"))]  # which are no codes


def younger(callbacks, names, major):
    """The functions of CUDA 13's runtime that the last runtime of *major* has not."""
    next_version = (major + 1) * 1000
    for name, forms in callbacks.items():
        if forms[0][0] >= next_version and not name.startswith("__") and name not in UNNUMBERED:
            yield name
    for _, name, renamed in names:
        if renamed.startswith("cuda") and callbacks[name][-1][0] >= next_version:
            yield renamed
    for since, startup in STARTUP_SINCE.items():
        if since > major:
            yield from startup


def version_script(soname, exported, hidden):
    yield "%s {" % soname
    yield "  global: %s;" % "; ".join(exported)
    yield "  local: %s;" % "; ".join(sorted(hidden) + ["*"])
    yield "};"


def write(path, lines):
    text = "\n".join(lines) + "\n"
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    out, simulator, headers = sys.argv[1], sys.argv[2], Headers(sys.argv[3:])
    sources = os.path.join(simulator, "runtime")
    os.makedirs(out, exist_ok=True)
    entries = list(driver_entries(headers))
    callbacks = runtime_callbacks(headers)
    names = runtime_functions(headers)
    cupti = cupti_functions(headers)
    runtime = {name: callbacks[name][-1][1] for name in sorted(names) if name in callbacks}
    of_driver = parameters_of(headers, "DRIVER", "generated_cuda_meta.h")
    of_runtime = parameters_of(headers, "RUNTIME", "generated_cuda_runtime_api_meta.h")
    runtime_members = {name: of_runtime.get(cbid, []) for name, cbid in runtime.items()}
    forwards, only_older = runtime_forwards(sources)
    pointers = list(runtime_pointers(entries, sources, forwards))
    defined = list(definitions([sources], r"(cuda\w+)_(context|driver|function|result)"))
    renamed = list(major_names(only_older, runtime, callbacks))
    older = dict(older_forms(headers, entries, of_driver))
    driver = [symbol for entry in entries for symbol in entry[2:4] if symbol]
    for name, lines in (
            ("vs_sim_entry_table.h", entry_table(entries)),
            ("vs_sim_entry_fallback_table.h",
             list(fallback_table(driver, of_driver, "CUstream", older)) + list(older.values())),
            ("vs_sim_runtime_api_table.h", ["VS_RT_API(%s, %s)" % row for row in runtime.items()]),
            ("vs_sim_runtime_fallback_table.h",
             list(fallback_table(runtime, runtime_members, "cudaStream_t",
                                 {*forwards, *(symbol for symbol, _, _ in defined)})) +
             list(forward_table(headers, forwards, pointers, runtime_members)) +
             list(entered_rows(defined, runtime_members))),
            ("vs_sim_runtime_entered.h", ["cudaError_t %s_%s(%s);" % (symbol, kind, ", ".join(ours) or "void")
                                          for symbol, kind, ours in defined]),
            ("vs_sim_runtime_older_table.h", older_table(forwards, runtime_members)),
            ("vs_sim_runtime_old_table.h", old_table(only_older, callbacks)),
            ("vs_sim_runtime_major_names.h", ["#if VS_SIM_RT_MAJOR < %d\n#define %s %s\n#endif" % row
                                              for row in renamed]),
            ("vs_sim_runtime_table.h", ['VS_RT_FN(%s, "%s", %d, %d, %s)' % p for p in pointers]),
            ("vs_sim_params_table.h", list(params_table("DRIVER", of_driver)) +
             list(params_table("RUNTIME", of_runtime))),
            ("vs_sim_enter_table.h", enter_table(simulator, of_driver)),
            ("vs_sim_node_table.h", list(node_table("DRIVER", of_driver)) +
             list(node_table("RT", runtime_members))),
            ("vs_sim_error_table.h",
             ["VS_RT_ERROR(%s)" % n for n in members_of(headers, "cudaError", "driver_types.h")] +
             ["VS_CUPTI_RESULT(%s)" % n for n in members_of(headers, "", "cupti_result.h")]),
            ("vs_sim_cupti_table.h", ["VS_CUPTI_API(%s)" % function for function in cupti])):
        write(os.path.join(out, name), ["/* by cmake/cuda_tables.py */"] + list(lines))
    newest = headers.find(r"#define CUDA_VERSION (\d+)\d{3}\b", "cuda.h")[0]
    for major, cudart, library in ((11, "11.0", "11.8"), (12, "12", "12"), (13, newest, newest)):
        write(os.path.join(out, "cudart_%d.map" % major), version_script(
            "libcudart.so." + cudart, ["cuda*", "__cuda*"], younger(callbacks, renamed, major)))
        write(os.path.join(out, "cupti_%d.map" % major), version_script(
            "libcupti.so." + library, ["cupti*"],
            (f for f in cupti for since, pattern in CUPTI_SINCE.items()
             if since > major and re.fullmatch(pattern, f))))


if __name__ == "__main__":
    main()
