/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of call sites, as all parts of a report have it, and what is needed to name them. */
#ifndef VS_REPORT_SITE_H
#define VS_REPORT_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/growth/growth.h"
#include "analysis/state/replay.h"
#include "analysis/state/sites.h"
#include "base/vs_arena.h"
#include "trace/format/event.h"
#include "trace/symbols/symbols.h"

struct vs_report_frame {
    const char *function; /* never NULL */
    const char *file;     /* NULL when unknown */
    const char *module;
    unsigned line;        /* 0 when unknown */
    bool inlined, known;
    const char *library;  /* whose code it is: "torch", "cuBLAS"; NULL: the user's */
};

/* Of a call site's memory, what one function of an installed package allocated for it. */
#define VS_SITE_PARTS_MAX 64
struct vs_site_part {
    const char *function, *file, *library; /* "LlamaMLP.forward", path or NULL, "transformers" */
    unsigned line; /* 0: on several */
    uint64_t bytes, count;
};
struct vs_site_parts {
    struct vs_site_part *items; /* room for VS_SITE_PARTS_MAX; NULL: none */
    size_t count;
};

/* A call site that allocated memory. Stacks with the same text are one site: the user's functions,
 * without the frames of libraries below and between them. */
struct vs_report_site {
    enum vs_level level; /* VS_LEVEL_FRAMEWORK: of tensors; VS_LEVEL_DEVICE */
    const char *line;    /* the user's line on whose behalf a thread without Python frames allocated:
                          * "loss.backward() (train.py:40)"; or its operation
                          * (vs_naming_torch); NULL: the frames name the site */
    const char *line_file; /* of *line*: the path of its file; NULL without it */
    unsigned line_number;
    const char *through; /* the library's function that the user's called: "torch: Linear.forward";
                          * NULL: none, or several */
    struct vs_site_parts parts; /* the user's line called several functions of packages, such as the
                          * forward of several modules: the largest first, not all of the bytes */
    bool folds;          /* frames of libraries are not shown */
    size_t stacks;       /* distinct ones that are this site, at least 1 */
    const struct vs_report_frame *frames; /* innermost first; without internal frames */
    size_t frame_count;                   /* 0 when no stack was recorded */
    size_t wrappers; /* leading frames that are not shown: libraries called by the user, and
                      * functions shared by nearly every site: the program's own allocation
                      * function; below frame_count */
    const char *api;                      /* "cudaMalloc", …; "" when unknown */
    unsigned family;
    uint64_t bytes, count; /* held at the time of the list */
    uint64_t allocs, frees, alloc_bytes, largest; /* up to that time */
    VS_SITE_COUNTERS(VS_SITE_COUNTER_FIELD)
    uint64_t lifetime_mean_ns; /* of the freed ones */
    bool growing;          /* its memory grows, and is not freed before the end */
    bool growth_freed;     /* it was freed at the end */
    bool growth_replaced;  /* a larger buffer replaces the one before: growth_per_step is the
                            * average */
    bool growth_filled;    /* not growing: it grew until growth_until, and is constant since */
    bool growth_in_steps;  /* the figures in steps are known */
    uint64_t growth_bytes, growth_per_step;
    uint64_t growth_every; /* steps from one growth to the next; 0 when not known */
    uint64_t growth_since, growth_until; /* numbers of steps: of the first growth, of the last */
    uint64_t growth_since_ns, growth_until_ns; /* since the program's start */
    double growth_confidence; /* 0 to 1 */
};

/* vs_user_frame: the next frame from *i* on that is shown, the user's; frame_count when there is none. */
static inline size_t vs_user_frame(const struct vs_report_site *site, size_t i)
{
    while (i < site->frame_count && site->folds && site->frames[i].library)
        i++;
    return i;
}

/* The heaviest first. */
struct vs_report_sites {
    const struct vs_report_site *items;
    size_t count;
    uint64_t total_bytes, total_count; /* over all sites, listed or not */
    uint64_t omitted_count; /* sites not in the list */
    uint64_t omitted_bytes;
    /* Where not every allocation was recorded (vs_report.recording): the figures of sites are
     * estimates if weight is above 1, each recorded allocation representing that many. */
    uint64_t weight;
    uint64_t exact_bytes; /* exact value that total_bytes estimates */
    uint64_t small_bytes, small_count; /* too small to be recorded: exact, not in any site */
    uint64_t whole_bytes; /* at a peak: the exact peak; sites need not add up to it. 0: they do */
    int64_t limit_bytes;  /* allocated after the trace was full, minus freed: not in any site */
};

/* vs_report_sites_unlisted: bytes of the whole that are neither in the sites nor in the small
 * allocations; below 0 where estimates are too high. */
static inline int64_t vs_report_sites_unlisted(const struct vs_report_sites *sites)
{
    return sites->whole_bytes
               ? (int64_t)(sites->whole_bytes - sites->total_bytes - sites->small_bytes) : 0;
}

/* vs_report_site_error: standard error of the estimate *bytes* of a site, for blocks of
 * about one size; 0 when it is exact. */
uint64_t vs_report_site_error(const struct vs_report_sites *sites,
                              const struct vs_report_site *site);

/* Functions that nearly all allocations of the program go through, innermost first: they do not
 * tell call sites apart. */
#define VS_WRAPPERS_MAX 3
#define VS_WRAPPER_NAME_MAX 256
struct vs_wrappers {
    char names[VS_WRAPPERS_MAX][VS_WRAPPER_NAME_MAX];
    size_t count;
};

#define VS_SUMMARY_SITES_DEFAULT 50 /* call sites of a list */

/* What the lists of call sites are made from. */
struct vs_summary {
    struct vs_arena *memory;
    const struct vs_replay *replay;
    struct vs_symbols *symbols;
    size_t sites_max; /* 0: VS_SUMMARY_SITES_DEFAULT */
    const struct vs_wrappers *wrappers; /* NULL: none known */
    const struct vs_growth_result *growth; /* NULL: judged by marked steps only, from the replay */
    bool own_only;   /* names without looking up those of installed native libraries: labels are the same
                      * for stacks with Python code of the user's */
    bool all_growth; /* also sites that grow by less than a thousandth of the peak */
};

#endif
