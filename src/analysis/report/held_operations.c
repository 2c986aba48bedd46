/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory by operation of PyTorch, from the native frames of the stacks: the dispatcher's functions and the
 * nodes of a backward pass. A stack's memory is allocated by its innermost operation, and by all of them with
 * what they call; an operation that calls itself counts once. The figures of a stack are those of its call
 * sites, so that nothing is followed while the trace is read. See held.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/naming.h"
#include "analysis/report/held.h"
#include "analysis/report/summary.h"
#include "base/reading/vs_intern.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define NAME_MAX_BYTES 128
#define OUTSIDE 0 /* the first row: tensors that no operation allocated */

struct operation_list {
    struct vs_held_row *rows;
    size_t count, capacity;
    struct vs_intern names;
    size_t found[VS_CHAIN_MAX], found_count; /* of the latest stack, innermost first, each once */
    bool native, named; /* some stack has frames of native code; some of them names an operation */
};

static size_t row_of(struct operation_list *list, struct vs_arena *memory, const char *name)
{
    uint32_t index = vs_intern_text(&list->names, name);
    if (index == list->count)
        VS_VEC_ADD(list->rows, list->count, list->capacity, (struct vs_held_row){.label = vs_text_copy(memory, name)});
    return index;
}

static void find_operations(const struct vs_summary *summary, struct operation_list *list, uint64_t stack)
{
    struct vs_chain_frame frames[VS_CHAIN_MAX];
    char name[NAME_MAX_BYTES];
    const char *python = "";
    size_t count = vs_naming_chain(summary->replay->reader, summary->symbols, stack, false, frames);
    list->found_count = 0;
    for (size_t i = 0; i < count; i++) {
        list->native |= !frames[i].python;
        const char *method = frames[i].python ? strrchr(frames[i].function, '.') : NULL;
        if (method && (strcmp(method, ".forward") == 0 || strcmp(method, ".backward") == 0))
            python = frames[i].function;
        if (frames[i].python || !vs_torch_record(frames[i].function, python, name, sizeof name))
            continue;
        size_t row = row_of(list, summary->memory, name), at = 0;
        while (at < list->found_count && list->found[at] != row)
            at++;
        list->found[at] = row;
        list->found_count += at == list->found_count;
        list->named = true;
        python = "";
    }
    bool older = count == 1 && frames[0].python && (!frames[0].file || !*frames[0].file); /* than the record */
    if (!list->found_count)
        list->found[list->found_count++] = older ? row_of(list, summary->memory, frames[0].function) : OUTSIDE;
}

void vs_held_operations(const struct vs_summary *summary, const struct vs_replay *whole, unsigned account,
                        const struct vs_held_blocks *blocks, struct vs_held_table *out)
{
    uint64_t weight = vs_recording_weight(&whole->recording);
    struct operation_list list = {0};
    struct vs_summary_row *live = vs_xcalloc(whole->sites.count + 1, sizeof *live);
    *out = (struct vs_held_table){0};
    row_of(&list, summary->memory, "outside of operations");
    for (size_t i = 0; i < blocks->count; i++) {
        live[blocks->items[i].site].bytes += blocks->items[i].size;
        live[blocks->items[i].site].count++;
    }
    for (size_t i = 0; i < whole->sites.count; i++) {
        const struct vs_site *site = &whole->sites.items[i];
        if (site->level != VS_LEVEL_FRAMEWORK || site->device != account || (!site->allocs && !live[i].bytes))
            continue;
        find_operations(summary, &list, site->stack);
        struct vs_held_row *self = &list.rows[list.found[0]];
        self->allocated += site->bytes * weight;
        self->allocations += site->allocs * weight;
        self->bytes += live[i].bytes * weight;
        self->blocks += live[i].count * weight;
        for (size_t k = 0; k < list.found_count; k++) {
            list.rows[list.found[k]].allocated_total += site->bytes * weight;
            list.rows[list.found[k]].bytes_total += live[i].bytes * weight;
        }
        out->bytes += site->bytes * weight;
        out->blocks += site->allocs * weight;
    }
    if (list.named) {
        struct vs_held_row *rows = vs_xarena(summary->memory, list.count * sizeof *rows);
        for (size_t i = 0; i < list.count; i++)
            if (list.rows[i].allocated_total || list.rows[i].bytes_total)
                rows[out->count++] = list.rows[i];
        VS_SORT(rows, out->count, VS_DOWN(allocated), VS_DOWN(allocated_total), VS_UP(label));
        out->rows = rows;
    } else {
        out->note = !out->blocks ? "the trace has no tensors of PyTorch"
                    : list.native ? "the names of PyTorch's functions were not found: run `vramscope symbolize` on the "
                                    "trace where the program ran"
                                  : "the trace has no native stacks, which show the operations: record with "
                                    "--stacks=both";
    }
    free(list.rows);
    vs_intern_free(&list.names);
    free(live);
}
