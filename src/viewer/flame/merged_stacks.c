/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a node are those of the stacks through it; a stack counts with the larger
 * of its values in both runs, so that what is gone is as wide as it was. */
#include "viewer/flame/svg_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_vec.h"

#define TEXT_MAX 4096

/* The text by which frames are one: its name, "forward (net.py)", and its library. Returns its
 * length. */
static size_t frame_text(char out[TEXT_MAX], const struct vs_named_frame *frame)
{
    const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
    const char *base = slash ? slash + 1 : frame->file;
    int length;
    if (!frame->line || !base || !frame->function || !*frame->function)
        length = snprintf(out, TEXT_MAX / 2, "%s", frame->name); /* it has no line */
    else
        length = snprintf(out, TEXT_MAX / 2, "%.1500s (%.500s)", frame->function, base);
    size_t name = length < TEXT_MAX / 2 ? (size_t)length : TEXT_MAX / 2 - 1;
    return name + 1 + (size_t)snprintf(out + name + 1, TEXT_MAX / 2, "%.1000s", frame->library);
}

/* The number of the frame of run *side*, added when new. */
static uint32_t frame_of(struct vs_merged_stacks *out, int side, const struct vs_named_frame *frame)
{
    char text[TEXT_MAX];
    size_t length = frame_text(text, frame);
    uint32_t number;
    if (side && vs_intern_find(&out->renamed, text, strlen(text) + 1, &number))
        return out->renamed_to[number];
    size_t known = out->texts.count;
    number = vs_intern(&out->texts, text, length);
    if (number < known)
        return number;
    vs_vec_room(&out->frames, &out->frame_capacity, number + 1, sizeof *out->frames);
    const char *name = out->texts.items[number];
    out->frames[number] = (struct vs_merged_frame){
        .owner = frame->owner, .name = name, .library = name + strlen(name) + 1,
        .file = vs_xarena_text(&out->memory, frame->file ? frame->file : "")};
    return number;
}

/* *bytes* of a stack of run *side*; its own values are gathered at its last node. */
static void add_stack(struct vs_merged_stacks *out, int side, uint32_t root, const uint32_t *frames,
                      size_t count, uint64_t bytes)
{
    uint32_t end = vs_call_tree_add(&out->tree, root, frames, count, false, 0, 0);
    for (int i = 0; i < 2; i++)
        vs_vec_room(&out->bytes[i], &out->capacity[i], out->tree.count, sizeof *out->bytes[i]);
    out->bytes[side][end] += bytes;
}

static uint32_t label_of(struct vs_merged_stacks *out, int side, const char *text)
{
    return frame_of(out, side, &(struct vs_named_frame){.name = text, .function = "", .library = "",
                                                        .owner = VS_OWNER_NONE});
}

static void add_device(struct vs_merged_stacks *out, int side, struct vs_stack_source *source,
                       const struct vs_stack_device *device, bool several)
{
    uint32_t frames[VS_NAMED_FRAMES_MAX], root = 0, frame;
    char label[32];
    if (several) {
        frame = label_of(out, side, vs_stack_source_device(device, label));
        root = vs_call_tree_add(&out->tree, 0, &frame, 1, false, 0, 0);
    }
    for (size_t i = 0; i < device->count; i++) {
        struct vs_named_stack stack = vs_stack_names_of(source->names, &device->rows[i].of);
        for (size_t k = 0; k < stack.count; k++)
            frames[k] = frame_of(out, side, vs_stack_names_frame(source->names, stack.frames[k]));
        add_stack(out, side, root, frames, stack.count, device->rows[i].bytes);
    }
    if (device->unrecorded_bytes) {
        frame = label_of(out, side, "allocations not recorded one by one");
        add_stack(out, side, root, &frame, 1, device->unrecorded_bytes);
    }
}

/* Frames of a, which are all known, that b has under another name only. */
static void match_renamed(struct vs_merged_stacks *out, struct vs_stack_source *b,
                          const struct vs_renamed_frame *renamed, size_t count)
{
    struct vs_intern texts = {0}; /* of all frames of b */
    char was[TEXT_MAX], is[TEXT_MAX];
    uint32_t frame, other;
    for (size_t d = 0; count && d < b->sums.count; d++)
        for (size_t i = 0; i < b->sums.devices[d].count; i++)
            vs_stack_names_of(b->names, &b->sums.devices[d].rows[i].of);
    for (size_t i = 0; count && i < vs_stack_names_count(b->names); i++) {
        struct vs_named_frame named = *vs_stack_names_frame(b->names, (uint32_t)i);
        named.library = ""; /* of whatever library */
        vs_intern(&texts, was, frame_text(was, &named));
    }
    for (size_t i = 0; i < count; i++) {
        size_t before = frame_text(was, &(struct vs_named_frame){.name = renamed[i].was,
                                                                 .library = ""});
        size_t after = frame_text(is, &(struct vs_named_frame){.name = renamed[i].is,
                                                               .library = ""});
        if (!vs_intern_find(&out->texts, was, before, &frame) ||
            vs_intern_find(&texts, was, before, &other) ||
            vs_intern_find(&out->texts, is, after, &other) ||
            vs_intern_find(&out->renamed, is, after, &other))
            continue;
        uint32_t number = vs_intern(&out->renamed, is, after);
        vs_vec_room(&out->renamed_to, &out->renamed_capacity, number + 1, sizeof *out->renamed_to);
        out->renamed_to[number] = frame;
        struct vs_merged_frame *known = &out->frames[frame];
        if (!strstr(known->name, " -> "))
            known->name = vs_xarena_printf(&out->memory, "%s -> %s", renamed[i].was, renamed[i].is);
    }
    vs_intern_free(&texts);
}

void vs_merged_stacks_open(struct vs_merged_stacks *out, struct vs_stack_source *a,
                           struct vs_stack_source *b, const struct vs_renamed_frame *renamed,
                           size_t count)
{
    struct vs_stack_source *sources[] = {a, b};
    *out = (struct vs_merged_stacks){0};
    bool several = a->sums.count > 1 || b->sums.count > 1 ||
                   (a->sums.count && b->sums.count &&
                    a->sums.devices[0].device != b->sums.devices[0].device);
    vs_call_tree_open(&out->tree);
    for (int side = 0; side < 2; side++) {
        if (side)
            match_renamed(out, b, renamed, count);
        for (size_t i = 0; i < sources[side]->sums.count; i++)
            add_device(out, side, sources[side], &sources[side]->sums.devices[i], several);
    }
    for (int side = 0; side < 2; side++) /* also of a tree without stacks */
        vs_vec_room(&out->bytes[side], &out->capacity[side], out->tree.count, sizeof *out->bytes[side]);
    /* A node's number is above its parent's. */
    struct vs_call_node *nodes = out->tree.nodes;
    for (size_t n = 0; n < out->tree.count; n++)
        nodes[n].bytes = out->bytes[0][n] > out->bytes[1][n] ? out->bytes[0][n] : out->bytes[1][n];
    for (size_t n = out->tree.count; n-- > 1;) {
        nodes[nodes[n].parent].bytes += nodes[n].bytes;
        out->bytes[0][nodes[n].parent] += out->bytes[0][n];
        out->bytes[1][nodes[n].parent] += out->bytes[1][n];
    }
    vs_call_tree_sort(&out->tree, false);
}

void vs_merged_stacks_close(struct vs_merged_stacks *stacks)
{
    vs_call_tree_free(&stacks->tree);
    free(stacks->bytes[0]);
    free(stacks->bytes[1]);
    free(stacks->frames);
    vs_intern_free(&stacks->texts);
    vs_intern_free(&stacks->renamed);
    free(stacks->renamed_to);
    vs_arena_free_all(&stacks->memory);
    *stacks = (struct vs_merged_stacks){0};
}
