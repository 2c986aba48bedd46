/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A recording begins with the limits in force. */
#include "analysis/checkpoint/size_limit.h"

#define SAID_WITHIN 1000u /* events */

uint64_t vs_size_limit(struct vs_reader *reader)
{
    struct vs_event event;
    uint64_t limit = 0;
    vs_reader_rewind(reader);
    for (unsigned i = 0; i < SAID_WITHIN && !limit && vs_reader_next(reader, &event) == VS_OK; i++) {
        if (event.kind == VS_EVENT_recording_changed)
            limit = event.recording_changed.limit_bytes;
    }
    return limit;
}
