/* SPDX-License-Identifier: Apache-2.0
 *
 * What other settings and other treatment of call sites would have done, as `vramscope replay` prints it: the
 * figures are in the head, the curves in a section of their own. */
#include <stdlib.h>

#include "analysis/whatif/whatif_changes.h"
#include "base/reading/vs_xalloc.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"
#include "viewer/html/page_data.h"

void vs_page_whatif_columns(const struct vs_page_source *source, struct vs_section *section)
{
    const struct vs_whatif_changes *changes = source->whatif ? source->whatif->changes : NULL;
    for (size_t i = 0; changes && i < changes->count; i++)
        for (int allocated = 0; allocated < 2; allocated++) {
            const struct vs_whatif_curve *curve = changes->items[i].setting.curve;
            const uint64_t *values = allocated ? curve->allocated : curve->reserved;
            struct vs_column *column = vs_section_column(section, VS_COLUMN_DELTA, "%zu.%s", i,
                                                         allocated ? "allocated" : "reserved");
            for (size_t k = 0; k < curve->count; k++)
                vs_column_add(column, values[k]);
        }
}

void vs_page_whatif_write(struct vs_json *json, const struct vs_page_source *source)
{
    const struct vs_page_whatif *whatif = source->whatif;
    if (!whatif) {
        vs_json_string(json, "whatif", NULL);
        return;
    }
    const struct vs_whatif_changes *changes = whatif->changes;
    vs_json_begin(json, "whatif", VS_J_UINT("device", whatif->device), VS_J_TEXT("why", whatif->why),
                  VS_J_UINT("tried", changes->tried), VS_J_UINT("left_out", changes->left_out));
    if (changes->recorded)
        vs_json_object(json, "recorded", VS_J_TEXT("setting", vs_whatif_recorded_name(changes->recorded)),
                       VS_J_UINT("reserved_peak", changes->recorded->reserved_peak),
                       VS_J_BOOL("failed", changes->recorded->last_failure != 0),
                       VS_J_BOOL("framework", changes->recorded->requests == VS_WHATIF_FRAMEWORK),
                       VS_J_BOOL("steps", changes->recorded->steps != 0));
    for (size_t i = 0; vs_json_next(json, "rows", i, changes->count); i++) {
        const struct vs_whatif_change *change = &changes->items[i];
        const struct vs_whatif_outcome *o = &change->outcome;
        char *command = NULL;
        size_t bytes = 0;
        FILE *words = vs_xstream(&command, &bytes);
        fprintf(words, "vramscope replay%s%s%s", *change->option ? " " : "", change->option, change->value ? " " : "");
        if (change->value)
            vs_text_shell(words, change->value);
        fprintf(words, "%s ", whatif->rest);
        vs_text_shell(words, whatif->path);
        vs_xstream_end(words);
        vs_json_begin(json, NULL, VS_J_TEXT("what", vs_tried_name(change->what)), VS_J_TEXT("text", change->text),
                      VS_J_TEXT("command", command), VS_J_BOOL("survives", o->survives),
                      VS_J_UINT("allocated_peak", o->allocated_peak),
                      VS_J_UINT("reserved_peak", o->reserved_peak), VS_J_UINT("held_peak", o->held_peak),
                      VS_J_UINT("used_peak", o->used_peak), VS_J_UINT("retries", o->retries));
        if (!o->survives)
            vs_json_object(json, "failure", VS_J_UINT("event", o->fail_event),
                           VS_J_UINT("requested", o->fail_requested), VS_J_UINT("short", o->fail_short),
                           VS_J_BOOL("other_memory", o->fail_other));
        vs_json_end_object(json);
        free(command);
    }
    vs_json_end_object(json);
}
