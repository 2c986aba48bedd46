/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites of one name are aligned as two texts are by an edit distance: in the order of their lines, where
 * a change costs the bytes that differ, so that an inserted line is the one that is new and the lines
 * after it keep their partners. What else may be the same site is found by a hash, of the name without
 * template arguments or of the size, so that the cost does not depend on the number of pairs of sites.
 * A site is removed from the table when it has its partner: of thousands of equal ones each is found
 * at once. */
#include "analysis/budget/culprits.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"

#define SAME_KEY_MAX 64 /* sites of one key that are compared with another */

uint64_t vs_site_amount(const struct vs_named_site *site, enum vs_metric metric)
{
    return metric == VS_METRIC_COPIES ? site->count : site->bytes;
}

/* Of alignments that differ by as many bytes, the one whose pairs resemble each other most is cheaper: a
 * site that grew a little and a new one, not one that grew much and another new one. */
#define BYTES_COST (UINT64_C(1) << 20)
#define UNLIKE_COST UINT64_C(1024)

/* More or fewer blocks of one size are the same line at another time rather than another line. */
#define SAME_BLOCKS_COST (BYTES_COST / 4)

static bool same_blocks(const struct vs_named_site *a, const struct vs_named_site *b)
{
    return a->count && b->count && (unsigned __int128)a->bytes * b->count == (unsigned __int128)b->bytes * a->count;
}

static uint64_t pair_cost(const struct vs_named_site *a, const struct vs_named_site *b,
                          enum vs_metric metric)
{
    uint64_t x = vs_site_amount(a, metric), y = vs_site_amount(b, metric), most = x > y ? x : y;
    uint64_t apart = x > y ? x - y : y - x, unlike = a->bytes != b->bytes || a->count != b->count;
    if (apart)
        unlike += (uint64_t)((double)apart / (double)most * (double)UNLIKE_COST);
    return apart * (same_blocks(a, b) ? SAME_BLOCKS_COST : BYTES_COST) + unlike;
}

static uint64_t alone_cost(const struct vs_named_site *site, enum vs_metric metric)
{
    return vs_site_amount(site, metric) * BYTES_COST + UNLIKE_COST;
}

void vs_site_align(const struct vs_named_site *now, size_t n, const struct vs_named_site *before,
                   size_t m, enum vs_metric metric, size_t *partner)
{
    uint64_t cost[VS_SITE_ALIGN_MAX + 1][VS_SITE_ALIGN_MAX + 1];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            uint64_t best = i || j ? UINT64_MAX : 0;
            if (i && j)
                best = cost[i - 1][j - 1] + pair_cost(&now[i - 1], &before[j - 1], metric);
            uint64_t new = i ? cost[i - 1][j] + alone_cost(&now[i - 1], metric) : UINT64_MAX;
            uint64_t gone = j ? cost[i][j - 1] + alone_cost(&before[j - 1], metric) : UINT64_MAX;
            best = new < best ? new : best;
            cost[i][j] = gone < best ? gone : best;
        }
    }
    for (size_t i = n, j = m; i > 0;) { /* of alike sites the last is the new one */
        uint64_t pair = j ? cost[i - 1][j - 1] + pair_cost(&now[i - 1], &before[j - 1], metric)
                          : UINT64_MAX;
        if (cost[i - 1][j] + alone_cost(&now[i - 1], metric) == cost[i][j])
            partner[--i] = 0;
        else if (pair == cost[i][j])
            partner[--i] = j--;
        else
            j--;
    }
}

size_t vs_site_run(const struct vs_named_sites *sites, size_t from)
{
    size_t n = from;
    while (n < sites->count && strcmp(sites->items[n].name, sites->items[from].name) == 0)
        n++;
    return n - from;
}

void vs_match_pair(struct vs_culprit_match *match, size_t now, size_t before)
{
    match->partner[now] = before + 1;
    match->taken[before] = true;
    match->pairs++;
}

/* Whether two sites of one name are on the same lines. */
static bool same_lines(const struct vs_report_site *a, const struct vs_report_site *b)
{
    size_t x[VS_SITE_FRAMES_MAX], y[VS_SITE_FRAMES_MAX];
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    bool same = n == m && a->line_number == b->line_number;
    for (size_t i = 0; same && i < n; i++)
        same = a->frames[x[i]].line == b->frames[y[i]].line;
    return same;
}

/* Sites of one name whose sizes differ, all of whose lines the longer list has as well: the source is
 * the same, and the lines say which is which. Otherwise *partner* stays as it is. */
static void match_lines(const struct vs_named_site *now, size_t n, const struct vs_named_site *before, size_t m,
                        size_t *partner)
{
    size_t by_line[VS_SITE_ALIGN_MAX] = {0}, found = 0;
    bool sizes = false, used[VS_SITE_ALIGN_MAX] = {false};
    for (size_t j = 0; j < n; j++) {
        sizes |= partner[j] && !vs_site_same_size(&before[partner[j] - 1], &now[j]);
        for (size_t i = 0; i < m && !by_line[j]; i++)
            if (!used[i] && same_lines(before[i].site, now[j].site)) {
                by_line[j] = i + 1;
                used[i] = true;
            }
        found += by_line[j] != 0;
    }
    if (sizes && found == (n < m ? n : m))
        memcpy(partner, by_line, n * sizeof *partner);
}

void vs_match_by_name(struct vs_culprit_match *match, enum vs_metric metric)
{
    const struct vs_named_sites *now = match->now, *before = match->before;
    size_t old = 0, n;
    for (size_t i = 0; i < now->count; i += n) {
        const struct vs_named_site *is = &now->items[i];
        size_t partner[VS_SITE_ALIGN_MAX], m;
        n = vs_site_run(now, i);
        while (old < before->count && strcmp(before->items[old].name, is->name) < 0)
            old++;
        const struct vs_named_site *was = &before->items[old];
        if (old == before->count || strcmp(was->name, is->name) != 0)
            continue;
        m = vs_site_run(before, old);
        bool few = n <= VS_SITE_ALIGN_MAX && m <= VS_SITE_ALIGN_MAX;
        if (few)
            vs_site_align(is, n, was, m, metric, partner);
        if (few && was->site)
            match_lines(is, n, was, m, partner);
        for (size_t j = 0; j < n; j++) {
            size_t other = few ? partner[j] : j < m ? j + 1 : 0;
            if (other)
                vs_match_pair(match, i + j, old + other - 1);
        }
    }
}

/* The sites of before that have no partner, in chains of one key. */
struct gone_sites {
    struct vs_map heads; /* key -> first such site of before + 1 */
    uint64_t *next;      /* of each site of before: the next one + 1, or 0 */
};

/* The first site like *now* + 1, which leaves its chain; 0: none. */
static size_t take_gone(const struct vs_culprit_match *match, const struct vs_likeness *by,
                        struct gone_sites *gone, const struct vs_named_site *now)
{
    uint64_t key = by->key(now, false, by), *link = key ? vs_map_get(&gone->heads, key) : NULL;
    for (unsigned tries = 0; link && *link && tries < SAME_KEY_MAX; tries++) {
        size_t k = (size_t)*link;
        if (!by->alike || by->alike(now, &match->before->items[k - 1])) {
            *link = gone->next[k - 1];
            return k;
        }
        link = &gone->next[k - 1];
    }
    return 0;
}

void vs_match_by(struct vs_culprit_match *match, const struct vs_likeness *by)
{
    struct gone_sites gone = {.next = vs_xcalloc(match->before->count + 1, sizeof *gone.next)};
    for (size_t k = match->before->count; k-- > 0;) {
        uint64_t key = match->taken[k] ? 0 : by->key(&match->before->items[k], true, by);
        const uint64_t *head = key ? vs_map_get(&gone.heads, key) : NULL;
        gone.next[k] = head ? *head : 0;
        if (key)
            vs_xmap_put(&gone.heads, key, k + 1);
    }
    for (size_t i = 0; i < match->now->count; i++) {
        size_t k = match->partner[i] ? 0 : take_gone(match, by, &gone, &match->now->items[i]);
        if (k)
            vs_match_pair(match, i, k - 1);
    }
    vs_map_free(&gone.heads);
    free(gone.next);
}

/* --- template arguments --- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether template arguments begin at *at*, in *name*: "f<int>", "operator()<int>". " < " stands between
 * two frames, "<lambda>" is a Python function, and "operator<" compares. */
static bool begins_arguments(const char *name, const char *at)
{
    static const char word[] = "operator";
    size_t before = (size_t)(at - name), length = sizeof word - 1;
    if (*at != '<' || !before || (!in_name(at[-1]) && at[-1] != ')'))
        return false;
    return before < length || memcmp(at - length, word, length) != 0 ||
           (before > length && in_name(at[-1 - (ptrdiff_t)length]));
}

/* The character after the template arguments that begin at *text*: "<a, b<c>>", "<decltype(x->y)>". */
static const char *after_arguments(const char *text)
{
    size_t depth = 0;
    do {
        depth += *text == '<';
        depth -= *text == '>' && text[-1] != '-';
    } while (*++text && depth);
    return text;
}

/* Of the name without template arguments; 0: it has none. */
static uint64_t template_key(const struct vs_named_site *site, bool before, const struct vs_likeness *by)
{
    (void)before;
    (void)by;
    uint64_t hash = VS_TEXT_HASH_START;
    bool any = false;
    for (const char *at = site->name; *at;) {
        if (begins_arguments(site->name, at)) {
            at = after_arguments(at);
            any = true;
        } else {
            hash = vs_text_hash_bytes(hash, at++, 1);
        }
    }
    return !any ? 0 : hash ? hash : 1;
}

/* Whether the names differ, and only in template arguments. */
static bool same_template(const struct vs_named_site *now, const struct vs_named_site *before)
{
    const char *a = now->name, *b = before->name;
    bool differ = false;
    while (*a && *a == *b) {
        bool arguments = begins_arguments(now->name, a) && begins_arguments(before->name, b);
        const char *end_a = arguments ? after_arguments(a) : a + 1, *end_b = arguments ? after_arguments(b) : b + 1;
        differ |= arguments && (end_a - a != end_b - b || memcmp(a, b, (size_t)(end_a - a)) != 0);
        a = end_a;
        b = end_b;
    }
    return differ && !*a && !*b;
}

/* --- names --- */

#define ALIKE 600     /* of 1000 */
#define ALIKE_FIRST 3 /* characters that they begin with; "head_forward" is not "block_forward" */

static int by_value(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

void vs_name_pairs_of(struct vs_name_pairs *out, const char *name, size_t length)
{
    length = length < VS_NAME_BYTES ? length : VS_NAME_BYTES;
    out->count = 0;
    for (size_t i = 0; i + 1 < length; i++)
        out->pairs[out->count++] =
            (uint16_t)((unsigned char)name[i] << 8 | (unsigned char)name[i + 1]);
    qsort(out->pairs, out->count, sizeof *out->pairs, by_value);
}

unsigned vs_name_similarity(const struct vs_name_pairs *a, const struct vs_name_pairs *b)
{
    uint32_t common = 0;
    if (!a->count || !b->count)
        return 0;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        uint16_t x = a->pairs[i], y = b->pairs[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return 2 * common * 1000 / (a->count + b->count);
}

/* Whether two names differ only in numbers: "layer_1", "layer_12" are two functions. */
static bool numbered(const char *a, const char *b)
{
    size_t n = vs_function_length(a), m = vs_function_length(b), i = 0, k = 0;
    for (;; i++, k++) {
        i += strspn(a + i, "0123456789");
        k += strspn(b + k, "0123456789");
        if (i >= n || k >= m || a[i] != b[k])
            return i >= n && k >= m;
    }
}

bool vs_names_alike(const char *a, const struct vs_name_pairs *x, const char *b, const struct vs_name_pairs *y)
{
    return (strncmp(a, b, ALIKE_FIRST) == 0 || strstr(a, b) || strstr(b, a)) && vs_name_similarity(x, y) >= ALIKE &&
           !numbered(a, b);
}

/* --- sizes --- */

static uint64_t size_key(const struct vs_named_site *site, bool before, const struct vs_likeness *by)
{
    (void)before;
    (void)by;
    uint64_t key = site->bytes * UINT64_C(0x9e3779b97f4a7c15) + site->count;
    return key ? key : 1;
}

/* The length of *name* without its outermost frame, which nearly all sites have; all of a single one. */
static size_t inner_length(const char *name)
{
    size_t length = strlen(name);
    for (const char *at = name; (at = strstr(at, " < ")) != NULL; at += 3)
        length = (size_t)(at - name);
    return length;
}

/* Whether both names have a function or a file, "(net.py)", in common. */
static bool share_word(const char *a, const char *b)
{
    const char *end_a = a + inner_length(a), *end_b = b + inner_length(b);
    for (; a < end_a; a += strspn(a, " <")) {
        size_t length = strcspn(a, " <");
        for (const char *at = b; at < end_b; at += strspn(at, " <")) {
            size_t other = strcspn(at, " <");
            if (length == other && memcmp(a, at, length) == 0)
                return true;
            at += other;
        }
        a += length;
    }
    return false;
}

struct name_frame {
    const char *function;
    size_t length;
};

/* The functions of *name*, innermost first. Returns how many. */
static size_t functions_of(const char *name, struct name_frame out[VS_SITE_NAME_FRAMES])
{
    size_t count = 0;
    while (name && count < VS_SITE_NAME_FRAMES) {
        const char *caller = strstr(name, " < "), *file = strstr(name, " (");
        size_t length = caller ? (size_t)(caller - name) : strlen(name);
        if (file && (size_t)(file - name) < length)
            length = (size_t)(file - name);
        out[count++] = (struct name_frame){name, length};
        name = caller ? caller + 3 : NULL;
    }
    return count;
}

static bool functions_alike(const struct name_frame *x, const struct name_frame *y)
{
    char a[VS_SITE_NAME_MAX], b[VS_SITE_NAME_MAX];
    struct vs_name_pairs p, q;
    snprintf(a, sizeof a, "%.*s", (int)x->length, x->function);
    snprintf(b, sizeof b, "%.*s", (int)y->length, y->function);
    vs_name_pairs_of(&p, a, vs_function_length(a));
    vs_name_pairs_of(&q, b, vs_function_length(b));
    return vs_names_alike(a, &p, b, &q);
}

/* Whether the innermost function has a similar name in another file, and the callers, at least half of the
 * functions, are the same: it was renamed and moved at once. */
static bool alike_under_callers(const char *a, const char *b)
{
    struct name_frame x[VS_SITE_NAME_FRAMES], y[VS_SITE_NAME_FRAMES];
    size_t n = functions_of(a, x), m = functions_of(b, y), same = 0;
    while (same + 1 < n && same + 1 < m && x[n - 1 - same].length == y[m - 1 - same].length &&
           memcmp(x[n - 1 - same].function, y[m - 1 - same].function, x[n - 1 - same].length) == 0)
        same++;
    return 2 * same >= (n > m ? n : m) && functions_alike(&x[0], &y[0]);
}

static bool same_size(const struct vs_named_site *now, const struct vs_named_site *before)
{
    return vs_site_same_size(now, before) &&
           (share_word(now->name, before->name) || alike_under_callers(now->name, before->name));
}

void vs_culprit_match_begin(struct vs_culprit_match *out, const struct vs_named_sites *now,
                            const struct vs_named_sites *before)
{
    *out = (struct vs_culprit_match){.now = now, .before = before,
                                     .partner = vs_xcalloc(now->count + 1, sizeof *out->partner),
                                     .taken = vs_xcalloc(before->count + 1, sizeof *out->taken)};
}

void vs_culprit_match(const struct vs_named_sites *now, const struct vs_named_sites *before,
                      enum vs_metric metric, struct vs_culprit_match *out)
{
    static const struct vs_likeness by_template = {template_key, same_template, NULL},
                                    by_size = {size_key, same_size, NULL};
    vs_culprit_match_begin(out, now, before);
    vs_match_by_name(out, metric);
    vs_match_by(out, &by_template);
    vs_match_by(out, &by_size);
}

void vs_culprit_match_free(struct vs_culprit_match *match)
{
    free(match->partner);
    free(match->taken);
    *match = (struct vs_culprit_match){0};
}
