/* SPDX-License-Identifier: Apache-2.0
 *
 * The failed allocations of a report, and its other findings, with their call sites. */
#ifndef VS_REPORT_FAILURE_H
#define VS_REPORT_FAILURE_H

#include "analysis/report/report_site.h"
#include "analysis/state/failures.h"
#include "analysis/state/findings.h"

struct vs_report_failure {
    uint64_t event, time_ns;
    uint32_t tid;
    bool framework, recovered, host;
    bool workspace;  /* recovered: a library did without this memory */
    uint64_t device; /* the driver's ordinal */
    unsigned family;
    unsigned overhead; /* 0: an allocation; otherwise as in struct vs_failure */
    uint64_t requested, error, stack;
    uint64_t mark; /* string id of the user's line that was marked then; 0: none */
    uint64_t device_requested; /* of a framework's failure: the device's refused request; 0: none */
    uint64_t attempts;         /* refusals by the device */
    uint64_t device_free, device_total; /* 0/0 when unknown */
    uint64_t allocated, reserved;
    const char *api, *place;
    struct vs_report_site site; /* its frames; bytes = requested */
};

/* The first of failures that are identical and not among the latest, which are kept. */
struct vs_report_first {
    struct vs_report_failure failure;
    uint64_t number; /* among all, from 1 */
    uint64_t more;   /* such ones like it */
};

/* Failures of the same kind at the same call site. */
struct vs_report_failure_group {
    struct vs_report_failure first;
    uint64_t count, last_ns;
    uint64_t smallest, largest; /* requested */
    bool recovered; /* the program went on after the last of them */
};

/* What went wrong at a call, other than a failed allocation: findings of the same kind and
 * stack. */
struct vs_report_finding {
    struct vs_finding_group group; /* its times since the start */
    const char *api, *freed_api, *alloc_api, *text;
    struct vs_report_site site, alloc, earlier; /* api "" and no frames: not known */
};

/* vs_report_failure_of: names *failure* of the replay. */
struct vs_report_failure vs_report_failure_of(const struct vs_summary *summary,
                                              const struct vs_failure *failure);

/* vs_report_failures: the latest ones, which the replay keeps. vs_report_firsts: the first of those
 * that it keeps no longer. vs_report_failure_groups: all of them by kind and call site, *count*
 * groups. */
const struct vs_report_failure *vs_report_failures(const struct vs_summary *summary);
const struct vs_report_first *vs_report_firsts(const struct vs_summary *summary);
const struct vs_report_failure_group *
vs_report_failure_groups(const struct vs_summary *summary, const struct vs_failure_groups *groups,
                         size_t *count);

/* vs_report_findings: the groups with the names of their calls. */
const struct vs_report_finding *vs_report_findings(const struct vs_summary *summary,
                                                   const struct vs_finding_groups *groups);

#endif
