/* SPDX-License-Identifier: Apache-2.0
 *
 * The values are texts of a file, which may contain anything. */
#include "trace/read/job_rank.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 9u

static bool read_number(const char *text, uint64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > DIGITS_MAX || text[digits])
        return false;
    *number = strtoull(text, NULL, 10);
    return true;
}

void vs_job_rank_option(struct vs_job_rank *job, const char *name, const char *value)
{
    if (strcmp(name, "RANK") == 0)
        job->has_rank = read_number(value, &job->rank);
    else if (strcmp(name, "LOCAL_RANK") == 0)
        job->has_local_rank = read_number(value, &job->local_rank);
    else if (strcmp(name, "WORLD_SIZE") == 0)
        job->has_world_size = read_number(value, &job->world_size);
}

bool vs_job_rank_several(const struct vs_job_rank *job)
{
    return job->has_rank && (job->has_world_size ? job->world_size > 1 : job->rank > 0);
}

char *vs_job_rank_text(char *out, const struct vs_job_rank *job)
{
    *out = 0;
    if (vs_job_rank_several(job))
        snprintf(out, VS_JOB_RANK_TEXT_MAX, " rank %" PRIu64, job->rank);
    return out;
}

int vs_job_rank_before(const struct vs_job_rank *a, const struct vs_job_rank *b)
{
    if (!a->has_rank || !b->has_rank || a->rank == b->rank)
        return 0;
    return a->rank < b->rank ? -1 : 1;
}
