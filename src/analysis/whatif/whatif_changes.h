/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of a recorded program that can be replayed: other settings of the allocator, and other
 * treatment of the memory of a call site. Each is given as the options with which `vramscope replay` does
 * the same, so that both print the same figures. */
#ifndef VS_WHATIF_CHANGES_H
#define VS_WHATIF_CHANGES_H

#include <regex.h>

#include "analysis/whatif/whatif.h"
#include "base/vs_arena.h"
#include "trace/symbols/symbols.h"

/* The settings of `vramscope replay --sweep`: those that are known to help, each alone, then the usual
 * combinations. NULL ends them. */
extern const char *const vs_whatif_swept[];

/* vs_whatif_recorded_name: of the recorded setting: its options, or its policy. */
const char *vs_whatif_recorded_name(const struct vs_whatif_recorded *recorded);

/* vs_whatif_match: adds the call sites of *log* with a function that matches *expression*, as
 * "f (a.c:12)", to *sites*, which has room for all of vs_whatif_stacks. Returns how many. */
size_t vs_whatif_match(const struct vs_whatif_log *log, const struct vs_reader *reader, const regex_t *expression,
                       enum vs_whatif_site_rule rule, struct vs_whatif_site *sites);

enum vs_tried {
    VS_TRIED_NOTHING,  /* as recorded */
    VS_TRIED_SETTING,  /* of the allocator: *text* as in PYTORCH_ALLOC_CONF */
    VS_TRIED_POLICY,   /* *text*: its name */
    VS_TRIED_EMPTY_CACHE, VS_TRIED_NO_LIMIT, VS_TRIED_NO_OTHERS, VS_TRIED_TRIM_POOLS,
    VS_TRIED_FREE,     /* blocks of a call site, *text*, are freed at the end of their step */
    VS_TRIED_WITHOUT,  /* they are not allocated: no change of that call site can bring more */
    VS_TRIED_TOGETHER, /* several; *text*: "2 call sites freed at the end of their step, with compact" */
    VS_TRIED_COUNT
};

struct vs_whatif_change {
    enum vs_tried what;
    const char *text;    /* "" where *what* says all */
    const char *option;  /* of `vramscope replay`; "" for the recorded setting */
    const char *value;   /* of the last one; NULL: it has none */
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome outcome;
};

struct vs_whatif_changes {
    struct vs_whatif_change *items; /* [0]: as recorded; those that change a figure by 0.1 % */
    size_t count;
    size_t tried, left_out; /* tried: the ones without a change included */
    const struct vs_whatif_recorded *recorded;
};

/* vs_tried_name: "setting", "free_at_step_end", …, as on the page. */
const char *vs_tried_name(enum vs_tried what);

/* What to try. */
struct vs_changes_query {
    const char *const *frames; /* of call sites, "f (a.c:12)", the ones that matter most first */
    size_t frame_count;
    size_t most; /* so many changes; 0: so many that their runs take about as long as to read the trace
                  * for its report, and all of a short trace */
};

/* vs_whatif_changes: runs the changes of *query*; everything in *memory*, which the recorded facts of *log*
 * must outlive. VS_ERR_… of the recorded setting's run: there are none then. Cost: the names of all stacks of
 * the log, and the runs, on all processors. */
enum vs_err vs_whatif_changes(const struct vs_whatif_log *log, const struct vs_reader *reader,
                              const struct vs_changes_query *query, struct vs_arena *memory,
                              struct vs_whatif_changes *out) VS_MUST_CHECK;

#endif
