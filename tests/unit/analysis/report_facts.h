/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace as text, and facts of the JSON that `vramscope report` prints of it (json_expect). */
#ifndef VS_REPORT_FACTS_H
#define VS_REPORT_FACTS_H

#include "support/json_test.h"
#include "support/report_test.h"
#include "viewer/report/report_text.h"

/* Of the report that was built last, from *from* on. */
static inline void expect_report(const char *from, const char *facts)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    vs_report_json(report, false, out);
    fclose(out);
    struct json_object *root = json_tokener_parse(text);
    json_expect(root, json_follow(root, from), facts);
    json_object_put(root);
    free(text);
}

struct report_case {
    const char *name, *trace, *facts; /* of device 0 */
    const char *policy;               /* NULL: observe */
    int status;                       /* of the program's exit */
};

static inline void report_row(const struct report_case *c)
{
    begin_trace(c->policy ? c->policy : "observe", c->trace);
    read_report(c->status);
}

#endif
