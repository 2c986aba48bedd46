/* SPDX-License-Identifier: Apache-2.0
 *
 * `view --live`: the page of a program while it runs. Private to this folder. */
#ifndef VS_VIEW_LIVE_H
#define VS_VIEW_LIVE_H

#include <stdio.h>

#include "tools/top/top_command.h"
#include "tools/view/view_trace.h"

struct vs_view_live {
    char *path;
    struct vs_top_sources sources; /* the one trace */
    struct vs_view_options options;
    uint64_t events_max;           /* as the user gave it; 0: not given */
    struct vs_view_trace trace;    /* open (reader) while data are made, and after the end */
    bool behind;                   /* there is more of the trace than was read for the figures */
    bool ended;                    /* the program; *trace* is its final one */
};

/* vs_view_live_open: of *word*: a process, which is found as by top; a trace, or its FILE.live. False,
 * with a message: nothing is open. The command gives way to other processes from here on. */
bool vs_view_live_open(const char *who, const char *word, const struct vs_view_options *options,
                       struct vs_view_live *live);

/* vs_view_live_catch_up: reads on for the figures while there is more, for a tenth of a second. Returns
 * whether there still is. */
bool vs_view_live_catch_up(struct vs_view_live *live);

/* vs_view_live_figures: the present state as JSON, schema vramscope.top/1, or as OpenMetrics. */
void vs_view_live_figures(struct vs_view_live *live, bool metrics, FILE *out);

/* vs_view_live_data: of the part from *from* to *to* (ns since the start), or with 0 the latest events.
 * NULL, with a message, on failure. Ownership: vs_page_data_free. */
struct vs_page_data *vs_view_live_data(struct vs_view_live *live, uint64_t from, uint64_t to);

void vs_view_live_close(struct vs_view_live *live);

#endif
