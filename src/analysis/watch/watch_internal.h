/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a watch: shared by the files of this folder. */
#ifndef VS_WATCH_INTERNAL_H
#define VS_WATCH_INTERNAL_H

#include "analysis/report/summary.h"
#include "analysis/watch/watch.h"
#include "base/vs_limit_spec.h"
#include "base/vs_map.h"
#include "trace/read/follower.h"

/* What the latest pass of the growth tracker found. */
struct vs_watch_growth {
    struct vs_growth_row sum[VS_DEVICES_MAX]; /* of all sites that grow */
    bool growing[VS_DEVICES_MAX];
    struct vs_map by_site; /* those sites: index + 1 -> bytes per step */
    enum vs_steps_source source;
    unsigned account;      /* of the steps */
    uint64_t begun, step_ns, begin_ns, highest; /* length; begin of the latest; highest bytes in the
                                                 * latest two */
};

struct vs_watch {
    char *path;
    struct vs_follower *follower;
    struct vs_replay *replay;
    struct vs_growth_tracker *tracker;
    struct vs_symbols *symbols;
    struct vs_memory_history history[VS_DEVICES_MAX];
    struct vs_limit_spec limit;
    bool limited;
    bool caught_up; /* everything was read once */
    bool behind;    /* there is more than was read */

    /* passes over all live memory, which may take long: not more than a tenth of the time */
    uint64_t next_growth_ns, next_holes_ns;
    struct vs_watch_growth growth;
    struct vs_holes holes[VS_DEVICES_MAX];

    /* the program's own allocation functions, and the call sites when they were found; [1]: by the
     * names that take no time */
    struct vs_wrappers wrappers[2];
    size_t wrappers_at[2];
    struct vs_map owners;  /* vs_naming_key */
    uint64_t *keys;        /* by call site; 0: not known yet */
    size_t key_count;
};

/* vs_watch_now_ns: the present in the trace's clock: the last event's time once it ended. */
uint64_t vs_watch_now_ns(const struct vs_watch *watch);

#endif
