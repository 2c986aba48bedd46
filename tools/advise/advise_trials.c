/* SPDX-License-Identifier: Apache-2.0
 *
 * The runs of the program under sets of changes: each in a folder of its own, started as `vramscope fit`
 * does, as many at a time as processors and the memory of the host allow. A finished folder stays in the
 * cache under the hash of everything that the run depends on, so that reading a result from the cache is
 * reading the traces again. While it runs its name has the number of the process as well: the same run of
 * two commands does not meet. A folder without the file "result" is not used. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/whatif/whatif.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_option.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "tools/advise/advise_internal.h"

#define ERROR_MAX 160

struct vs_trial *vs_trial_of(struct vs_trials *trials, uint64_t set, const char *gpu, bool make)
{
    for (size_t i = 0; i < trials->count; i++)
        if (trials->items[i]->set == set && strcmp(trials->items[i]->gpu, gpu) == 0)
            return trials->items[i];
    if (!make)
        return NULL;
    struct vs_trial *trial = vs_xcalloc(1, sizeof *trial);
    trial->process.run = &trial->run;
    trial->set = set;
    trial->gpu = gpu;
    trial->shown = trial;
    VS_VEC_ADD(trials->items, trials->count, trials->capacity, trial);
    return trial;
}

size_t vs_trials_at_once(const struct vs_trials *trials)
{
    uint64_t most = vs_fit_at_once(&trials->job->fit), total, available;
    uint64_t each = trials->host_bytes ? trials->host_bytes : 4 * VS_GIB; /* the first run says how much one needs */
    if (vs_fit_host_free(&total, &available) && available / 10 * 9 / each < most)
        most = available / 10 * 9 / each;
    return most < 1 ? 1 : most > VS_FIT_GPUS_MAX ? VS_FIT_GPUS_MAX : (size_t)most;
}

/* --- one run --- */

static const char *last_line(const char *text)
{
    const char *newline = text ? strrchr(text, '\n') : NULL;
    return newline ? newline + 1 : text ? text : "";
}

const struct vs_fit_note *vs_note_of(const struct vs_fit_note_list *list, const struct vs_advise_change *change,
                                     const struct vs_fit_note *after)
{
    size_t length = change->spec ? strcspn(change->spec, ":;") : 0;
    for (size_t i = after ? (size_t)(after - list->items) + 1 : 0; length && i < list->count; i++)
        if (strlen(list->items[i].library) == length && strncmp(list->items[i].library, change->spec, length) == 0)
            return &list->items[i];
    return NULL;
}

/* Every change of the set must have taken effect, or it is not what was run. */
static const char *not_applied(const struct vs_trials *trials, const struct vs_trial *trial)
{
    const struct vs_fit_note_list *lists = trial->run.notes.lists;
    for (size_t c = 0; c < trials->changes->count; c++) {
        const struct vs_advise_change *change = &trials->changes->items[c];
        if (!(trial->set >> c & 1) || !change->spec || vs_note_of(&lists[VS_FIT_CHANGED], change, NULL))
            continue;
        const struct vs_fit_note *note = vs_note_of(&lists[VS_FIT_UNCHANGED], change, NULL);
        const char *why = note ? note->text : "nothing was reported about it";
        return trial->set == UINT64_C(1) << c
                   ? vs_xarena_printf(trials->memory, "no effect: %s", why)
                   : vs_xarena_printf(trials->memory, "%s had no effect: %s", change->label, why);
    }
    return NULL;
}

static void mark_changes(struct vs_trials *trials, const struct vs_trial *trial)
{
    for (size_t c = 0; c < trials->changes->count; c++) {
        struct vs_advise_change *change = &trials->changes->items[c];
        change->ran |= trial->set >> c & 1;
        if (trial->why && trial->run.answer != VS_FIT_UNKNOWN && trial->set == UINT64_C(1) << c)
            change->no_effect = trial->why;
    }
}

/* The figures of a trial whose result was read. */
static void settle(struct vs_trials *trials, struct vs_trial *trial)
{
    const struct vs_fit_run *run = &trial->run;
    uint64_t host = run->host_bytes * (run->trace_count ? run->trace_count : 1);
    trials->host_bytes = host > trials->host_bytes ? host : trials->host_bytes;
    trials->runs++;
    trials->cached += trial->cached;
    trial->done = true;
    trial->why = not_applied(trials, trial);
    if (run->answer == VS_FIT_UNKNOWN)
        trial->why = vs_xarena_printf(trials->memory, "%s%s%.*s", run->why,
                                      *last_line(run->errors) ? ": " : "", ERROR_MAX,
                                      last_line(run->errors));
    mark_changes(trials, trial);
    if (trial->why || run->answer != VS_FIT_YES)
        return;
    trial->fits = true;
    trial->peak = run->worst_device->peak_allocated;
    trial->reserved = run->worst_device->peak_reserved;
    trial->used = run->used_peak;
}

static void print_result(const struct vs_trials *trials, const struct vs_trial *trial)
{
    const struct vs_fit_run *run = &trial->run;
    if (trials->job->fit.quiet)
        return;
    fprintf(stderr, "%s: %s, %s … ", trials->job->fit.who, trial->gpu,
            vs_set_label(trials->changes, trial->set, trials->memory));
    if (trial->why)
        fputs(run->answer == VS_FIT_UNKNOWN ? "no answer" : "no effect", stderr);
    else if (run->answer == VS_FIT_YES)
        fprintf(stderr, "peak %s", vs_size_text(trial->peak));
    else
        fputs("does not fit", stderr);
    if (trial->cached)
        fputs(" (cached)\n", stderr);
    else
        fprintf(stderr, " (%.1f s)\n", (double)run->wall_ns / 1e9);
}

/* "STATUS STOPPED WALL_NS HOST_BYTES\n" and the key. Another key of the same hash, or an unfinished
 * folder, is not this run's. */
static bool read_result(struct vs_trial *trial)
{
    char path[PATH_MAX + 512], *text = NULL;
    size_t capacity = 0;
    unsigned long long wall, host;
    int stopped, at = 0;
    snprintf(path, sizeof path, "%s/result", trial->process.folder);
    VS_TOOL_FILE file = fopen(path, "r");
    ssize_t length = file ? getdelim(&text, &capacity, 0, file) : -1;
    bool found = length > 0 && sscanf(text, "%d %d %llu %llu%n", &trial->run.status, &stopped, &wall, &host,
                                      &at) == 4 && text[at] == '\n' && strcmp(text + at + 1, trial->key) == 0;
    free(text);
    if (found) {
        trial->run.stopped = stopped != 0;
        trial->run.wall_ns = wall;
        trial->run.host_bytes = host;
        trial->run.started = true;
        utimensat(AT_FDCWD, trial->process.folder, NULL, 0); /* used: it is kept longer */
    }
    return found;
}

static void write_result(const struct vs_trial *trial)
{
    char path[PATH_MAX + 512];
    const struct vs_fit_run *run = &trial->run;
    snprintf(path, sizeof path, "%s/result", trial->process.folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return; /* then it is not read again */
    fprintf(file, "%d %d %llu %llu\n%s", run->status, run->stopped, (unsigned long long)run->wall_ns,
            (unsigned long long)run->host_bytes, trial->key);
    if (fclose(file))
        unlink(path);
}

static void set_folder(struct vs_trials *trials, struct vs_trial *trial, const char *after)
{
    snprintf(trial->process.folder, sizeof trial->process.folder, "%s/%016llx%s", trials->job->fit.folder,
             (unsigned long long)vs_text_hash(VS_TEXT_HASH_START, trial->key), after);
}

/* Names its files and variables; whether its result is in the cache. */
static bool prepare(struct vs_trials *trials, struct vs_trial *trial)
{
    const struct vs_advise_job *job = trials->job;
    const char *changes = vs_set_join(trials->changes, trial->set, false, ";", trials->memory);
    const char *conf = vs_set_join(trials->changes, trial->set, true, ",", trials->memory);
    const char *now = vs_environment("PYTORCH_ALLOC_CONF");
    now = now ? now : vs_environment("PYTORCH_CUDA_ALLOC_CONF");
    if (*conf && now && *now)
        conf = vs_xarena_printf(trials->memory, "%s,%s", now, conf);
    trial->run = (struct vs_fit_run){.gpu = trial->gpu, .environment = trial->variables,
                                     .value = vs_set_value(job, trials->changes, trial->set)};
    trial->key = vs_run_key(trials, &trial->run, changes, conf);
    set_folder(trials, trial, "");
    trial->variables[0] = vs_xarena_printf(trials->memory, "VRAMSCOPE_CHANGES=%s", changes);
    if (*conf) {
        /* releases of PyTorch before 2.9 know the second one alone */
        trial->variables[2] = vs_xarena_printf(trials->memory, "PYTORCH_ALLOC_CONF=%s", conf);
        trial->variables[3] = vs_xarena_printf(trials->memory, "PYTORCH_CUDA_ALLOC_CONF=%s", conf);
    }
    return !job->fresh && read_result(trial);
}

static int end(struct vs_trials *trials, struct vs_trial *trial)
{
    int status = vs_fit_read_result(&trials->job->fit, &trial->process);
    if (status)
        return status;
    if (!trial->cached && trial->run.answer != VS_FIT_UNKNOWN) /* what failed may work the next time */
        write_result(trial);
    settle(trials, trial);
    print_result(trials, trial);
    return 0;
}

static struct vs_fit_process *next_trial(void *of, size_t running, int *status)
{
    struct vs_trials *trials = of;
    while (running < vs_trials_at_once(trials) && trials->wanted_count && !*status) {
        struct vs_trial *trial = *trials->wanted++;
        trials->wanted_count--;
        if (trial->done)
            continue;
        trial->cached = prepare(trials, trial);
        if (trial->cached) {
            *status = end(trials, trial);
            continue;
        }
        vs_fit_folder_clear(trial->process.folder); /* not usable, see above */
        set_folder(trials, trial, vs_xarena_printf(trials->memory, ".%d", (int)getpid()));
        trial->variables[1] = vs_xarena_printf(trials->memory, "VRAMSCOPE_SURVEY=%s/survey.%%p.json",
                                               trial->process.folder);
        return &trial->process;
    }
    return NULL;
}

static int end_trial(void *of, struct vs_fit_process *process)
{
    struct vs_trials *trials = of;
    struct vs_trial *trial = (struct vs_trial *)process;
    char ran[sizeof process->folder];
    strcpy(ran, process->folder);
    if (vs_fit_interrupted()) {
        vs_fit_folder_clear(ran);
        return 0;
    }
    set_folder(trials, trial, "");
    if (rename(ran, process->folder)) /* another command was faster */
        strcpy(process->folder, ran);
    return end(trials, trial);
}

int vs_trials_run(struct vs_trials *trials, struct vs_trial **wanted, size_t count)
{
    trials->wanted = wanted;
    trials->wanted_count = count;
    return vs_fit_run_all(&trials->job->fit, trials, next_trial, end_trial);
}

/* --- settings of the allocator, without a run --- */

struct vs_trial *vs_trial_replay(struct vs_trials *trials, const struct vs_trial *of, uint64_t set,
                                 const char *gpu, uint64_t total_bytes)
{
    struct vs_reader *reader;
    struct vs_whatif_log *log = NULL;
    const struct vs_fit_run *run = &of->run;
    const struct vs_whatif_query query = {.device = VS_WHATIF_DEVICE_ANY};
    struct vs_whatif_setting limited, free_of_limit;
    struct vs_whatif_outcome outcome, needed;
    char why[VS_WHATIF_WHY_MAX];
    vs_whatif_setting_init(&limited);
    const char *conf = vs_set_join(trials->changes, set, true, ",", trials->memory);
    if (!run->worst || run->trace_count > 1 || run->worst->partial ||
        vs_whatif_setting_conf(&limited, conf, why) ||
        !vs_tool_open(trials->job->fit.who, run->worst->path, &reader))
        return NULL;
    bool read = !vs_whatif_open(reader, &query, &log);
    vs_reader_close(reader);
    read = read && vs_whatif_recorded(log)->requests == VS_WHATIF_FRAMEWORK;
    if (read) {
        free_of_limit = limited;
        limited.capacity = total_bytes;
        free_of_limit.capacity = VS_WHATIF_NONE;
        vs_whatif_run(log, &limited, &outcome);
        vs_whatif_run(log, &free_of_limit, &needed);
        read = !outcome.err && !needed.err && needed.survives;
    }
    vs_whatif_close(log);
    if (!read)
        return NULL;
    struct vs_trial *trial = vs_trial_of(trials, set, gpu, true);
    const struct vs_whatif_outcome *shown = outcome.survives ? &outcome : &needed;
    trial->done = trial->replayed = true;
    trial->fits = outcome.survives;
    trial->peak = of->peak;
    trial->reserved = shown->reserved_peak;
    trial->used = shown->used_peak;
    trial->shown = of;
    mark_changes(trials, trial);
    return trial;
}

void vs_trials_free(struct vs_trials *trials)
{
    for (size_t i = 0; i < trials->count; i++) {
        struct vs_trial *trial = trials->items[i];
        vs_fit_run_clear(&trial->run);
        free(trial);
    }
    free(trials->items);
}
