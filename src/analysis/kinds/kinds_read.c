/* SPDX-License-Identifier: Apache-2.0
 *
 * One reading of a trace that answers several questions about kinds, and what is printed of the
 * answers. See kinds.h. */
#include <stdlib.h>

#include "analysis/kinds/kinds.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

/* The queries of a reading: after which event each is asked, and as which point. */
struct questions {
    struct vs_kinds *kinds;
    const struct vs_kinds_query *queries;
    size_t count;
    uint64_t next; /* nothing is asked before this event, but for VS_KINDS_END */
    size_t *points; /* + 1: the point that answers each; 0: it was not reached */
};

static void ask(struct questions *q, uint64_t event)
{
    if (event != VS_KINDS_END && event < q->next)
        return;
    q->next = UINT64_MAX;
    for (size_t i = 0; i < q->count; i++) {
        const struct vs_kinds_query *query = &q->queries[i];
        if (query->event > event && query->event < q->next)
            q->next = query->event;
        if (query->event == event)
            q->points[i] = 1 + vs_kinds_point(q->kinds, query->device, query->blocks);
    }
}

static enum vs_err ask_now(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    (void)event;
    ask(context, replay->events);
    return VS_OK;
}

enum vs_err vs_kinds_read(struct vs_reader *reader, struct vs_symbols *symbols,
                          const struct vs_kinds_query *queries, size_t count,
                          struct vs_kinds_table *tables)
{
    if (count > VS_KINDS_POINTS_MAX)
        return VS_ERR_LIMIT;
    struct vs_replay *replay = vs_replay_open(reader);
    struct questions q = {.queries = queries, .count = count,
                          .points = vs_xcalloc(count + 1, sizeof *q.points)};
    q.kinds = vs_kinds_open(replay, symbols);
    const struct vs_observer observers[] = {vs_kinds_observer(q.kinds),
                                            {VS_KINDS_EVERY, NULL, ask_now, &q}};
    vs_reader_rewind(reader);
    enum vs_err err = vs_reading_run(reader, replay, NULL, observers, 2);
    if (!err) {
        ask(&q, VS_KINDS_END);
        vs_kinds_finish(q.kinds);
    }
    for (size_t i = 0; !err && i < count; i++) {
        tables[i] = (struct vs_kinds_table){.device = queries[i].device};
        if (q.points[i])
            vs_kinds_take(q.kinds, q.points[i] - 1, &tables[i]);
    }
    vs_kinds_close(q.kinds);
    vs_replay_close(replay);
    free(q.points);
    return err;
}

void vs_kinds_table_free(struct vs_kinds_table *table)
{
    free(table->blocks);
    free(table->scopes);
    table->blocks = NULL;
    table->scopes = NULL;
    table->block_count = 0;
}

const struct vs_kind_block *vs_kinds_find(const struct vs_kinds_table *table, uint64_t device,
                                          uint64_t addr)
{
    size_t at = VS_VEC_BELOW(table->blocks, table->block_count, addr, addr);
    for (; at < table->block_count && table->blocks[at].addr == addr; at++)
        if (table->blocks[at].device == device)
            return &table->blocks[at];
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
