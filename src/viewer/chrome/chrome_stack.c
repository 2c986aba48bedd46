/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks with the same outer frames share them: a frame is numbered by its caller and its text. */
#include "viewer/chrome/chrome_emit.h"

#include <inttypes.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "viewer/common/json_writer.h"

#define STACKS_MAX 65536u
#define FRAMES_MAX 262144u
#define TEXT_MAX_BYTES 240u
#define TEXT_FRAMES 5u

static struct vs_chrome_stack name_stack(struct vs_chrome_stacks *stacks, uint64_t stack)
{
    struct vs_named_stack named = vs_stack_names_of(stacks->names, &(struct vs_stack_of){.stack = stack});
    const struct vs_named_frame *frames[VS_NAMED_FRAMES_MAX];
    struct vs_chrome_stack out = {0, "", ""};
    char text[TEXT_MAX_BYTES] = "";
    size_t length = 0;
    for (size_t i = 0; i < named.count && named.lead; i++) {
        frames[i] = vs_stack_names_frame(stacks->names, named.frames[i]);
        const uint32_t key[] = {out.frame, frames[i]->same};
        out.frame = vs_intern(&stacks->frames, key, sizeof key) + 1;
    }
    for (size_t i = named.lead; i > 0 && named.lead - i < TEXT_FRAMES && length < sizeof text; i--)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i < named.lead ? " < " : "",
                                   frames[i - 1]->name);
    if (length >= sizeof text) /* truncated: not a complete name */
        memcpy(text + sizeof text - 4, "...", 4);
    out.text = vs_xarena_text(&stacks->memory, text);
    if (named.own && named.own < named.lead)
        out.site = frames[named.own - 1]->name;
    return out;
}

struct vs_chrome_stack vs_chrome_stack(struct vs_chrome_stacks *stacks, uint64_t stack)
{
    static const struct vs_chrome_stack none = {0, "", ""};
    const struct vs_chrome_stack *found = stack ? vs_map_pointer(&stacks->by_stack, stack) : NULL;
    if (found)
        return *found;
    if (!stack || stacks->by_stack.count >= STACKS_MAX || stacks->frames.count >= FRAMES_MAX)
        return none;
    struct vs_chrome_stack *named = vs_xarena(&stacks->memory, sizeof *named);
    vs_xmap_put(&stacks->by_stack, stack, (uintptr_t)named);
    return *named = name_stack(stacks, stack);
}

void vs_chrome_stacks_write(const struct vs_chrome_stacks *stacks, FILE *out)
{
    fputs(",\n\"stackFrames\":{", out);
    for (size_t i = 0; i < stacks->frames.count; i++) {
        const uint32_t *numbers = stacks->frames.items[i]; /* of the caller, of the frame */
        const struct vs_named_frame *frame = vs_stack_names_frame(stacks->names, numbers[1]);
        fprintf(out, "%s\"%zu\":{\"name\":", i ? ",\n" : "\n", i + 1);
        vs_json_text(out, frame->name);
        fputs(",\"category\":", out);
        vs_json_text(out, frame->library);
        if (numbers[0])
            fprintf(out, ",\"parent\":\"%" PRIu32 "\"", numbers[0]);
        fputc('}', out);
    }
    fputs("}", out);
}

void vs_chrome_stacks_free(struct vs_chrome_stacks *stacks)
{
    vs_stack_names_close(stacks->names);
    vs_map_free(&stacks->by_stack);
    vs_intern_free(&stacks->frames);
    vs_arena_free_all(&stacks->memory);
}
