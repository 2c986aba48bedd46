/* SPDX-License-Identifier: Apache-2.0
 *
 * One `vramscope advise` and the interface between its parts: advise_changes.c lists the changes that can be
 * tried and why, by the survey that the Python part wrote about the program, advise_trials.c runs the program
 * under sets of them, several at a time, or takes their results from the cache (run_key.c), advise_search.c
 * decides which sets are tried, advise_rows.c makes the answer.
 * Single-threaded. A returned status is 0, or the exit status after a message was printed. */
#ifndef VS_ADVISE_INTERNAL_H
#define VS_ADVISE_INTERNAL_H

#include "analysis/fit/advice.h"
#include "base/vs_arena.h"
#include "tools/fit/fit_internal.h"

#define VS_CHANGES_MAX 60 /* bits of a set */

struct vs_advise_job {
    struct vs_fit_job fit; /* first: its options are parsed as those of `fit` */
    uint64_t margin_bytes;
    double margin_share;   /* of the GPU; 0: margin_bytes counts */
    bool lora, fresh;      /* fresh: nothing is read from the cache */
    unsigned long long shard; /* GPUs; 0: not asked for */
    const char *base_value;   /* of --vary, where the command has a {}; NULL: the command as it is */
};

/* --- advise_changes.c --- */

/* What the Python part of a run wrote about the program. */
struct vs_survey {
    struct json_object *json; /* NULL: nothing is known; json_object_put frees it */
    const char *torch;    /* release; NULL */
    uint64_t gathered_bytes; /* parameters of two of the blocks that hold most activations */
    uint64_t processes;   /* of a distributed program; 0: it is none */
    const char *kind;     /* of distribution, "ddp"; NULL */
};

/* vs_survey_read: that of the process *pid* in *folder*, or of another one. Texts are in *memory*. */
void vs_survey_read(const char *folder, uint64_t pid, struct vs_arena *memory, struct vs_survey *out);

struct vs_advise_change {
    const char *spec;  /* of VRAMSCOPE_CHANGES; NULL: none of these */
    const char *conf;  /* of PYTORCH_ALLOC_CONF; NULL */
    const char *value; /* of --vary; NULL */
    const char *label;
    const char *tier;  /* of what costs alike: "recomputation" */
    const char *needs; /* what there must be at the peak for it to help: "activations"; "" */
    unsigned groups;    /* bits; changes that share one exclude each other */
    const char *absent; /* why it can do nothing for this program; NULL */
    /* of the search: */
    const char *idle;   /* why it was not tried in the latest state; NULL */
    uint64_t tried;     /* + 1: the state in which it was tried last; 0: never */
    const char *phase;  /* of that state's peak */
    bool ran;           /* in some set, or replayed */
    const char *no_effect; /* why it had none, alone; NULL */
};

struct vs_advise_changes {
    struct vs_advise_change items[VS_CHANGES_MAX];
    size_t count;
};

void vs_changes_list(const struct vs_advise_job *job, const struct vs_survey *survey, uint64_t peak,
                     struct vs_arena *memory, struct vs_advise_changes *out);

/* --- advise_trials.c --- */

/* A set of changes on one GPU. */
struct vs_trial {
    struct vs_fit_process process; /* first */
    uint64_t set;        /* bits of struct vs_advise_changes */
    const char *gpu;     /* the one asked for, or the same with more memory */
    bool done, cached, replayed;
    struct vs_fit_run run; /* not of a replayed one */
    const char *why;     /* it has no figures; NULL */
    uint64_t peak, reserved, used;
    bool fits;           /* it ran on the GPU asked for, or was replayed with its memory, to the end */
    const struct vs_trial *shown; /* whose run says what is at the peak */
    const char *variables[5]; /* for the program: changes, survey, settings */
    const char *key;
};

struct vs_trials {
    const struct vs_advise_job *job;
    struct vs_advise_changes *changes;
    struct vs_arena *memory;
    struct vs_trial **items; /* in the order in which they were made */
    size_t count, capacity;
    struct vs_trial **wanted; /* that are still to be run */
    size_t wanted_count;
    size_t runs, cached;
    uint64_t host_bytes; /* of the largest run so far, all processes */
};

/* vs_trial_of: the one of *set* on *gpu*; *make*: a new one if there is none, otherwise NULL. */
struct vs_trial *vs_trial_of(struct vs_trials *trials, uint64_t set, const char *gpu, bool make);

/* vs_trials_run: runs those of *wanted* that are not done, as many at a time as processors and memory
 * allow. */
int vs_trials_run(struct vs_trials *trials, struct vs_trial **wanted, size_t count);

/* vs_trial_replay: the requests of *of*, which ran, with the settings of *set*, on a device of
 * *total_bytes*. NULL: they cannot be replayed. */
struct vs_trial *vs_trial_replay(struct vs_trials *trials, const struct vs_trial *of, uint64_t set,
                                 const char *gpu, uint64_t total_bytes);

/* vs_note_of: the first note about *change* in *list*, or the next one *after* another. NULL: there is none. */
const struct vs_fit_note *vs_note_of(const struct vs_fit_note_list *list, const struct vs_advise_change *change,
                                     const struct vs_fit_note *after);

size_t vs_trials_at_once(const struct vs_trials *trials);
void vs_trials_free(struct vs_trials *trials);

/* vs_set_label: "chunked loss + bf16 autocast"; "as it is". vs_set_join: of each change of *set* the
 * spec (or conf, *conf*), joined by *between*. */
const char *vs_set_label(const struct vs_advise_changes *changes, uint64_t set, struct vs_arena *memory);
const char *vs_set_join(const struct vs_advise_changes *changes, uint64_t set, bool conf, const char *between,
                        struct vs_arena *memory);
/* vs_set_value: the value of --vary in *set*; NULL: as the command has it. */
const char *vs_set_value(const struct vs_advise_job *job, const struct vs_advise_changes *changes, uint64_t set);

/* --- run_key.c --- */

/* vs_run_key: a text of everything that the result of *run* depends on. */
const char *vs_run_key(const struct vs_trials *trials, const struct vs_fit_run *run, const char *changes,
                       const char *conf);

/* vs_run_cache: makes job->folder the folder of the cache, and drops results that were not used for two
 * weeks. Without a home, a temporary one. */
int vs_run_cache(struct vs_fit_job *job, bool *temporary);

/* --- advise_search.c, advise_rows.c --- */

struct vs_search {
    const struct vs_advise_job *job;
    const char *gpu, *large; /* *large*: the same GPU with more memory; equal to *gpu* where the program
                              * runs to its end there */
    uint64_t total_bytes, margin_bytes;
    struct vs_survey survey;
    struct vs_advise_changes changes;
    struct vs_trials trials;
    struct vs_trial *base, *base_asked;
    uint64_t plan; /* a set */
    bool found;
    struct vs_arena *memory;
};

int vs_search_run(struct vs_search *search);
void vs_search_rows(struct vs_search *search, struct vs_advice *advice);

/* vs_trial_headroom: of its figures on the GPU asked for; negative: short by that. vs_trial_enough: it
 * ran on that GPU, with the margin. */
int64_t vs_trial_headroom(const struct vs_search *search, const struct vs_trial *trial);
bool vs_trial_enough(const struct vs_search *search, const struct vs_trial *trial);

#endif
