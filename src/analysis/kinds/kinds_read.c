/* SPDX-License-Identifier: Apache-2.0
 *
 * One reading of a trace that answers several questions about kinds, and what is printed of the
 * answers. See kinds.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/kinds.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

/* A query, ordered by the event after which it is asked. */
struct question {
    uint64_t event;
    size_t number; /* of the query */
    size_t moment;
    bool asked;
};

/* The event with the highest sum of tensors on *device*; 0 when there are none. */
static enum vs_err find_peak(struct vs_reader *reader, uint64_t device, uint64_t *peak)
{
    struct vs_map live = {0};
    struct vs_event event;
    uint64_t now = 0, most = 0, number = 0;
    *peak = 0;
    enum vs_err err;
    vs_reader_rewind(reader);
    while ((err = vs_reader_next(reader, &event)) == VS_OK) {
        bool alloc = event.kind == VS_EVENT_framework_alloc;
        number++;
        if (!alloc && event.kind != VS_EVENT_framework_free)
            continue;
        uint64_t addr = alloc ? event.framework_alloc.addr : event.framework_free.addr, old;
        uint64_t of = alloc ? event.framework_alloc.device : event.framework_free.device;
        if (!addr || (device != VS_KINDS_ALL_DEVICES && of != device))
            continue;
        if (vs_map_remove(&live, addr, &old))
            now -= old;
        if (!alloc)
            continue;
        now += event.framework_alloc.size;
        vs_xmap_put(&live, addr, event.framework_alloc.size);
        if (now > most) {
            most = now;
            *peak = number;
        }
    }
    vs_map_free(&live);
    return err == VS_ERR_END ? VS_OK : err;
}

static int by_event(const void *a, const void *b)
{
    const struct question *left = a, *right = b;
    uint64_t l = left->event - 1, r = right->event - 1; /* the end (0) is last */
    return (l > r) - (l < r);
}

static enum vs_err prepare(struct vs_reader *reader, const struct vs_kinds_query *queries,
                           size_t count, struct question *questions)
{
    enum vs_err err = VS_OK;
    for (size_t i = 0; !err && i < count; i++) {
        questions[i] = (struct question){.event = queries[i].event, .number = i};
        if (queries[i].event != VS_KINDS_PEAK)
            continue;
        err = find_peak(reader, queries[i].device, &questions[i].event);
        if (!err && !questions[i].event)
            questions[i].event = VS_KINDS_END;
    }
    qsort(questions, count, sizeof *questions, by_event);
    return err;
}

static enum vs_err ask(struct vs_kinds *kinds, const struct vs_kinds_query *queries,
                       struct question *question)
{
    const struct vs_kinds_query *query = &queries[question->number];
    question->asked = true;
    return vs_kinds_moment(kinds, query->device, query->blocks, &question->moment);
}

static enum vs_err read_all(struct vs_reader *reader, struct vs_kinds *kinds,
                            const struct vs_kinds_query *queries, struct question *questions,
                            size_t count)
{
    struct vs_event event;
    size_t next = 0;
    enum vs_err err = VS_OK;
    vs_reader_rewind(reader);
    for (uint64_t number = 1; !err && (err = vs_reader_next(reader, &event)) == VS_OK; number++) {
        err = vs_kinds_event(kinds, &event);
        while (!err && next < count && questions[next].event == number)
            err = ask(kinds, queries, &questions[next++]);
    }
    if (err != VS_ERR_END)
        return err;
    err = VS_OK;
    for (; !err && next < count; next++)
        if (questions[next].event == VS_KINDS_END)
            err = ask(kinds, queries, &questions[next]);
    return err;
}

enum vs_err vs_kinds_read(struct vs_reader *reader, struct vs_symbols *symbols,
                          const struct vs_kinds_query *queries, size_t count,
                          struct vs_kinds_table *tables)
{
    if (count > VS_KINDS_MOMENTS_MAX)
        return VS_ERR_LIMIT;
    struct question *questions = vs_xcalloc(count + 1, sizeof *questions);
    struct vs_kinds *kinds = NULL;
    enum vs_err err = questions ? prepare(reader, queries, count, questions) : VS_ERR_NOMEM;
    if (!err)
        vs_kinds_open(reader, symbols, &kinds);
    if (!err)
        err = read_all(reader, kinds, queries, questions, count);
    if (!err) {
        vs_kinds_finish(kinds);
        for (size_t i = 0; i < count; i++) {
            struct vs_kinds_table *table = &tables[questions[i].number];
            *table = (struct vs_kinds_table){.device = queries[questions[i].number].device};
            if (questions[i].asked)
                vs_kinds_take(kinds, questions[i].moment, table);
        }
    }
    vs_kinds_close(kinds);
    free(questions);
    return err;
}

void vs_kinds_table_free(struct vs_kinds_table *table)
{
    free(table->blocks);
    table->blocks = NULL;
    table->block_count = 0;
}

const struct vs_kind_block *vs_kinds_find(const struct vs_kinds_table *table, uint64_t device,
                                          uint64_t addr)
{
    size_t low = 0, high = table->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->blocks[middle].addr < addr)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < table->block_count && table->blocks[low].addr == addr; low++)
        if (table->blocks[low].device == device)
            return &table->blocks[low];
    return NULL;
}

size_t vs_kinds_order(const struct vs_kinds_table *table, enum vs_kind order[VS_KIND_COUNT])
{
    size_t count = 0;
    for (int k = 0; k < VS_KIND_COUNT; k++) {
        if (!table->kinds[k].bytes)
            continue;
        size_t at = count++;
        for (; k < VS_KIND_OTHER && at &&
               table->kinds[order[at - 1]].bytes < table->kinds[k].bytes; at--)
            order[at] = order[at - 1];
        order[at] = (enum vs_kind)k;
    }
    return count;
}

const char *vs_kinds_note(const struct vs_kinds_table *table)
{
    if (table->no_python && table->kinds[VS_KIND_UNKNOWN].bytes)
        return "the trace has no Python stacks, which are needed to find the kinds: record with --stacks=both";
    if (table->unrecorded_bytes)
        return "tensors without events of their own are unknown: record without --sample and "
               "--min-size";
    if (table->kinds[VS_KIND_UNKNOWN].bytes && table->before)
        return "unknown: allocated before the recording";
    if (table->kinds[VS_KIND_UNKNOWN].bytes)
        return "unknown: the stacks do not show the purpose of these tensors";
    return "";
}
