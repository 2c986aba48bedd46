/* SPDX-License-Identifier: Apache-2.0
 *
 * Links children to their parents; process_tree_sum.c computes the sums. */
#include "analysis/processes/process_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define LOOK_EVENTS 4096u /* the `process` event is among the first */
/* the kernel reports start times in steps of 10 ms, and a child may be scheduled late */
#define FORK_SLACK_NS UINT64_C(20000000)
#define FOREBEARS_MAX 64u

static enum vs_err look_into(struct vs_tree *tree, struct vs_tree_member *m,
                             const char *path, char *why)
{
    struct vs_reader *reader;
    struct vs_event event;
    *m = (struct vs_tree_member){.program = "?", .host = "", .boot = "", .lineage = "", .run_name = "", .device = VS_TREE_NONE};
    m->path = vs_xarena_text(&tree->arena, path);
    enum vs_err err = vs_reader_open(path, &reader, why);
    if (err)
        return err;
    bool head = true; /* the options follow the process */
    for (unsigned i = 0; !err && i < LOOK_EVENTS && head; i++) {
        err = vs_reader_next(reader, &event);
        if (!err && i == 0)
            m->start_ns = event.time_ns;
        if (!err && event.kind == VS_EVENT_process) {
            const struct vs_event_process *process = &event.process;
            m->has_process = true;
            m->pid = process->pid;
            m->ppid = process->ppid;
            m->born_ns = process->born_ns;
            m->start_ns = process->start_ns;
            m->start_realtime_ns = process->start_realtime_ns;
            m->program = vs_xarena_text(
                &tree->arena, vs_text_base_name(vs_reader_string(reader, process->exe)));
            m->host = vs_xarena_text(&tree->arena, vs_reader_string(reader, process->host));
            m->boot = vs_xarena_text(&tree->arena, vs_reader_string(reader, process->boot));
            m->lineage = vs_xarena_text(&tree->arena, vs_reader_string(reader, process->lineage));
        } else if (!err && event.kind == VS_EVENT_option) {
            const char *name = vs_reader_string(reader, event.option.name);
            const char *value = vs_reader_string(reader, event.option.value);
            vs_job_rank_option(&m->job, name, value);
            if (strcmp(name, "RUN") == 0)
                m->run_name = vs_xarena_text(&tree->arena, value);
        } else
            head = !m->has_process;
    }
    vs_reader_close(reader);
    return err == VS_ERR_END ? VS_OK : err;
}

/* --- links --- */

struct forebear {
    uint64_t pid, ns;
    bool forked; /* ns is the time of a fork, not of a process start */
};

/* Orders by start of the process, then by start of the trace. */
static bool is_before(const struct vs_tree_member *a, const struct vs_tree_member *b)
{
    if (a->born_ns != b->born_ns)
        return a->born_ns < b->born_ns;
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a < b;
}

static bool same_boot(const struct vs_tree_member *a, const struct vs_tree_member *b)
{
    return *a->boot ? strcmp(a->boot, b->boot) == 0 : !*b->boot && strcmp(a->host, b->host) == 0;
}

static bool same_process(const struct vs_tree_member *a, const struct vs_tree_member *b)
{
    return a->born_ns && a->born_ns == b->born_ns && a->pid == b->pid && same_boot(a, b);
}

static bool comes_from(const struct vs_tree_member *members, const struct vs_tree_member *c,
                       const struct vs_tree_member *m)
{
    while (c != m && c->parent != VS_TREE_NONE)
        c = &members[c->parent];
    return c == m;
}

/* The trace of ancestor *f* that *m* comes from: of several processes with that pid the one started
 * last, of several programs the one that was running before *m* began. A parent started no later; in
 * one tick of the kernel's clock both may start, and then the child's trace may well begin first.
 * Links never form a cycle, whatever the traces contain. */
static uint32_t find_forebear(const struct vs_tree_member *members, size_t count,
                              const struct vs_tree_member *m, const struct forebear *f)
{
    const struct vs_tree_member *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct vs_tree_member *c = &members[i];
        bool is_it = c->born_ns && c->pid == f->pid &&
                     (f->forked ? c->born_ns <= f->ns + FORK_SLACK_NS : c->born_ns == f->ns);
        if (c == m || !is_it || !same_boot(c, m) || same_process(c, m) || c->born_ns > m->born_ns ||
            comes_from(members, c, m))
            continue;
        if (!best || c->born_ns > best->born_ns ||
            (c->born_ns == best->born_ns && c->start_ns <= m->start_ns))
            best = c;
    }
    return best ? (uint32_t)(best - members) : VS_TREE_NONE;
}

static void link_to_earlier_image(struct vs_tree_member *members, size_t count,
                                  struct vs_tree_member *m)
{
    for (size_t i = 0; i < count; i++) {
        const struct vs_tree_member *c = &members[i];
        if (c == m || !same_process(c, m) || !is_before(c, m))
            continue;
        if (m->parent == VS_TREE_NONE || is_before(&members[m->parent], c))
            m->parent = (uint32_t)i;
        m->link = VS_TREE_EXEC;
    }
}

static void link_by_lineage(struct vs_tree_member *members, size_t count,
                            struct vs_tree_member *m)
{
    struct forebear forebears[FOREBEARS_MAX];
    size_t known = 0, place = 0;
    for (const char *text = m->lineage; known < FOREBEARS_MAX && *text; text++) {
        char *end;
        forebears[known].pid = strtoull(text, &end, 10);
        if (end == text || (*end != '@' && *end != ':'))
            break;
        forebears[known].forked = *end == '@';
        text = end + 1;
        forebears[known++].ns = strtoull(text, &end, 10);
        if (*end != ' ')
            break;
        text = end;
    }
    for (size_t i = 0; i < known; i++) {
        struct forebear f = forebears[i];
        /* a fork is identified by pid and time; a parent that is still running, by its start
         * time */
        for (size_t j = i + 1; f.forked && j < known; j++) {
            if (!forebears[j].forked && forebears[j].pid == f.pid)
                f = forebears[j];
        }
        place = i && forebears[i].forked != forebears[i - 1].forked ? 0 : place;
        m->parent = find_forebear(members, count, m, &f);
        if (m->parent != VS_TREE_NONE) {
            m->link = place ? VS_TREE_BELOW : forebears[i].forked ? VS_TREE_FORK : VS_TREE_CHILD;
            return;
        }
        place++;
    }
}

/* Links a trace that has only the parent's pid. */
static void link_by_number(struct vs_tree_member *members, size_t count,
                           struct vs_tree_member *m)
{
    for (size_t i = 0; i < count; i++) {
        const struct vs_tree_member *c = &members[i];
        if (c == m || c->pid != m->ppid || strcmp(c->host, m->host) != 0 || !is_before(c, m) ||
            comes_from(members, c, m))
            continue;
        m->parent = (uint32_t)i;
        m->link = VS_TREE_LIKELY;
    }
}

void vs_tree_link_up(struct vs_tree_member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct vs_tree_member *m = &members[i];
        m->parent = VS_TREE_NONE;
        m->link = VS_TREE_ROOT;
        if (m->has_process)
            link_to_earlier_image(members, count, m);
    }
    for (size_t i = 0; i < count; i++) {
        struct vs_tree_member *m = &members[i];
        if (!m->has_process || m->link == VS_TREE_EXEC)
            continue;
        if (*m->lineage)
            link_by_lineage(members, count, m);
        else if (m->ppid > 1)
            link_by_number(members, count, m);
    }
}

/* --- runs --- */

/* Whether the run with number *run* has this rank, or one of another job. */
static bool has_rank(const struct vs_tree_member *members, size_t count, unsigned run,
                     const struct vs_job_rank *job)
{
    bool has = false;
    for (size_t i = 0; i < count; i++)
        has |= members[i].run == run && (!members[i].job.has_rank || members[i].job.rank == job->rank ||
                                         members[i].job.world_size != job->world_size);
    return has;
}

/* Puts each member into its run: those of one `vramscope run`, those started by each other, and ranks of
 * one job that were recorded one by one. Returns the number of runs. */
static unsigned split(struct vs_tree_member *members, size_t count)
{
    unsigned runs = 0;
    for (size_t i = 0; i < count; i++) {
        struct vs_tree_member *m = &members[i];
        unsigned found = runs;
        for (size_t j = 0; j < i && found == runs; j++) {
            const struct vs_tree_member *c = &members[j];
            bool together = m->parent == j || strcmp(c->run_name, m->run_name) == 0;
            if (together || (vs_job_rank_several(&m->job) && !has_rank(members, i, c->run, &m->job)))
                found = c->run;
        }
        m->run = found;
        runs += found == runs;
    }
    return runs;
}

/* --- creation and end --- */

/* The tree without its sums. */
static enum vs_err look_at(const char *const *paths, size_t count, struct vs_tree **out, char *why)
{
    struct vs_tree *tree = vs_xcalloc(1, sizeof *tree);
    enum vs_err err = VS_OK;
    tree->members = vs_xarena(&tree->arena, count * sizeof *tree->members);
    tree->gpus = vs_xarena(&tree->arena, VS_TREE_GPUS_MAX * sizeof *tree->gpus);
    for (size_t i = 0; !err && i < count; i++, tree->count++)
        err = look_into(tree, &tree->members[i], paths[i], why);
    if (!err) {
        VS_SORT(tree->members, count, VS_UP(born_ns), VS_UP(start_ns), VS_UP(path));
        vs_tree_link_up(tree->members, count);
        tree->runs = split(tree->members, count);
    }
    if (err)
        vs_tree_free(tree);
    else
        *out = tree;
    return err;
}

enum vs_err vs_tree_build(const char *const *paths, size_t count, const struct vs_tree_time *at,
                          struct vs_tree **out, char *why)
{
    struct vs_tree *tree;
    enum vs_err err = look_at(paths, count, &tree, why);
    if (err)
        return err;
    err = vs_tree_sum(tree, at, why);
    if (err)
        vs_tree_free(tree);
    else
        *out = tree;
    return err;
}

enum vs_err vs_tree_runs(const char *const *paths, size_t count, unsigned *run, unsigned *runs, char *why)
{
    struct vs_tree *tree;
    enum vs_err err = look_at(paths, count, &tree, why);
    if (err)
        return err;
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < count; m++)
            if (strcmp(tree->members[m].path, paths[i]) == 0)
                run[i] = tree->members[m].run;
    *runs = tree->runs;
    vs_tree_free(tree);
    return VS_OK;
}

uint64_t vs_tree_total(const struct vs_tree *tree, const struct vs_tree_gpu *gpu, uint32_t except)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        if (i != except)
            sum += gpu->held[i].reserved + gpu->held[i].contexts;
    return sum;
}

void vs_tree_free(struct vs_tree *tree)
{
    if (!tree)
        return;
    vs_arena_free_all(&tree->arena);
    free(tree);
}
