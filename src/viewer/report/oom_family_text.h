/* SPDX-License-Identifier: Apache-2.0
 *
 * The post-mortem of several processes: which ran out of memory first, and what each held on the
 * device then; as text and as JSON (schema "vramscope.oom.family/1"). */
#ifndef VS_OOM_FAMILY_TEXT_H
#define VS_OOM_FAMILY_TEXT_H

#include "analysis/oom/oom.h"
#include "analysis/processes/process_tree.h"
#include "viewer/common/text_style.h"

/* One process. */
struct vs_oom_process {
    const char *path;
    uint64_t failures, recovered;
    bool failed;           /* it has a failure that it did not recover from: the first one below */
    uint64_t time_ns;      /* since its start */
    uint64_t realtime_ns;
    struct vs_report_failure failure; /* strings are not used */
    const struct vs_verdict *verdict;
    uint64_t missing;
    const char *uuid;      /* of the failure's device; "" for host memory */
};

/* Several. */
struct vs_oom_family {
    struct vs_oom_process *items; /* [count], in any order */
    size_t count;
    size_t first;                 /* that failed first; count: none */
    const struct vs_tree *tree;   /* of all; at the time of the first failure */
};

/* vs_oom_family_text: the processes with their failures; what each held on the device of the first
 * one then; and whether the other processes are to blame. */
void vs_oom_family_text(const struct vs_oom_family *family, const struct vs_style *style);
void vs_oom_family_json(const struct vs_oom_family *family, FILE *out);

#endif
