#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the hook table misses no entry point. Reads the installed CUDA headers
and libraries, decides by names and signatures which functions allocate, free, map or
query memory, and fails for each that is neither hooked nor exempted with a reason.

  check_hooks.py TABLE EXEMPTIONS --cc CC --include DIR... [--library FILE...]
  check_hooks.py ... --self-test     remove hooks and exemptions, add invented entry
                                     points, and check that each is reported

The names are those that libraries export, versions included: the headers are
preprocessed three times (plainly, as CUDA's own sources do, which shows the old
forms, and with per-thread default streams). EXEMPTIONS has a line "name | reason"
each; a line for a hooked function, or for one that no rule selects, is an error too."""

import argparse
import os
import re
import subprocess
import sys

HEADERS = ("cuda.h", "cuda_runtime_api.h")
GRAPHICS_HEADERS = ("cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cuda_gl_interop.h", "cuda_egl_interop.h",
                    "cuda_vdpau_interop.h") # which need those of their API: read as they are
WAYS = ((), ("-D__CUDA_API_VERSION_INTERNAL",),
        ("-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-D__CUDA_API_PER_THREAD_DEFAULT_STREAM"))
PROTOTYPE = re.compile(r"\b(?:CUresult|cudaError_t)\b[\s\w()\"]*?\b(cu(?:da)?[A-Z]\w*)\s*\(([^;{}]*?)\)\s*;", re.S)

# --- rules ---
# Types that are memory or hold memory, returned through a pointer or passed by value.
# Driver and runtime have different names for the same types.
MEMORY = (r"CUdeviceptr(?:_v\d)?|CUarray|cudaArray_t|CUmipmappedArray|cudaMipmappedArray_t|"
          r"CUmemGenericAllocationHandle|CUexternalMemory|cudaExternalMemory_t|"
          r"CUmemoryPool|cudaMemPool_t|CUmodule|CUlibrary|cudaLibrary_t|"
          r"CUgraphicsResource|cudaGraphicsResource(?:_t)?|CUcontext|CUgreenCtx|CUgraphExec|cudaGraphExec_t|"
          r"CUipcMemHandle|cudaIpcMemHandle_t|cudaPitchedPtr|cudaArray_const_t|cudaMipmappedArray_const_t|"
          r"CUdevResource\w*|cudaExecutionContext_t|CUlogicalEndpointId|CUeglFrame|cudaEglFrame")
GIVES = re.compile(rf"(?<!const )(?:struct\s+)?\b(?:{MEMORY})\s*\*(?!\s*const)")
TAKES = re.compile(rf"^(?:struct\s+)?(?:{MEMORY})\s+\w+$")
POINTER_OUT = re.compile(r"^void\s*\*\s*\*\s*\w+$")
HOST_POINTER = re.compile(r"^void\s*\*\s*\w+$")
SIZE_OUT = re.compile(r"^(?:size_t|unsigned(?: int)?)\s*\*\s*(?:free|total|bytes|psize|pSize|size)\w*$")
# Words in a name, each a whole word of its camel case.
ENDS = {"Free", "Destroy", "Release", "Unmap", "Unload", "Close", "Unregister", "Reset", "Trim", "Detach",
        "Unbind", "Discard", "Delete"}
BEGINS = {"Alloc", "Malloc", "Create", "Map", "Import", "Register", "Load", "Open", "Reserve", "Bind", "Retain",
          "Attach", "Set", "Instantiate", "Launch", "Upload", "Add", "Export", "Mapped", "From"}
ABOUT = {"Mem", "Malloc", "Array", "Pool", "Ipc", "Multicast", "External", "Memory", "Host", "Address",
         "Pointer", "Mipmapped"}
ASKS = {"Get"}
ABOUT_ASKED = {"Info", "Total", "Range", "Attribute", "Attributes", "Handle", "Granularity", "Access", "Requirements",
               "Pointer", "Pool", "Properties", "Flags"}
# Names that contain such words, but do not allocate, free or map memory: copies and
# fills, imports of other objects, shared memory of kernels, nodes that run host functions.
ELSEWHERE = re.compile(r"cudaSetDoubleFor|cudaBind(?:Texture|Surface)|Memcpy|Memset|Prefetch|Decompress|MemAdvise|Semaphore|SharedMemConfig|PersistingL2|"
                       r"HostNode|BatchMemOp|Ipc\w*Event|TexRef|SurfRef|TensorMap|^cu(?:da)?Logs")


def words(name):
    base = re.sub(r"_(?:v\d+|pt[ds]z?|ptsz|ptds)\b|(?:_v\d+)?_pt[ds]z?$|_v\d+$", "", name)
    base = re.sub(r"^cu(?:da)?", "", base)
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]+|[A-Z]+|\d+D?", base)


def kind_of(name, parameters):
    """The reason why *name* needs a hook; None if it does not."""
    found = set(words(name))
    if ELSEWHERE.search(name):
        return None
    about = found & ABOUT
    gives = [p for p in parameters if GIVES.search(p)]
    takes = [p for p in parameters if TAKES.match(p)]
    if parameters == ["?"]: # no header shows it
        return "sounds like it" if found & (ENDS | BEGINS) - {"Set", "From", "Launch", "Add", "Create"} else None
    if parameters and parameters != ["void"]:
        if found & ENDS and (takes or about or gives or HOST_POINTER.match(parameters[0])):
            return "frees or unmaps"
        if gives and found & BEGINS:
            return "gives memory, or a handle of it"
        if [p for p in parameters if POINTER_OUT.match(p)] and (about or found & {"Map", "Mapped", "Symbol"}):
            return "gives an address"
        if found & BEGINS and (takes or HOST_POINTER.match(parameters[0]) or POINTER_OUT.match(parameters[0])) and about:
            return "gives, maps or binds memory"
        if found & {"Set", "Import", "Export", "Map", "Bind", "Add"} and about:
            return "maps memory or changes where it comes from"
        if gives and "Get" in found and re.search(r"CUdeviceptr|void", "".join(gives)):
            return "gives an address"
        if found & ASKS and (about or "Total" in found or "Context" in found) and found & ABOUT_ASKED:
            return "answers for memory"
        if [p for p in parameters if SIZE_OUT.match(p)] and about:
            return "answers for memory"
        if found & {"Instantiate"} or (found & {"Launch", "Upload", "Update"} and takes):
            return "may take or give memory with a graph"
        if found & {"Add", "Set"} and re.search(r"[Gg]raphNodeParams\b", " ".join(parameters)):
            return "any kind of node, those of memory too"
    if found & {"Checkpoint", "Restore"}:
        return "takes memory away and gives it back"
    if found & {"Reset", "Trim", "Release"} and found & {"Device", "Ctx", "Primary"}:
        return "ends memory with its context"
    return None


# --- reading ---

def split_parameters(text):
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s*=\s*[^,]+", "", text)
    return [re.sub(r"\b(?:CUDART_CB|CUDAAPI)\b", "", p).strip() for p in text.split(",")] if text else []


def preprocess(cc, includes, header, ways):
    command = [cc, "-E", "-P", "-x", "c"]
    run = subprocess.run(command + [*ways, *(f"-I{i}" for i in includes), "-"], input=f"#include <{header}>\n",
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{header} cannot be read: {run.stderr[:600]}")
    return run.stdout


def declared(cc, includes):
    """Every function of the headers: exported name -> parameters."""
    functions = {}
    for header in HEADERS:
        for ways in WAYS:
            for name, text in PROTOTYPE.findall(preprocess(cc, includes, header, ways)):
                functions.setdefault(name, split_parameters(text))
    for header in GRAPHICS_HEADERS:
        path = next((p for p in (os.path.join(i, header) for i in includes) if os.path.exists(p)), None)
        if not path:
            continue
        with open(path, encoding="utf-8", errors="replace") as f:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", f.read(), flags=re.S)
        text = re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M)
        for name, parameters in PROTOTYPE.findall(text):
            functions.setdefault(name, split_parameters(parameters))
    return functions


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    names = set()
    for line in out.stdout.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in "TtWi" and re.match(r"cu(?:da)?[A-Z]\w*(?:@|$)", fields[2]):
            names.add(fields[2].split("@")[0])
    return names


def with_library(functions, libraries):
    """Adds functions that libraries export but headers do not declare: by the signature of
    the same function without its version, or by name alone."""
    for library in libraries:
        for name in exported(library):
            base = re.sub(r"(?:_v\d+)?(?:_pt[ds]z?)?$", "", name)
            similar = next((f for f in (base, base + "_v2", name + "_v2") if f in functions), None)
            functions.setdefault(name, functions[similar] if similar else ["?"])
    return functions


def version_of(includes):
    for folder in includes:
        path = os.path.join(folder, "cuda.h")
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                found = re.search(r"#define CUDA_VERSION (\d+)", f.read())
            return int(found.group(1)), path
    sys.exit("no cuda.h in " + " ".join(includes))


def hooks_of(text):
    """Names in the table, with the number of their parameters."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    hooks = {}
    for m in re.finditer(r"VS_[A-Z]+_HOOK\(\s*(\w+)\s*,\s*\(([^()]*)\)", text):
        hooks[m.group(1)] = len([p for p in split_parameters(m.group(2)) if p != "void"])
    return hooks


def exemptions_of(text):
    exempt, wrong = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, bar, reason = (s.strip() for s in line.partition("|"))
        if not bar or len(reason) < 12 or not re.fullmatch(r"\w+", name):
            wrong.append(f"exemption line {number}: a name, a bar and a reason are needed")
        elif name in exempt:
            wrong.append(f"exemption line {number}: {name} is there twice")
        exempt[name] = reason
    return exempt, wrong


# --- judging ---

def judge(functions, hooks, exempt):
    """The errors, one per line. Names missing from another CUDA's headers are not errors."""
    wrong = []
    for name in sorted(functions):
        kind = kind_of(name, functions[name])
        if kind and name not in hooks and name not in exempt:
            wrong.append(f"{name}({', '.join(functions[name])}): {kind}; neither hooked nor exempted")
        if name in exempt and name in hooks:
            wrong.append(f"{name}: exempted, but hooked")
        elif name in exempt and not kind:
            wrong.append(f"{name}: exempted, but no rule asks for it")
        if name in hooks and functions[name] != ["?"]:
            count = len([p for p in functions[name] if p != "void"])
            if count != hooks[name]:
                wrong.append(f"{name}: {hooks[name]} parameters in the table, {count} in the header")
    return wrong


INVENTED = {
    "cuMemAllocSparkling": ["CUdeviceptr *ptr", "size_t bytes"],
    "cuMemAlloc_v3": ["CUdeviceptr *dptr", "size_t bytesize", "unsigned int flags"],
    "cuMemFreeAsync_v2": ["CUdeviceptr dptr", "CUstream hStream"],
    "cuArrayCreate_v3": ["CUarray *pHandle", "const CUDA_ARRAY_DESCRIPTOR *desc"],
    "cuMemMapRange": ["CUdeviceptr ptr", "size_t size", "CUmemGenericAllocationHandle handle"],
    "cuMemImportFromCloud": ["CUmemGenericAllocationHandle *handle", "void *where"],
    "cuMemPoolFoo": ["void **ptr", "CUmemoryPool pool"],
    "cuMemGetInfo_v3": ["size_t *free", "size_t *total", "CUdevice dev"],
    "cuDeviceTotalMem_v3": ["size_t *bytes", "CUdevice dev"],
    "cudaMallocEverywhere": ["void **devPtr", "size_t size"],
    "cudaFreeEverywhere": ["void *devPtr"],
    "cudaMalloc4D": ["struct cudaPitchedPtr *pitchedDevPtr", "struct cudaExtent extent"],
    "cuGraphAddNode_v3": ["CUgraphNode *node", "CUgraph graph", "CUgraphNodeParams *params"],
    "cuMallocNobodyKnows": ["?"],
    "cudaMallocAsync_v2_ptsz": ["void **devPtr", "size_t size", "cudaStream_t stream"],
    "cudaHostRegisterAll": ["void *ptr", "size_t size"],
    "cuModuleLoadFromSpace": ["CUmodule *module", "const char *planet"],
    "cuPointerGetAttribute_v2": ["void *data", "CUpointer_attribute attribute", "CUdeviceptr ptr"],
    "cuIpcOpenMemHandle_v3": ["CUdeviceptr *pdptr", "CUipcMemHandle handle", "unsigned int Flags"],
}
INNOCENT = {
    "cuMemcpySideways": ["CUdeviceptr dst", "CUdeviceptr src", "size_t bytes"],
    "cuEventCreate_v2": ["CUevent *event", "unsigned int flags"],
    "cuLaunchKernelTwice": ["CUfunction f", "void **params"],
    "cudaStreamCreateNicely": ["cudaStream_t *stream"],
}


def self_test(functions, hooks, exempt):
    """The rules must select every memory hook, and invented entry points."""
    missed = []
    clean = judge(functions, hooks, exempt)
    asked = [h for h in hooks if h in functions and kind_of(h, functions[h])]
    for name in asked:
        without = {h: n for h, n in hooks.items() if h != name}
        new = [w for w in judge(functions, without, exempt) if w not in clean]
        if len(new) != 1 or not new[0].startswith(name + "("):
            missed.append(f"without its hook {name} is not missed")
    for name in exempt:
        if name in functions:
            without = {e: r for e, r in exempt.items() if e != name}
            if not any(w.startswith(name + "(") for w in judge(functions, hooks, without)):
                missed.append(f"without its exemption {name} is not missed")
    for name, parameters in INVENTED.items():
        if not any(w.startswith(name + "(") for w in judge({**functions, name: parameters}, hooks, exempt)):
            missed.append(f"a new {name}({', '.join(parameters)}) would not be missed")
    for name, parameters in INNOCENT.items():
        if judge({**functions, name: parameters}, hooks, exempt) != clean:
            missed.append(f"{name} is no entry point of memory")
    if len(asked) < 80:
        missed.append(f"the rules ask for {len(asked)} of {len(hooks)} hooks only")
    return missed, len(asked)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("table")
    p.add_argument("exemptions")
    p.add_argument("--cc", default="cc")
    p.add_argument("--include", action="append", default=[])
    p.add_argument("--library", action="append", default=[])
    p.add_argument("--self-test", action="store_true")
    p.add_argument("--list", action="store_true", help="print the functions that the rules select, with their hook or exemption")
    args = p.parse_args()
    version, path = version_of(args.include)
    functions = declared(args.cc, args.include)
    in_headers = len(functions)
    libraries = [l for l in args.library if os.path.exists(l)]
    with_library(functions, libraries)
    with open(args.table, encoding="utf-8") as f:
        hooks = hooks_of(f.read())
    with open(args.exemptions, encoding="utf-8") as f:
        exempt, wrong = exemptions_of(f.read())
    if args.list:
        for name in sorted(functions):
            kind = kind_of(name, functions[name])
            if kind:
                print(name, "|", kind, "|", "hooked" if name in hooks else exempt.get(name, "-"), "|", ", ".join(functions[name]))
        return 0
    if args.self_test:
        missed, count = self_test(functions, hooks, exempt)
        wrong += missed
        print(f"{count} hooks, {len(exempt)} exemptions and {len(INVENTED)} invented entry points taken away or added")
    else:
        wrong += judge(functions, hooks, exempt)
        asked = sum(1 for n in functions if kind_of(n, functions[n]))
        print(f"CUDA {version // 1000}.{version % 1000 // 10} ({path}): {in_headers} functions; "
              f"{len(functions) - in_headers} more in {len(libraries)} libraries; {asked} of memory, "
              f"{len(hooks)} hooks, {len(exempt)} exemptions")
    print(*wrong, sep="\n") if wrong else None
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
