/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/site_similar.h"

#include <string.h>

#include "analysis/budget/culprits.h"
#include "base/vs_text.h"

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
