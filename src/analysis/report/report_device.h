/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a report about one device, and those about host memory and phases. */
#ifndef VS_REPORT_DEVICE_H
#define VS_REPORT_DEVICE_H

#include "analysis/naming/frameworks.h"
#include "analysis/report/held.h"
#include "analysis/report/report_site.h"
#include "analysis/report/timeline_fill.h"
#include "analysis/state/activity.h"
#include "analysis/state/balance.h"
#include "analysis/state/replay_totals.h"

struct vs_report_family {
    uint64_t allocs, frees, failures;
    uint64_t bytes; /* requested, summed over time */
    uint64_t peak_bytes, live_bytes, live_count; /* live: at the end */
};

/* vs_report_family_seen: whether the family was used. */
static inline bool vs_report_family_seen(const struct vs_report_family *family)
{
    return family->allocs || family->frees || family->failures || family->live_count;
}

struct vs_report_peak {
    uint64_t bytes;
    uint64_t time_ns;
    uint64_t event; /* 1-based index in the trace; 0 when there was no allocation */
    const char *place; /* "step 3 / backward"; "" outside any range */
    uint64_t allocated, requested, reserved; /* at that time */
    uint64_t free_bytes, largest_hole, holes; /* inside segments at that time */
    bool holes_unknown; /* blocks were not recorded: only free_bytes is known */
};

/* 1 - largest hole / free bytes; 0 when nothing is free. */
double vs_report_external_fragmentation(const struct vs_report_peak *peak);

struct vs_report_kernel {
    const char *name;
    uint64_t count, time_ns, shortest_ns, longest_ns;
};

/* A call site that allocated and freed blocks of one size again and again. */
struct vs_report_churn {
    struct vs_report_site site;
    uint64_t block_bytes, allocs, frees;
    bool one_at_a_time; /* each was freed before the thread allocated anything else */
    double per_step;    /* allocations; 0 without steps */
};

/* Memory of the device that a framework holds, without what is known of the blocks in it. */
struct vs_report_framework {
    uint64_t bytes, count; /* at the peak of allocated; count: of allocations */
};

struct vs_report_device {
    uint64_t device; /* the driver's ordinal */
    const char *name, *uuid;
    uint64_t total_bytes, sm_count, cc_major, cc_minor;
    uint64_t limit_bytes; /* set by the option limit; 0: no limit */
    bool simulated;
    struct vs_report_family family[VS_FAMILY_COUNT]; /* host families stay zero */
    enum vs_level level; /* the user's: of the lists of sites below, of *peak_user* and of phases */
    struct vs_report_peak peak_user; /* of tensors and other memory that does not hold them; at the
                                      * device's level that of peak_allocated */
    uint64_t user_allocated; /* likewise, at the end */
    struct vs_report_peak peak_chosen; /* likewise, while wish.filter.phase was open, in its steps; of
                                        * the whole trace or a window */
    struct vs_report_peak peak_allocated, peak_requested;
    struct vs_report_peak peak_reserved; /* of the times with that peak, the one with most
                                          * allocated */
    uint64_t peak_reserved_first_ns;     /* when that peak was first reached */
    const char *peak_reserved_first_place;
    uint64_t family_at_peak[VS_FAMILY_COUNT]; /* live bytes at the peak of allocated */
    uint64_t allocated, requested, reserved; /* at the end */
    uint64_t lost_bytes, lost_count; /* still live when their context was destroyed */
    uint64_t segment_allocs, segment_frees;
    /* the driver's memory for graphs: at the end, its peak; and the peak in use */
    uint64_t graph_reserved, graph_reserved_peak, graph_used_peak;
    struct vs_report_sites at_peak; /* at peak_user */
    struct vs_report_sites at_end;  /* live, or lost with their context */
    struct vs_report_sites growing; /* sites that grow; bytes = at the end */
    struct vs_report_sites filled;  /* large ones that grew and are constant since */
    /* The second line where *level* is the framework's: the device's own sites, at peak_allocated
     * and at the end; otherwise empty. */
    struct vs_report_sites device_at_peak, device_at_end;
    struct vs_report_sites cached;  /* at a point in time: memory in segments without live blocks, by the call
                                     * sites that requested the segments; count: of segments */
    struct vs_held held;            /* live at the peak of allocated, at that of the chosen phase, or
                                     * at the chosen time */
    const struct vs_report_churn *churn; /* most bytes first */
    size_t churn_count, churn_omitted;
    bool growth_steady;             /* the allocated bytes of *level* grow */
    uint64_t growth_per_step;
    struct vs_report_framework frameworks[VS_FRAMEWORK_COUNT]; /* of vs_framework_table.h */
    bool has_framework;             /* a framework's own allocator was also recorded */
    const char *framework, *contents; /* its name, and what its blocks hold: "PyTorch", "tensors" */
    uint64_t framework_allocs, framework_frees, framework_allocated;
    uint64_t framework_peak_allocated, framework_peak_reserved, framework_ooms;
    uint64_t framework_retries; /* refusals by the device after which PyTorch emptied its cache and
                                 * got the memory: not failures */
    struct vs_unrecorded unrecorded[VS_LEVEL_COUNT][VS_WHY_COUNT]; /* included in the other
                                                                    * figures */
    struct vs_balance balance_peak; /* at the reading of highest use */
    struct vs_balance balance_last; /* at the last reading */
    /* the highest use of the device, also between readings (between_readings.h): .bytes, with
     * the time */
    struct vs_report_peak use_known, use_possible;
    const struct vs_report_kernel *kernels; /* by time, longest first */
    size_t kernel_count;
    struct vs_activity_tally kernel_total, copies[VS_COPY_KIND_COUNT], sets, syncs;
    struct vs_report_sites copy_sites[VS_COPY_KIND_COUNT]; /* if copy_sites_known */
    struct vs_report_timeline timeline; /* none at a point in time */
};

struct vs_report_host {
    struct vs_report_family family[VS_FAMILY_COUNT]; /* pinned and registered */
    uint64_t peak_bytes, peak_time_ns;
    const char *peak_place;
    uint64_t live_bytes;
    struct vs_report_sites at_end, growing, filled; /* as of a device */
};

struct vs_report_phase {
    const char *name;  /* innermost name */
    const char *path;  /* "step / forward" */
    unsigned depth;    /* 0 for outermost */
    uint64_t times, time_ns;
    uint64_t allocs, alloc_bytes; /* allocated while it was the innermost, at the user's level */
    const uint64_t *peaks; /* peak at the user's level while it was open, per devices[] entry */
};

/* vs_report_devices: those of the replay, by their ordinal, as they are at the end; *steps*:
 * completed ones. Everything but the lists at peaks. */
struct vs_report_device *vs_report_devices(const struct vs_summary *summary, uint64_t steps,
                                           const struct vs_activity *activity, size_t kernels_max);

/* vs_report_device_at: the lists of *device* at *event*, if that is one of its peaks: *summary* has
 * the state after it. */
void vs_report_device_at(struct vs_report_device *device, const struct vs_summary *summary,
                         uint64_t event);

/* vs_report_next_peak: the first event after *after* (0: of all) for which vs_report_device_at
 * lists something, and below *next*; otherwise *next*. */
uint64_t vs_report_next_peak(const struct vs_report_device *device, uint64_t after, uint64_t next);

/* vs_report_peak_of: *peak* of the replay. */
struct vs_report_peak vs_report_peak_of(const struct vs_summary *summary,
                                        const struct vs_peak *peak);

void vs_report_host(const struct vs_summary *summary, struct vs_report_host *out);

/* vs_report_phases: in tree order; *devices* are those of the report. */
const struct vs_report_phase *vs_report_phases(const struct vs_summary *summary,
                                               const struct vs_report_device *devices,
                                               size_t device_count, size_t *count);

#endif
