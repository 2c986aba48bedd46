/* SPDX-License-Identifier: Apache-2.0
 *
 * The device shown is the one that decides: the first that failed, otherwise the
 * one with the least headroom. On the simulated GPU every process has the whole device to itself,
 * so the use of processes that share one is added up here, as it was at each time. */
#include "analysis/fit/fit_answer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/processes/process_tree.h"
#include "analysis/report/summary.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "trace/read/reader.h"

#define NOT_STARTED_MIN 125 /* exit statuses of `run` for a program that it could not start */
#define NOT_STARTED_MAX 127

static bool same_device(const struct vs_fit_device *a, const struct vs_fit_device *b)
{
    return *a->uuid && strcmp(a->uuid, b->uuid) == 0;
}

/* Counts the processes on *device*, and sums what each used beyond its allocations; *time_ns*: only
 * of those that were running then, 0: of all. */
static unsigned users_of(const struct vs_fit_run *run, const struct vs_fit_device *device,
                         uint64_t time_ns, uint64_t *outside)
{
    unsigned users = 0;
    *outside = 0;
    for (size_t t = 0; t < run->trace_count; t++) {
        const struct vs_fit_trace *trace = run->traces[t];
        bool running = !time_ns || (trace->start_ns <= time_ns && time_ns <= trace->end_ns);
        for (size_t d = 0; running && d < trace->device_count; d++) {
            if (&trace->devices[d] != device && !same_device(&trace->devices[d], device))
                continue;
            *outside += trace->devices[d].outside;
            users++;
        }
    }
    return users;
}

/* When the peak of *gpu* was, in the traces' clock: the tree counts from the first of them. */
static uint64_t peak_time(const struct vs_tree *tree, const struct vs_tree_gpu *gpu)
{
    uint64_t first = tree->members[0].start_ns;
    for (size_t m = 1; m < tree->count; m++)
        first = tree->members[m].start_ns < first ? tree->members[m].start_ns : first;
    return first + gpu->peak_reserved_ns;
}

/* The highest use of *device* over all processes; *users*: how many they were at that time. */
static uint64_t used_of(const struct vs_fit_run *run, const struct vs_fit_device *device,
                        const struct vs_tree *tree, unsigned *users)
{
    uint64_t outside;
    bool shared = users_of(run, device, 0, &outside) > 1;
    *users = 1;
    for (size_t g = 0; shared && tree && g < tree->gpu_count; g++) {
        const struct vs_tree_gpu *gpu = &tree->gpus[g];
        if (strcmp(gpu->uuid, device->uuid) != 0)
            continue;
        *users = users_of(run, device, peak_time(tree, gpu), &outside);
        uint64_t together = gpu->peak_reserved + outside;
        return together > device->used_peak ? together : device->used_peak;
    }
    return device->used_peak;
}

struct fit_candidate {
    const struct vs_fit_trace *trace;
    const struct vs_fit_device *device;
    unsigned users;
    uint64_t used;
    unsigned rank; /* of the answer: 3 out of memory, 2 too much together, 1 another error, 0 none */
};

static bool decides(const struct fit_candidate *a, const struct fit_candidate *b)
{
    if (!b->device || a->rank != b->rank)
        return !b->device || a->rank > b->rank;
    if (a->rank == 3) /* what fails later may have been ended by it */
        return a->device->failure.time_ns < b->device->failure.time_ns;
    return a->device->total_bytes - a->used < b->device->total_bytes - b->used;
}

static void say_too_much(struct vs_fit_run *run)
{
    char need[VS_SIZE_TEXT_MAX];
    snprintf(run->why, sizeof run->why, "%u processes need %s together, %s short", run->sharing,
             vs_size_format(need, run->used_peak),
             vs_size_text(run->used_peak - run->worst_device->total_bytes));
}

/* Why there is no answer. */
static void say_why(struct vs_fit_run *run)
{
    if (!run->started || (!run->trace_count && run->status >= NOT_STARTED_MIN &&
                          run->status <= NOT_STARTED_MAX))
        snprintf(run->why, sizeof run->why, "the program could not be started");
    else if (run->host_needed) {
        char needed[VS_SIZE_TEXT_MAX], left[VS_SIZE_TEXT_MAX];
        vs_size_format(needed, run->host_needed);
        vs_size_format(left, run->host_free);
        snprintf(run->why, sizeof run->why, "stopped at %s of host memory: %s%s", needed,
                 run->host_free ? left : "more than --host-memory",
                 run->host_free ? " were free. Use fewer --jobs or a host with more memory" : "");
    } else if (run->status > 128 && run->status <= 128 + SIGRTMAX) /* 245: exit(-11) of a launcher */
        snprintf(run->why, sizeof run->why, "killed by signal %d (%s)", run->status - 128,
                 strsignal(run->status - 128));
    else if (run->status)
        snprintf(run->why, sizeof run->why, "the program failed with exit status %d", run->status);
    else
        snprintf(run->why, sizeof run->why, "the program used no memory of the GPU");
}

/* Whether sizes that were assumed, and may be wrong, decided. */
static bool depends_on_assumed(const struct vs_fit_run *run)
{
    if (run->answer == VS_FIT_YES)
        return vs_fit_headroom(run) < run->assumed.margin;
    uint64_t lacks = run->answer == VS_FIT_NO ? vs_fit_lacks(run) : 0;
    return lacks && lacks <= run->assumed.bytes;
}

enum vs_err vs_fit_decide(struct vs_fit_run *run)
{
    struct vs_tree *tree = NULL;
    if (run->trace_count > 1) {
        char why[VS_READER_WHY_MAX];
        const char **paths = vs_xcalloc(run->trace_count + 1, sizeof *paths);
        for (size_t t = 0; t < run->trace_count; t++)
            paths[t] = run->traces[t]->path;
        enum vs_err err = vs_tree_build(paths, run->trace_count, NULL, &tree, why);
        free(paths);
        if (err)
            return err;
    }
    struct fit_candidate best = {0};
    for (size_t t = 0; t < run->trace_count; t++) {
        const struct vs_fit_trace *trace = run->traces[t];
        for (size_t d = 0; d < trace->device_count; d++) {
            const struct vs_fit_device *device = &trace->devices[d];
            struct fit_candidate one = {.trace = trace, .device = device};
            one.used = used_of(run, device, tree, &one.users);
            one.rank = device->failure.requested && !device->failure.other_error ? 3
                       : device->total_bytes && one.used > device->total_bytes   ? 2
                       : device->failure.requested                               ? 1
                                                                                 : 0;
            run->recovered += device->recovered;
            run->retries += device->retries;
            if (decides(&one, &best))
                best = one;
        }
    }
    run->worst = best.trace;
    run->worst_device = best.device;
    run->sharing = best.users;
    run->used_peak = best.used;
    unsigned rank = best.rank;
    vs_tree_free(tree);
    if (rank == 3 || rank == 2)
        run->answer = VS_FIT_NO;
    else if ((run->status == 0 || run->stopped) && run->started && run->worst)
        run->answer = VS_FIT_YES;
    if (rank == 2)
        say_too_much(run);
    else if (run->answer == VS_FIT_UNKNOWN)
        say_why(run);
    vs_fit_assumed_sum(&run->notes, &run->assumed);
    run->if_assumed = depends_on_assumed(run);
    const struct vs_fit_note_list *decided = &run->notes.lists[VS_FIT_DECIDED];
    for (size_t i = 0; i < decided->count && !run->if_no_more; i++)
        if (strstr(decided->items[i].text, ", at most ")) /* python/vramscope/values/blame.py */
            run->if_no_more = &decided->items[i];
    return VS_OK;
}

const struct vs_fit_run *vs_fit_set_largest(const struct vs_fit_set *set, const char *gpu)
{
    const struct vs_fit_run *largest = NULL;
    for (size_t i = 0; i < set->count; i++)
        if (set->runs[i].answer == VS_FIT_YES && strcmp(set->runs[i].gpu, gpu) == 0)
            largest = &set->runs[i];
    return largest;
}

const struct vs_fit_run *vs_fit_set_first(const struct vs_fit_set *set, const char *gpu)
{
    size_t i = 0;
    while (strcmp(set->runs[i].gpu, gpu) != 0)
        i++;
    return &set->runs[i];
}

enum vs_fit_answer vs_fit_set_answer(const struct vs_fit_set *set, const char *gpu)
{
    enum vs_fit_answer answer = VS_FIT_YES;
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_fit_run *run = &set->runs[i];
        if (gpu && strcmp(run->gpu, gpu) != 0)
            continue;
        if (set->ranks && run->answer == VS_FIT_NO) /* a job fits if each of its ranks does */
            return VS_FIT_NO;
        if (run->answer == VS_FIT_UNKNOWN)
            return VS_FIT_UNKNOWN;
        if (!vs_fit_set_largest(set, run->gpu))
            answer = VS_FIT_NO;
    }
    return set->count ? answer : VS_FIT_UNKNOWN;
}

uint64_t vs_fit_headroom(const struct vs_fit_run *run)
{
    if (!run->worst_device || run->worst_device->total_bytes < run->used_peak)
        return 0;
    return run->worst_device->total_bytes - run->used_peak;
}

bool vs_fit_takes_share(const struct vs_fit_run *whole)
{
    return whole->worst_device && whole->used_peak > whole->worst_device->total_bytes / 8 * 3;
}

void vs_fit_set_needed(struct vs_fit_run *run, const struct vs_fit_run *whole)
{
    if (whole->answer != VS_FIT_YES || whole->used_peak <= run->worst_device->total_bytes ||
        vs_fit_takes_share(whole))
        return; /* what fails then is not the sum */
    /* What let one request fit is no remedy where a perfect allocator would need more than there is. */
    const struct vs_fit_device *device = whole->worst_device;
    uint64_t unused = device->tensors && device->peak_reserved > device->peak_allocated
                          ? device->peak_reserved - device->peak_allocated : 0;
    const char *kind = run->remedy.text ? run->remedy.kind : "";
    if (strcmp(kind, "bigger_device") == 0 ||
        (strcmp(kind, "policy") == 0 && whole->used_peak - unused > run->worst_device->total_bytes)) {
        free(run->remedy.text);
        run->remedy.text = NULL;
    }
    run->needed = whole->used_peak;
    run->needed_steps = whole->stopped ? whole->worst->steps : 0;
    run->if_assumed = depends_on_assumed(run);
}

uint64_t vs_fit_lacks(const struct vs_fit_run *run)
{
    if (run->needed)
        return run->needed - run->worst_device->total_bytes;
    return *run->why ? run->used_peak - run->worst_device->total_bytes
                     : run->worst_device->failure.missing;
}

void vs_fit_run_clear(struct vs_fit_run *run)
{
    for (size_t i = 0; i < run->trace_count; i++)
        vs_fit_trace_free(run->traces[i]);
    free(run->traces);
    free(run->errors);
    free(run->rank);
    free(run->remedy.text);
    vs_fit_notes_free(&run->notes);
    run->traces = NULL;
    run->errors = run->rank = run->remedy.text = NULL;
    run->trace_count = run->trace_capacity = 0;
}

/* The file is small: one line per fact and process. */

enum fit_note_field { KIND, PID, LIBRARY, NAME, BYTES, TEXT, FIELDS };

/* Of the bytes so far: the largest counts. */
static bool is_sum(const char *name) { return strcmp(name, "modules") == 0; }

static void add_note(struct vs_fit_notes *notes, enum vs_fit_note_kind kind,
                     const char *const fields[FIELDS])
{
    struct vs_fit_note_list *list = &notes->lists[kind];
    bool use = kind == VS_FIT_DECIDED || kind == VS_FIT_READ || kind == VS_FIT_CHANGED ||
               kind == VS_FIT_UNANSWERED;
    uint64_t number = strtoull(fields[BYTES], NULL, 10);
    uint64_t bytes = use ? 0 : number, count = use && number ? number : 1;
    bool sum = is_sum(fields[NAME]);
    /* Of one place in a program, values may differ. */
    char *fact = vs_xprintf("%s\t%s\t%s\t%llu", fields[LIBRARY], fields[NAME], use ? "" : fields[TEXT],
                            sum ? 0 : (unsigned long long)bytes);
    uint32_t index = vs_intern_text(&list->facts, fact);
    struct vs_fit_note *known = index < list->count ? &list->items[index] : NULL;
    free(fact);
    if (known && sum) {
        known->bytes = bytes > known->bytes ? bytes : known->bytes;
        return;
    }
    if (known) {
        known->count += count;
        known->varied |= strcmp(known->text, fields[TEXT]) != 0;
        return;
    }
    VS_VEC_ADD(list->items, list->count, list->capacity,
               (struct vs_fit_note){.library = vs_text_copy(&notes->memory, fields[LIBRARY]),
                                    .name = vs_text_copy(&notes->memory, fields[NAME]),
                                    .text = vs_text_copy(&notes->memory, fields[TEXT]),
                                    .bytes = bytes, .count = count});
}

/* "computed=12 skipped=3 failed=0" */
void vs_fit_notes_add_read(struct vs_fit_notes *notes, const char *where, const char *text,
                           uint64_t count)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)count);
    notes->read += count;
    add_note(notes, VS_FIT_READ, (const char *const[FIELDS]){[LIBRARY] = "", [NAME] = where,
             [BYTES] = number, [TEXT] = text});
}

static void add_values(struct vs_fit_notes *notes, const char *text)
{
    static const char *const names[] = {"computed=", "skipped=", "failed=", "read=", "decided=",
                                        "host="};
    uint64_t *const counts[] = {&notes->computed, &notes->skipped, &notes->failed, &notes->read,
                                &notes->decided, &notes->not_drawn};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *found = strstr(text, names[i]);
        if (found)
            *counts[i] += strtoull(found + strlen(names[i]), NULL, 10);
    }
}

static void read_line(struct vs_fit_notes *notes, char *line)
{
    static const char *const kinds[VS_FIT_NOTE_KINDS] = {"assumed", "unsupported", "decided", "read",
                                                         "measured", "replaced", "changed", "unchanged",
                                                         "unanswered", "ranks"};
    char *fields[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        char *end = i + 1 < FIELDS ? strchr(line, '\t') : line + strcspn(line, "\n");
        if (!end)
            return;
        *end = 0;
        line = end + 1;
    }
    if (strcmp(fields[KIND], "values") == 0)
        add_values(notes, fields[TEXT]);
    for (int kind = 0; kind < VS_FIT_NOTE_KINDS; kind++)
        if (strcmp(fields[KIND], kinds[kind]) == 0) {
            add_note(notes, (enum vs_fit_note_kind)kind, (const char *const *)fields);
            return;
        }
}

enum vs_err vs_fit_notes_read(const char *path, struct vs_fit_notes *notes)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return VS_ERR_IO;
    while (getline(&line, &capacity, file) > 0)
        read_line(notes, line);
    free(line);
    fclose(file);
    return VS_OK;
}

#define MARGIN_MIN (32 * VS_MIB)

uint64_t vs_fit_note_margin(const struct vs_fit_note *note)
{
    return note->bytes > MARGIN_MIN ? note->bytes : MARGIN_MIN;
}

bool vs_fit_note_lasts(const struct vs_fit_note *note)
{
    static const char *const names[] = {"context", "handle", "module", "communicator", "connections"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(note->name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool same_size(const struct vs_fit_note *a, const struct vs_fit_note *b)
{
    return strcmp(a->library, b->library) == 0 && strcmp(a->name, b->name) == 0;
}

void vs_fit_assumed_sum(const struct vs_fit_notes *notes, struct vs_fit_assumed *out)
{
    const struct vs_fit_note_list *list = &notes->lists[VS_FIT_ASSUMED];
    const struct vs_fit_note *workspace = NULL;
    *out = (struct vs_fit_assumed){.count = list->count};
    for (size_t i = 0; i < list->count; i++) {
        const struct vs_fit_note *note = &list->items[i];
        bool largest = vs_fit_note_lasts(note);
        if (!largest && (!workspace || note->bytes > workspace->bytes))
            workspace = note;
        for (size_t k = 0; k < list->count && largest; k++)
            if (k != i && same_size(note, &list->items[k])) /* of equal ones the first */
                largest = list->items[k].bytes < note->bytes ||
                          (list->items[k].bytes == note->bytes && i < k);
        out->bytes += largest ? note->bytes : 0;
        out->margin += largest ? vs_fit_note_margin(note) : 0;
    }
    out->bytes += workspace ? workspace->bytes : 0;
    out->margin += workspace ? vs_fit_note_margin(workspace) : 0;
}

void vs_fit_notes_free(struct vs_fit_notes *notes)
{
    for (int kind = 0; kind < VS_FIT_NOTE_KINDS; kind++) {
        free(notes->lists[kind].items);
        vs_intern_free(&notes->lists[kind].facts);
    }
    vs_arena_free_all(&notes->memory);
    *notes = (struct vs_fit_notes){0};
}
