/* SPDX-License-Identifier: Apache-2.0
 *
 * What would have happened with another allocator setting: the requests of a recorded program are
 * read once into a compact log and run through the allocator (src/allocator) on a device of given
 * size, once per setting. The requests are those of the level that the user thinks in: the tensors
 * of a framework where the trace has them, otherwise the program's cudaMalloc calls. All other
 * device memory of the program keeps its recorded size over time, and what is outside the program
 * (contexts, other processes) reduces the device's room as recorded.
 *
 * A log is immutable after vs_whatif_open: runs of several settings may share it in parallel. The
 * same log and setting always give the same outcome. docs/replay.md describes what is exact. */
#ifndef VS_WHATIF_H
#define VS_WHATIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "analysis/state/reading.h"
#include "analysis/state/replay_totals.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

struct vs_growth_step;
struct vs_whatif_log;

#define VS_WHATIF_DEVICE_ANY UINT64_MAX
#define VS_WHATIF_NONE UINT64_MAX /* of a limit: none; of a level of bytes: as recorded */

/* Whose requests are replayed. */
enum vs_whatif_requests {
    VS_WHATIF_PROGRAM,   /* cudaMalloc and cudaFree of the program */
    VS_WHATIF_FRAMEWORK, /* tensors of PyTorch */
};

/* Which part of the trace to read. Zero-initialise; device must be set. */
struct vs_whatif_query {
    uint64_t device;      /* number in the trace, or VS_WHATIF_DEVICE_ANY: most memory in use */
    uint64_t until_event; /* the last event read, counted from 1 (vs_failure.event); 0: all. A
                           * failure of the device below a framework's own includes that one */
};

/* What the trace says about the recorded run of that device. */
struct vs_whatif_recorded {
    uint64_t exe, device_name;    /* string ids; 0: not in the trace */
    uint64_t device, total_bytes; /* 0: the size is unknown */
    uint64_t limit_bytes;         /* option limit; VS_WHATIF_NONE */
    enum vs_whatif_requests requests;
    bool cached;                  /* vramscope's cache served the requests */
    bool expandable;              /* PyTorch's segments were mapped on demand */
    enum vs_policy_id policy;     /* of the cache, or of PyTorch */
    char conf[256];               /* recorded allocator options in PyTorch's syntax; "" */
    uint64_t events, request_count, free_count, steps;
    uint64_t failures;            /* requests that failed */
    uint64_t last_failure;        /* event of the last failure that the program did not recover
                                   * from: neither was as much served later, nor did a later step
                                   * end, nor the program with status 0; 0: none */
    uint64_t reserved_peak;       /* of the memory that holds the requests */
    uint64_t held_peak;           /* all memory of the program: `peak reserved` of the report */
    uint64_t live_peak;           /* requests in use at a time: no allocator needs less */
    uint64_t least_peak;          /* likewise with the program's other memory added */
    uint64_t other_peak;          /* other memory of the program */
    uint64_t outside_peak;        /* contexts, modules, other processes */
    uint64_t contexts_peak;       /* of which contexts, modules and the unexplained rest */
    uint64_t others_peak;         /* of which other processes, by NVML; 0: none or unknown */
    uint64_t pool_kept_peak;      /* kept by stream-ordered pools beyond live blocks */
    uint64_t unmatched;           /* frees whose allocation is not in the trace */
    struct vs_recording_state recording; /* partial: requests are missing */
};

/* vs_whatif_open: reads the trace from its start. VS_ERR_NOT_FOUND: no requests on that device;
 * VS_ERR_NOMEM; VS_ERR_IO: the log outgrew its buffer and no temporary file could be written;
 * VS_ERR_LIMIT. The position of *reader* is lost; it is not needed afterwards. Memory: 96 MiB for
 * the log, whatever its length, and 60 bytes per live allocation. *Cost*: one pass; two in the rare case
 * that a framework's memory appears long after that of the program. */
enum vs_err vs_whatif_open(struct vs_reader *reader, const struct vs_whatif_query *query,
                           struct vs_whatif_log **out) VS_MUST_CHECK;
const struct vs_whatif_recorded *vs_whatif_recorded(const struct vs_whatif_log *log);
/* vs_whatif_stacks: the stack ids of all requests, each once. */
const uint64_t *vs_whatif_stacks(const struct vs_whatif_log *log, size_t *count);
/* vs_whatif_found_steps: steps that the requests show, where the program marks none (growth/growth.h):
 * the runs of *log* end them too. *ended*: the last of them. */
void vs_whatif_found_steps(struct vs_whatif_log *log, const struct vs_growth_step *items, size_t count,
                           bool ended);
void vs_whatif_close(struct vs_whatif_log *log); /* NULL does nothing */

/* --- The log from a reading that is done for something else: an observer. Which device
 * is asked for, and whether a framework has memory there, is known at the end only, so there is a
 * log for every device and level until it is certain that it is not needed. --- */

struct vs_whatif_watch;

/* vs_whatif_watch_open: _begin before the first event, with the replay of the reading. The curves of the
 * log's runs (below) are from *start_ns* to *end_ns* of the trace's clock. */
struct vs_whatif_watch *vs_whatif_watch_open(uint64_t start_ns, uint64_t end_ns);
void vs_whatif_watch_begin(struct vs_whatif_watch *watch, struct vs_replay *replay);
struct vs_observer vs_whatif_watch_observer(struct vs_whatif_watch *watch);

/* vs_whatif_watch_log: the log of *device* after the last event, while the replay is there, with the errors of
 * vs_whatif_open, which reads *reader* again in the rare case above. At most once. */
enum vs_err vs_whatif_watch_log(struct vs_whatif_watch *watch, struct vs_reader *reader, uint64_t device,
                                struct vs_whatif_log **out) VS_MUST_CHECK;
void vs_whatif_watch_close(struct vs_whatif_watch *watch); /* NULL does nothing */

/* What serves the requests. */
enum vs_whatif_server {
    VS_WHATIF_AS_RECORDED, /* the cache, PyTorch's allocator, or the driver, as in the trace */
    VS_WHATIF_DRIVER,      /* each request is a driver allocation: --allocator=observe */
    VS_WHATIF_ALLOCATOR,   /* src/allocator with *config* */
};

/* What is done with the blocks of one call site. */
enum vs_whatif_site_rule {
    VS_WHATIF_FREE_AT_STEP_END = 1, /* blocks allocated in a step are freed when it ends */
    VS_WHATIF_ABSENT,           /* they are never allocated */
};
struct vs_whatif_site {
    uint64_t stack; /* stack id of its allocations (vs_site.stack) */
    enum vs_whatif_site_rule rule;
    uint64_t bytes_min; /* of VS_WHATIF_ABSENT: smaller blocks stay */
    bool failed_too;    /* likewise: the request that failed is not made either */
};

/* One setting. Zero-initialise (vs_whatif_setting_init): then as recorded. */
struct vs_whatif_setting {
    enum vs_whatif_server server;
    struct vs_allocator_config config; /* VS_WHATIF_ALLOCATOR; its reuse is ignored */
    uint64_t capacity;    /* bytes of the device; 0: as recorded; VS_WHATIF_NONE: unlimited */
    uint64_t limit;       /* on the program's memory; 0: as recorded; VS_WHATIF_NONE: none */
    uint64_t others_most; /* other processes hold at most this; VS_WHATIF_NONE: as recorded */
    uint64_t pool_keep;   /* stream-ordered pools keep at most this beyond live blocks: the release
                           * threshold, or cuMemPoolTrimTo; VS_WHATIF_NONE: as recorded */
    bool empty_cache_at_step_end;
    const struct vs_whatif_site *sites;
    size_t site_count;
    struct vs_whatif_curve *curve; /* NULL; or filled by the run: no other setting has it */
};

/* Memory over the time of the trace, in equal buckets: the highest in each. A run that fails has none
 * after its failure. Without buckets where the log has no times: vs_whatif_open. */
#define VS_WHATIF_BUCKETS 1024
struct vs_whatif_curve {
    uint64_t reserved[VS_WHATIF_BUCKETS], allocated[VS_WHATIF_BUCKETS];
    size_t count;
};
void vs_whatif_setting_init(struct vs_whatif_setting *setting);

/* vs_whatif_setting_conf: a text of PYTORCH_ALLOC_CONF for PyTorch's policy. *why*
 * (VS_WHATIF_WHY_MAX bytes) receives the reason of VS_ERR_ARG. */
#define VS_WHATIF_WHY_MAX 320
enum vs_err vs_whatif_setting_conf(struct vs_whatif_setting *setting, const char *text,
                                   char *why) VS_MUST_CHECK;
/* vs_whatif_setting_policy: a policy of the cache with its defaults. */
void vs_whatif_setting_policy(struct vs_whatif_setting *setting, enum vs_policy_id policy);

/* The memory in use on the device when most of it was. */
struct vs_whatif_fullest {
    uint64_t reserved; /* of the memory that holds the requests */
    uint64_t rounding; /* of these to the driver's pages */
    uint64_t other;    /* other memory of the program */
    uint64_t kept;     /* by its stream-ordered pools, beyond live blocks */
    uint64_t contexts; /* contexts, modules and the unexplained rest */
    uint64_t others;   /* other processes */
};

struct vs_whatif_outcome {
    enum vs_err err;      /* other than VS_OK: the setting could not be run, and nothing else is
                           * set: VS_ERR_ARG (a configuration out of its range), VS_ERR_NOMEM, VS_ERR_IO,
                           * VS_ERR_LIMIT (more than 16 TiB in use at once) */
    /* Every request of the log was served: those that the recorded run served, and its last failure
     * that it did not recover from. */
    bool survives;
    /* The first request that failed although the recorded run served it, or that last failure;
     * the run ends there. Zero when it survives. */
    uint64_t fail_event, fail_requested;
    uint64_t fail_steps;  /* steps that had ended by then */
    uint64_t fail_need;   /* bytes that it needed from the device */
    uint64_t fail_short;  /* bytes of them that were missing */
    bool fail_other;      /* not one of the requests: the program's other memory did not fit */
    uint64_t failed_probes, served_probes; /* recorded failures that the program recovered from */
    uint64_t reserved_peak;  /* of the memory that holds the requests */
    uint64_t held_peak;      /* with the program's other memory: compare with held_peak above */
    uint64_t used_peak;      /* with contexts and other processes, in the driver's pages */
    struct vs_whatif_fullest fullest; /* the sum of its parts is used_peak */
    uint64_t used_at_last;   /* of the device at the last failure that the recorded run did not recover
                              * from: with its request if that is served; 0 if not reached */
    uint64_t allocated_peak; /* blocks in use */
    uint64_t allocated_at_peak; /* the most in use while reserved was at its peak */
    uint64_t free_at_end;    /* of the device, or of the limit; VS_WHATIF_NONE: unlimited */
    uint64_t retries;        /* requests served only after cached memory was released */
    uint64_t segments;       /* device allocations made for the requests */
    uint64_t requests;       /* served */
};

/* vs_whatif_fragmentation: share of reserved that was not in use at the peak of reserved. */
double vs_whatif_fragmentation(const struct vs_whatif_outcome *outcome);

/* vs_whatif_run: runs one setting from the start of the log. Any thread. *Cost*: 0.1 to 0.5 us per
 * request or free. vs_whatif_run_all: several, on as many threads as the machine has processors;
 * outcomes in the order of the settings. */
void vs_whatif_run(const struct vs_whatif_log *log, const struct vs_whatif_setting *setting,
                   struct vs_whatif_outcome *out);
void vs_whatif_run_all(const struct vs_whatif_log *log, const struct vs_whatif_setting *settings,
                       size_t count, struct vs_whatif_outcome *out);

/* vs_whatif_least_capacity: the smallest device, in whole pages of 2 MiB, on which *setting*
 * survives, by bisection between the lower bound and the setting's own peak without a limit; every
 * result was run. *out*: the outcome there. Returns 0 when none does. */
uint64_t vs_whatif_least_capacity(const struct vs_whatif_log *log,
                                  const struct vs_whatif_setting *setting,
                                  struct vs_whatif_outcome *out);

#endif
