/* SPDX-License-Identifier: Apache-2.0
 *
 * Several traces of one family of processes: who comes from whom, and what they held
 * together. Processes are told apart by number, birth and boot, so that a number that was
 * used again links nothing. Sums are exact: all traces are replayed side by side in the
 * order of time, with one live set each in memory. Of a trace that leaves allocations out
 * the heights between two of its sums are known, not their moments among the other
 * processes' events: a height counts together with what the others hold when it is told. Not thread-safe. */
#ifndef VS_PROCESS_TREE_H
#define VS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

#define VS_TREE_NONE UINT32_MAX
#define VS_TREE_GPUS_MAX 64

enum vs_tree_link {
    VS_TREE_ROOT,   /* comes from none of the others */
    VS_TREE_EXEC,   /* the same process, which was the parent's program before */
    VS_TREE_FORK,   /* forked, and still the parent's program */
    VS_TREE_CHILD,  /* started by the parent: fork and exec, vfork, posix_spawn, clone */
    VS_TREE_BELOW,  /* started by a process that left no trace, below the parent */
    VS_TREE_LIKELY  /* child by process number alone: a trace before version 1.3 */
};

struct vs_tree_member {
    const char *path, *program, *host, *boot, *lineage;
    uint64_t pid, ppid, born_ns, start_ns, start_realtime_ns;
    uint32_t parent; /* index, or VS_TREE_NONE */
    enum vs_tree_link link;
    uint64_t peak_allocated, peak_reserved; /* its own, over its devices */
    bool has_process, has_end;
    bool partial; /* sampled, or limited and full: see vs_recording_partial */
    uint64_t end_reason, end_status, events;
    enum vs_condition condition;
};

/* One device, whatever number each process knows it by. */
struct vs_tree_gpu {
    const char *name, *uuid;
    uint64_t peak_allocated, peak_reserved; /* sums over the processes, at their worst moments */
    uint64_t peak_allocated_ns, peak_reserved_ns; /* since the first process's start */
    uint64_t *shares; /* [member]: allocated at peak_allocated */
    unsigned users;   /* processes that ever held anything there */
};

struct vs_tree {
    struct vs_tree_member *members; /* by birth, then by start */
    size_t count;
    struct vs_tree_gpu *gpus;
    size_t gpu_count;
    struct vs_arena arena; /* all of it */
};

/* vs_tree_build: of the traces at *paths*. A trace that cannot be opened is an error:
 * *why* (VS_READER_WHY_MAX bytes) says which; damaged ones count as far as they go.
 * VS_ERR_NOMEM. Ownership: vs_tree_free. Cost: one pass over all of them. */
enum vs_err vs_tree_build(const char *const *paths, size_t count, struct vs_tree **out,
                            char *why) VS_MUST_CHECK;
void vs_tree_free(struct vs_tree *tree); /* NULL does nothing */

/* vs_tree_link_up: fill in parent and link of every member from what they say of
 * themselves; for tests, which make members up. *members* are sorted. */
void vs_tree_link_up(struct vs_tree_member *members, size_t count);

/* vs_tree_sum: replay the traces of *tree* side by side: peaks, ends, gpus. */
enum vs_err vs_tree_sum(struct vs_tree *tree, char *why) VS_MUST_CHECK;

#endif
