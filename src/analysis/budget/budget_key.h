/* SPDX-License-Identifier: Apache-2.0
 *
 * What a budget consists of: limits on quantities of a program's memory, each for the whole program
 * or for a phase, a test, a process or a device, and which failures are allowed. The options of
 * `vramscope check` and the keys of a budget file are the same words with the same values, and are
 * parsed here. A budget owns its texts. Not thread-safe. docs/budgets.md describes them. */
#ifndef VS_BUDGET_KEY_H
#define VS_BUDGET_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"

enum vs_metric {
    VS_METRIC_ALLOCATED, VS_METRIC_REQUESTED, VS_METRIC_RESERVED, /* peaks */
    VS_METRIC_LIVE_AT_END, /* of a phase: the net change while it was open */
    VS_METRIC_DEVICE,      /* in use on the device, other processes included: the highest reading, or a
                            * reading and what was allocated after it */
    VS_METRIC_FREE,        /* likewise the lowest free memory: a limit is a minimum */
    VS_METRIC_GROWTH,      /* per step, of the call sites that grow */
    VS_METRIC_TRANSFERRED, /* bytes copied */
    VS_METRIC_COPIES,      /* number of copies */
    VS_METRIC_TENSORS,     /* peak of PyTorch's tensors alone: torch.cuda.max_memory_allocated */
    VS_METRIC_COUNT
};

enum vs_copy_way { VS_COPIES_ALL, VS_COPIES_TO_DEVICE, VS_COPIES_TO_HOST, VS_COPIES_ON_DEVICE };

/* vs_metric_name: "allocated", "live at end", …, as in the JSON. */
const char *vs_metric_name(enum vs_metric metric);
/* vs_metric_of_copies: whether it is of copies, in bytes or in numbers. */
bool vs_metric_of_copies(enum vs_metric metric);
/* vs_copy_way_name: "" for all, "h2d", "d2h", "d2d". */
const char *vs_copy_way_name(enum vs_copy_way way);

/* To which part of a run limits apply. Texts are glob patterns; NULL: any, or the whole program. */
struct vs_budget_scope {
    bool one_device;
    uint64_t device;     /* the driver's ordinal, when one_device */
    const char *phase;   /* matches the path of a phase, or a range's name in it */
    const char *process; /* matches the name of a process (vs_process_name) */
    bool test;           /* *phase* is the pattern of a test's name */
};

struct vs_budget_limit {
    struct vs_budget_scope scope;
    enum vs_metric metric;
    bool by_metric;   /* --max-peak: the metric that --metric names */
    bool per_step;    /* of copies */
    enum vs_copy_way way;
    uint64_t amount;  /* bytes, or copies; the lowest allowed for VS_METRIC_FREE */
    const char *from; /* "--max-peak", "vramscope.toml:7" */
    bool matched;     /* something was compared with it */
    bool process_seen, phase_seen; /* there is such a process; such a phase or test in it */
    bool unmeasured;  /* it was not measured in a run that would match */
    const char *missing; /* why the trace of such a run does not say whether it holds; NULL: it does */
};

enum vs_take { VS_TAKE_EACH, VS_TAKE_MEDIAN, VS_TAKE_MAX };

#define VS_EXITS_MAX 16

/* Zero-initialise. */
struct vs_budget {
    struct vs_budget_limit *limits;
    size_t count, capacity;
    struct vs_budget_scope only; /* --device: nothing else is checked */
    enum vs_metric metric;
    const char *baseline;        /* file; NULL: none */
    const char *baseline_from;
    const char *tolerance;       /* as given; NULL: none */
    uint64_t tolerance_bytes;
    uint64_t tolerance_millionths; /* of the baseline's value */
    enum vs_take take;
    bool allow_oom, allow_any_exit, allow_uncomputed, partial;
    bool device_readings; /* the baseline has the readings of the device too */
    uint64_t allow_exit[VS_EXITS_MAX];
    size_t allow_exit_count;
    struct vs_arena memory;
};

#define VS_BUDGET_WHY_MAX 512

/* Where a key may be given. */
enum vs_budget_place { VS_KEY_LIMIT = 1, VS_KEY_TOP = 2 };

struct vs_budget_key {
    const char *name;   /* without the leading "--" */
    const char *wants;  /* "a size such as 6GiB" */
    unsigned places;    /* enum vs_budget_place */
    bool flag;          /* takes no value as an option, true or false in a file */
    enum vs_metric metric; /* that it limits; VS_METRIC_COUNT: it limits copies, or nothing */
    size_t field;       /* of a flag that limits nothing: where it is in struct vs_budget */
};
extern const struct vs_budget_key vs_budget_keys[];
extern const size_t vs_budget_key_count;

/* vs_budget_key_find: NULL for any other word of *length* bytes. */
const struct vs_budget_key *vs_budget_key_find(const char *name, size_t length);

/* vs_budget_set: sets *key* to *value* for *scope*. *from* names the option or the line. VS_ERR_ARG,
 * with "takes …, not '…'" in *why* (VS_BUDGET_WHY_MAX bytes). Copies the texts. */
enum vs_err vs_budget_set(struct vs_budget *budget, const struct vs_budget_key *key,
                          const char *value, const struct vs_budget_scope *scope, const char *from,
                          char *why) VS_MUST_CHECK;

/* vs_budget_text_copy: *text* in the budget's memory; NULL when out of memory. */
const char *vs_budget_text_copy(struct vs_budget *budget, const char *text);

/* vs_budget_finish: after the last key: limits of --max-peak get their metric. */
void vs_budget_finish(struct vs_budget *budget);

/* vs_budget_empty: whether nothing would be checked. */
bool vs_budget_empty(const struct vs_budget *budget);

void vs_budget_free(struct vs_budget *budget);

/* Reads a whole file that a user may have written or edited: a budget file or a baseline. */

/* vs_budget_text_read: the contents of *path*, *length* bytes and a NUL; the caller frees *out*.
 * Returns VS_ERR_NOT_FOUND or VS_ERR_IO with errno, VS_ERR_LIMIT for more than *max* bytes. */
VS_MUST_CHECK enum vs_err vs_budget_text_read(const char *path, size_t max, char **out, size_t *length);

#endif
