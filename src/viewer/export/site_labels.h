/* SPDX-License-Identifier: Apache-2.0
 *
 * The call sites of a replay as one line of text each, as the report prints them, for formats with a
 * row for each allocation. Not thread-safe. */
#ifndef VS_SITE_LABELS_H
#define VS_SITE_LABELS_H

#include <stdint.h>

#include "analysis/report/summary.h"
#include "base/vs_arena.h"

struct vs_site_label {
    const char *text;    /* "block_forward (lm.c:105) < forward_pass (lm.c:151) < …" */
    const char *through; /* the library's function that the user's called, or "" */
    const char *library; /* that allocated: "PyTorch", "the program" */
};

/* Zero-initialise, then vs_site_labels_open. */
struct vs_site_labels {
    struct vs_symbols *symbols; /* not owned */
    struct vs_arena memory;
    struct vs_wrappers wrappers;
    struct vs_site_label *items; /* by index in the replay's sites; text NULL: not asked for yet */
    size_t capacity;
};

/* vs_site_labels_open: learns from *replay*, at the end of the trace, which of the program's
 * functions are its own allocation functions. */
void vs_site_labels_open(struct vs_site_labels *labels, struct vs_symbols *symbols,
                         const struct vs_replay *replay);

/* vs_site_labels_of: the label of site *index* of *replay*, which may be another replay of the same
 * trace. Its texts are valid until close. */
const struct vs_site_label *vs_site_labels_of(struct vs_site_labels *labels,
                                              const struct vs_replay *replay, uint32_t index);

void vs_site_labels_close(struct vs_site_labels *labels);

#endif
