/* SPDX-License-Identifier: Apache-2.0
 *
 * --serve and --live of a build without libmicrohttpd. */
#include "tools/common/command.h"
#include "tools/view/view_trace.h"

int vs_view_serve(struct vs_view_trace *trace, const struct vs_view_options *options,
                  const struct vs_serve_options *serve)
{
    (void)options;
    return vs_tool_fail(trace->who, "--%s is not in this build, because libmicrohttpd was not found: "
                        "install libmicrohttpd-dev and build again, or use %s",
                        serve->live ? "live" : "serve",
                        serve->live ? "vramscope top" : "--from and --to");
}
