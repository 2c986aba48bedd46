/* SPDX-License-Identifier: Apache-2.0
 *
 * As in a recorded trace, the interpreter's own frames are left out where Python
 * frames stand for them, and so are the frames in which PyTorch captured the stack. */
#include "analysis/import/import_writer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_text.h"

#define NAMES_BUDGET ((uint64_t)1 << 30)
#define DEPTH_MAX 127 /* the readers' limit is 128 frames, and the mark for more */

enum frame_kind { FRAME_LEFT_OUT, FRAME_NATIVE, FRAME_PYTHON };

struct vs_import_frame {
    uint64_t offset; /* of Python the line */
    uint32_t module;
    enum frame_kind kind;
};

void vs_import_stacks_open(struct vs_import_stacks *s, struct vs_composer *composer)
{
    *s = (struct vs_import_stacks){.composer = composer, .names = {.budget = NAMES_BUDGET}};
}

uint64_t vs_import_text(struct vs_composer *composer, struct vs_pickle_text *text)
{
    if (text && !text->string)
        text->string = vs_composer_string(composer, text->bytes, text->length);
    return text ? text->string : 0;
}

/* "libpython3.11.so.1.0", "python3.12" */
static bool is_interpreter(const char *file)
{
    const char *base = vs_text_base_name(file);
    base += vs_text_begins(base, "lib") ? 3 : 0;
    return vs_text_begins(base, "python") && isdigit((unsigned char)base[6]);
}

static bool is_unknown(const char *text)
{
    return !*text || strcmp(text, "??") == 0;
}

static bool is_native(const char *name, const char *file)
{
    static const char *const sources[] = {".cpp", ".cc", ".cxx", ".c", ".cu", ".cuh", ".h", ".hpp",
                                          ".S", ".so", ".o"};
    if (is_unknown(file) || strstr(file, ".so.") || is_interpreter(file) || strstr(name, "::"))
        return true;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (vs_text_ends(file, sources[i]))
            return true;
    return false;
}

/* A file of CPython's own source, wherever it was built, as far as its debug information is there. */
static bool is_interpreter_source(const char *file)
{
    static const char *const folders[] = {"Objects/", "Python/", "Programs/"};
    const char *base = vs_text_base_name(file);
    if ((vs_text_begins(base, "pycore_") && vs_text_ends(base, ".h")) || vs_text_ends(file, "/Modules/main.c"))
        return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if (vs_text_ends(base, ".c") && (size_t)(base - file) > length &&
            strncmp(base - length, folders[i], length) == 0 && base[-1 - (ptrdiff_t)length] == '/')
            return true;
    }
    return false;
}

static bool is_left_out(const char *name, const char *file)
{
    if (vs_text_begins(name, "torch::unwind::") || vs_text_begins(name, "torch::CapturedTraceback::") ||
        strstr(name, "gather_with_cpp"))
        return true;
    if (is_unknown(file)) /* CPython's own functions; those of C++ have a namespace or parameters */
        return is_unknown(name) || vs_text_begins(name, "Py") || vs_text_begins(name, "_Py");
    return is_interpreter(file) || is_interpreter_source(file);
}

/* The module of a native function without a file of its own. */
static const char *module_by_name(const char *name, const char *file)
{
    static const struct {
        const char *prefix, *module;
    } spaces[] = {{"c10::cuda::", "libc10_cuda.so"}, {"c10::impl::", "libtorch.so"},
                  {"c10::", "libc10.so"},            {"at::", "libtorch.so"},
                  {"torch::", "libtorch.so"},        {"caffe2::", "libtorch.so"},
                  {"void at::", "libtorch.so"},      {"void torch::", "libtorch.so"},
                  {"THP", "libtorch_python.so"},     {"pybind11::", "libtorch_python.so"},
                  {"std::", "libstdc++.so.6"},
                  {"pthread_", "libc.so.6"},         {"__libc_", "libc.so.6"}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (vs_text_begins(name, spaces[i].prefix))
            return spaces[i].module;
    return is_unknown(file) ? "unknown" : file;
}

static uint32_t module_of(struct vs_import_stacks *s, uint64_t path, uint64_t function)
{
    uint64_t key = path << 32 | function; /* string ids; a file with 2^32 texts cannot be read */
    uint64_t *index = vs_xmap_value(&s->modules, key + 1, UINT64_MAX);
    if (*index == UINT64_MAX)
        *index = vs_composer_module(s->composer, path, function);
    return (uint32_t)*index;
}

/* The names are final, also those that PyTorch did not find: the file at that path on this machine
 * may be another version. */
static void name_place(struct vs_import_stacks *s, const struct vs_import_frame *frame,
                       const char *name, const char *file, uint64_t line)
{
    struct vs_symbol symbol = {.function = name, .file = file, .module = "",
                               .line = line < UINT32_MAX ? (uint32_t)line : 0, .known = true};
    if (vs_symbol_set_find(&s->names, frame->module, frame->offset))
        return;
    (void)!vs_symbol_set_put(&s->names, frame->module, frame->offset, VS_LEVEL_LINES, &symbol,
                             !is_unknown(name)); /* frames beyond the budget have no name */
}

/* The offset of a native frame without an address: each line of a function is a call site of its own. */
static uint64_t offset_of(uint64_t name, uint64_t line)
{
    return (uint64_t)(uint32_t)line << 32 | name;
}

static void read_native(struct vs_import_stacks *s, struct vs_import_frame *frame, const char *name,
                        struct vs_pickle_text *name_text, const char *file, uint64_t line)
{
    bool object = strstr(file, ".so") != NULL; /* then the "line" is an address in it */
    const char *path = object ? file : module_by_name(name, file);
    frame->kind = FRAME_NATIVE;
    frame->module = module_of(s, vs_composer_string(s->composer, path, strlen(path)), 0);
    frame->offset = object ? line : offset_of(vs_import_text(s->composer, name_text), line);
    name_place(s, frame, name, object || is_unknown(file) ? NULL : file, object ? 0 : line);
}

/* The frame that *dict* describes: name, filename, line. */
static struct vs_import_frame read_frame(struct vs_import_stacks *s,
                                         const struct vs_pickle_value *dict)
{
    struct vs_import_frame frame = {.kind = FRAME_LEFT_OUT};
    const struct vs_pickle_value *name = vs_pickle_get(dict, "name");
    const struct vs_pickle_value *file = vs_pickle_get(dict, "filename");
    const struct vs_pickle_value *line = vs_pickle_get(dict, "line");
    if (!name || name->type != VS_PICKLE_TEXT || !file || file->type != VS_PICKLE_TEXT)
        return frame;
    const char *function = name->text->bytes, *path = file->text->bytes;
    uint64_t number =
        line && line->type == VS_PICKLE_INT && line->integer > 0 ? (uint64_t)line->integer : 0;
    if (is_left_out(function, path))
        return frame;
    if (is_native(function, path)) {
        read_native(s, &frame, function, name->text, path, number);
        return frame;
    }
    frame.kind = FRAME_PYTHON;
    frame.module = module_of(s, vs_import_text(s->composer, file->text),
                             vs_import_text(s->composer, name->text));
    frame.offset = number;
    return frame;
}

/* The frame of *dict*, which the table has once. */
static struct vs_import_frame frame_of(struct vs_import_stacks *s,
                                       const struct vs_pickle_value *dict)
{
    if (dict->type != VS_PICKLE_DICT)
        return (struct vs_import_frame){.kind = FRAME_LEFT_OUT};
    if (!dict->list->cache) {
        struct vs_import_frame frame = read_frame(s, dict);
        *(struct vs_import_frame *)vs_vec_push(&s->frames, &s->frame_count, &s->frame_capacity,
                                               sizeof frame) = frame;
        dict->list->cache = s->frame_count;
    }
    return s->frames[dict->list->cache - 1];
}

/* The frames that are kept, innermost first; of a deeper stack the Python frames only. PyTorch puts one
 * Python frame in the place of each native frame of the interpreter, from the innermost on, and those
 * that are left behind the last native one. The interpreter runs calls among Python functions in one
 * native frame, so the order of the Python frames is right, and which native frames are between them is
 * not known: these are left out, or one path of calls would be several. So are the outer ones of a
 * Python program's own thread; those of another thread tell who called Python. */
static size_t choose(struct vs_import_stacks *s, const struct vs_pickle_list *list, bool python_only,
                     struct vs_import_frame chosen[DEPTH_MAX + 1])
{
    size_t count = 0, inner = 0, outer = list->count;
    while (inner < list->count && frame_of(s, &list->items[inner]).kind != FRAME_PYTHON)
        inner++;
    while (outer > inner && frame_of(s, &list->items[outer - 1]).kind != FRAME_PYTHON)
        outer--;
    for (size_t i = outer; outer > inner && i < list->count; i++) {
        const struct vs_pickle_value *name = vs_pickle_get(&list->items[i], "name");
        if (name && name->type == VS_PICKLE_TEXT && strcmp(name->text->bytes, "_start") == 0)
            outer = list->count; /* the interpreter is the program */
    }
    for (size_t i = 0; i < list->count && count <= DEPTH_MAX; i++) {
        struct vs_import_frame frame = frame_of(s, &list->items[i]);
        if (frame.kind == FRAME_PYTHON ||
            (frame.kind == FRAME_NATIVE && !python_only && (i < inner || i >= outer)))
            chosen[count++] = frame;
    }
    return count;
}

uint64_t vs_import_stack(struct vs_import_stacks *s, struct vs_pickle_list *frames)
{
    struct vs_import_frame chosen[DEPTH_MAX + 1];
    if (!frames)
        return 0;
    if (frames->cache)
        return frames->cache - 1;
    size_t count = choose(s, frames, false, chosen);
    if (count > DEPTH_MAX)
        count = choose(s, frames, true, chosen);
    uint64_t stack = 0;
    if (count > DEPTH_MAX) { /* the outermost frames are missing */
        stack = vs_composer_more(s->composer);
        count = DEPTH_MAX;
    }
    while (count-- > 0)
        stack = vs_composer_node(s->composer, stack, chosen[count].module, chosen[count].offset);
    frames->cache = stack + 1;
    return stack;
}

uint64_t vs_import_named_frame(struct vs_import_stacks *s, uint64_t parent, const char *function, const char *path,
                               uint64_t line)
{
    const char *name = function ? function : "", *file = path && *path ? path : "unknown";
    bool python = line && !is_native(name, file);
    uint64_t name_id = vs_composer_string(s->composer, name, strlen(name));
    struct vs_import_frame frame = {
        .offset = python ? line : offset_of(name_id, line),
        .module = module_of(s, vs_composer_string(s->composer, file, strlen(file)), python ? name_id : 0)};
    if (!python)
        name_place(s, &frame, name, line ? file : NULL, line);
    return vs_composer_node(s->composer, parent, frame.module, frame.offset);
}

enum vs_err vs_import_stacks_close(struct vs_import_stacks *s)
{
    unsigned char *payload = vs_xcalloc(1, VS_FRAME_RAW_MAX);
    size_t next = 0, bytes;
    enum vs_err err = VS_OK;
    while (!err && next < s->names.count) {
        err = vs_symbol_set_encode(&s->names, &next, payload, VS_FRAME_RAW_MAX, &bytes);
        if (!err)
            vs_composer_add(s->composer, VS_FRAME_SYMBOLS, payload, bytes);
    }
    free(payload);
    free(s->frames);
    vs_map_free(&s->modules);
    vs_symbol_set_free(&s->names);
    return err;
}
