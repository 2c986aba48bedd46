/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks are aligned as two texts are, frame by frame. */
#include "analysis/compare/similar_stack.h"

#include <string.h>

#include "analysis/budget/culprits.h"
#include "base/vs_text.h"

#define WHOLE 1000
#define OTHER_FILE 900
#define OTHER_NAME 500 /* in the same file; similar names get up to 300 more */

static void take_apart(struct vs_similar_frame *out, const struct vs_report_frame *frame)
{
    const char *file = frame->file ? frame->file : frame->module;
    out->frame = frame;
    out->function = vs_function_hash(frame);
    out->file = vs_text_hash(VS_TEXT_HASH_START, file ? vs_text_base_name(file) : "");
    vs_name_pairs_of(&out->name, frame->function, vs_function_length(frame->function));
}

void vs_similar_stack_of(struct vs_similar_stack *out, const struct vs_named_site *named)
{
    const struct vs_report_site *site = named->site;
    size_t x[VS_SIMILAR_FRAMES];
    out->named = named;
    out->line.count = 0;
    if (site->line)
        vs_name_pairs_of(&out->line, site->line, vs_function_length(site->line));
    if (site->frame_count)
        take_apart(&out->naming, &site->frames[named->frame]);
    out->count = vs_site_frames(site, x);
    for (size_t i = 0; i < out->count; i++)
        take_apart(&out->frames[i], &site->frames[x[i]]);
}

static bool same_function(const struct vs_similar_frame *a, const struct vs_similar_frame *b)
{
    return a->function == b->function;
}

static bool same_file(const struct vs_similar_frame *a, const struct vs_similar_frame *b)
{
    return a->file == b->file;
}

static bool names_alike(const struct vs_similar_frame *x, const struct vs_similar_frame *y)
{
    return vs_names_alike(x->frame->function, &x->name, y->frame->function, &y->name);
}

/* Whether a function of the stack is that of *like*, or may be it after a renaming; of a site of the same size
 * (*any_file*) also if it was moved to another file. */
static bool calls(const struct vs_similar_stack *stack, const struct vs_similar_frame *like, bool any_file)
{
    bool found = false;
    for (size_t i = 0; i < stack->count && !found; i++) {
        const struct vs_similar_frame *frame = &stack->frames[i];
        found = same_function(frame, like) || ((any_file || same_file(frame, like)) && names_alike(frame, like));
    }
    return found;
}

static bool share_name(const struct vs_similar_stack *a, const struct vs_similar_stack *b, bool same_size)
{
    if (!a->named->site->frame_count || !b->named->site->frame_count)
        return true;
    const struct vs_similar_frame *p = &a->naming, *q = &b->naming;
    return (same_size && same_file(p, q)) || calls(a, q, same_size) || calls(b, p, same_size);
}

static unsigned frame_similarity(const struct vs_similar_frame *a, const struct vs_similar_frame *b,
                                 bool same_size)
{
    bool file = same_file(a, b);
    if (same_function(a, b))
        return file ? WHOLE : OTHER_FILE;
    return file && (same_size || names_alike(a, b))
               ? OTHER_NAME + 3 * vs_name_similarity(&a->name, &b->name) / 10 : 0;
}

/* Sites that the user's line names, "loss.backward() (train.py:40)": by its text. */
static unsigned line_similarity(const struct vs_similar_stack *a, const struct vs_similar_stack *b)
{
    const char *x = a->named->site->line_file, *y = b->named->site->line_file;
    if (strcmp(x ? vs_text_base_name(x) : "", y ? vs_text_base_name(y) : "") != 0)
        return 0;
    return OTHER_NAME + 3 * vs_name_similarity(&a->line, &b->line) / 10;
}

unsigned vs_stack_similarity(const struct vs_similar_stack *a, const struct vs_similar_stack *b,
                             bool same_size)
{
    const struct vs_report_site *x = a->named->site, *y = b->named->site;
    if (x->family != y->family || x->level != y->level || !share_name(a, b, same_size))
        return 0;
    if (x->line && y->line)
        return line_similarity(a, b);
    if (!a->count || !b->count || x->line || y->line)
        return 0;
    unsigned sums[VS_SIMILAR_FRAMES + 1][VS_SIMILAR_FRAMES + 1] = {{0}};
    for (size_t i = 1; i <= a->count; i++) {
        for (size_t j = 1; j <= b->count; j++) {
            unsigned best = sums[i - 1][j - 1] +
                            frame_similarity(&a->frames[i - 1], &b->frames[j - 1], same_size);
            best = sums[i - 1][j] > best ? sums[i - 1][j] : best;
            sums[i][j] = sums[i][j - 1] > best ? sums[i][j - 1] : best;
        }
    }
    return sums[a->count][b->count] / (unsigned)(a->count > b->count ? a->count : b->count);
}
