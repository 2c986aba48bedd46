/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations of one device that are live at the event, summed by stack and mark, and those
 * sums by the text of their line. */
#include "analysis/fit/fit_holders.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/site_text.h"
#include "analysis/state/reading.h"
#include "base/reading/vs_vec.h"

#define NAMED_MAX 400 /* sums whose line is looked up: the largest */

struct fit_sum {
    uint64_t stack, mark, bytes, count;
};

/* Of native code the innermost function alone is not enough: in many programs it is a helper that
 * checks the error of each allocation. */
const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool native)
{
    char text[VS_CHAIN_TEXT_MAX];
    struct vs_report_site site = {.api = ""};
    struct vs_summary names = *summary;
    names.own_only = !native;
    vs_summary_frames(&names, stack, mark, &site);
    bool known = site.line || site.folds || (native && site.frame_count);
    return vs_text_copy(summary->memory, known ? vs_text_label(text, &site) : "");
}

static int by_stack(const void *a, const void *b)
{
    const struct fit_sum *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return x->mark < y->mark ? -1 : x->mark > y->mark;
}

static int by_bytes(const void *a, const void *b)
{
    const struct fit_sum *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return by_stack(a, b);
}

static int larger_holder(const void *a, const void *b)
{
    const struct vs_fit_holder *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->where, y->where);
}

static enum vs_err name_holders(const struct fit_sum *sums, size_t count, bool tensors,
                                const struct vs_summary *summary, struct vs_fit_holders *out)
{
    size_t named = 0, limit = count < NAMED_MAX ? count : NAMED_MAX;
    struct vs_fit_holder *lines = vs_xcalloc(limit + 1, sizeof *lines);
    for (size_t i = 0; i < count; i++) {
        const struct fit_sum *sum = &sums[i];
        out->total_bytes += sum->bytes;
        if (i >= limit || !sum->bytes)
            continue;
        const char *where = vs_fit_where(summary, sum->stack, sum->mark, !tensors);
        size_t k = 0;
        while (k < named && strcmp(lines[k].where, where) != 0)
            k++;
        vs_summary_part(summary, sum->stack, sum->bytes, sum->count, &lines[k].parts);
        named += k == named;
        lines[k].where = where;
        lines[k].bytes += sum->bytes;
        lines[k].count += sum->count;
    }
    qsort(lines, named, sizeof *lines, larger_holder);
    for (size_t i = 0; i < named && out->count < VS_FIT_HOLDERS_MAX; i++)
        if (lines[i].bytes) {
            vs_summary_sort_parts(&lines[i].parts);
            out->items[out->count++] = lines[i];
        }
    free(lines);
    return VS_OK;
}

enum vs_err vs_fit_holders(struct vs_reader *reader, const struct vs_summary *summary, uint64_t event,
                           uint64_t device, bool tensors, struct vs_fit_holders *out)
{
    const struct vs_time_window window = {.to = {.given = true, .by_event = true, .value = event}};
    struct vs_replay *replay = vs_replay_open(reader);
    struct fit_sum *sums = NULL;
    size_t count = 0, capacity = 0, kept = 0;
    *out = (struct vs_fit_holders){0};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, &window, NULL, 0);
    const struct vs_live_table *table = tensors ? &replay->framework_live : &replay->device_live;
    for (size_t i = 0; i < table->slots; i++) {
        const struct vs_live *live = &table->items[i];
        if (!live->used || replay->accounts[live->device]->device != device ||
            !(tensors || vs_family_on_device(live->family)))
            continue;
        vs_vec_room(&sums, &capacity, count + 1, sizeof *sums);
        sums[count++] = (struct fit_sum){
            replay->sites.items[live->site].stack, live->mark, live->size, 1};
    }
    vs_replay_close(replay);
    if (count)
        qsort(sums, count, sizeof *sums, by_stack);
    for (size_t i = 0; i < count; i++) {
        struct fit_sum *sum = kept ? &sums[kept - 1] : NULL;
        if (sum && sum->stack == sums[i].stack && sum->mark == sums[i].mark) {
            sum->bytes += sums[i].bytes;
            sum->count++;
        } else {
            sums[kept++] = sums[i];
        }
    }
    if (kept)
        qsort(sums, kept, sizeof *sums, by_bytes);
    if (!err)
        err = name_holders(sums, kept, tensors, summary, out);
    free(sums);
    return err;
}
