/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of the post-mortem: from the facts in a struct vs_oom to its verdict
 * and remedies. Internal to analysis. */
#ifndef VS_DIAGNOSE_H
#define VS_DIAGNOSE_H

#include "analysis/oom/oom.h"

/* What the rules need beside struct vs_oom. */
struct vs_diagnose_facts {
    uint64_t request_before; /* largest at the failing site, this step excluded */
    uint64_t live_spike;     /* largest live allocation made in the step under way */
    uint64_t live_spike_before; /* largest at its site, this step excluded */
    uint64_t steps_largest;  /* largest single one in completed steps */
    uint64_t largest;        /* largest single one ever */
    uint64_t freed_bytes;    /* sum over all frees so far */
};

/* vs_diagnose: set verdict, spike_*, remedies of *oom*. */
void vs_diagnose(struct vs_oom *oom, const struct vs_diagnose_facts *facts);

#endif
