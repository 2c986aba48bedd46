/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps, each with the sites that those before left over: sites of the same name
 * (functions and files, not lines), aligned in the order of their lines; sites with the same functions
 * in other files; sites with similar stacks and the same bytes and count; sites whose functions have
 * other names as those sites show; sites with similar stacks. */
#include "analysis/compare/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "analysis/budget/culprits.h"
#include "analysis/compare/similar_stack.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

#define SIMILAR_MAX 256        /* sites without a partner that are compared with each other */
#define ROUNDS_MAX 32          /* of these, for as many renamed functions */
#define SIMILAR_SAME_SIZE 450  /* of 1000: enough for sites with the same bytes and count */
#define SIMILAR_OTHER_SIZE 700

const char *vs_site_verdict_name(enum vs_site_verdict verdict)
{
    static const char *const names[] = {"same", "new", "gone", "grown", "shrunk", "moved"};
    return names[verdict];
}

struct matching {
    struct vs_site_changes *out;
    const struct vs_site_changes *peak; /* or NULL */
    enum vs_metric metric;
    struct vs_culprit_match match; /* now: b; before: a */
    struct vs_similar_pairs similar;
};

static uint64_t functions_key(const struct vs_named_site *named, bool before, const struct vs_likeness *by)
{
    return vs_functions_hash(named->site, before ? by->renamed : NULL);
}

static uint64_t functions_and_size_key(const struct vs_named_site *named, bool before,
                                       const struct vs_likeness *by)
{
    uint64_t key = functions_key(named, before, by);
    return key ? (key ^ named->bytes) * UINT64_C(0x9e3779b97f4a7c15) + named->count : 0;
}

/* Sites with the same functions, whatever their files, first those of the same size; with *renamed*, that in
 * b those of a may have other names. */
static void match_functions(struct matching *m, const struct vs_map *renamed)
{
    vs_match_by(&m->match, &(struct vs_likeness){functions_and_size_key, NULL, renamed});
    vs_match_by(&m->match, &(struct vs_likeness){functions_key, NULL, renamed});
}

static void add_renamed(struct vs_map *renamed, const struct vs_report_site *a,
                        const struct vs_report_site *b)
{
    size_t x[VS_SITE_FRAMES_MAX], y[VS_SITE_FRAMES_MAX];
    size_t n = vs_site_frames(a, x), k = vs_site_frames(b, y);
    for (size_t i = 0; n == k && i < n; i++)
        if (!vs_same_function(&a->frames[x[i]], &b->frames[y[i]]))
            vs_xmap_put(renamed, vs_function_hash(&a->frames[x[i]]),
                        vs_function_hash(&b->frames[y[i]]));
}

/* A site without a partner. */
struct left_site {
    uint64_t bytes;
    size_t index;
    bool further; /* a heavier one has the same functions */
};

/* At most SIMILAR_MAX sites without a partner, in *list*: the heaviest of each function first, so that
 * as many functions as possible are known by another name, then the next ones unless *first*. *count*:
 * how many. */
static void left_over(const struct vs_named_sites *named, const size_t *partner, const bool *taken,
                      bool first, size_t *list, size_t *count)
{
    struct left_site *sites = vs_xcalloc(named->count + 1, sizeof *sites);
    size_t n = 0;
    *count = 0;
    for (size_t i = 0; i < named->count; i++)
        if (partner ? !partner[i] : !taken[i])
            sites[n++] = (struct left_site){.bytes = named->items[i].bytes, .index = i};
    VS_SORT(sites, n, VS_UP(further), VS_DOWN(bytes), VS_UP(index));
    struct vs_map seen = {0};
    for (size_t i = 0; i < n; i++) {
        uint64_t key = vs_functions_hash(named->items[sites[i].index].site, NULL);
        sites[i].further = key && (*vs_xmap_value(&seen, key, 0))++;
    }
    vs_map_free(&seen);
    VS_SORT(sites, n, VS_UP(further), VS_DOWN(bytes), VS_UP(index));
    for (; *count < n && *count < SIMILAR_MAX && !(first && sites[*count].further); ++*count)
        list[*count] = sites[*count].index;
    free(sites);
}

/* The most similar stacks find each other first. */
static void match_similar(struct matching *m, bool sizes, bool first)
{
    const struct vs_named_sites *a = &m->out->a, *b = &m->out->b;
    size_t of_a[SIMILAR_MAX], of_b[SIMILAR_MAX], n_a, n_b = 0;
    left_over(a, NULL, m->match.taken, first, of_a, &n_a);
    left_over(b, m->match.partner, NULL, first, of_b, &n_b);
    if (!n_a || !n_b)
        return;
    vs_similar_pairs_find(&m->similar, &(struct vs_similar_side){a, of_a, n_a},
                          &(struct vs_similar_side){b, of_b, n_b}, sizes,
                          sizes ? SIMILAR_SAME_SIZE : SIMILAR_OTHER_SIZE);
    for (size_t i = 0; i < m->similar.count; i++) {
        const struct vs_similar_pair *pair = &m->similar.items[i];
        if (!m->match.taken[pair->a] && !m->match.partner[pair->b])
            vs_match_pair(&m->match, pair->b, pair->a);
    }
}

static struct vs_site_pair pair_of(const struct vs_named_site *a, const struct vs_named_site *b,
                                   enum vs_metric metric)
{
    struct vs_site_pair pair = {.a = a, .b = b};
    uint64_t was = a ? vs_site_amount(a, metric) : 0, is = b ? vs_site_amount(b, metric) : 0;
    pair.delta = (int64_t)(is - was);
    pair.move = a && b ? vs_site_move_of(a, b) : VS_MOVE_NONE;
    pair.verdict = !a                           ? VS_SITE_NEW
                   : !b                         ? VS_SITE_GONE
                   : is > was                   ? VS_SITE_GROWN
                   : is < was                   ? VS_SITE_SHRUNK
                   : pair.move != VS_MOVE_NONE  ? VS_SITE_MOVED : VS_SITE_SAME;
    return pair;
}

static uint64_t size_of(const struct vs_site_pair *pair)
{
    return pair->b ? pair->b->bytes : pair->a->bytes;
}

/* By difference; moved ones before the same, those whose file or function changed first. */
static int larger_change(const void *a, const void *b)
{
    const struct vs_site_pair *x = a, *y = b;
    uint64_t one = (uint64_t)llabs(x->delta), two = (uint64_t)llabs(y->delta);
    int order = vs_then(VS_ORDER(two, one), (x->verdict == VS_SITE_SAME) - (y->verdict == VS_SITE_SAME));
    order = vs_then(order, vs_then(VS_ORDER(y->move, x->move), VS_ORDER(size_of(y), size_of(x))));
    return vs_then(order, strcmp((x->b ? x->b : x->a)->name, (y->b ? y->b : y->a)->name));
}

static void fill(struct matching *m)
{
    struct vs_site_changes *out = m->out;
    for (size_t j = 0; j < out->b.count; j++) {
        const struct vs_named_site *a = m->match.partner[j] ? &out->a.items[m->match.partner[j] - 1] : NULL;
        out->items[out->count++] = pair_of(a, &out->b.items[j], m->metric);
    }
    for (size_t i = 0; i < out->a.count; i++)
        if (!m->match.taken[i])
            out->items[out->count++] = pair_of(&out->a.items[i], NULL, m->metric);
    for (size_t i = 0; i < out->count; i++) {
        const struct vs_site_pair *pair = &out->items[i];
        if (pair->a)
            out->a.items[pair->a - out->a.items].changed = pair->delta != 0;
        if (pair->b)
            out->b.items[pair->b - out->b.items].changed = pair->delta != 0;
        out->of[out->items[i].verdict]++;
        out->lines += out->items[i].verdict == VS_SITE_MOVED && out->items[i].move == VS_MOVE_LINE;
    }
    qsort(out->items, out->count, sizeof *out->items, larger_change);
}

/* Sites of one size with similar stacks, and then those of the functions that these show to be renamed:
 * before another site of the same size takes one of them. */
static void match_renamed(struct matching *m, bool first)
{
    struct vs_map renamed = {0};
    match_similar(m, true, first);
    /* by the sites that were matched here and at the peak */
    for (size_t i = 0; m->peak && i < m->peak->count; i++) {
        const struct vs_site_pair *pair = &m->peak->items[i];
        if (pair->a && pair->b)
            add_renamed(&renamed, pair->a->site, pair->b->site);
    }
    for (size_t j = 0; j < m->out->b.count; j++)
        if (m->match.partner[j])
            add_renamed(&renamed, m->out->a.items[m->match.partner[j] - 1].site, m->out->b.items[j].site);
    if (renamed.count)
        match_functions(m, &renamed);
    vs_map_free(&renamed);
}

void vs_site_changes_build(struct vs_arena *memory, const struct vs_report_sites *a,
                           const struct vs_report_sites *b, enum vs_metric metric,
                           const struct vs_site_changes *peak, struct vs_site_changes *out)
{
    *out = (struct vs_site_changes){0};
    vs_named_sites_of(memory, a, metric, &out->a);
    vs_named_sites_of(memory, b, metric, &out->b);
    vs_distinct_frames(&out->a, NULL, false); /* for the match; again when it is known what changed */
    vs_distinct_frames(&out->b, NULL, false);
    struct matching m = {.out = out, .metric = metric, .peak = peak};
    out->items = vs_xarena(memory, (out->a.count + out->b.count + 1) * sizeof *out->items);
    vs_culprit_match_begin(&m.match, &out->b, &out->a);
    vs_match_by_name(&m.match, metric);
    match_functions(&m, NULL);
    for (size_t round = 0, last = SIZE_MAX; round < ROUNDS_MAX && m.match.pairs != last; round++) {
        last = m.match.pairs;
        match_renamed(&m, true);
    }
    match_renamed(&m, false);
    if (metric != VS_METRIC_RESERVED) /* another request may have made a segment */
        match_similar(&m, false, false);
    fill(&m);
    vs_distinct_frames(&out->a, peak ? &peak->a : NULL, false);
    vs_distinct_frames(&out->b, peak ? &peak->b : NULL, false);
    vs_change_labels(&out->a);
    vs_change_labels(&out->b);
    vs_similar_pairs_free(&m.similar);
    vs_culprit_match_free(&m.match);
}
