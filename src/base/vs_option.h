/* SPDX-License-Identifier: Apache-2.0
 *
 * Options: one table (vs_option_table.h), three sources in rising precedence: default, environment,
 * explicit set (a flag of `vramscope run`). An invalid value is reported once and the lower source
 * stays in force; an unknown VRAMSCOPE_* variable gives a warning. This is the only module that
 * calls getenv. */
#ifndef VS_OPTION_H
#define VS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

enum vs_option_id {
#define VS_OPTION(name, type, def, min, max, unit, help) VS_OPT_##name,
#include "base/vs_option_table.h"
#undef VS_OPTION
    VS_OPT_COUNT
};

enum vs_option_type {
    VS_OPTION_STRING,
    VS_OPTION_BOOL,
    VS_OPTION_COUNT,
    VS_OPTION_SIZE,
    VS_OPTION_CHOICE,
    VS_OPTION_LIMIT, /* vs_limit_spec.h */
    VS_OPTION_STEPS, /* vs_schedule.h */
};
enum vs_option_source { VS_FROM_DEFAULT, VS_FROM_ENVIRONMENT, VS_FROM_COMMAND };

struct vs_option_info {
    const char *name, *fallback, *unit, *help;
    enum vs_option_type type;
    uint64_t min, max;
};

#define VS_OPTION_TEXT_MAX 1024

/* Values of all options. Plain data: copyable, no ownership. */
struct vs_options {
    char text[VS_OPT_COUNT][VS_OPTION_TEXT_MAX]; /* as given */
    uint64_t number[VS_OPT_COUNT];               /* COUNT, SIZE, BOOL (0/1), CHOICE (index) */
    enum vs_option_source source[VS_OPT_COUNT];
};

/* vs_option_describe: the table's row. Static storage. */
const struct vs_option_info *vs_option_describe(enum vs_option_id id);

#define VS_OPTION_ENV_MAX 64
/* vs_option_env_name: writes the option's environment variable ("VRAMSCOPE_STACK_DEPTH") to *out*
 * (VS_OPTION_ENV_MAX bytes). Returns out. */
char *vs_option_env_name(enum vs_option_id id, char *out);

/* vs_option_find: finds an option by name ("stack-depth" or "stack_depth"). VS_ERR_NOT_FOUND if
 * there is none. */
enum vs_err vs_option_find(const char *name, size_t length, enum vs_option_id *id) VS_MUST_CHECK;

/* vs_options_init: sets the defaults only. */
void vs_options_init(struct vs_options *options);

/* vs_options_load_environment: overlays VRAMSCOPE_*; *warn* (may be NULL) is called once per
 * unknown or invalid variable with a complete sentence. Not thread-safe against setenv by
 * others. */
void vs_options_load_environment(struct vs_options *options,
                                 void (*warn)(const char *sentence, void *arg), void *arg);

/* vs_options_set: parses *value* for *id*. On VS_ERR_ARG nothing changes and *why*
 * (VS_OPTION_TEXT_MAX bytes, may be NULL) receives a sentence with the accepted values. */
enum vs_err vs_options_set(struct vs_options *options, enum vs_option_id id, const char *value,
                           enum vs_option_source source, char *why) VS_MUST_CHECK;

/* vs_option_is: does CHOICE option *id* have the value *word*? */
bool vs_option_is(const struct vs_options *options, enum vs_option_id id, const char *word);

/* vs_environment: getenv for the few variables that are not ours (RANK, LD_LIBRARY_PATH, CUDA_PATH
 * …). NULL if unset. */
const char *vs_environment(const char *name);

/* The place of this process in a job of several: decimal numbers, at most 9 digits; NULL: not known. */
struct vs_rank_environment {
    const char *rank, *local_rank, *world_size;
};
/* vs_rank_environment: from the variables of the first launcher that gives a rank: torchrun (RANK,
 * LOCAL_RANK, WORLD_SIZE), Open MPI (OMPI_COMM_WORLD_…), Slurm (SLURM_PROCID …), MPICH and Intel MPI
 * (PMI_RANK …). All are NULL without one. The texts belong to the environment. */
struct vs_rank_environment vs_rank_environment(void);

/* vs_job_environment: the number of the job, as Slurm, PBS or LSF gives it; NULL or "": none. */
const char *vs_job_environment(void);

#define VS_OUTPUT_DEFAULT "vramscope.%n.%p.vst"

/* vs_output_expand: replaces %n %p %h %r %% in *pattern*. *out* is unwritten if the result would
 * not fit *out_max* (VS_ERR_LIMIT) or the pattern has another %-sequence (VS_ERR_ARG). %r is "0" if
 * no rank variable is set. The default name, in any folder, has the rank if one is set:
 * vramscope.%n.rank%r.%p.vst. */
enum vs_err vs_output_expand(const char *pattern, const char *program, long pid, char *out,
                             size_t out_max) VS_MUST_CHECK;

/* vs_output_is_ranked: is a rank variable set, so that this may be one of many processes? */
bool vs_output_is_ranked(void);

#endif
