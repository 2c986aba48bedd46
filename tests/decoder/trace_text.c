/* SPDX-License-Identifier: Apache-2.0
 *
 * The C reader's side of check_decoder.py: for every path on standard input a line
 * "# PATH", the text of vs_trace_dump, and "== CONDITION EVENTS RECOVERED", or "!!" for
 * what is no trace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/reader_internal.h"
#include "trace/trace_dump.h"

static int put_trace(const char *path)
{
    static const char *const names[] = {[VS_TRACE_COMPLETE] = "complete",
                                        [VS_TRACE_LIVE] = "live",
                                        [VS_TRACE_TRUNCATED] = "truncated",
                                        [VS_TRACE_DAMAGED] = "damaged"};
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX];
    printf("# %s\n", path);
    enum vs_err err = vs_reader_open(path, &reader, why);
    if (err) {
        printf("!!\n");
        return err == VS_ERR_NOMEM;
    }
    err = vs_trace_dump(reader, stdout, true);
    if (!err)
        printf("== %s %" PRIu64 " %" PRIu64 "\n", names[vs_reader_condition(reader, NULL)],
               reader->events, reader->events_recovered);
    vs_reader_close(reader);
    return err != VS_OK;
}

int main(void)
{
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        if (put_trace(path))
            return 1;
    }
    return 0;
}
