/* SPDX-License-Identifier: Apache-2.0
 *
 * site_align.h matches the sites of one name. What else may be the same site is found by
 * a hash, of the name without template arguments or of the size, so that the cost does not depend on the
 * number of pairs of sites. A site is removed from the table when it has its partner: of thousands of
 * equal ones each is found at once. */
#include "analysis/budget/culprit_match.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/name_pairs.h"
#include "analysis/budget/site_align.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"

#define SAME_KEY_MAX 64 /* sites of one key that are compared with another */

/* Sites of one name: [i, i + n) of now and [k, k + m) of before. */
static void match_name(struct vs_culprit_match *match, size_t i, size_t n, size_t k, size_t m, enum vs_metric metric)
{
    size_t partner[VS_SITE_ALIGN_MAX];
    bool few = n <= VS_SITE_ALIGN_MAX && m <= VS_SITE_ALIGN_MAX;
    if (few)
        vs_site_align(&match->now->items[i], n, &match->before->items[k], m, metric, partner);
    for (size_t j = 0; j < n; j++) {
        size_t other = few ? partner[j] : j < m ? j + 1 : 0;
        if (!other)
            continue;
        match->partner[i + j] = k + other;
        match->taken[k + other - 1] = true;
    }
}

static void match_by_name(struct vs_culprit_match *match, enum vs_metric metric)
{
    const struct vs_named_sites *now = match->now, *before = match->before;
    size_t old = 0;
    for (size_t i = 0; i < now->count;) {
        size_t n = vs_site_run(now, i);
        while (old < before->count && strcmp(before->items[old].name, now->items[i].name) < 0)
            old++;
        if (old < before->count && strcmp(before->items[old].name, now->items[i].name) == 0)
            match_name(match, i, n, old, vs_site_run(before, old), metric);
        i += n;
    }
}

/* A way to find the site of a baseline again. *key*: 0: this way does not apply to the site. */
struct culprit_likeness {
    uint64_t (*key)(const struct vs_named_site *site);
    bool (*alike)(const struct vs_named_site *now, const struct vs_named_site *before);
};

/* The sites of before that have no partner, in chains of one key. */
struct gone_sites {
    struct vs_map heads; /* key -> first such site of before + 1 */
    uint64_t *next;      /* of each site of before: the next one + 1, or 0 */
};

static void index_gone(const struct vs_culprit_match *match, const struct culprit_likeness *by,
                       struct gone_sites *gone)
{
    for (size_t k = match->before->count; k-- > 0;) {
        uint64_t key = match->taken[k] ? 0 : by->key(&match->before->items[k]);
        const uint64_t *head = key ? vs_map_get(&gone->heads, key) : NULL;
        gone->next[k] = head ? *head : 0;
        if (key)
            vs_xmap_put(&gone->heads, key, k + 1);
    }
}

/* The first site like *now* + 1, which leaves its chain; 0: none. */
static size_t take_gone(const struct vs_culprit_match *match, const struct culprit_likeness *by,
                        struct gone_sites *gone, const struct vs_named_site *now)
{
    uint64_t key = by->key(now), *link = key ? vs_map_get(&gone->heads, key) : NULL;
    for (unsigned tries = 0; link && *link && tries < SAME_KEY_MAX; tries++) {
        size_t k = (size_t)*link;
        if (by->alike(now, &match->before->items[k - 1])) {
            *link = gone->next[k - 1];
            return k;
        }
        link = &gone->next[k - 1];
    }
    return 0;
}

static void match_by(struct vs_culprit_match *match, const struct culprit_likeness *by)
{
    struct gone_sites gone = {.next = vs_xcalloc(match->before->count + 1, sizeof *gone.next)};
    if (gone.next)
        index_gone(match, by, &gone);
    for (size_t i = 0; i < match->now->count; i++) {
        size_t k = match->partner[i] ? 0 : take_gone(match, by, &gone, &match->now->items[i]);
        if (!k)
            continue;
        match->partner[i] = k;
        match->taken[k - 1] = true;
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
static uint64_t template_key(const struct vs_named_site *site)
{
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

/* --- sizes --- */

static uint64_t size_key(const struct vs_named_site *site)
{
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
    return now->bytes == before->bytes && now->count == before->count &&
           (share_word(now->name, before->name) || alike_under_callers(now->name, before->name));
}

void vs_culprit_match(const struct vs_named_sites *now, const struct vs_named_sites *before,
                      enum vs_metric metric, struct vs_culprit_match *out)
{
    static const struct culprit_likeness by_template = {template_key, same_template},
                                         by_size = {size_key, same_size};
    *out = (struct vs_culprit_match){.now = now, .before = before,
                                     .partner = vs_xcalloc(now->count + 1, sizeof *out->partner),
                                     .taken = vs_xcalloc(before->count + 1, sizeof *out->taken)};
    match_by_name(out, metric);
    match_by(out, &by_template);
    match_by(out, &by_size);
}

void vs_culprit_match_free(struct vs_culprit_match *match)
{
    free(match->partner);
    free(match->taken);
    *match = (struct vs_culprit_match){0};
}
