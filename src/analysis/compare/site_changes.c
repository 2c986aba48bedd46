/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Three steps, each with the sites that the one before left over: sites of the same
 * name (functions and files, not lines), aligned in the order of their lines; sites with the same
 * functions in other files; sites with similar stacks, those with the same bytes and count first. */
#include "analysis/compare/site_changes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/budget/site_align.h"
#include "analysis/compare/site_similar.h"

#define SIMILAR_MAX 256        /* sites without a partner that are compared with each other */
#define SIMILAR_SAME_SIZE 450  /* of 1000: enough for sites with the same bytes and count */
#define SIMILAR_OTHER_SIZE 700

const char *vs_site_verdict_name(enum vs_site_verdict verdict)
{
    static const char *const names[] = {"same", "new", "gone", "grown", "shrunk", "moved"};
    return names[verdict];
}

const char *vs_site_move_name(enum vs_site_move move)
{
    static const char *const names[] = {NULL, "line", "file", "function"};
    return names[move];
}

struct matching {
    struct vs_site_changes *out;
    enum vs_metric metric;
    size_t *partner; /* of each site of b: index in a + 1, or 0 */
    bool *taken;     /* of each site of a */
};

static void pair_up(struct matching *m, size_t a, size_t b)
{
    m->partner[b] = a + 1;
    m->taken[a] = true;
}

static bool same_size(const struct vs_named_site *a, const struct vs_named_site *b)
{
    return a->bytes == b->bytes && a->count == b->count;
}

/* Sites of one name whose sizes differ, all of whose lines the longer list has as well: the source is
 * the same, and the lines say which is which. Otherwise *partner* stays as it is. */
static void match_lines(const struct vs_named_site *a, size_t n_a, const struct vs_named_site *b, size_t n_b,
                        size_t *partner)
{
    size_t by_line[VS_SITE_ALIGN_MAX] = {0}, found = 0;
    bool sizes = false;
    for (size_t j = 0; j < n_b; j++) {
        sizes |= partner[j] && !same_size(&a[partner[j] - 1], &b[j]);
        for (size_t i = 0; i < n_a && !by_line[j]; i++)
            if (vs_same_lines(a[i].site, b[j].site))
                by_line[j] = i + 1;
        found += by_line[j] != 0;
    }
    if (sizes && found == (n_a < n_b ? n_a : n_b))
        memcpy(partner, by_line, n_b * sizeof *partner);
}

static void match_name(struct matching *m, size_t a, size_t n_a, size_t b, size_t n_b)
{
    size_t partner[VS_SITE_ALIGN_MAX];
    const struct vs_named_site *x = &m->out->a.items[a], *y = &m->out->b.items[b];
    bool few = n_a <= VS_SITE_ALIGN_MAX && n_b <= VS_SITE_ALIGN_MAX;
    if (few) {
        vs_site_align(y, n_b, x, n_a, m->metric, partner);
        match_lines(x, n_a, y, n_b, partner);
    }
    for (size_t i = 0; i < n_b; i++) {
        size_t other = few ? partner[i] : i < n_a ? i + 1 : 0;
        if (other)
            pair_up(m, a + other - 1, b + i);
    }
}

static void match_names(struct matching *m)
{
    const struct vs_named_sites *a = &m->out->a, *b = &m->out->b;
    size_t i = 0;
    for (size_t j = 0; j < b->count;) {
        size_t n = vs_site_run(b, j);
        while (i < a->count && strcmp(a->items[i].name, b->items[j].name) < 0)
            i++;
        if (i < a->count && strcmp(a->items[i].name, b->items[j].name) == 0)
            match_name(m, i, vs_site_run(a, i), j, n);
        j += n;
    }
}

/* Sites whose functions are in other files. Those with the same size first. */
static void match_functions(struct matching *m, bool sizes)
{
    const struct vs_named_sites *a = &m->out->a, *b = &m->out->b;
    for (size_t j = 0; j < b->count; j++)
        for (size_t i = 0; i < a->count && !m->partner[j]; i++)
            if (!m->taken[i] && (!sizes || same_size(&a->items[i], &b->items[j])) &&
                vs_same_functions(a->items[i].site, b->items[j].site))
                pair_up(m, i, j);
}

struct similar_pair {
    unsigned score;
    size_t a, b;
};

static int more_similar(const void *a, const void *b)
{
    const struct similar_pair *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

/* The heaviest sites without a partner, at most SIMILAR_MAX: their indices in *list*. */
static size_t left_over(const struct vs_named_sites *sites, const size_t *partner, const bool *taken,
                        size_t *list)
{
    size_t count = 0;
    for (size_t i = 0; i < sites->count; i++) {
        if (partner ? partner[i] != 0 : taken[i])
            continue;
        size_t at = count < SIMILAR_MAX ? count++ : SIMILAR_MAX;
        for (; at > 0 && sites->items[list[at - 1]].bytes < sites->items[i].bytes; at--)
            if (at < SIMILAR_MAX)
                list[at] = list[at - 1];
        if (at < SIMILAR_MAX)
            list[at] = i;
    }
    return count;
}

/* The most similar stacks find each other first. */
static enum vs_err match_similar(struct matching *m, bool sizes)
{
    const struct vs_named_sites *a = &m->out->a, *b = &m->out->b;
    size_t of_a[SIMILAR_MAX], of_b[SIMILAR_MAX], count = 0;
    size_t n_a = left_over(a, NULL, m->taken, of_a), n_b = left_over(b, m->partner, NULL, of_b);
    if (!n_a || !n_b)
        return VS_OK;
    struct similar_pair *pairs = malloc(n_a * n_b * sizeof *pairs);
    if (!pairs)
        return VS_ERR_NOMEM;
    for (size_t j = 0; j < n_b; j++) {
        for (size_t i = 0; i < n_a; i++) {
            const struct vs_named_site *x = &a->items[of_a[i]], *y = &b->items[of_b[j]];
            if (sizes && !same_size(x, y))
                continue;
            unsigned score = vs_site_similarity(x->site, y->site);
            if (score >= (sizes ? SIMILAR_SAME_SIZE : SIMILAR_OTHER_SIZE))
                pairs[count++] = (struct similar_pair){score, of_a[i], of_b[j]};
        }
    }
    qsort(pairs, count, sizeof *pairs, more_similar);
    for (size_t i = 0; i < count; i++)
        if (!m->taken[pairs[i].a] && !m->partner[pairs[i].b])
            pair_up(m, pairs[i].a, pairs[i].b);
    free(pairs);
    return VS_OK;
}

bool vs_site_moved_frame(const struct vs_site_pair *pair, size_t *a, size_t *b)
{
    size_t x[VS_SIMILAR_FRAMES], y[VS_SIMILAR_FRAMES];
    const struct vs_report_site *one = pair->a->site, *two = pair->b->site;
    size_t n = vs_site_frames(one, x), m = vs_site_frames(two, y);
    for (size_t i = 0; i < n && i < m; i++) {
        const struct vs_report_frame *p = &one->frames[x[i]], *q = &two->frames[y[i]];
        bool names = vs_same_function(p, q) && vs_same_file(p, q);
        if (names && (pair->move != VS_MOVE_LINE || p->line == q->line))
            continue;
        *a = x[i];
        *b = y[i];
        return true;
    }
    return false;
}

static enum vs_site_move move_of(const struct vs_named_site *na, const struct vs_named_site *nb)
{
    const struct vs_report_site *a = na->site, *b = nb->site;
    size_t x[VS_SIMILAR_FRAMES], y[VS_SIMILAR_FRAMES];
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    enum vs_site_move move = n == m ? VS_MOVE_NONE : VS_MOVE_FUNCTION;
    if (a->line && b->line && strcmp(na->name, nb->name) != 0)
        return VS_MOVE_FUNCTION; /* another text of the line */
    if (a->line && b->line)
        return a->line_number == b->line_number ? VS_MOVE_NONE : VS_MOVE_LINE;
    for (size_t i = 0; i < n && i < m && move != VS_MOVE_FUNCTION; i++) {
        const struct vs_report_frame *p = &a->frames[x[i]], *q = &b->frames[y[i]];
        if (!vs_same_function(p, q))
            move = VS_MOVE_FUNCTION;
        else if (!vs_same_file(p, q))
            move = VS_MOVE_FILE;
        else if (p->line != q->line && move == VS_MOVE_NONE)
            move = VS_MOVE_LINE;
    }
    return move;
}

static struct vs_site_pair pair_of(const struct vs_named_site *a, const struct vs_named_site *b,
                                   enum vs_metric metric)
{
    struct vs_site_pair pair = {.a = a, .b = b};
    uint64_t was = a ? vs_site_amount(a, metric) : 0, is = b ? vs_site_amount(b, metric) : 0;
    pair.delta = (int64_t)(is - was);
    pair.move = a && b ? move_of(a, b) : VS_MOVE_NONE;
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
    if (one != two)
        return one < two ? 1 : -1;
    if ((x->verdict == VS_SITE_SAME) != (y->verdict == VS_SITE_SAME))
        return x->verdict == VS_SITE_SAME ? 1 : -1;
    if (x->move != y->move)
        return x->move < y->move ? 1 : -1;
    if (size_of(x) != size_of(y))
        return size_of(x) < size_of(y) ? 1 : -1;
    return strcmp((x->b ? x->b : x->a)->name, (y->b ? y->b : y->a)->name);
}

static void fill(struct matching *m)
{
    struct vs_site_changes *out = m->out;
    for (size_t j = 0; j < out->b.count; j++) {
        const struct vs_named_site *a = m->partner[j] ? &out->a.items[m->partner[j] - 1] : NULL;
        out->items[out->count++] = pair_of(a, &out->b.items[j], m->metric);
    }
    for (size_t i = 0; i < out->a.count; i++)
        if (!m->taken[i])
            out->items[out->count++] = pair_of(&out->a.items[i], NULL, m->metric);
    for (size_t i = 0; i < out->count; i++) {
        out->of[out->items[i].verdict]++;
        out->lines += out->items[i].verdict == VS_SITE_MOVED && out->items[i].move == VS_MOVE_LINE;
    }
    qsort(out->items, out->count, sizeof *out->items, larger_change);
}

enum vs_err vs_site_changes_build(struct vs_arena *memory, const struct vs_report_sites *a,
                                  const struct vs_report_sites *b, enum vs_metric metric,
                                  struct vs_site_changes *out)
{
    *out = (struct vs_site_changes){0};
    enum vs_err err = vs_named_sites_of(memory, a, metric, &out->a);
    if (!err)
        err = vs_named_sites_of(memory, b, metric, &out->b);
    if (err)
        return err;
    struct matching m = {.out = out, .metric = metric,
                         .partner = calloc(out->b.count + 1, sizeof *m.partner),
                         .taken = calloc(out->a.count + 1, sizeof *m.taken)};
    out->items = vs_arena_alloc(memory, (out->a.count + out->b.count + 1) * sizeof *out->items);
    if (!m.partner || !m.taken || !out->items)
        err = VS_ERR_NOMEM;
    if (!err) {
        match_names(&m);
        match_functions(&m, true);
        match_functions(&m, false);
        err = match_similar(&m, true);
    }
    if (!err)
        err = match_similar(&m, false);
    if (!err)
        fill(&m);
    free(m.partner);
    free(m.taken);
    return err;
}
