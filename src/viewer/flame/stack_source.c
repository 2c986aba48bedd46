/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/flame/stack_source.h"

#include <stdio.h>

#include "base/vs_size.h"

enum vs_err vs_stack_source_open(struct vs_reader *reader, const struct vs_export_options *options,
                                 struct vs_stack_source *out, struct vs_export_result *result)
{
    struct vs_stack_query query = {.subject = options->point   ? VS_STACKS_AT
                                              : options->window ? VS_STACKS_ALLOCATED
                                                                : VS_STACKS_AT_PEAK,
                                   .window = options->window, .one_device = options->one_device,
                                   .device = options->device};
    *out = (struct vs_stack_source){.subject = query.subject};
    enum vs_err err = vs_stack_sums_read(reader, &query, &out->sums);
    if (err)
        return err;
    *result = (struct vs_export_result){.recording = out->sums.recording, .ended = out->sums.ended,
                                        .condition = out->sums.condition};
    snprintf(result->why, sizeof result->why, "%s", out->sums.why);
    out->names = vs_stack_names_open(reader);
    return VS_OK;
}

char *vs_stack_source_title(const struct vs_stack_source *source,
                            const struct vs_export_options *options, char *out)
{
    const struct vs_stack_device *first = source->sums.count ? source->sums.devices : NULL;
    if (source->subject == VS_STACKS_ALLOCATED)
        snprintf(out, VS_STACK_TITLE_MAX, "memory allocated in the span");
    else if (first && (source->sums.count == 1 || options->point))
        snprintf(out, VS_STACK_TITLE_MAX, "memory live at %s%s",
                 options->point ? "" : "the peak, at ", vs_time_text(first->time_ns));
    else
        snprintf(out, VS_STACK_TITLE_MAX, "memory live at %s",
                 first ? "the peak of each device" : "the peak");
    return out;
}

char *vs_stack_source_device(const struct vs_stack_device *device, char out[32])
{
    snprintf(out, 32, "device %llu", (unsigned long long)device->device);
    return out;
}

uint32_t vs_stack_source_rest(struct vs_stack_source *source)
{
    return vs_stack_names_label(source->names, "allocations not recorded one by one");
}

static void add_device(struct vs_stack_source *source, const struct vs_stack_device *device,
                       bool inverted, struct vs_call_tree *tree)
{
    char label[32];
    uint32_t frame, root = 0, frames[VS_NAMED_FRAMES_MAX];
    if (source->sums.count > 1) {
        frame = vs_stack_names_label(source->names, vs_stack_source_device(device, label));
        root = vs_call_tree_add(tree, 0, &frame, 1, false, 0, 0);
    }
    for (size_t i = 0; i < device->count; i++) {
        const struct vs_stack_sum *row = &device->rows[i];
        struct vs_named_stack stack = vs_stack_names_of(source->names, &row->of);
        for (size_t k = 0; k < stack.count; k++) /* one of the same text, whatever the address */
            frames[k] = vs_stack_names_frame(source->names, stack.frames[k])->same;
        vs_call_tree_add(tree, root, frames, stack.count, inverted, row->bytes, row->count);
    }
    if (!device->unrecorded_bytes)
        return;
    frame = vs_stack_source_rest(source);
    vs_call_tree_add(tree, root, &frame, 1, false, device->unrecorded_bytes,
                     device->unrecorded_blocks);
}

void vs_stack_source_tree(struct vs_stack_source *source, const struct vs_export_options *options,
                          struct vs_call_tree *tree)
{
    *tree = (struct vs_call_tree){0};
    vs_call_tree_open(tree);
    for (size_t i = 0; i < source->sums.count; i++)
        add_device(source, &source->sums.devices[i], options->inverted, tree);
    vs_call_tree_sort(tree, options->by_count);
}

void vs_stack_source_close(struct vs_stack_source *source)
{
    vs_stack_sums_free(&source->sums);
    vs_stack_names_close(source->names);
    source->names = NULL;
}
