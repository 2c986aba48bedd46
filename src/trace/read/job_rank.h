/* SPDX-License-Identifier: Apache-2.0
 *
 * The place of a process in a job of several, as a launcher such as torchrun, mpirun or srun gives
 * it to each: recorded as options of the trace (docs/internals/trace-format.md, `option`). */
#ifndef VS_JOB_RANK_H
#define VS_JOB_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeros: no launcher. */
struct vs_job_rank {
    bool has_rank, has_local_rank, has_world_size;
    uint64_t rank;       /* in the job */
    uint64_t local_rank; /* on its machine */
    uint64_t world_size; /* processes of the job */
};

/* vs_job_rank_option: take the option *name* of a trace, which may be any. */
void vs_job_rank_option(struct vs_job_rank *job, const char *name, const char *value);

/* vs_job_rank_several: whether the process is one of several, so that its rank distinguishes it. Of
 * a job of unknown size: whether it is not the first. */
bool vs_job_rank_several(const struct vs_job_rank *job);

#define VS_JOB_RANK_TEXT_MAX 32
/* vs_job_rank_text: " rank 1" of several processes, else "". Returns *out*, which has
 * VS_JOB_RANK_TEXT_MAX bytes. */
char *vs_job_rank_text(char *out, const struct vs_job_rank *job);
#define vs_rank_text(job) vs_job_rank_text((char[VS_JOB_RANK_TEXT_MAX]){""}, job)

/* vs_job_rank_before: below, equal or above 0 as *a* comes before *b* in their job; 0 if a rank is
 * unknown. */
int vs_job_rank_before(const struct vs_job_rank *a, const struct vs_job_rank *b);

#endif
