/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of call sites by the user's functions on their stacks (vs_naming_key); see the header. A
 * framework allocates on thousands of stacks below a few lines of the user's: all are grouped, so
 * that the sums of the listed lines are whole, and only those listed are named. */
#include "analysis/report/site_fold.h"

#include <stdlib.h>

#include "analysis/naming/naming.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

static int heavier_row(const void *a, const void *b)
{
    const struct vs_summary_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static int heavier_group(const void *a, const void *b)
{
    const struct vs_site_group *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->head < y->head ? -1 : x->head > y->head;
}

static void key_of(const struct vs_summary *summary, uint32_t index, struct vs_map *owners,
                   uint64_t *key)
{
    const struct vs_site *site = &summary->replay->sites.items[index];
    if (!site->stack && !site->mark) { /* told apart by its API */
        *key = (uint64_t)index << 8 | UINT64_C(1) << 63;
        return;
    }
    vs_naming_key(summary->replay->reader, owners, site->stack, site->mark, key);
    *key = (*key * 16 + site->family) * 2 + (site->level == VS_LEVEL_FRAMEWORK);
    *key |= *key == 0;
}

/* Adds row *i* to the group of its key, or to a new one. *last*: the newest member of each group. */
static void add_row(struct vs_site_fold *fold, const struct vs_summary_row *rows, uint32_t i,
                    struct vs_map *by_key, uint32_t *last, uint64_t key)
{
    const uint64_t *found = vs_map_get(by_key, key);
    fold->next[i] = VS_SITE_NONE;
    if (found) {
        fold->groups[*found].bytes += rows[i].bytes;
        fold->next[last[*found]] = i;
        last[*found] = i;
        return;
    }
    fold->groups[fold->count] = (struct vs_site_group){rows[i].bytes, i};
    last[fold->count] = i;
    vs_xmap_put(by_key, key, fold->count++);
}

void vs_site_fold_rows(const struct vs_summary *summary, struct vs_summary_row *rows,
                       size_t count, struct vs_site_fold *out)
{
    struct vs_map owners = {0}, by_key = {0};
    uint32_t *last = vs_xcalloc(count + 1, sizeof *last);
    *out = (struct vs_site_fold){.groups = vs_xcalloc(count + 1, sizeof *out->groups),
                                 .next = vs_xcalloc(count + 1, sizeof *out->next)};
    vs_vec_sort(rows, count, sizeof *rows, heavier_row);
    for (size_t i = 0; i < count; i++) {
        uint64_t key;
        key_of(summary, rows[i].site, &owners, &key);
        add_row(out, rows, (uint32_t)i, &by_key, last, key);
    }
    vs_vec_sort(out->groups, out->count, sizeof *out->groups, heavier_group);
    vs_map_free(&owners);
    vs_map_free(&by_key);
    free(last);
}

void vs_site_fold_free(struct vs_site_fold *fold)
{
    free(fold->groups);
    free(fold->next);
    *fold = (struct vs_site_fold){0};
}
