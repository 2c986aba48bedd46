/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of libraries by prefixes of their file names, so that new versions need no change; see the
 * header. */
#define _GNU_SOURCE
#include "analysis/naming/library.h"

#include <stdio.h>
#include <string.h>

#include "analysis/naming/frameworks.h"
#include "analysis/naming/name_text.h"
#include "analysis/naming/python_file.h"
#include "base/vs_text.h"

#define STACK_MAX 128

/* Objects between the code that allocates and the driver, or at the bottom of every stack. */
static const char *const passed_through[] = {
    "libcudart", "libcuda.so", "libvramscope", "libcupti", "libc.so", "libc-2", "libpthread",
    "ld-linux", "libdl.so", "librt.so", "linux-vdso", "libstdc++", "libgcc_s", "libffi", "_ctypes.",
    "cydriver.", "driver.cpython", "cyruntime.", "runtime.cpython", /* cuda.bindings; and CuPy's beside */
    NULL};

static const struct {
    const char *prefix, *name;
} known[] = {
    {"libnccl", "NCCL"},
    {"libcublas", "cuBLAS"}, /* also matches libcublasLt */
    {"libcudnn", "cuDNN"},
    {"libcufft", "cuFFT"},
    {"libcusolver", "cuSOLVER"},
    {"libcusparse", "cuSPARSE"},
    {"libcurand", "cuRAND"},
    {"libcutensor", "cuTENSOR"},
    {"libnvshmem", "NVSHMEM"},
    {"nvshmem", "NVSHMEM"},
    {"libnvinfer", "TensorRT"},
    {"libnvjpeg", "nvJPEG"},
    {"libcudf", "cuDF"},
    {"libmpi", "MPI"},
    {"libuct", "UCX"},
    {"libucp", "UCX"},
    {"libucm", "UCX"},
};

const struct vs_framework vs_frameworks[VS_FRAMEWORK_COUNT] = {
#define VS_FRAMEWORK(id, name, contents, objects, pool, seen, more) {name, contents, objects, seen, more},
#include "base/frameworks/vs_framework_table.h"
#undef VS_FRAMEWORK
};

const struct vs_framework *vs_framework_named(const char *name)
{
    for (size_t i = 0; i < VS_FRAMEWORK_COUNT; i++)
        if (strcmp(vs_frameworks[i].name, name) == 0)
            return &vs_frameworks[i];
    return NULL;
}

/* The framework to which an object or, if *python*, a source file belongs, or NULL. */
static const char *framework_of(const char *path, bool python)
{
    const char *base = vs_text_base_name(path);
    for (size_t i = 0; i < VS_FRAMEWORK_COUNT; i++)
        for (const char *at = vs_frameworks[i].objects; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            if (*at == '-' ? memmem(path, strlen(path), at, length) != NULL
                           : !python && strncmp(base, at, length) == 0)
                return vs_frameworks[i].name;
            at += length;
        }
    return NULL;
}

static const char *known_name(const char *path)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (vs_text_begins(vs_text_base_name(path), known[i].prefix))
            return known[i].name;
    return framework_of(path, false);
}

static bool is_passed_through(const char *base)
{
    for (size_t i = 0; passed_through[i]; i++)
        if (vs_text_begins(base, passed_through[i]))
            return true;
    return false;
}

const char *vs_library_of_module(const char *path, const char *exe, char name[VS_LIBRARY_NAME_MAX],
                                 bool *framework)
{
    const char *base = vs_text_base_name(path);
    *framework = false;
    if (*exe && strcmp(path, exe) == 0)
        return "the program";
    if (is_passed_through(base))
        return NULL;
    const char *found = known_name(path);
    if (found) {
        *framework = strcmp(found, "PyTorch") == 0;
        return found;
    }
    const char *suffix = strstr(base, ".so");
    size_t length = suffix && suffix > base ? (size_t)(suffix - base) + 3 : strlen(base);
    snprintf(name, VS_LIBRARY_NAME_MAX, "%.*s", length < 120 ? (int)length : 120, base);
    return *name ? name : "unknown";
}

const char *vs_library_of_stack(const struct vs_reader *reader, uint64_t stack, const char *exe,
                                char name[VS_LIBRARY_NAME_MAX], bool *framework)
{
    struct vs_frame frames[STACK_MAX];
    size_t count = vs_reader_stack(reader, stack, frames, STACK_MAX);
    *framework = false;
    for (size_t i = 0; i < count; i++) {
        const struct vs_module *module = vs_reader_module(reader, frames[i].module);
        const char *found = NULL;
        if (module && *module->function) { /* a language runtime, or no code (maker.c) */
            found = framework_of(module->path, true);
            return found ? found : *module->path ? "the program" : module->function;
        }
        found = module ? vs_library_of_module(module->path, exe, name, framework) : NULL;
        if (found)
            return found;
    }
    return "unknown";
}

/* The number of frames at the inner end that are of the path to the driver or, with *allocator*, of
 * PyTorch's caching allocator. */
static size_t inner_frames(const struct vs_reader *reader, const struct vs_frame *frames,
                           size_t count, bool allocator)
{
    size_t i = 0;
    for (; i < count; i++) {
        const struct vs_module *module = vs_reader_module(reader, frames[i].module);
        const char *base = module ? vs_text_base_name(module->path) : "";
        if (module && (*module->function ||
                       (!is_passed_through(base) && !(allocator &&
                                                      vs_text_begins(base, "libc10")))))
            break;
    }
    return i;
}

bool vs_library_is_allocator(const struct vs_reader *reader, uint64_t stack)
{
    struct vs_frame frames[STACK_MAX];
    size_t count = vs_reader_stack(reader, stack, frames, STACK_MAX);
    size_t i = inner_frames(reader, frames, count, false);
    const struct vs_module *module = i < count ? vs_reader_module(reader, frames[i].module) : NULL;
    if (module && *module->function)
        return !*module->path; /* older than the recording: known only of such memory */
    return module && vs_text_begins(vs_text_base_name(module->path), "libc10");
}

#define POOL_FRAMES 4

bool vs_library_same_pool(const struct vs_reader *reader, uint64_t a, uint64_t b)
{
    struct vs_frame of_a[4 * POOL_FRAMES], of_b[4 * POOL_FRAMES];
    size_t n = vs_reader_stack(reader, a, of_a, 4 * POOL_FRAMES);
    size_t m = vs_reader_stack(reader, b, of_b, 4 * POOL_FRAMES);
    size_t i = inner_frames(reader, of_a, n, false), k = inner_frames(reader, of_b, m, false);
    if (n - i < POOL_FRAMES || m - k < POOL_FRAMES)
        return false;
    for (size_t end = i + POOL_FRAMES; i < end; i++, k++)
        if (of_a[i].pc != of_b[k].pc || of_a[i].module != of_b[k].module)
            return false;
    return true;
}

bool vs_library_same_caller(const struct vs_reader *reader, uint64_t a, uint64_t b)
{
    struct vs_frame of_a[STACK_MAX], of_b[STACK_MAX];
    if (a == b)
        return true;
    size_t n = vs_reader_stack(reader, a, of_a, STACK_MAX), m = vs_reader_stack(reader, b, of_b, STACK_MAX);
    size_t i = inner_frames(reader, of_a, n, true), k = inner_frames(reader, of_b, m, true);
    if (i == n || n - i != m - k)
        return false;
    for (; i < n; i++, k++)
        if (of_a[i].pc != of_b[k].pc || of_a[i].module != of_b[k].module)
            return false;
    return true;
}

/* "python3.11" and "libpython3.11.so.1.0", wherever they are: pyenv and conda have them in the user's
 * home. "pythonic" and "libpythonia.so" are other programs'. */
static bool is_interpreter(const char *base)
{
    base += vs_text_begins(base, "lib") ? 3 : 0;
    if (!vs_text_begins(base, "python"))
        return false;
    base += strlen("python");
    base += strspn(base, "0123456789.");
    base += vs_text_begins(base, "t") || vs_text_begins(base, "d"); /* without a global lock; for debugging */
    return !*base || vs_text_begins(base, ".so") || vs_text_begins(base, "so");
}

bool vs_library_installed(const char *path, char *name)
{
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib", "/usr/local/lib",
                                          "/usr/local/cuda", "/opt/", NULL};
    const char *base = vs_text_base_name(path);
    if (vs_library_named(path, NULL, name))
        return true;
    if (is_interpreter(base)) {
        snprintf(name, VS_PACKAGE_MAX, "python");
        return true;
    }
    bool installed = is_passed_through(base) || vs_python_is_library(path) || strstr(path, "/vramscope/simulator/");
    for (size_t i = 0; !installed && folders[i]; i++)
        installed = vs_text_begins(path, folders[i]);
    const char *found = known_name(path);
    if (found) {
        snprintf(name, VS_PACKAGE_MAX, "%s", found);
        return true;
    }
    const char *suffix = strstr(base, ".so");
    size_t length = suffix ? (size_t)(suffix - base) : strlen(base);
    snprintf(name, VS_PACKAGE_MAX, "%.*s",
             installed ? (int)(length < VS_PACKAGE_MAX ? length : VS_PACKAGE_MAX - 1) : 0, base);
    return installed;
}

/* --- libraries that are compiled into a program --- */

/* By its header, or by its namespace where the debug information is missing, or a copy of the
 * headers is in the user's own folders. */
const char *vs_library_of_code(const char *function, const char *file)
{
    static const struct { const char *space, *name; } spaces[] = {
        {"thrust::", "Thrust"}, {"cub::", "CUB"}, {"cuda::std::", "libcu++"},
            {"cuda::mr::", "libcu++"},
        {"std::", "C++ library"}, {"__gnu_cxx::", "C++ library"},
    };
    static const struct { const char *folder, *name; } headers[] = {
        {"/include/c++/", "C++ library"}, {"/include/thrust/", "Thrust"}, {"/include/cub/", "CUB"},
        {"/include/cuda/", "libcu++"}, {"/include/nv/", "libcu++"}, {"/cccl/thrust/", "Thrust"},
        {"/cccl/cub/", "CUB"}, {"/cccl/", "libcu++"}, {"/targets/x86_64-linux/include/", "CUDA"},
        {"/targets/sbsa-linux/include/", "CUDA"}, {"/site-packages/", "library header"},
        {"/dist-packages/", "library header"},
    };
    for (size_t i = 0; file && i < sizeof headers / sizeof *headers; i++)
        if (strstr(file, headers[i].folder))
            return headers[i].name;
    if (file && (strstr(file, "/lib/gcc/") || strstr(file, "/lib/clang/")) &&
        strstr(file, "/include/"))
        return "compiler header";
    for (const char *at = file; at && (at = strstr(at, "/cuda")) != NULL;) { /* or cuda-13.0 */
        at += strlen("/cuda");
        if (vs_text_begins(at + (*at == '-' ? 1 + strspn(at + 1, "0123456789.") : 0), "/include/"))
            return "CUDA";
    }
    if (file && vs_text_begins(file, "/usr/include/"))
        return "system header";
    const char *name = vs_function_qualified(function);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (vs_text_begins(name, spaces[i].space))
            return spaces[i].name;
    return NULL;
}

/* --- libraries that the user names --- */

static char prefixes[4096]; /* one after another, each ends with a zero byte; "" ends them */

bool vs_library_add(const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ","), used = 0;
        while (prefixes[used])
            used += strlen(prefixes + used) + 1;
        if (used + length + 2 > sizeof prefixes)
            return false;
        memcpy(prefixes + used, list, length);
        list += length + (list[length] == ',');
    }
    return true;
}

bool vs_library_named(const char *path, const char *function, char *name)
{
    for (const char *prefix = prefixes; *prefix; prefix += strlen(prefix) + 1) {
        size_t length = strlen(prefix);
        /* whether the path or its file name begin with it, or it is one of its folders, or
         * several */
        bool begins = path && (vs_text_begins(path, prefix) ||
                               vs_text_begins(vs_text_base_name(path), prefix));
        for (const char *at = path; path && !begins && *prefix != '/' &&
             (at = strchr(at, '/')) != NULL;)
            begins = vs_text_begins(++at, prefix) && (prefix[length - 1] == '/' ||
                                                      at[length] == '/');
        if (!begins && !(function && vs_text_begins(vs_function_qualified(function), prefix)))
            continue;
        while (length > 1 && strchr("/:", prefix[length - 1]))
            length--;
        size_t start = length;
        while (start && prefix[start - 1] != '/')
            start--;
        snprintf(name, VS_PACKAGE_MAX, "%.*s", (int)(length - start), prefix + start);
        return true;
    }
    return false;
}
