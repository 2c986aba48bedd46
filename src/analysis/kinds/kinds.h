/* SPDX-License-Identifier: Apache-2.0
 *
 * The kind of every tensor of a traced PyTorch program, by who made it and how long it lives. The
 * whole trace is read once: a block whose kind depends on what comes later (a forward block is an
 * activation if it is still live when backward begins) gets it then, and the times asked for are
 * completed. Blocks that are still undecided at the end, or that were live when an allocation
 * failed, get the kind that blocks of the same stack turned out to have; these bytes are counted as
 * assumed. Works from frames and threads alone; the marks of the Python part only help at the ends
 * of steps. Memory: the live set, the stacks, and the undecided blocks of each point in time.
 * Not thread-safe. */
#ifndef VS_KINDS_H
#define VS_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kinds/modules.h"
#include "analysis/naming/kind.h"
#include "analysis/state/reading.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"
#include "trace/symbols/symbols.h"

#define VS_KINDS_END 0
#define VS_KINDS_POINTS_MAX 4096 /* in one reading */

/* A point in time to ask for. Zero-initialised: the end, of device 0. */
struct vs_kinds_query {
    uint64_t device; /* the trace's number */
    uint64_t event;  /* after this event (1-based index, as in vs_peak and vs_failure), or
                      * VS_KINDS_END */
    bool blocks;     /* list the live blocks as well */
};

struct vs_kind_block {
    uint64_t addr, size, stack, device;
    enum vs_kind kind;
    uint32_t module; /* index in the table's *scopes* */
    bool assumed;
};

struct vs_kinds_table {
    uint64_t device;
    uint64_t event, time_ns; /* the time; event 0: not reached */
    struct vs_kind_sum total;
    struct vs_kind_sum kinds[VS_KIND_COUNT];
    uint64_t assumed_bytes;  /* of the total: by what blocks of the same stack became */
    uint64_t unrecorded_bytes; /* of unknown: tensors without events of their own (sampling) */
    bool before;             /* memory of unknown kind is older than the record */
    bool no_python;          /* the trace has no Python stacks */
    struct vs_kind_block *blocks; /* ordered by address; when asked for */
    size_t block_count;
    struct vs_module_scope *scopes; /* with *blocks*; [0]: in no module; the only one of a trace without modules */
    size_t scope_count;
};

/* vs_kinds_read: answers *count* queries into *tables*; *symbols* gives names of native frames,
 * NULL for none. Rewinds *reader* and reads it to the end.
 * The caller frees each table with vs_kinds_table_free. VS_ERR_NOMEM, VS_ERR_LIMIT for too many
 * queries. */
enum vs_err vs_kinds_read(struct vs_reader *reader, struct vs_symbols *symbols,
                          const struct vs_kinds_query *queries, size_t count,
                          struct vs_kinds_table *tables) VS_MUST_CHECK;

void vs_kinds_table_free(struct vs_kinds_table *table);

/* vs_kinds_find: the block at *addr* of a table with blocks; NULL if none. */
const struct vs_kind_block *vs_kinds_find(const struct vs_kinds_table *table, uint64_t device,
                                          uint64_t addr);

/* vs_kinds_order: the kinds that have bytes, the largest first, `other` and `unknown` last; returns
 * how many. */
size_t vs_kinds_order(const struct vs_kinds_table *table, enum vs_kind order[VS_KIND_COUNT]);

/* vs_kinds_note: a sentence about what limits the table ("… recorded without Python stacks …"), or
 * "". Static storage. */
const char *vs_kinds_note(const struct vs_kinds_table *table);

/* The same in parts, for a caller that reads the trace itself. */
struct vs_kinds;

/* vs_kinds_open: the kinds of the tensors of *replay*, which applies the events from the trace's first on
 * and must outlive it; its rows of tensors get their kinds: when a block ends (before later
 * subscribers are called), and by vs_kinds_finish. */
struct vs_kinds *vs_kinds_open(struct vs_replay *replay, struct vs_symbols *symbols);

/* vs_kinds_observer: for the reading of the trace. */
struct vs_observer vs_kinds_observer(struct vs_kinds *kinds);

/* vs_kinds_point: the live blocks now, of *device*, as a point, the number of which is returned. At most
 * VS_KINDS_POINTS_MAX. */
size_t vs_kinds_point(struct vs_kinds *kinds, uint64_t device, bool blocks);

/* vs_kinds_of_live: the table of the tensors of *account* in *state*, a state of the replay; after
 * vs_kinds_finish. The caller frees it. */
void vs_kinds_of_live(const struct vs_kinds *kinds, const struct vs_replay *state, unsigned account,
                      struct vs_kinds_table *out);

/* vs_kinds_scope: that with this number, which a tensor of the replay has. Its text is the reader's. */
struct vs_module_scope vs_kinds_scope(const struct vs_kinds *kinds, uint32_t number);

/* vs_kinds_finish: after the last event: decides what is still undecided. */
void vs_kinds_finish(struct vs_kinds *kinds);

/* vs_kinds_take: the table of point *number*, after vs_kinds_finish; its blocks are the caller's
 * from here on. */
void vs_kinds_take(struct vs_kinds *kinds, size_t number, struct vs_kinds_table *out);

void vs_kinds_close(struct vs_kinds *kinds); /* NULL does nothing */

#endif
