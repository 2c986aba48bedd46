/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON of speedscope (https://www.speedscope.app/file-format-schema.json): for each device one
 * sampled profile weighted in bytes and one in blocks, on shared frames. A sample is a stack, not an
 * instant: what matters are the views "Left Heavy" and "Sandwich". */
#include "viewer/export/export.h"

#include <inttypes.h>
#include <string.h>

#include "viewer/common/json_writer.h"
#include "viewer/flame/stack_source.h"

static void write_profile(struct vs_json *json, struct vs_stack_source *source,
                          const struct vs_stack_device *device, const char *title, bool inverted,
                          bool by_count)
{
    char name[VS_STACK_TITLE_MAX + 64], label[32];
    snprintf(name, sizeof name, "%s: %s (%s)", vs_stack_source_device(device, label), title,
             by_count ? "blocks" : "bytes");
    vs_json_begin(json, NULL, VS_J_TEXT("type", "sampled"), VS_J_TEXT("name", name),
                  VS_J_TEXT("unit", by_count ? "none" : "bytes"), VS_J_UINT("startValue", 0),
                  VS_J_UINT("endValue", by_count ? device->blocks + device->unrecorded_blocks
                                                 : device->bytes + device->unrecorded_bytes));
    vs_json_begin_array(json, "samples");
    for (size_t i = 0; i < device->count; i++) {
        struct vs_named_stack stack = vs_stack_names_of(source->names, &device->rows[i].of);
        for (size_t k = 0; vs_json_next(json, NULL, k, stack.count); k++) {
            uint32_t frame = stack.frames[inverted ? stack.count - 1 - k : k];
            vs_json_uint(json, NULL, vs_stack_names_frame(source->names, frame)->same);
        }
    }
    if (device->unrecorded_bytes) {
        vs_json_begin_array(json, NULL);
        vs_json_uint(json, NULL, vs_stack_source_rest(source));
        vs_json_end_array(json);
    }
    vs_json_end_array(json);
    for (size_t i = 0; vs_json_next(json, "weights", i, device->count + (device->unrecorded_bytes != 0)); i++)
        if (i < device->count)
            vs_json_uint(json, NULL, by_count ? device->rows[i].count : device->rows[i].bytes);
        else
            vs_json_uint(json, NULL, by_count ? device->unrecorded_blocks : device->unrecorded_bytes);
    vs_json_end_object(json);
}

enum vs_err vs_export_speedscope(struct vs_reader *reader, FILE *out,
                                 const struct vs_export_options *options,
                                 struct vs_export_result *result)
{
    struct vs_stack_source source;
    struct vs_json json = {.out = out};
    char title[VS_STACK_TITLE_MAX];
    enum vs_err err = vs_stack_source_open(reader, options, &source, result);
    if (err)
        return err;
    vs_stack_source_title(&source, options, title);
    vs_json_begin(&json, NULL, VS_J_TEXT("$schema", "https://www.speedscope.app/file-format-schema.json"),
                  VS_J_TEXT("exporter", "vramscope"), VS_J_TEXT("name", source.sums.program),
                  VS_J_UINT("activeProfileIndex", 0));
    for (size_t i = 0; vs_json_next(&json, "profiles", i, 2 * source.sums.count); i++, result->written++)
        write_profile(&json, &source, &source.sums.devices[i / 2], title, options->inverted, i % 2);
    vs_json_begin_object(&json, "shared");
    for (size_t i = 0; vs_json_next(&json, "frames", i, vs_stack_names_count(source.names)); i++) {
        const struct vs_named_frame *frame = vs_stack_names_frame(source.names, (uint32_t)i);
        vs_json_object(&json, NULL, VS_J_TEXT("name", frame->name),
                       VS_J_TEXT_IF(frame->file, "file", frame->file),
                       VS_J_UINT_IF(frame->file && frame->line, "line", frame->line));
    }
    vs_json_end_object(&json);
    vs_json_end_object(&json);
    vs_stack_source_close(&source);
    return VS_OK;
}
