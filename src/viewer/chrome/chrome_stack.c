/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames are interned from the outermost inwards by their caller and name, so that
 * stacks with the same outer frames share them. */
#include "viewer/chrome/chrome_stack.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/naming.h"
#include "base/reading/vs_vec.h"
#include "base/vs_text.h"
#include "viewer/common/json_writer.h"

#define STACKS_MAX 65536u
#define FRAMES_MAX 262144u
#define NAME_MAX_BYTES 512u /* names of template instances are longer */
#define TEXT_MAX_BYTES 240u
#define TEXT_FRAMES 5u

static const char *keep(struct vs_chrome_stacks *stacks, const char *text)
{
    char *kept = vs_xarena(&stacks->memory, strlen(text) + 1);
    return kept ? strcpy(kept, text) : NULL;
}

static uint64_t frame_key(uint64_t caller, const char *name)
{
    uint64_t hash = vs_text_hash(VS_TEXT_HASH_START ^ caller, name);
    return hash ? hash : 1;
}

/* The number of the frame *name* below *caller*; 0 if there are too many. */
static uint64_t frame_of(struct vs_chrome_stacks *stacks, uint64_t caller, const char *name,
                         const char *module)
{
    uint64_t key = frame_key(caller, name);
    const uint64_t *found;
    for (; (found = vs_map_get(&stacks->by_frame, key)) != NULL; key = key + 1 ? key + 1 : 1) {
        const struct vs_chrome_frame *frame = &stacks->frames[*found - 1];
        if (frame->caller == caller && strcmp(frame->name, name) == 0)
            return *found;
    }
    struct vs_chrome_frame frame = {caller, keep(stacks, name), keep(stacks, module ? module : "")};
    if (!frame.name || !frame.module || stacks->frame_count >= FRAMES_MAX ||
        vs_vec_grow(&stacks->frames, &stacks->frame_capacity, stacks->frame_count + 1,
                    sizeof *stacks->frames) ||
        vs_map_put(&stacks->by_frame, key, stacks->frame_count + 1))
        return 0;
    stacks->frames[stacks->frame_count++] = frame;
    return stacks->frame_count;
}

static struct vs_chrome_stack name_stack(struct vs_chrome_stacks *stacks, uint64_t stack)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    struct vs_chrome_stack out = {0, ""};
    char name[NAME_MAX_BYTES], torch[VS_THROUGH_MAX];
    size_t count = vs_naming_chain(stacks->reader, stacks->symbols, stack, chain, VS_CHAIN_MAX);
    for (size_t i = count; i > 0; i--) {
        vs_naming_text(&chain[i - 1], name, sizeof name);
        uint64_t frame = frame_of(stacks, out.frame, name, chain[i - 1].module);
        if (!frame)
            return (struct vs_chrome_stack){0, ""};
        out.frame = frame;
    }
    if (count && !vs_naming_fold(chain, count) && *vs_naming_torch(chain, count, torch))
        out.text = keep(stacks, torch);
    else if (count) {
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
        const char *kept = keep(stacks, text);
        out.text = kept ? kept : "";
    }
    out.text = out.text ? out.text : "";
    return out;
}

struct vs_chrome_stack vs_chrome_stack(struct vs_chrome_stacks *stacks, uint64_t stack)
{
    static const struct vs_chrome_stack none = {0, ""};
    const uint64_t *found = stack ? vs_map_get(&stacks->by_stack, stack) : NULL;
    if (found)
        return stacks->stacks[*found];
    if (!stack || stacks->stack_count >= STACKS_MAX ||
        (!stacks->symbols && vs_symbols_open(stacks->reader, &stacks->symbols)) ||
        vs_vec_grow(&stacks->stacks, &stacks->stack_capacity, stacks->stack_count + 1,
                    sizeof *stacks->stacks) ||
        vs_map_put(&stacks->by_stack, stack, stacks->stack_count))
        return none;
    stacks->stacks[stacks->stack_count] = name_stack(stacks, stack);
    return stacks->stacks[stacks->stack_count++];
}

void vs_chrome_stacks_write(const struct vs_chrome_stacks *stacks, FILE *out)
{
    fputs(",\n\"stackFrames\":{", out);
    for (size_t i = 0; i < stacks->frame_count; i++) {
        const struct vs_chrome_frame *frame = &stacks->frames[i];
        fprintf(out, "%s\"%zu\":{\"name\":", i ? ",\n" : "\n", i + 1);
        vs_json_text(out, frame->name);
        fputs(",\"category\":", out);
        vs_json_text(out, frame->module);
        if (frame->caller)
            fprintf(out, ",\"parent\":\"%" PRIu64 "\"", frame->caller);
        fputc('}', out);
    }
    fputs("}", out);
}

void vs_chrome_stacks_free(struct vs_chrome_stacks *stacks)
{
    vs_symbols_close(stacks->symbols);
    vs_map_free(&stacks->by_stack);
    vs_map_free(&stacks->by_frame);
    free(stacks->frames);
    free(stacks->stacks);
    vs_arena_free_all(&stacks->memory);
}
