/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of `vramscope estimate`: its arguments, and the traces it reads. */
#ifndef VS_ESTIMATE_INTERNAL_H
#define VS_ESTIMATE_INTERNAL_H

#include <stdbool.h>

#include "tools/common/command.h"
#include "viewer/report/estimate_text.h"

#define VS_ESTIMATE_TEXTS_MAX 256

struct vs_estimate_job {
    const char *who;
    struct vs_estimate_answer answer;
    bool described; /* an option of the description was given */
    bool json, partial;
    struct vs_tool_colour colour;
    char *texts[VS_ESTIMATE_TEXTS_MAX]; /* owned; what the answer's strings point to */
    size_t text_count;
};

/* vs_estimate_parse: 0; -1 after printing the help; or an exit code, with a message. */
int vs_estimate_parse(struct vs_estimate_job *job, const char *usage, int argc, char **argv);

/* vs_estimate_keep: a copy of *length* bytes of *text* that lives as long as *job*; NULL: out of
 * memory. */
const char *vs_estimate_keep(struct vs_estimate_job *job, const char *text, size_t length);

/* vs_estimate_parse_values: "batch=4,seq=512" into *x*, by the names of the answer; with *first*
 * they become its names. Returns 0 or an exit code, with a message that begins with *what*. */
int vs_estimate_parse_values(struct vs_estimate_job *job, const char *what, const char *text,
                             size_t length, bool first, double x[VS_SCALING_NAMES_MAX]);

/* vs_estimate_traces: reads "batch=4:FILE" arguments and fits the curve. 0 or an exit code. */
int vs_estimate_traces(struct vs_estimate_job *job, char **arguments, size_t count);

void vs_estimate_clear(struct vs_estimate_job *job);

#endif
