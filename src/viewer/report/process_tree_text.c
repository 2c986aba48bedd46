/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree is walked without recursion, with memory for one link per member: a
 * member's children are those with it as their parent, in the order of their ranks in a job, else of
 * their start. */
#include "viewer/report/answer_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "viewer/common/json_writer.h"
#include "viewer/report/report_text.h"

#define LABEL_MAX 256
#define DEPTH_SHOWN 12u
#define PROGRAM_SHOWN 24u /* columns of a program's name */
#define SHARES_SHOWN 6u

static const char *const relations[] = {
    [VS_TREE_ROOT] = "",       [VS_TREE_EXEC] = "exec ",   [VS_TREE_FORK] = "fork ",
    [VS_TREE_CHILD] = "child ", [VS_TREE_BELOW] = "below ", [VS_TREE_LIKELY] = "child? "};
static const char *const link_names[] = {
    [VS_TREE_ROOT] = "none",  [VS_TREE_EXEC] = "exec",   [VS_TREE_FORK] = "fork",
    [VS_TREE_CHILD] = "child", [VS_TREE_BELOW] = "below", [VS_TREE_LIKELY] = "likely"};

struct process_tree_text_row {
    uint32_t member;
    char label[LABEL_MAX], ending[96];
};

struct rows {
    const struct vs_tree *tree;
    struct process_tree_text_row *items;
    size_t count;
    uint32_t *next, *first; /* [member]: next sibling, first child; VS_TREE_NONE */
    uint32_t roots;
};

/* "│  ├─ fork worker (831)": a bar for each ancestor with further siblings. */
static void label(const struct rows *rows, uint32_t member, char *out)
{
    uint32_t line[DEPTH_SHOWN];
    unsigned depth = 0;
    const struct vs_tree_member *members = rows->tree->members, *m = &members[member];
    for (uint32_t i = member; i != VS_TREE_NONE && depth < DEPTH_SHOWN; i = members[i].parent)
        line[depth++] = i;
    size_t n = 0;
    char program[4 * PROGRAM_SHOWN + 4];
    out[0] = '\0';
    for (unsigned i = depth; i-- > 0;) {
        if (members[line[i]].parent == VS_TREE_NONE)
            continue;
        bool last = rows->next[line[i]] == VS_TREE_NONE;
        n += (size_t)snprintf(out + n, LABEL_MAX - n, "%s",
                              i ? (last ? "   " : "│  ") : (last ? "└─ " : "├─ "));
    }
    snprintf(out + n, LABEL_MAX - n, "%s%s%s (%" PRIu64 ")", relations[m->link],
             vs_text_clip(program, m->program, PROGRAM_SHOWN), vs_rank_text(&m->job), m->pid);
}

static void fill_rows(struct rows *rows, const struct vs_tree *tree)
{
    size_t n = tree->count;
    *rows = (struct rows){.tree = tree, .roots = VS_TREE_NONE};
    rows->items = vs_xcalloc(n + 1, sizeof *rows->items);
    rows->next = vs_xcalloc(n + 1, sizeof *rows->next);
    rows->first = vs_xcalloc(n + 1, sizeof *rows->first);
    memset(rows->first, 0xff, (n + 1) * sizeof *rows->first);
    for (size_t i = n; i-- > 0;) { /* backwards, so that lists are in order */
        uint32_t parent = tree->members[i].parent;
        uint32_t *place = parent == VS_TREE_NONE ? &rows->roots : &rows->first[parent];
        while (*place != VS_TREE_NONE &&
               vs_job_rank_before(&tree->members[*place].job, &tree->members[i].job) < 0)
            place = &rows->next[*place];
        rows->next[i] = *place;
        *place = (uint32_t)i;
    }
    /* Depth first: to the first child, else to the next sibling, else up to an ancestor that has
     * one. */
    const struct vs_tree_member *members = tree->members;
    uint32_t at = rows->roots;
    while (at != VS_TREE_NONE) {
        struct process_tree_text_row *row = &rows->items[rows->count++];
        row->member = at;
        label(rows, at, row->label);
        const struct vs_tree_member *m = &members[at];
        struct vs_report report = {
            .has_end = m->has_end, .end_reason = m->end_reason, .end_status = m->end_status,
            .condition = m->condition};
        vs_report_ending(row->ending, &report);
        if (rows->first[at] != VS_TREE_NONE) {
            at = rows->first[at];
            continue;
        }
        while (at != VS_TREE_NONE && rows->next[at] == VS_TREE_NONE)
            at = members[at].parent;
        if (at != VS_TREE_NONE)
            at = rows->next[at];
    }
}

static int wider(size_t a, const char *text)
{
    size_t b = vs_text_width(text);
    return (int)(a > b ? a : b);
}

static void put_padded(FILE *out, const char *text, int width)
{
    fprintf(out, "%s%*s", text, width - (int)vs_text_width(text), "");
}

/* Bytes of the folder that all traces are in, with its slash; 0: they are in several. */
static size_t common_folder(const struct vs_tree *tree)
{
    const char *first = tree->count ? tree->members[0].path : "", *slash = strrchr(first, '/');
    size_t length = slash ? (size_t)(slash - first) + 1 : 0;
    for (size_t i = 1; i < tree->count; i++) {
        const char *path = tree->members[i].path;
        if (strncmp(path, first, length) != 0 || strchr(path + length, '/'))
            return 0;
    }
    return length;
}

/* Whether the processes are the ranks of one job, each with a device of its own or not. */
static bool of_a_job(const struct vs_tree *tree)
{
    bool job = tree->count > 1;
    for (size_t i = 0; i < tree->count; i++)
        job &= vs_job_rank_several(&tree->members[i].job);
    return job;
}

struct process_tree_text_share {
    uint64_t bytes;
    uint32_t member;
};

static void put_gpus(const struct vs_tree *tree, const struct vs_style *style)
{
    FILE *out = style->out;
    struct process_tree_text_share *shares = vs_xcalloc(tree->count + 1, sizeof *shares);
    for (size_t i = 0; i < tree->gpu_count; i++) {
        const struct vs_tree_gpu *gpu = &tree->gpus[i];
        if (gpu->users < 2 && of_a_job(tree)) /* the table has its figures */
            continue;
        fprintf(out, "  %sall processes on ", vs_paint(style, VS_BOLD));
        if (tree->gpu_count > 1)
            fprintf(out, "GPU %" PRIu64 ", ", gpu->number);
        vs_text_put(out, *gpu->name ? gpu->name : "a device");
        fprintf(out, "%s (%u process%s)\n", vs_unpaint(style), gpu->users,
                gpu->users == 1 ? "" : "es");
        vs_text_lines(style, "    ", "peak %s allocated, %s after the start",
                      vs_size_text(gpu->peak_allocated), vs_time_text(gpu->peak_allocated_ns));
        char text[1024] = "";
        size_t n = 0, count = 0;
        for (uint32_t j = 0; j < tree->count; j++)
            if (gpu->shares[j])
                shares[count++] = (struct process_tree_text_share){gpu->shares[j], j};
        VS_SORT(shares, count, VS_DOWN(bytes), VS_UP(member));
        for (size_t j = 0; j < count && j < SHARES_SHOWN; j++) {
            char program[4 * 60 + 4];
            const struct vs_tree_member *m = &tree->members[shares[j].member];
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s%s (%" PRIu64 ")",
                                  j ? ", " : "", vs_size_text(shares[j].bytes),
                                  vs_text_clip(program, m->program, PROGRAM_SHOWN),
                                  vs_rank_text(&m->job), m->pid);
        }
        if (count > SHARES_SHOWN)
            snprintf(text + n, sizeof text - n, ", and %zu more", count - SHARES_SHOWN);
        if (count)
            vs_text_wrapped(style, "    ", text);
        vs_text_lines(style, "    ", "peak %s reserved, %s after the start",
                      vs_size_text(gpu->peak_reserved), vs_time_text(gpu->peak_reserved_ns));
        if (gpu->total_bytes && gpu->peak_reserved > gpu->total_bytes)
            vs_text_lines(style, "    ", "more than its %s: %s", vs_size_text(gpu->total_bytes),
                          gpu->simulated
                              ? "on the simulated GPU each process has a device of its own"
                              : "the processes did not run at the same time, or their clocks differ");
    }
    free(shares);
}

/* A line for each process: its place in the tree and its peaks; of ranks also the device memory that
 * they need. */
static void put_members(const struct rows *rows, bool ranks, const struct vs_style *style)
{
    const struct vs_tree *tree = rows->tree;
    FILE *out = style->out;
    size_t folder = common_folder(tree);
    bool tensors = false;
    int width = 7, end = 3;
    for (size_t i = 0; i < rows->count; i++) {
        tensors |= tree->members[rows->items[i].member].has_tensors;
        width = wider((size_t)width, rows->items[i].label);
        end = wider((size_t)end, rows->items[i].ending);
    }
    if (folder) {
        fprintf(out, "  traces in ");
        vs_text_put_part(out, tree->members[0].path, folder);
        fputs("\n\n", out);
    }
    if (ranks)
        fprintf(out, "%s  rank  GPU  %10s  %10s  %11s  %10s", vs_paint(style, VS_DIM),
                tensors ? "tensors" : "allocated", "reserved", "device used", "headroom");
    else
        fprintf(out, "%s  %-*s  %10s  %10s", vs_paint(style, VS_DIM), width, "process", "allocated",
                "reserved");
    fprintf(out, "  %-*s  trace%s\n", end, "end", vs_unpaint(style));
    for (size_t i = 0; i < rows->count; i++) {
        const struct process_tree_text_row *row = &rows->items[i];
        const struct vs_tree_member *m = &tree->members[row->member];
        uint64_t used = m->device_used, total = m->device_total;
        if (ranks) {
            char rank[24] = "-", gpu[24] = "-";
            if (m->job.has_rank)
                snprintf(rank, sizeof rank, "%" PRIu64, m->job.rank);
            if (m->device != VS_TREE_NONE)
                snprintf(gpu, sizeof gpu, "%" PRIu64, m->device);
            fprintf(out, "  %4s  %3s  %10s  %10s  %11s  %10s", rank, gpu,
                    vs_size_text(tensors ? m->tensors : m->peak_allocated),
                    vs_size_text(tensors && m->tensors_reserved ? m->tensors_reserved : m->peak_reserved),
                    used ? vs_size_text(used) : "-",
                    used ? vs_size_text(total > used ? total - used : 0) : "-");
        } else {
            fputs("  ", out);
            put_padded(out, row->label, width);
            fprintf(out, "  %10s  %10s", vs_size_text(m->peak_allocated),
                    vs_size_text(m->peak_reserved));
        }
        fputs("  ", out);
        put_padded(out, row->ending, end);
        /* The trace in the last column, or where that is too narrow on a line of its own. */
        int before = end + (ranks ? 2 + 4 + 2 + 3 + 3 * 12 + 13 + 2 : 2 + width + 2 * 12 + 2);
        bool fits = before + 2 + (int)vs_text_width(m->path + folder) <= (int)style->width;
        fputs(fits ? "  " : "\n      ", out);
        vs_text_put(out, m->path + folder);
        fputc('\n', out);
    }
}

void vs_tree_text(const struct vs_tree *tree, const struct vs_style *style)
{
    struct rows rows;
    fill_rows(&rows, tree);
    put_members(&rows, of_a_job(tree), style);
    /* Peaks of several processes together, if some are known only as sums. */
    size_t partial = 0;
    for (size_t i = 0; i < tree->count; i++)
        partial += tree->members[i].partial;
    if (partial)
        vs_text_lines(
            style, vs_text_mark(style, "partial"),
            "%zu of these traces %s sampled or limited: figures per process are exact, the "
            "combined ones approximate",
            partial, partial == 1 ? "is" : "are");
    put_gpus(tree, style);
    free(rows.items);
    free(rows.next);
    free(rows.first);
}

void vs_tree_json(const struct vs_tree *tree, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.family/1");
    for (uint32_t i = 0; vs_json_next_object(&json, "processes", i, tree->count); i++) {
        const struct vs_tree_member *m = &tree->members[i];
        vs_json_members(&json, VS_J_TEXT("trace", m->path), VS_J_TEXT("program", m->program),
                        VS_J_UINT_IF(m->job.has_rank, "rank", m->job.rank),
                        VS_J_UINT("run", m->run), VS_J_UINT("pid", m->pid),
                        VS_J_UINT("parent_pid", m->ppid), VS_J_UINT("born_ns", m->born_ns),
                        VS_J_TEXT("link", link_names[m->link]),
                        VS_J_KNOWN("parent", m->parent != VS_TREE_NONE, m->parent),
                        VS_J_UINT("peak_allocated_bytes", m->peak_allocated),
                        VS_J_UINT("peak_reserved_bytes", m->peak_reserved),
                        VS_J_KNOWN("peak_tensors_bytes", m->has_tensors, m->tensors),
                        VS_J_KNOWN("device_used_bytes", m->device_used, m->device_used),
                        VS_J_BOOL("partial", m->partial), VS_J_BOOL("has_end", m->has_end));
        if (m->has_end)
            vs_json_members(&json, VS_J_UINT("end_reason", m->end_reason),
                            VS_J_UINT("end_status", m->end_status));
    }
    for (size_t g = 0; vs_json_next_object(&json, "devices", g, tree->gpu_count); g++) {
        const struct vs_tree_gpu *gpu = &tree->gpus[g];
        vs_json_members(&json, VS_J_TEXT("name", gpu->name), VS_J_TEXT("uuid", gpu->uuid),
                        VS_J_UINT("number", gpu->number), VS_J_UINT("processes", gpu->users),
                        VS_J_UINT("peak_allocated_bytes", gpu->peak_allocated),
                        VS_J_UINT("peak_allocated_ns", gpu->peak_allocated_ns),
                        VS_J_UINT("peak_reserved_bytes", gpu->peak_reserved),
                        VS_J_UINT("peak_reserved_ns", gpu->peak_reserved_ns));
        for (size_t i = 0; vs_json_next(&json, "shares", i, tree->count); i++)
            vs_json_uint(&json, NULL, gpu->shares[i]);
    }
    vs_json_end_object(&json);
    fputc('\n', out);
}
