/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Stacks are aligned as two texts are, frame by frame. */
#include "analysis/compare/site_similar.h"

#include <string.h>

#include "analysis/budget/culprits.h"
#include "base/vs_text.h"

#define WHOLE 1000
#define OTHER_FILE 900
#define OTHER_NAME 500 /* in the same file; similar names get up to 300 more */
#define ALIKE 600      /* of 1000: names that may be of one function although the sizes differ */
#define ALIKE_FIRST 3  /* characters that they begin with; "head_forward" is not "block_forward" */
#define NAME_MAX_BYTES 128

size_t vs_site_frames(const struct vs_report_site *site, size_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < site->frame_count && count < VS_SIMILAR_FRAMES; i++)
        if (!site->folds || !site->frames[i].library)
            out[count++] = i;
    return count;
}

bool vs_same_function(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    size_t n = vs_function_length(a->function);
    return n == vs_function_length(b->function) && memcmp(a->function, b->function, n) == 0;
}

bool vs_same_file(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    const char *x = a->file ? a->file : a->module, *y = b->file ? b->file : b->module;
    return strcmp(x ? vs_text_base_name(x) : "", y ? vs_text_base_name(y) : "") == 0;
}

/* Of 1000: the pairs of neighbouring characters that both names have. */
static unsigned similar_names(const char *a, const char *b)
{
    size_t n = vs_function_length(a), m = vs_function_length(b), common = 0;
    bool used[NAME_MAX_BYTES] = {false};
    n = n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES;
    m = m < NAME_MAX_BYTES ? m : NAME_MAX_BYTES;
    if (n < 2 || m < 2)
        return 0;
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t j = 0; j + 1 < m; j++) {
            if (used[j] || a[i] != b[j] || a[i + 1] != b[j + 1])
                continue;
            used[j] = true;
            common++;
            break;
        }
    }
    return (unsigned)(2 * common * 1000 / (n + m - 2));
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

bool vs_names_alike(const char *a, const char *b)
{
    return (strncmp(a, b, ALIKE_FIRST) == 0 || strstr(a, b) || strstr(b, a)) && !numbered(a, b) &&
           similar_names(a, b) >= ALIKE;
}

bool vs_site_calls(const struct vs_report_site *site, const struct vs_report_frame *like)
{
    size_t x[VS_SIMILAR_FRAMES];
    bool found = false;
    for (size_t i = 0, n = vs_site_frames(site, x); i < n && !found; i++) {
        const struct vs_report_frame *frame = &site->frames[x[i]];
        found = vs_same_function(frame, like) ||
                (vs_same_file(frame, like) && vs_names_alike(frame->function, like->function));
    }
    return found;
}

static unsigned frame_similarity(const struct vs_report_frame *a, const struct vs_report_frame *b, bool same_size)
{
    bool file = vs_same_file(a, b);
    if (vs_same_function(a, b))
        return file ? WHOLE : OTHER_FILE;
    return file && (same_size || vs_names_alike(a->function, b->function))
               ? OTHER_NAME + 3 * similar_names(a->function, b->function) / 10 : 0;
}

bool vs_same_functions(const struct vs_report_site *a, const struct vs_report_site *b)
{
    size_t x[VS_SIMILAR_FRAMES], y[VS_SIMILAR_FRAMES];
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    bool same = n == m && n && !a->line && !b->line && a->family == b->family && a->level == b->level;
    for (size_t i = 0; same && i < n; i++)
        same = vs_same_function(&a->frames[x[i]], &b->frames[y[i]]);
    return same;
}

uint64_t vs_function_hash(const struct vs_report_frame *frame)
{
    uint64_t hash = vs_text_hash_bytes(VS_TEXT_HASH_START, frame->function, vs_function_length(frame->function));
    return hash ? hash : 1;
}

uint64_t vs_functions_hash(const struct vs_report_site *site, const struct vs_map *renamed)
{
    size_t x[VS_SIMILAR_FRAMES];
    uint64_t hash = site->family << 1 | site->level;
    size_t n = site->line ? 0 : vs_site_frames(site, x);
    for (size_t i = 0; i < n; i++) {
        uint64_t name = vs_function_hash(&site->frames[x[i]]);
        const uint64_t *other = renamed ? vs_map_get(renamed, name) : NULL;
        hash = (hash ^ (other ? *other : name)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return n ? hash : 0;
}

bool vs_same_lines(const struct vs_report_site *a, const struct vs_report_site *b)
{
    size_t x[VS_SIMILAR_FRAMES], y[VS_SIMILAR_FRAMES];
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    bool same = n == m && a->line_number == b->line_number;
    for (size_t i = 0; same && i < n; i++)
        same = a->frames[x[i]].line == b->frames[y[i]].line;
    return same;
}

/* Sites that the user's line names, "loss.backward() (train.py:40)": by its text. */
static unsigned line_similarity(const struct vs_report_site *a, const struct vs_report_site *b)
{
    const char *x = a->line_file ? vs_text_base_name(a->line_file) : "";
    const char *y = b->line_file ? vs_text_base_name(b->line_file) : "";
    if (strcmp(x, y) != 0 || a->family != b->family || a->level != b->level)
        return 0;
    return OTHER_NAME + 3 * similar_names(a->line, b->line) / 10;
}

unsigned vs_site_similarity(const struct vs_report_site *a, const struct vs_report_site *b, bool same_size)
{
    if (a->line && b->line)
        return line_similarity(a, b);
    unsigned sums[VS_SIMILAR_FRAMES + 1][VS_SIMILAR_FRAMES + 1] = {{0}};
    size_t x[VS_SIMILAR_FRAMES], y[VS_SIMILAR_FRAMES];
    size_t n = vs_site_frames(a, x), m = vs_site_frames(b, y);
    if (!n || !m || a->line || b->line || a->family != b->family || a->level != b->level)
        return 0;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            unsigned best = sums[i - 1][j - 1] +
                            frame_similarity(&a->frames[x[i - 1]], &b->frames[y[j - 1]], same_size);
            best = sums[i - 1][j] > best ? sums[i - 1][j] : best;
            sums[i][j] = sums[i][j - 1] > best ? sums[i][j - 1] : best;
        }
    }
    return sums[n][m] / (unsigned)(n > m ? n : m);
}
