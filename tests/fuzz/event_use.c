/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "fuzz/event_use.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/check.h"
#include "trace/format/format.h"
#include "trace/read/reader_internal.h"

void event_use(const struct vs_reader *r, const struct vs_event *event)
{
    const struct vs_event_info *info = vs_event_describe(event->kind);
    struct vs_frame frames[16];
    check(info != NULL);
    for (unsigned i = 0; i < info->field_count; i++) {
        if (info->fields[i].codec == VS_CODEC_STR) {
            check(event->fields[i] <= r->table.string_count);
            check(strlen(vs_reader_string(r, event->fields[i])) <= 3 * VS_STRING_MAX);
        } else if (info->fields[i].codec == VS_CODEC_STK) {
            check(event->fields[i] <= r->table.node_count);
            size_t n = vs_reader_stack(r, event->fields[i], frames, 16);
            for (size_t j = 0; j < n; j++)
                check(frames[j].module == VS_NO_MODULE || vs_reader_module(r, frames[j].module));
        }
    }
}
