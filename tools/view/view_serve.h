/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope view --serve`: the page over HTTP, for this machine only, with further parts of a long
 * trace on request. */
#ifndef VS_VIEW_SERVE_H
#define VS_VIEW_SERVE_H

#include <stdbool.h>

#include "tools/view/view_trace.h"

struct vs_serve_options {
    unsigned port; /* 0: any free one */
    bool open;     /* open the page in the browser */
};

/* vs_view_serve: serves the page of *trace* at 127.0.0.1 until SIGINT or SIGTERM, and prints its
 * address, which has a random token; other requests are refused. Returns an exit code; an error is
 * printed. */
int vs_view_serve(struct vs_view_trace *trace, const struct vs_view_options *options,
                  const struct vs_serve_options *serve);

#endif
