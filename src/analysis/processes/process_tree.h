/* SPDX-License-Identifier: Apache-2.0
 *
 * Several traces of one family of processes: their parents, and their memory use together.
 * Processes are identified by pid, start time and boot, so that a reused pid links nothing. Sums
 * are exact: all traces are replayed side by side in the order of time, with one live set each in
 * memory. For a trace with unrecorded allocations the peaks between two of its sums are known, but
 * not their times relative to the other processes' events: such a peak is added to the others'
 * memory at the time it is recorded. Not thread-safe. */
#ifndef VS_PROCESS_TREE_H
#define VS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "trace/read/job_rank.h"
#include "trace/read/reader.h"

#define VS_TREE_NONE UINT32_MAX
#define VS_TREE_GPUS_MAX 64

enum vs_tree_link {
    VS_TREE_ROOT,   /* has no parent among the others */
    VS_TREE_EXEC,   /* the same process, which ran the parent's program before */
    VS_TREE_FORK,   /* forked, and still the parent's program */
    VS_TREE_CHILD,  /* started by the parent: fork and exec, vfork, posix_spawn, clone */
    VS_TREE_BELOW,  /* started by a process without a trace, below the parent */
    VS_TREE_LIKELY  /* child according to the pid alone: a trace before version 1.3 */
};

struct vs_tree_member {
    const char *path, *program, *host, *boot, *lineage;
    const char *run_name; /* the same in all processes of one `vramscope run`; "": unknown */
    unsigned run;         /* from 0, in the order of their starts */
    uint64_t pid, ppid, born_ns, start_ns, start_realtime_ns;
    struct vs_job_rank job;
    uint32_t parent; /* index, or VS_TREE_NONE */
    enum vs_tree_link link;
    uint64_t peak_allocated, peak_reserved; /* its own, over its devices */
    uint64_t device;                 /* number of the device with the highest use; VS_TREE_NONE: none */
    uint64_t tensors;                /* peak of a framework's tensors there; with has_tensors */
    uint64_t tensors_reserved;       /* likewise of what it reserved for them; 0: not reported */
    uint64_t device_used, device_total; /* highest use of that device, and its size; 0: never read */
    bool has_tensors;
    bool has_process, has_end;
    bool partial; /* sampled, or limited and full: see vs_recording_partial */
    uint64_t end_reason, end_status, events;
    enum vs_condition condition;
};

/* What a process holds on a device. */
struct vs_tree_held {
    uint64_t reserved; /* allocations and caches */
    uint64_t contexts; /* measured: contexts, modules, limits */
};

/* One device, with any number that each process uses for it. */
struct vs_tree_gpu {
    const char *name, *uuid;
    uint64_t number;      /* as the processes number it; its index where two devices have one number */
    uint64_t total_bytes; /* 0: unknown */
    bool simulated;       /* each process then has a device of its own */
    uint64_t peak_allocated, peak_reserved; /* sums over the processes, at their peaks */
    uint64_t peak_allocated_ns, peak_reserved_ns; /* since the first process's start */
    uint64_t *shares; /* [member]: allocated at peak_allocated */
    unsigned users;   /* processes that ever used memory there */
    struct vs_tree_held *held; /* [member]: at the requested time; zeros without one */
};

/* A time: *ns* after the start of the process with the trace *path*. */
struct vs_tree_time {
    const char *path;
    uint64_t ns;
};

struct vs_tree {
    struct vs_tree_member *members; /* by process start, then by trace start */
    size_t count;
    unsigned runs;
    struct vs_tree_gpu *gpus;
    size_t gpu_count;
    uint64_t requested_ns; /* the requested time, since the first process's start */
    struct vs_arena arena; /* owns all of it */
};

/* vs_tree_build: builds the tree of the traces at *paths*; *at*: what every process held then
 * (NULL: at no time). A trace that cannot be opened is an error: *why* (VS_READER_WHY_MAX bytes)
 * names it; damaged ones are used as far as they are readable. Ownership: vs_tree_free. Cost: one
 * pass over all of them. */
enum vs_err vs_tree_build(const char *const *paths, size_t count, const struct vs_tree_time *at,
                          struct vs_tree **out, char *why) VS_MUST_CHECK;
void vs_tree_free(struct vs_tree *tree); /* NULL does nothing */

/* vs_tree_link_up: fills in parent and link of every member from the members' own data; public for
 * tests, which construct members. *members* are sorted. */
void vs_tree_link_up(struct vs_tree_member *members, size_t count);

/* vs_tree_runs: *run* ([count]) receives the run of each trace, *runs* their number. Errors as for
 * vs_tree_build. Cost: the first events of each trace. */
enum vs_err vs_tree_runs(const char *const *paths, size_t count, unsigned *run, unsigned *runs,
                         char *why) VS_MUST_CHECK;

/* vs_tree_sum: replays the traces of *tree* side by side: peaks, ends, GPUs, and the memory held
 * *at* a time (NULL: none). */
enum vs_err vs_tree_sum(struct vs_tree *tree, const struct vs_tree_time *at, char *why)
    VS_MUST_CHECK;

/* vs_tree_total: the memory that all processes hold on *gpu* at the requested time,
 * without that of member *except* (VS_TREE_NONE: of all). */
uint64_t vs_tree_total(const struct vs_tree *tree, const struct vs_tree_gpu *gpu, uint32_t except);

#endif
