/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames are interned from the outermost inwards by their caller and name, so that
 * stacks with the same outer frames share them. */
#include "viewer/chrome/chrome_emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/naming.h"
#include "base/reading/vs_vec.h"
#include "viewer/common/json_writer.h"

#define STACKS_MAX 65536u
#define FRAMES_MAX 262144u
#define NAME_MAX_BYTES 512u /* names of template instances are longer */
#define TEXT_MAX_BYTES 240u
#define TEXT_FRAMES 5u

/* The number of the frame *name* below *caller*; 0 if there are too many. */
static uint32_t frame_of(struct vs_chrome_stacks *stacks, uint32_t caller, const char *name,
                         const char *module)
{
    const uint32_t key[] = {caller, vs_intern_text(&stacks->names, name)};
    size_t known = stacks->frames.count;
    uint32_t number;
    if (known >= FRAMES_MAX)
        return vs_intern_find(&stacks->frames, key, sizeof key, &number) ? number + 1 : 0;
    number = vs_intern(&stacks->frames, key, sizeof key);
    if (number == known) {
        vs_vec_room(&stacks->modules, &stacks->module_capacity, known + 1, sizeof *stacks->modules);
        stacks->modules[number] = vs_xarena_text(&stacks->memory, module ? module : "");
    }
    return number + 1;
}

static struct vs_chrome_stack name_stack(struct vs_chrome_stacks *stacks, uint64_t stack)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    struct vs_chrome_stack out = {0, "", ""};
    char name[NAME_MAX_BYTES], torch[VS_THROUGH_MAX];
    size_t count = vs_naming_chain(stacks->reader, stacks->symbols, stack, false, chain);
    for (size_t i = count; i > 0; i--) {
        vs_naming_text(&chain[i - 1], name, sizeof name);
        out.frame = frame_of(stacks, out.frame, name, chain[i - 1].module);
        if (!out.frame)
            return out;
    }
    bool folds = count && vs_naming_fold(chain, count);
    if (count && !folds && *vs_naming_torch(chain, count, torch)) {
        out.text = vs_xarena_text(&stacks->memory, torch);
    } else if (count) {
        /* The innermost frames as text, from the most informative frame on. */
        char text[TEXT_MAX_BYTES];
        size_t lead = vs_naming_lead(chain, count), length = 0, i;
        for (i = lead; i < count && i < lead + TEXT_FRAMES && length < sizeof text; i++) {
            vs_naming_text(&chain[i], name, sizeof name);
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       i > lead ? " < " : "", name);
        }
        if (length >= sizeof text) /* truncated: not a complete name */
            memcpy(text + sizeof text - 4, "...", 4);
        out.text = vs_xarena_text(&stacks->memory, text);
        size_t own = lead;
        while (folds && own < count && *chain[own].library)
            own++;
        if (own > lead && own < count)
            out.site = vs_xarena_text(&stacks->memory, vs_naming_text(&chain[own], name, sizeof name));
    }
    return out;
}

struct vs_chrome_stack vs_chrome_stack(struct vs_chrome_stacks *stacks, uint64_t stack)
{
    static const struct vs_chrome_stack none = {0, "", ""};
    const uint64_t *found = stack ? vs_map_get(&stacks->by_stack, stack) : NULL;
    if (found)
        return stacks->stacks[*found];
    if (!stack || stacks->stack_count >= STACKS_MAX)
        return none;
    vs_vec_room(&stacks->stacks, &stacks->stack_capacity, stacks->stack_count + 1,
                sizeof *stacks->stacks);
    vs_xmap_put(&stacks->by_stack, stack, stacks->stack_count);
    stacks->stacks[stacks->stack_count] = name_stack(stacks, stack);
    return stacks->stacks[stacks->stack_count++];
}

void vs_chrome_stacks_write(const struct vs_chrome_stacks *stacks, FILE *out)
{
    fputs(",\n\"stackFrames\":{", out);
    for (size_t i = 0; i < stacks->frames.count; i++) {
        const uint32_t *frame = stacks->frames.items[i]; /* caller, name */
        fprintf(out, "%s\"%zu\":{\"name\":", i ? ",\n" : "\n", i + 1);
        vs_json_text(out, stacks->names.items[frame[1]]);
        fputs(",\"category\":", out);
        vs_json_text(out, stacks->modules[i]);
        if (frame[0])
            fprintf(out, ",\"parent\":\"%" PRIu32 "\"", frame[0]);
        fputc('}', out);
    }
    fputs("}", out);
}

void vs_chrome_stacks_free(struct vs_chrome_stacks *stacks)
{
    vs_symbols_close(stacks->symbols);
    vs_map_free(&stacks->by_stack);
    vs_intern_free(&stacks->names);
    vs_intern_free(&stacks->frames);
    free(stacks->modules);
    free(stacks->stacks);
    vs_arena_free_all(&stacks->memory);
}
