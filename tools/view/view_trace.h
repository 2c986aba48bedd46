/* SPDX-License-Identifier: Apache-2.0
 *
 * One trace as the data of an HTML page: its report, its post-mortem and its blocks. */
#ifndef VS_VIEW_TRACE_H
#define VS_VIEW_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/common/trace_part.h"
#include "viewer/html/page.h"

struct vs_view_options {
    bool partial;        /* --partial */
    uint64_t events_max; /* --events */
    struct vs_part_args part; /* --from, --to */
    bool served;
};

/* A trace that is open, with all that is computed once. */
struct vs_view_trace {
    const char *who, *path; /* not owned */
    struct vs_reader *reader;
    struct vs_span span;
    struct vs_page_scan scan;
    struct vs_page_data *collected; /* by the reading of the report, until a page takes it; NULL: the
                                     * page is of a part */
    struct vs_trace_state *state;   /* at the end of that reading */
    struct vs_report *report;
    struct vs_oom *oom;     /* NULL: no allocation failed, or for the reason in *message* */
    struct vs_arena memory; /* of the post-mortem's line */
    const char *message;    /* for the page; NULL: none */
};

/* vs_view_open: opens the trace at *path* and reads it for its report. Returns false, with a message
 * of *who*: nothing is open. Shows progress after a second on a terminal. */
bool vs_view_open(const char *who, const char *path, const struct vs_view_options *options,
                  struct vs_view_trace *trace);

/* vs_view_data: the page's data for *window* (NULL: the whole trace, or a part chosen around the
 * failure or the peak). NULL, with a message, on failure. Ownership: vs_page_data_free. */
struct vs_page_data *vs_view_data(struct vs_view_trace *trace,
                                  const struct vs_view_options *options,
                                  const struct vs_time_window *window);

/* vs_view_page: the data for the window that *options* ask for; tells on standard error which part
 * has blocks, if not all. NULL, with a message, on failure. */
struct vs_page_data *vs_view_page(struct vs_view_trace *trace,
                                  const struct vs_view_options *options);

void vs_view_close(struct vs_view_trace *trace);

#endif
