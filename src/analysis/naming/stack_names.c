/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Frames are interned by their name, place and program counter, stacks by their id
 * and mark; collisions of hashes are resolved by comparing. */
#include "analysis/naming/stack_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/naming.h"
#include "analysis/naming/user_line.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "base/vs_text.h"
#include "base/vs_utf8.h"

#define NAME_MAX_BYTES 65536 /* names of template instances are long */
#define RECORDED_MAX 129     /* frames of a recorded stack */

_Static_assert(VS_NAMED_FRAMES_MAX >= VS_CHAIN_MAX + 2, "a stack with its mark fits");

struct stack_row {
    struct vs_stack_of of;
    struct vs_named_stack named;
};

struct vs_stack_names {
    const struct vs_reader *reader;
    struct vs_symbols *symbols;
    struct vs_arena memory;
    struct vs_named_frame *frames;
    size_t frame_count, frame_capacity;
    struct vs_map by_frame; /* hash -> number + 1 */
    struct vs_map by_text;  /* likewise, without the place in the program */
    struct stack_row *stacks;
    size_t stack_count, stack_capacity;
    struct vs_map by_stack;
    char name[NAME_MAX_BYTES];
};

enum vs_err vs_stack_names_open(const struct vs_reader *reader, struct vs_stack_names **out)
{
    struct vs_stack_names *names = vs_xcalloc(1, sizeof *names);
    names->reader = reader;
    enum vs_err err = vs_symbols_open(reader, &names->symbols);
    if (err) {
        free(names);
        return err;
    }
    *out = names;
    return VS_OK;
}

void vs_stack_names_close(struct vs_stack_names *names)
{
    if (!names)
        return;
    vs_symbols_close(names->symbols);
    free(names->frames);
    free(names->stacks);
    vs_map_free(&names->by_frame);
    vs_map_free(&names->by_text);
    vs_map_free(&names->by_stack);
    vs_arena_free_all(&names->memory);
    free(names);
}

const struct vs_named_frame *vs_stack_names_frame(const struct vs_stack_names *names,
                                                  uint32_t frame)
{
    return &names->frames[frame];
}

size_t vs_stack_names_count(const struct vs_stack_names *names)
{
    return names->frame_count;
}

struct vs_symbols *vs_stack_names_symbols(struct vs_stack_names *names)
{
    return names->symbols;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool same_text(const struct vs_named_frame *a, const struct vs_named_frame *b)
{
    return a->owner == b->owner && strcmp(a->name, b->name) == 0 &&
           strcmp(a->library, b->library) == 0 && !a->file == !b->file &&
           (!a->file || strcmp(a->file, b->file) == 0);
}

static bool same_frame(const struct vs_named_frame *a, const struct vs_named_frame *b)
{
    return a->pc == b->pc && a->object == b->object && a->inlined == b->inlined && same_text(a, b);
}

/* The number of the first frame with the text of *frame*; its own, *number*, if there is none. *key*:
 * hash of its text. */
static void find_text(struct vs_stack_names *names, const struct vs_named_frame *frame,
                      uint64_t key, uint32_t number, uint32_t *out)
{
    const uint64_t *found;
    for (key += key == 0; (found = vs_map_get(&names->by_text, key)) != NULL;
         key = key + 1 ? key + 1 : 1) {
        *out = (uint32_t)*found - 1;
        if (same_text(&names->frames[*out], frame))
            return;
    }
    *out = number;
    vs_xmap_put(&names->by_text, key, (uint64_t)number + 1);
}

/* A copy of *text* without control characters and invalid UTF-8, which symbols of a binary may have;
 * NULL for NULL. */
static const char *kept(struct vs_stack_names *names, const char *text)
{
    if (!text)
        return NULL;
    size_t length = strlen(text), n;
    char *copy = memcpy(vs_xarena(&names->memory, length + 1), text, length + 1);
    for (unsigned char *p = (unsigned char *)vs_text_clean(copy); *p; p += n) {
        n = vs_utf8_length(p, SIZE_MAX);
        if (n == 0)
            *p = '?';
        n += n == 0;
    }
    return copy;
}

/* The number of *frame*, whose strings are copied if it is new. */
static enum vs_err intern(struct vs_stack_names *names, struct vs_named_frame frame, uint32_t *out)
{
    uint64_t text = vs_text_hash(vs_text_hash(VS_TEXT_HASH_START, frame.name), frame.library);
    uint64_t key = hash_number(hash_number(text, frame.pc), frame.object);
    key += key == 0;
    const uint64_t *found;
    for (; (found = vs_map_get(&names->by_frame, key)) != NULL; key = key + 1 ? key + 1 : 1) {
        if (!same_frame(&names->frames[*found - 1], &frame))
            continue;
        *out = (uint32_t)*found - 1;
        return VS_OK;
    }
    frame.name = kept(names, frame.name);
    frame.function = kept(names, frame.function);
    frame.file = kept(names, frame.file);
    frame.library = kept(names, frame.library);
    vs_vec_room(&names->frames, &names->frame_capacity, names->frame_count + 1, sizeof *names->frames);
    vs_xmap_put(&names->by_frame, key, names->frame_count + 1);
    find_text(names, &frame, text, (uint32_t)names->frame_count, &frame.same);
    *out = (uint32_t)names->frame_count;
    names->frames[names->frame_count++] = frame;
    return VS_OK;
}

enum vs_err vs_stack_names_label(struct vs_stack_names *names, const char *text, uint32_t *out)
{
    snprintf(names->name, sizeof names->name, "%s", text);
    vs_text_clean(names->name);
    struct vs_named_frame frame = {.name = names->name, .function = names->name, .library = "",
                                   .owner = VS_OWNER_NONE, .object = VS_NO_MODULE};
    return intern(names, frame, out);
}

/* Whether *chain* is native code of the Python interpreter, which is the program itself. */
static bool is_interpreter(const struct vs_chain_frame *chain)
{
    const char *module = chain->module;
    if (chain->python || *chain->library)
        return false;
    module += strncmp(module, "lib", 3) == 0 ? 3 : 0;
    return strncmp(module, "python", 6) == 0 && (!module[6] || (module[6] >= '0' && module[6] <= '9'));
}

static enum vs_err add_chain_frame(struct vs_stack_names *names, const struct vs_chain_frame *chain,
                                   const struct vs_frame *recorded, uint32_t *out)
{
    const char *function = vs_text_clean(vs_naming_text(chain, names->name, sizeof names->name));
    if (chain->python && !*chain->library && chain->file && strcmp(chain->function, "<module>") == 0)
        function = vs_line_text(&names->memory, chain->file, chain->line, true);
    const char *library = is_interpreter(chain) ? "python" : chain->library;
    struct vs_named_frame frame = {
        .name = function, .function = chain->function, .file = chain->file,
        .library = library, .line = chain->line,
        .owner = *library ? VS_OWNER_LIBRARY : VS_OWNER_USER, .python = chain->python,
        .pc = chain->python ? 0 : recorded->pc,
        .object = chain->python ? VS_NO_MODULE : recorded->module, .inlined = chain->inlined};
    return intern(names, frame, out);
}

/* The user's line on whose behalf a thread without Python code of the user's allocated. */
static enum vs_err add_mark(struct vs_stack_names *names, const struct vs_stack_of *of,
                            uint32_t *frames, size_t *count)
{
    if (!of->mark || vs_python_user_stack(names->reader, of->stack))
        return VS_OK;
    const char *line = vs_user_line(names->reader, names->symbols, &names->memory, of->stack,
                                    of->mark, true, false);
    if (!*line)
        return VS_OK;
    struct vs_named_frame frame = {.name = line, .function = line, .library = "",
                                   .owner = VS_OWNER_USER, .python = true, .object = VS_NO_MODULE};
    return intern(names, frame, &frames[(*count)++]);
}

/* What a stack of PyTorch's computes, if it has no function of the user's. */
static enum vs_err add_torch(struct vs_stack_names *names, const struct vs_chain_frame *chain,
                             size_t length, uint32_t *frames, size_t *count)
{
    struct vs_chain_frame folded[VS_CHAIN_MAX];
    char text[VS_THROUGH_MAX];
    memcpy(folded, chain, length * sizeof *folded);
    if (*count || vs_naming_fold(folded, length) || !*vs_naming_torch(folded, length, text))
        return VS_OK;
    return vs_stack_names_label(names, text, &frames[(*count)++]);
}

static enum vs_err name_stack(struct vs_stack_names *names, const struct vs_stack_of *of,
                              struct vs_named_stack *out)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    struct vs_frame recorded[RECORDED_MAX];
    uint32_t frames[VS_CHAIN_MAX + 2];
    size_t count = 0, length = 0;
    enum vs_err err = add_mark(names, of, frames, &count);
    if (!err && of->stack) {
        vs_reader_stack(names->reader, of->stack, recorded, RECORDED_MAX);
        length = vs_naming_chain(names->reader, names->symbols, of->stack, chain, VS_CHAIN_MAX);
        err = add_torch(names, chain, length, frames, &count);
    }
    for (size_t i = length; !err && i > 0; i--)
        err = add_chain_frame(names, &chain[i - 1], &recorded[chain[i - 1].depth], &frames[count++]);
    if (!err && !count) {
        const char *api = vs_reader_string(names->reader, of->api);
        char text[256];
        snprintf(text, sizeof text, "%.200s (no stack recorded)",
                 of->tensor ? "tensors" : *api ? api : "memory");
        err = vs_stack_names_label(names, text, &frames[count++]);
    }
    if (err)
        return err;
    uint32_t *copy = vs_xarena(&names->memory, count * sizeof *copy);
    memcpy(copy, frames, count * sizeof *copy);
    *out = (struct vs_named_stack){copy, count};
    return VS_OK;
}

enum vs_err vs_stack_names_of(struct vs_stack_names *names, const struct vs_stack_of *of,
                              struct vs_named_stack *out)
{
    uint64_t key = hash_number(hash_number(of->stack, of->mark + 1), of->tensor + 2u * !of->stack);
    key = of->stack ? key : hash_number(key, of->api);
    key += key == 0;
    const uint64_t *found;
    for (; (found = vs_map_get(&names->by_stack, key)) != NULL; key = key + 1 ? key + 1 : 1) {
        const struct stack_row *row = &names->stacks[*found];
        if (row->of.stack == of->stack && row->of.mark == of->mark &&
            row->of.tensor == of->tensor && (of->stack || row->of.api == of->api)) {
            *out = row->named;
            return VS_OK;
        }
    }
    enum vs_err err = name_stack(names, of, out);
    if (!err)
        vs_vec_room(&names->stacks, &names->stack_capacity, names->stack_count + 1,
                    sizeof *names->stacks);
    if (!err)
        vs_xmap_put(&names->by_stack, key, names->stack_count);
    if (!err)
        names->stacks[names->stack_count++] = (struct stack_row){*of, *out};
    return err;
}
