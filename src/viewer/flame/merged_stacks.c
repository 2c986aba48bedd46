/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a node are those of the stacks through it; a stack counts with the larger
 * of its values in both runs, so that what is gone is as wide as it was. */
#include "viewer/flame/merged_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_vec.h"
#include "base/vs_text.h"

#define TEXT_MAX 2048

static uint64_t hash_frame(const char *name, const char *library)
{
    return vs_text_hash(vs_text_hash(VS_TEXT_HASH_START, name), library);
}

/* Of a frame of the user's; not 0. */
static uint64_t name_key(const char *name)
{
    uint64_t key = hash_frame(name, "");
    return key ? key : 1;
}

/* "forward (net.py)". */
static void frame_name(char *out, const struct vs_named_frame *frame)
{
    const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
    const char *base = slash ? slash + 1 : frame->file;
    if (!frame->line || !base || !frame->function || !*frame->function)
        snprintf(out, TEXT_MAX, "%s", frame->name); /* it has no line */
    else
        snprintf(out, TEXT_MAX, "%.1500s (%.500s)", frame->function, base);
}

/* The number of the frame of run *side*, added when new. */
static void frame_of(struct vs_merged_stacks *out, int side, const struct vs_named_frame *frame,
                     uint32_t *number)
{
    char name[TEXT_MAX];
    frame_name(name, frame);
    const uint64_t *renamed = side ? vs_map_get(&out->renamed, name_key(name)) : NULL;
    if (renamed) {
        *number = (uint32_t)*renamed;
        return;
    }
    uint64_t key = hash_frame(name, frame->library);
    const uint64_t *found;
    for (;; key++) {
        key += key == 0; /* not a key of the map */
        found = vs_map_get(&out->by_text, key);
        if (!found)
            break;
        const struct vs_merged_frame *known = &out->frames[*found];
        if (strcmp(known->name, name) == 0 && strcmp(known->library, frame->library) == 0) {
            *number = (uint32_t)*found;
            return;
        }
    }
    vs_vec_room(&out->frames, &out->frame_capacity, out->frame_count + 1, sizeof *out->frames);
    vs_xmap_put(&out->by_text, key, out->frame_count);
    struct vs_merged_frame *new = &out->frames[out->frame_count];
    *new = (struct vs_merged_frame){.owner = frame->owner, .name = vs_xarena_text(&out->memory, name),
                                    .library = vs_xarena_text(&out->memory, frame->library),
                                    .file = vs_xarena_text(&out->memory, frame->file ? frame->file : "")};
    *number = (uint32_t)out->frame_count++;
}

/* *bytes* of a stack of run *side*; its own values are gathered at its last node. */
static void add_stack(struct vs_merged_stacks *out, int side, uint32_t root, const uint32_t *frames,
                      size_t count, uint64_t bytes)
{
    uint32_t end = 0;
    vs_call_tree_add(&out->tree, root, frames, count, false, 0, 0, &end);
    for (int i = 0; i < 2; i++)
        vs_vec_room(&out->bytes[i], &out->capacity[i], out->tree.count, sizeof *out->bytes[i]);
    out->bytes[side][end] += bytes;
}

static void label_of(struct vs_merged_stacks *out, int side, const char *text, uint32_t *frame)
{
    const struct vs_named_frame label = {.name = text, .function = "", .library = "",
                                         .owner = VS_OWNER_NONE};
    frame_of(out, side, &label, frame);
}

static enum vs_err add_device(struct vs_merged_stacks *out, int side, struct vs_stack_source *source,
                              const struct vs_stack_device *device, bool several)
{
    uint32_t frames[VS_NAMED_FRAMES_MAX], root = 0, frame;
    char label[32];
    struct vs_named_stack stack;
    enum vs_err err = VS_OK;
    if (several) {
        label_of(out, side, vs_stack_source_device(device, label), &frame);
        if (!err)
            vs_call_tree_add(&out->tree, 0, &frame, 1, false, 0, 0, &root);
    }
    for (size_t i = 0; !err && i < device->count; i++) {
        err = vs_stack_names_of(source->names, &device->rows[i].of, &stack);
        for (size_t k = 0; !err && k < stack.count; k++)
            frame_of(out, side, vs_stack_names_frame(source->names, stack.frames[k]), &frames[k]);
        if (!err)
            add_stack(out, side, root, frames, stack.count, device->rows[i].bytes);
    }
    if (err || !device->unrecorded_bytes)
        return err;
    label_of(out, side, "allocations not recorded one by one", &frame);
    if (!err)
        add_stack(out, side, root, &frame, 1, device->unrecorded_bytes);
    return err;
}

/* The names of all frames of *source*, in *names*. */
static enum vs_err gather_names(struct vs_stack_source *source, struct vs_map *names)
{
    enum vs_err err = VS_OK;
    for (size_t d = 0; d < source->sums.count; d++) {
        const struct vs_stack_device *device = &source->sums.devices[d];
        struct vs_named_stack stack;
        for (size_t i = 0; !err && i < device->count; i++)
            err = vs_stack_names_of(source->names, &device->rows[i].of, &stack);
    }
    for (size_t i = 0; !err && i < vs_stack_names_count(source->names); i++) {
        char name[TEXT_MAX];
        frame_name(name, vs_stack_names_frame(source->names, (uint32_t)i));
        vs_xmap_put(names, name_key(name), 1);
    }
    return err;
}

/* Frames of a, which are all known, that b has under another name only. */
static enum vs_err match_renamed(struct vs_merged_stacks *out, struct vs_stack_source *b,
                                 const struct vs_renamed_frame *renamed, size_t count)
{
    struct vs_map names = {0};
    enum vs_err err = count ? gather_names(b, &names) : VS_OK;
    for (size_t i = 0; !err && i < count; i++) {
        char text[2 * TEXT_MAX + 8];
        uint64_t was = name_key(renamed[i].was), is = name_key(renamed[i].is);
        const uint64_t *frame = vs_map_get(&out->by_text, was);
        if (!frame || vs_map_get(&names, was) || vs_map_get(&out->by_text, is) || vs_map_get(&out->renamed, is))
            continue;
        struct vs_merged_frame *known = &out->frames[*frame];
        vs_xmap_put(&out->renamed, is, *frame);
        if (err || strstr(known->name, " -> "))
            continue;
        snprintf(text, sizeof text, "%s -> %s", renamed[i].was, renamed[i].is);
        known->name = vs_xarena_text(&out->memory, text);
    }
    vs_map_free(&names);
    return err;
}

enum vs_err vs_merged_stacks_open(struct vs_merged_stacks *out, struct vs_stack_source *a,
                                  struct vs_stack_source *b, const struct vs_renamed_frame *renamed,
                                  size_t count)
{
    struct vs_stack_source *sources[] = {a, b};
    *out = (struct vs_merged_stacks){0};
    bool several = a->sums.count > 1 || b->sums.count > 1 ||
                   (a->sums.count && b->sums.count &&
                    a->sums.devices[0].device != b->sums.devices[0].device);
    vs_call_tree_open(&out->tree);
    enum vs_err err = VS_OK;
    for (int side = 0; !err && side < 2; side++) {
        if (side)
            err = match_renamed(out, b, renamed, count);
        for (size_t i = 0; !err && i < sources[side]->sums.count; i++)
            err = add_device(out, side, sources[side], &sources[side]->sums.devices[i], several);
    }
    for (int side = 0; !err && side < 2; side++) /* also of a tree without stacks */
        vs_vec_room(&out->bytes[side], &out->capacity[side], out->tree.count, sizeof *out->bytes[side]);
    if (err)
        return err;
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
    return VS_OK;
}

void vs_merged_stacks_close(struct vs_merged_stacks *stacks)
{
    vs_call_tree_free(&stacks->tree);
    free(stacks->bytes[0]);
    free(stacks->bytes[1]);
    free(stacks->frames);
    vs_map_free(&stacks->by_text);
    vs_map_free(&stacks->renamed);
    vs_arena_free_all(&stacks->memory);
    *stacks = (struct vs_merged_stacks){0};
}
