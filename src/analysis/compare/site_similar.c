/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Stacks are aligned as two texts are, frame by frame. */
#include "analysis/compare/site_similar.h"

#include <string.h>

#include "base/vs_text.h"

#define WHOLE 1000
#define OTHER_FILE 900
#define OTHER_NAME 500 /* in the same file; similar names get up to 300 more */
#define NAME_MAX_BYTES 128

size_t vs_site_frames(const struct vs_report_site *site, size_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < site->frame_count && count < VS_SIMILAR_FRAMES; i++)
        if (!site->folds || !site->frames[i].library)
            out[count++] = i;
    return count;
}

static size_t name_length(const char *function)
{
    static const char *const added[] = {".part.", ".constprop.", ".isra.", ".cold"};
    size_t length = strlen(function);
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        const char *at = strstr(function, added[i]);
        if (at && (size_t)(at - function) < length)
            length = (size_t)(at - function);
    }
    return length;
}

bool vs_same_function(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    size_t n = name_length(a->function);
    return n == name_length(b->function) && memcmp(a->function, b->function, n) == 0;
}

bool vs_same_file(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    const char *x = a->file ? a->file : a->module, *y = b->file ? b->file : b->module;
    return strcmp(x ? vs_text_base_name(x) : "", y ? vs_text_base_name(y) : "") == 0;
}

/* Of 1000: the pairs of neighbouring characters that both names have. */
static unsigned similar_names(const char *a, const char *b)
{
    size_t n = name_length(a), m = name_length(b), common = 0;
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

static unsigned frame_similarity(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    bool file = vs_same_file(a, b);
    if (vs_same_function(a, b))
        return file ? WHOLE : OTHER_FILE;
    return file ? OTHER_NAME + 3 * similar_names(a->function, b->function) / 10 : 0;
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

unsigned vs_site_similarity(const struct vs_report_site *a, const struct vs_report_site *b)
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
                            frame_similarity(&a->frames[x[i - 1]], &b->frames[y[j - 1]]);
            best = sums[i - 1][j] > best ? sums[i - 1][j] : best;
            sums[i][j] = sums[i][j - 1] > best ? sums[i][j - 1] : best;
        }
    }
    return sums[n][m] / (unsigned)(n > m ? n : m);
}
