/* SPDX-License-Identifier: Apache-2.0
 *
 * The places where Python installs code; see the header. Paths in a trace are those of the program:
 * they need not exist where the trace is read. */
#include "analysis/naming/python_file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "base/vs_text.h"

#define STACK_MAX 129

/* Python frames without a file, or of files that no one wrote by hand. */
static const struct {
    const char *start, *name;
} generated[] = {
    {"<frozen ", "python"},       {"<vramscope>/", "vramscope"}, {"<__array_function__", "numpy"},
    {"<eval_with_key>", "torch"}, {"<attrs generated", "attrs"}, {"<torch_package", "torch"},
};

/* Libraries whose checkouts are recognised in PREFIX/src. */
static const char *const checkouts[] = {
    "torch", "torchvision", "torchaudio", "numba", "numba_cuda", "transformers", "accelerate",
    "diffusers", "peft", "datasets", "lightning", "pytorch_lightning", "deepspeed", "triton",
    "cupy", "jax", "jaxlib", "xformers", "flash_attn", "bitsandbytes", "timm", "apex"};

/* The length of "/lib/python3.11/" or "/lib64/python3/" at *at*; 0 for other text. */
static size_t library_folder(const char *at)
{
    const char *p = at;
    if (strncmp(p, "/lib", 4) != 0)
        return 0;
    p += 4;
    if (strncmp(p, "64", 2) == 0 || strncmp(p, "32", 2) == 0)
        p += 2;
    if (strncmp(p, "/python", 7) != 0)
        return 0;
    p += 7;
    if (!isdigit((unsigned char)*p))
        return 0;
    while (isdigit((unsigned char)*p) || *p == '.')
        p++;
    p += *p == 't'; /* the build without a global lock */
    return *p == '/' ? (size_t)(p + 1 - at) : 0;
}

/* torch.compile names a file "c" and the base32 of its hash, in a folder of the hash's first two
 * characters (torch/_inductor/codecache.py, get_path). */
static bool is_compiled(const char *path)
{
    if (strstr(path, "/torchinductor_"))
        return true;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (!slash || slash - path < 3 || length < 40 || length > 60 || *name != 'c' ||
        strcmp(name + length - 3, ".py") != 0 || slash[-3] != '/' ||
        strncmp(slash - 2, name + 1, 2) != 0)
        return false;
    for (size_t i = 0; i < length - 3; i++)
        if (!islower((unsigned char)name[i]) && !(name[i] >= '2' && name[i] <= '7'))
            return false;
    return true;
}

static bool set_name(char name[VS_PACKAGE_MAX], const char *text, size_t length)
{
    snprintf(name, VS_PACKAGE_MAX, "%.*s", (int)(length < VS_PACKAGE_MAX ? length : VS_PACKAGE_MAX - 1),
             text);
    return true;
}

static bool by_path(const char *path, char name[VS_PACKAGE_MAX])
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    const char *inside = NULL; /* after the last of these */
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (const char *at = path; (at = strstr(at, folders[i])) != NULL;) {
            at += strlen(folders[i]);
            inside = at > inside || !inside ? at : inside;
        }
    name[0] = 0;
    if (vs_library_named(path, NULL, name))
        return true;
    if (inside) { /* the first folder or file of "torch/nn/linear.py", "six.py" */
        size_t length = strcspn(inside, "/");
        bool file = !inside[length] && length > 3 && strcmp(inside + length - 3, ".py") == 0;
        return set_name(name, inside, file ? length - 3 : length);
    }
    for (size_t i = 0; i < sizeof generated / sizeof *generated; i++)
        if (vs_text_begins(path, generated[i].start))
            return set_name(name, generated[i].name, VS_PACKAGE_MAX);
    if (strstr(path, "/vramscope/python/"))
        return set_name(name, "vramscope", VS_PACKAGE_MAX);
    if (is_compiled(path))
        return set_name(name, "torch.compile", VS_PACKAGE_MAX);
    for (const char *at = path; (at = strchr(at, '/')) != NULL; at++)
        if (library_folder(at))
            return set_name(name, "python", VS_PACKAGE_MAX);
    return false;
}

bool vs_python_is_library(const char *path)
{
    char name[VS_PACKAGE_MAX];
    return by_path(path, name);
}

/* Whether the trace has a file of an interpreter in *prefix*, *length* bytes. */
static bool is_prefix(const struct vs_reader *reader, const char *prefix, size_t length)
{
    const struct vs_module *module;
    for (uint32_t i = 0; (module = vs_reader_module(reader, i)) != NULL; i++)
        if (strncmp(module->path, prefix, length) == 0 && library_folder(module->path + length))
            return true;
    return false;
}

/* A known library in PREFIX/src/…; "/usr/src/app" is a usual place of programs in containers, so
 * the path must contain the library's name as a folder. */
static bool in_checkout(const struct vs_reader *reader, const char *path, char name[VS_PACKAGE_MAX])
{
    const char *src = strstr(path, "/src/");
    for (size_t i = 0; src && i < sizeof checkouts / sizeof *checkouts; i++) {
        size_t length = strlen(checkouts[i]);
        bool folder = false;
        for (const char *at = src + 4; !folder && (at = strchr(at, '/')) != NULL; at++)
            folder = strncmp(at + 1, checkouts[i], length) == 0 && at[1 + length] == '/';
        if (folder && is_prefix(reader, path, (size_t)(src - path)))
            return set_name(name, checkouts[i], VS_PACKAGE_MAX);
    }
    return false;
}

bool vs_python_library(const struct vs_reader *reader, const char *path, char name[VS_PACKAGE_MAX])
{
    return by_path(path, name) || in_checkout(reader, path, name);
}

bool vs_python_user_stack(const struct vs_reader *reader, uint64_t stack)
{
    struct vs_frame frames[STACK_MAX];
    size_t count = vs_reader_stack(reader, stack, frames, STACK_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct vs_module *module = vs_reader_module(reader, frames[i].module);
        if (module && *module->function && !vs_python_is_library(module->path))
            return true;
    }
    return false;
}
