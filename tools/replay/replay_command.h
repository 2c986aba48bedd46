/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of `vramscope replay`: its arguments, and the steps from a log of requests to
 * the rows of the table. Private to these. */
#ifndef VS_REPLAY_COMMAND_H
#define VS_REPLAY_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "tools/common/command.h"
#include "viewer/report/answer_text.h"

#define VS_REPLAY_SETTINGS_MAX 64
#define VS_REPLAY_DEVICES_MAX 16
#define VS_REPLAY_GPUS_MAX 64

struct vs_replay_device {
    const char *gpu;   /* "": a capacity */
    uint64_t capacity; /* 0: as recorded */
};

struct vs_replay_job {
    const char *who, *trace;
    const char *confs[VS_REPLAY_SETTINGS_MAX]; /* --set */
    size_t conf_count;
    bool policies[VS_POLICY_COUNT], observe; /* --policy */
    bool any_policy, sweep, find, json, partial;
    struct vs_tool_colour colour;
    /* of every row but the first */
    uint64_t limit, pool_keep, others; /* VS_WHATIF_NONE: none; as recorded; limit 0: as recorded */
    bool empty_cache;
    const char *free_site, *without_site; /* regular expressions, or NULL */
    struct vs_replay_device devices[VS_REPLAY_DEVICES_MAX];
    size_t device_count;
    uint64_t device;   /* of the trace, or VS_WHATIF_DEVICE_ANY */
    unsigned long long until; /* event; 0: all */
};

/* vs_replay_parse: 0, -1 after --help, or an exit code. */
int vs_replay_parse(struct vs_replay_job *job, const char *usage, int argc, char **argv);

/* The GPUs of the simulator by size. */
struct vs_replay_gpu {
    char name[48];
    uint64_t total;
};
/* vs_replay_gpus: fills *gpus* (VS_REPLAY_GPUS_MAX); returns how many, ascending; 0 where the
 * installation has no simulated GPU. */
size_t vs_replay_gpus(struct vs_replay_gpu *gpus);

/* vs_replay_sites: the call sites whose line or function matches job->free_site or job->without_site, in
 * *memory*. Returns 0, or an exit code after a message. */
int vs_replay_sites(const struct vs_replay_job *job, const struct vs_whatif_log *log,
                    struct vs_reader *reader, struct vs_arena *memory,
                    const struct vs_whatif_site **sites, size_t *count);

/* vs_replay_rows: runs every setting on every device; rows in *memory*. Returns 0, or an exit code
 * after a message. */
int vs_replay_rows(const struct vs_replay_job *job, const struct vs_whatif_log *log,
                   struct vs_reader *reader, struct vs_arena *memory,
                   struct vs_replay_view *view);

/* vs_replay_places: place and line of every failure, in one pass over the trace. VS_ERR_NOMEM. */
enum vs_err vs_replay_places(struct vs_reader *reader, struct vs_arena *memory,
                             struct vs_replay_view *view) VS_MUST_CHECK;

#endif
