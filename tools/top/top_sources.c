/* SPDX-License-Identifier: Apache-2.0
 *
 * The watched traces and the model of the view. When a process has ended, its trace is closed and its
 * row keeps the last figures; of the processes that were found, the latest ENDED_MAX that ended stay.
 * A trace that cannot be read stays with the reason and is tried again, except one that was deleted
 * before it was read. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "tools/top/top_command.h"
#include "trace/read/reader.h"

#define SEARCH_NS UINT64_C(2000000000) /* between two searches for new processes */
#define ENDED_MAX 100u

/* The view of a trace that has not been read. */
static struct vs_watch_view unread(const char *path)
{
    return (struct vs_watch_view){.exe = "", .cmdline = "", .path = path, .running = true};
}

/* The view's texts and histories are the watch's, the names those of its call sites. */
static void close_source(struct vs_top_source *source, struct vs_top_process *process)
{
    vs_watch_close(source->watch);
    source->watch = NULL;
    source->ended = false;
    vs_top_names_free(&source->names);
    vs_watch_view_free(&process->view);
    process->view = unread(source->path);
}

void vs_top_sources_add(struct vs_top_sources *sources, const char *path, uint64_t pid)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct vs_top_source *s = &sources->items[i];
        if (strcmp(s->path, path) != 0 || (pid && s->pid && s->pid != pid))
            continue;
        if (s->ended && pid) /* the process records again, to the same path */
            close_source(s, &sources->model.processes[i]);
        return;
    }
    if (sources->count >= sources->capacity) {
        sources->capacity = sources->capacity ? 2 * sources->capacity : 16;
        sources->items = vs_xrealloc(sources->items, sources->capacity, sizeof *sources->items);
        sources->model.processes = vs_xrealloc(sources->model.processes, sources->capacity,
                                               sizeof *sources->model.processes);
    }
    char *copy = vs_xstrdup(path);
    sources->items[sources->count] = (struct vs_top_source){.path = copy, .pid = pid};
    sources->model.processes[sources->count++] = (struct vs_top_process){
        .pid = pid, .view = unread(copy)};
    sources->model.count = sources->count;
}

void vs_top_sources_search(struct vs_top_sources *sources)
{
    struct vs_top_finds finds = {0};
    uint64_t now = vs_clock_ns();
    if ((!sources->search && !sources->pid_count) ||
        (sources->searched_ns && now - sources->searched_ns < SEARCH_NS))
        return;
    sources->searched_ns = now;
    *sources->why = 0;
    if (sources->search)
        vs_top_find_all(&finds);
    for (size_t i = 0; i < sources->pid_count; i++) {
        char one[VS_READER_WHY_MAX];
        enum vs_err err = vs_top_find_pid(sources->pids[i], &finds, one);
        if (err && !*sources->why) {
            memcpy(sources->why, one, sizeof one);
            sources->may_come = err == VS_ERR_STATE;
        }
    }
    for (size_t i = 0; i < finds.count; i++)
        vs_top_sources_add(sources, finds.items[i].path, finds.items[i].pid);
    vs_top_finds_free(&finds);
}

/* --- reading --- */

static void fill_source(struct vs_top_source *source, struct vs_top_process *process, bool exact,
                        bool wait)
{
    if (!source->watch)
        return;
    vs_watch_fill(source->watch, exact || vs_watch_ended(source->watch), &process->view);
    for (size_t i = 0; i < process->view.device_count && process->view.running; i++)
        vs_top_utilisation(&process->view.devices[i]);
    vs_top_names_fill(&source->names, source->watch, &process->view, wait);
    process->pid = source->pid && source->pid != VS_RECORDED_ELSEWHERE ? source->pid
                                                                       : process->view.pid;
    /* names of call sites may still be looked up */
    if (!vs_watch_ended(source->watch) || source->names.child)
        return;
    vs_watch_view_keep(&process->view);
    vs_watch_close(source->watch);
    source->watch = NULL;
    source->ended = true;
}

/* --- rows that go --- */

bool vs_top_sources_read(struct vs_top_sources *sources, uint64_t until_ns, bool exact, bool wait)
{
    bool behind = false;
    for (size_t i = 0; i < sources->count; i++) {
        struct vs_top_source *source = &sources->items[i];
        struct vs_top_process *process = &sources->model.processes[i];
        /* each has its share of the time that is left */
        uint64_t now = vs_clock_ns(), left = until_ns > now ? until_ns - now : 0;
        if (until_ns && !source->ended) {
            enum vs_err err = VS_OK;
            if (!source->watch) {
                err = vs_watch_open(source->path, &source->watch, source->why);
                if (err)
                    source->watch = NULL;
                else
                    *source->why = 0;
            }
            if (!err)
                err = vs_watch_read(source->watch, now + left / (sources->count - i));
            if (err && source->watch) /* it is opened again the next time */
                close_source(source, process);
            if (err && !*source->why)
                strcpy(source->why, vs_err_text(err));
        }
        behind |= source->watch && !vs_watch_complete(source->watch);
        fill_source(source, process, exact, wait);
    }
    size_t ended = 0;
    for (size_t i = sources->count; i--;) { /* the oldest come first in the list */
        const struct vs_top_source *source = &sources->items[i];
        ended += source->pid && source->ended;
        if ((sources->search && !source->watch && !source->ended && access(source->path, F_OK)) ||
            (source->pid && source->ended && ended > ENDED_MAX)) {
            struct vs_top_model *model = &sources->model;
            close_source(&sources->items[i], &model->processes[i]);
            free(sources->items[i].path);
            sources->count = --model->count;
            size_t after = sources->count - i;
            memmove(&sources->items[i], &sources->items[i + 1], after * sizeof *sources->items);
            memmove(&model->processes[i], &model->processes[i + 1],
                    after * sizeof *model->processes);
            for (size_t row = 0; row < model->row_count; row++) { /* the selected one stays selected */
                uint32_t *process = &model->rows[row].process;
                *process = *process == i ? UINT32_MAX : *process - (*process > i);
            }
        }
    }
    for (size_t i = 0; i < sources->count; i++)
        sources->model.processes[i].error = *sources->items[i].why ? sources->items[i].why : NULL;
    vs_top_sort_rows(&sources->model);
    return behind;
}

void vs_top_sources_free(struct vs_top_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        close_source(&sources->items[i], &sources->model.processes[i]);
        free(sources->items[i].path);
    }
    free(sources->items);
    free(sources->model.processes);
}
