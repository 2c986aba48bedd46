/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Whether blocks of a site have the same size follows from the sum and the largest:
 * both are exact. */
#include "analysis/report/churn.h"

#include <stdlib.h>

#include "analysis/state/user_level.h"
#include "base/reading/vs_xalloc.h"

#define REPEATS_MIN 16

static bool repeats(const struct vs_replay *replay, const struct vs_site *site, unsigned account)
{
    return site->device == account && vs_user_has_site(replay, site) && site->frees >= REPEATS_MIN &&
           site->frees * 10 >= site->allocs * 9 && site->largest &&
           site->bytes / site->largest == site->allocs && site->bytes % site->largest == 0;
}

static int more_bytes(const void *a, const void *b)
{
    const struct vs_summary_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static void name_one(const struct vs_summary *summary, const struct vs_site *site,
                     uint64_t steps, struct vs_report_churn *out)
{
    const struct vs_replay *replay = summary->replay;
    *out = (struct vs_report_churn){
        .block_bytes = site->largest, .allocs = site->allocs, .frees = site->frees,
        .one_at_a_time = site->temporaries == site->frees && site->live_count == 0,
        .per_step = steps ? (double)site->allocs / (double)steps : 0,
        .site = {.family = site->family, .bytes = site->bytes, .count = site->allocs,
                 .allocs = site->allocs, .frees = site->frees, .alloc_bytes = site->bytes,
                 .largest = site->largest, .temporaries = site->temporaries}};
    out->site.api = vs_text_copy(summary->memory, vs_reader_string(replay->reader, site->api));
    vs_summary_frames(summary, site->stack, site->mark, &out->site);
}

void vs_churn_fill(const struct vs_summary *summary, unsigned account, size_t max,
                   uint64_t steps, struct vs_report_device *out)
{
    const struct vs_sites *sites = &summary->replay->sites;
    struct vs_summary_row *rows = vs_xcalloc(sites->count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < sites->count; i++)
        if (repeats(summary->replay, &sites->items[i], account))
            rows[count++] = (struct vs_summary_row){.bytes = sites->items[i].bytes,
                                                    .count = sites->items[i].allocs,
                                                    .site = (uint32_t)i};
    qsort(rows, count, sizeof *rows, more_bytes);
    size_t kept = count < max ? count : max;
    struct vs_report_churn *items =
        vs_xarena(summary->memory, (kept + 1) * sizeof *items);
    for (size_t i = 0; i < kept; i++)
        name_one(summary, &sites->items[rows[i].site], steps, &items[i]);
    out->churn = items;
    out->churn_count = kept;
    out->churn_omitted = count - kept;
    free(rows);
}
