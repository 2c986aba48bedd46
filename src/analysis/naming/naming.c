/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects the frames that name a call site; see the header. The lists are prefixes of module and
 * function names, so that new versions (libcudart.so.13, cuMemAlloc_v2) need no change. */
#include "analysis/naming/naming.h"

#include <stdio.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/naming/name_text.h"
#include "base/vs_text.h"

#define STACK_MAX 129 /* the maximum recorded depth, and the mark for more */
#define INLINE_MAX 16

static bool starts_with_any(const char *text, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (vs_text_begins(text, *prefixes))
            return true;
    return false;
}

bool vs_naming_is_plumbing(const char *function, const char *module, const char *file)
{
    static const char *const modules[] = {"libcudart", "libcuda.so", "libvramscope", "libcupti",
                                          "libc.so", "libc-2", "libpthread", "ld-linux", "libdl.so",
                                          "linux-vdso", "libstdc++", "libffi", "_ctypes.", NULL};
    static const char *const functions[] = {
        "cudaMalloc", "cudaHostAlloc", "cudaHostRegister", "cudaFree", "cuMem", "cuArray",
        "cuMipmappedArray", "cudaMemPool", "cudaMemcpy", "cudaMemset", "cudaLaunch", "cudaStreamSynchronize",
        "cudaEventSynchronize", "cudaDeviceSynchronize", "cuLaunch", "cuStreamSynchronize", "cudaGraph", "cuGraph",
        "operator new", "__cuda", "__device_stub_", "__wrapper__device_stub_", "libcudart_static_",
        "vs_thunk_", "vs_sim_rt_", "vs_rt_", "forward_cuda", "vs_hook_", "vramscope_", "cuda::mr::", NULL};
    if (starts_with_any(module, modules))
        return true;
    const char *base = file ? vs_text_base_name(file) : NULL;
    if (base && (strcmp(base, "cuda_runtime.h") == 0 || strcmp(base, "cuda_runtime_api.h") == 0))
        return true;
    /* The name itself in "ret ns::name<args>(params)": after the last space or "::"
     * outside brackets, so that a template's return type does not hide it. */
    const char *name = function;
    int depth = 0;
    for (const char *p = function; *p && *p != '('; p++) {
        depth += (*p == '<') - (*p == '>');
        if (depth == 0 && (*p == ' ' || *p == ':') && p[1] && strncmp(name, "operator", 8))
            name = p + 1;
    }
    return starts_with_any(name, functions);
}

bool vs_naming_is_startup(const char *function, const char *module)
{
    static const char *const functions[] = {"__libc_start", "__libc_init", "_start", "start_thread", "__clone",
                                            "clone3", "clone", "thread_start", "execute_native_thread_routine",
                                            "call_init", "_dl_", NULL};
    static const char *const modules[] = {"libc.so", "libc-2", "libpthread", "ld-linux", NULL};
    return starts_with_any(module, modules) ||
           (starts_with_any(function, functions) && strchr(function, '(') == NULL);
}

size_t vs_naming_lead(const struct vs_chain_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i].python)
            return i;
    return 0;
}

size_t vs_naming_chain(const struct vs_reader *reader, struct vs_symbols *symbols, uint64_t stack,
                       bool own, struct vs_chain_frame *frames)
{
    struct vs_frame pcs[STACK_MAX];
    struct vs_chain_frame all[VS_CHAIN_MAX];
    size_t depth = vs_reader_stack(reader, stack, pcs, STACK_MAX), count = 0;
    bool any_python = false;
    for (size_t i = 0; i < depth && count < VS_CHAIN_MAX; i++) {
        struct vs_symbol named[INLINE_MAX];
        const struct vs_module *module = vs_reader_module(reader, pcs[i].module);
        bool python = module && *module->function;
        char library[VS_PACKAGE_MAX] = "";
        if (module)
            python ? (void)vs_python_library(reader, module->path, library)
                   : vs_library_installed(module->path, library);
        any_python |= python;
        if (own && !python && (!module || *library))
            continue;
        size_t n = vs_symbols_frame(symbols, &pcs[i], named, INLINE_MAX);
        for (size_t k = 0; k < n && count < VS_CHAIN_MAX; k++) {
            all[count++] = (struct vs_chain_frame){named[k].function, named[k].file,
                                                   named[k].module ? named[k].module : "",
                                                   named[k].line, named[k].inlined, named[k].known,
                                                   python, (unsigned)i, ""};
            memcpy(all[count - 1].library, library, sizeof library);
            if (python || *library || vs_library_named(named[k].file, named[k].function, all[count - 1].library))
                continue;
            const char *code = vs_library_of_code(named[k].function, named[k].file);
            if (code) /* compiled into the program, and not its own code */
                snprintf(all[count - 1].library, sizeof library, "%s", code);
        }
    }
    if (own && !any_python)
        return 0;
    size_t first = 0, last = count;
    while (first < last && !all[first].python &&
           vs_naming_is_plumbing(all[first].function, all[first].module, all[first].file))
        first++;
    while (last > first && !all[last - 1].python &&
           vs_naming_is_startup(all[last - 1].function, all[last - 1].module))
        last--;
    if (first == last)
        first = 0, last = count;
    memcpy(frames, all + first, (last - first) * sizeof *frames);
    return last - first;
}

char *vs_naming_text(const struct vs_chain_frame *frame, char *out, size_t max)
{
    size_t used = vs_function_text(frame->function, out, max);
    if (frame->file && frame->line)
        snprintf(out + used, max - used, " (%s:%u)", vs_text_base_name(frame->file), frame->line);
    else if (frame->file)
        snprintf(out + used, max - used, " (%s)", vs_text_base_name(frame->file));
    return out;
}
