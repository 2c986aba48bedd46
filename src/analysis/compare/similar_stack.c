/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks are aligned as two texts are, frame by frame. A stack is taken apart once, when a pair of it has no
 * score yet, and then compared with many: its functions and files as hashes, its names as pairs of
 * characters. */
#include "analysis/compare/similar_stack.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

bool vs_same_function(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    size_t n = vs_function_length(a->function);
    return n == vs_function_length(b->function) && memcmp(a->function, b->function, n) == 0;
}

static bool same_base_name(const char *x, const char *y)
{
    return strcmp(x ? vs_text_base_name(x) : "", y ? vs_text_base_name(y) : "") == 0;
}

bool vs_same_file(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    return same_base_name(a->file ? a->file : a->module, b->file ? b->file : b->module);
}

uint64_t vs_function_hash(const struct vs_report_frame *frame)
{
    uint64_t hash = vs_text_hash_bytes(VS_TEXT_HASH_START, frame->function, vs_function_length(frame->function));
    return hash ? hash : 1;
}

uint64_t vs_functions_hash(const struct vs_report_site *site, const struct vs_map *renamed)
{
    size_t x[VS_SITE_FRAMES_MAX];
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

#define WHOLE 1000
#define OTHER_FILE 900
#define OTHER_NAME 500 /* in the same file; similar names get up to 300 more */

struct similar_frame {
    const struct vs_report_frame *frame;
    uint64_t function, file; /* hashes; of the base name of the file, or of the module */
    struct vs_name_pairs name;
};

struct similar_stack {
    const struct vs_named_site *named;
    struct similar_frame naming; /* the frame whose function names the site, if it has frames */
    struct vs_name_pairs line;   /* of the user's line, if it has one */
    size_t count;
    struct similar_frame frames[VS_SITE_FRAMES_MAX];
};

static void take_apart(struct similar_frame *out, const struct vs_report_frame *frame)
{
    const char *file = frame->file ? frame->file : frame->module;
    out->frame = frame;
    out->function = vs_function_hash(frame);
    out->file = vs_text_hash(VS_TEXT_HASH_START, file ? vs_text_base_name(file) : "");
    vs_name_pairs_of(&out->name, frame->function, vs_function_length(frame->function));
}

static struct similar_stack *stack_of_site(const struct vs_named_site *named)
{
    const struct vs_report_site *site = named->site;
    struct similar_stack *out = vs_xcalloc(1, sizeof *out);
    size_t x[VS_SITE_FRAMES_MAX];
    out->named = named;
    if (site->line)
        vs_name_pairs_of(&out->line, site->line, vs_function_length(site->line));
    if (site->frame_count)
        take_apart(&out->naming, &site->frames[named->frame]);
    out->count = vs_site_frames(site, x);
    for (size_t i = 0; i < out->count; i++)
        take_apart(&out->frames[i], &site->frames[x[i]]);
    return out;
}

static bool names_alike(const struct similar_frame *x, const struct similar_frame *y)
{
    return vs_names_alike(x->frame->function, &x->name, y->frame->function, &y->name);
}

/* Whether a function of the stack is that of *like*, or may be it after a renaming; of a site of the same size
 * (*any_file*) also if it was moved to another file. */
static bool calls(const struct similar_stack *stack, const struct similar_frame *like, bool any_file)
{
    bool found = false;
    for (size_t i = 0; i < stack->count && !found; i++) {
        const struct similar_frame *frame = &stack->frames[i];
        found = frame->function == like->function ||
                ((any_file || frame->file == like->file) && names_alike(frame, like));
    }
    return found;
}

static bool share_name(const struct similar_stack *a, const struct similar_stack *b, bool same_size)
{
    if (!a->named->site->frame_count || !b->named->site->frame_count)
        return true;
    const struct similar_frame *p = &a->naming, *q = &b->naming;
    return (same_size && p->file == q->file) || calls(a, q, same_size) || calls(b, p, same_size);
}

static unsigned frame_similarity(const struct similar_frame *a, const struct similar_frame *b,
                                 bool same_size)
{
    bool file = a->file == b->file;
    if (a->function == b->function)
        return file ? WHOLE : OTHER_FILE;
    return file && (same_size || names_alike(a, b))
               ? OTHER_NAME + 3 * vs_name_similarity(&a->name, &b->name) / 10 : 0;
}

/* Sites that the user's line names, "loss.backward() (train.py:40)": by its text. */
static unsigned line_similarity(const struct similar_stack *a, const struct similar_stack *b)
{
    if (!same_base_name(a->named->site->line_file, b->named->site->line_file))
        return 0;
    return OTHER_NAME + 3 * vs_name_similarity(&a->line, &b->line) / 10;
}

static unsigned stack_similarity(const struct similar_stack *a, const struct similar_stack *b,
                                 bool same_size)
{
    const struct vs_report_site *x = a->named->site, *y = b->named->site;
    if (x->family != y->family || x->level != y->level || !share_name(a, b, same_size))
        return 0;
    if (x->line && y->line)
        return line_similarity(a, b);
    if (!a->count || !b->count || x->line || y->line)
        return 0;
    unsigned sums[VS_SITE_FRAMES_MAX + 1][VS_SITE_FRAMES_MAX + 1] = {{0}};
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

/* The stacks of a side, by their place in its list; NULL: not needed so far. */
struct stacks {
    const struct vs_similar_side *side;
    struct similar_stack **items;
};

static const struct similar_stack *stack_of(struct stacks *stacks, size_t at)
{
    struct similar_stack **stack = &stacks->items[at];
    if (!*stack)
        *stack = stack_of_site(&stacks->side->named->items[stacks->side->list[at]]);
    return *stack;
}

static void free_stacks(struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->side->count; i++)
        free(stacks->items[i]);
    free(stacks->items);
}

/* The score of two sites, by their places in the lists. */
static unsigned score_of(struct vs_map *scores, struct stacks *a, struct stacks *b, size_t i, size_t j,
                         bool sizes)
{
    uint64_t key = (uint64_t)(a->side->list[i] + 1) << 32 | (b->side->list[j] + 1);
    uint64_t *score = vs_xmap_value(scores, key, 0); /* + 1 */
    if (!*score)
        *score = stack_similarity(stack_of(a, i), stack_of(b, j), sizes) + 1;
    return (unsigned)*score - 1;
}

void vs_similar_pairs_find(struct vs_similar_pairs *pairs, const struct vs_similar_side *a,
                           const struct vs_similar_side *b, bool sizes, unsigned least)
{
    struct stacks x = {a, vs_xcalloc(a->count + 1, sizeof *x.items)};
    struct stacks y = {b, vs_xcalloc(b->count + 1, sizeof *y.items)};
    free(pairs->items);
    pairs->count = 0;
    pairs->items = vs_xcalloc(a->count * b->count + 1, sizeof *pairs->items);
    for (size_t j = 0; j < b->count; j++) {
        for (size_t i = 0; i < a->count; i++) {
            size_t p = a->list[i], q = b->list[j];
            if (sizes && !vs_site_same_size(&a->named->items[p], &b->named->items[q]))
                continue;
            unsigned score = score_of(&pairs->scores[sizes], &x, &y, i, j, sizes);
            if (score >= least)
                pairs->items[pairs->count++] = (struct vs_similar_pair){score, p, q};
        }
    }
    free_stacks(&x);
    free_stacks(&y);
    VS_SORT(pairs->items, pairs->count, VS_DOWN(score), VS_UP(b), VS_UP(a));
}

void vs_similar_pairs_free(struct vs_similar_pairs *pairs)
{
    vs_map_free(&pairs->scores[0]);
    vs_map_free(&pairs->scores[1]);
    free(pairs->items);
}
