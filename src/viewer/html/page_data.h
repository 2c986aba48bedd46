/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a page's data while they are built; shared by page.c, which reads the trace, and
 * page_head.c, which writes the first element. Private to these. */
#ifndef VS_PAGE_DATA_H
#define VS_PAGE_DATA_H

#include "viewer/html/page.h"
#include "viewer/html/page_activity.h"
#include "viewer/html/page_names.h"
#include "viewer/html/page_ranges.h"
#include "viewer/html/page_rows.h"

enum vs_page_section_number {
    VS_SECTION_CURVES, VS_SECTION_SEGMENTS, VS_SECTION_BLOCKS, VS_SECTION_STEPS, VS_SECTION_RANGES,
    VS_SECTION_ACTIVITY, VS_SECTIONS
};

struct vs_page_data {
    uint8_t numbers[VS_DEVICES_MAX]; /* of devices: the report's, which sorts them, by account */
    uint64_t start_ns;          /* of the trace's clock: time 0 */
    struct vs_time_window part; /* that has blocks; empty: the whole trace */
    uint64_t part_events_max;   /* only so many events of it; 0: all */
    bool begun;                 /* the part has; rows.ended: and is over */
    bool to_the_end;            /* the reading goes on after the part */
    struct vs_page_window window;
    struct vs_section sections[VS_SECTIONS];
    struct vs_page_rows rows;
    struct vs_page_ranges ranges;
    struct vs_page_activity activity;
    struct vs_page_streams streams;
    struct vs_page_names names;
    char *head;      /* JSON, safe inside an HTML element */
    size_t head_bytes;
};

/* vs_page_head_write: fills head; the other parts are complete, *replay* is the state at the end of
 * the reading. */
void vs_page_head_write(struct vs_page_data *data, const struct vs_page_source *source,
                        const struct vs_replay *replay);

/* vs_page_escape: JSON *text* as one line that is safe inside an HTML script element: < > & and the
 * line separators of Unicode become escapes. malloc'ed; NULL when memory ran out. */
char *vs_page_escape(const char *text, size_t bytes, size_t *out_bytes);

#endif
