/* SPDX-License-Identifier: Apache-2.0
 *
 * On the simulated GPU each process has a device of its own, so that no process can
 * take memory from another there. */
#include "viewer/report/answer_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/vs_size.h"
#include "viewer/common/json_writer.h"
#include "viewer/report/report_parts.h"

#define PROGRAM_SHOWN 24u
#define NAME_MAX_BYTES (4 * PROGRAM_SHOWN + 32)

static const struct vs_oom_process *process_of(const struct vs_oom_family *family,
                                               const struct vs_tree_member *member)
{
    for (size_t i = 0; i < family->count; i++)
        if (strcmp(family->items[i].path, member->path) == 0)
            return &family->items[i];
    return NULL;
}

static uint32_t member_of(const struct vs_oom_family *family, const struct vs_oom_process *process)
{
    for (uint32_t i = 0; i < family->tree->count; i++)
        if (strcmp(family->tree->members[i].path, process->path) == 0)
            return i;
    return VS_TREE_NONE;
}

static const struct vs_tree_gpu *gpu_of(const struct vs_oom_family *family,
                                        const struct vs_oom_process *process)
{
    for (size_t i = 0; *process->uuid && i < family->tree->gpu_count; i++)
        if (strcmp(family->tree->gpus[i].uuid, process->uuid) == 0)
            return &family->tree->gpus[i];
    return NULL;
}

static const char *name_of(char out[NAME_MAX_BYTES], const struct vs_tree_member *m)
{
    char program[4 * PROGRAM_SHOWN + 4];
    snprintf(out, NAME_MAX_BYTES, "%s%s (%" PRIu64 ")",
             vs_text_clip(program, m->program, PROGRAM_SHOWN), vs_rank_text(&m->job), m->pid);
    return out;
}

static void put_processes(const struct vs_oom_family *family, const struct vs_style *style)
{
    const struct vs_tree *tree = family->tree;
    char name[NAME_MAX_BYTES], what[VS_FAILURE_WHAT_MAX];
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct vs_oom_process *p = process_of(family, &tree->members[i]);
        if (!p)
            continue;
        fprintf(style->out, "  ");
        vs_text_put(style->out, name_of(name, &tree->members[i]));
        if (!p->failed && !p->failures)
            fprintf(style->out, "  no allocation failed\n");
        else if (!p->failed)
            fprintf(style->out, "  recovered from %" PRIu64 " failure%s\n", p->failures,
                    p->failures == 1 ? "" : "s");
        else
            fprintf(style->out, "  %s at %s: %.*s\n", vs_failure_what(what, &p->failure),
                    vs_time_text(p->time_ns), (int)strcspn(p->verdict->words, ":"),
                    p->verdict->words);
    }
}

static void put_row(const struct vs_style *style, uint64_t bytes, uint64_t total, const char *name,
                    uint64_t contexts)
{
    fprintf(style->out, "  %12s  %7s  ", vs_size_text(bytes),
            total ? vs_percent_text(bytes, total) : "");
    vs_text_put(style->out, name);
    if (contexts)
        fprintf(style->out, ", %s of it CUDA contexts", vs_size_text(contexts));
    fputc('\n', style->out);
}

/* Whether the request would have fitted without the other processes. */
static bool others_suffice(const struct vs_oom_process *p, const struct vs_tree_gpu *gpu,
                           uint64_t others)
{
    return gpu && !gpu->simulated && others && p->missing && others >= p->missing;
}

void vs_oom_family_text(const struct vs_oom_family *family, const struct vs_style *style)
{
    char name[NAME_MAX_BYTES];
    size_t failed = 0;
    for (size_t i = 0; i < family->count; i++)
        failed += family->items[i].failed;
    if (family->first >= family->count) {
        fprintf(style->out, "none of %zu processes ran out of memory\n", family->count);
        put_processes(family, style);
        return;
    }
    const struct vs_oom_process *p = &family->items[family->first];
    const struct vs_tree_gpu *gpu = gpu_of(family, p);
    uint32_t member = member_of(family, p);
    fprintf(style->out, "%s%zu of %zu processes ran out of memory%s%s ", vs_paint(style, VS_BAD),
            failed, family->count, vs_unpaint(style), failed == 1 ? ":" : ", first");
    if (member != VS_TREE_NONE)
        vs_text_put(style->out, name_of(name, &family->tree->members[member]));
    fputc('\n', style->out);
    put_processes(family, style);
    if (gpu) {
        const struct vs_tree *tree = family->tree;
        unsigned shown = 0;
        fprintf(style->out, "\n%s", vs_paint(style, VS_BOLD));
        vs_text_put(style->out, *gpu->name ? gpu->name : "the device");
        fprintf(style->out, ", %s, at that time%s\n", vs_size_text(gpu->total_bytes),
                vs_unpaint(style));
        for (uint32_t i = 0; i < tree->count; i++) {
            const struct vs_tree_held *held = &gpu->held[i];
            if (!held->reserved && !held->contexts)
                continue;
            put_row(style, held->reserved + held->contexts, gpu->total_bytes,
                    name_of(name, &tree->members[i]), held->contexts);
            shown++;
        }
        if (shown > 1 && !gpu->simulated)
            put_row(style, vs_tree_total(tree, gpu, VS_TREE_NONE), gpu->total_bytes,
                    "all these processes", 0);
    }
    fputc('\n', style->out);
    uint64_t others = gpu ? vs_tree_total(family->tree, gpu, member) : 0;
    const char *held = vs_size_text(others), *missing = vs_size_text(p->missing);
    if (others_suffice(p, gpu, others))
        vs_text_lines(style, "cause  ", "the processes together need more than the device has: it "
                      "was short by %s, and the others held %s", missing, held);
    else if (gpu && gpu->simulated && others)
        vs_text_lines(style, "cause  ", "the process itself: on the simulated GPU each process has "
                      "a device of its own. On one real device, the others would take %s of it",
                      held);
    else if (others)
        vs_text_lines(style, "cause  ", "the process itself: without the %s of the others it would "
                      "still have failed, short by %s", held, missing);
    else
        vs_text_wrapped(style, "cause  ",
                        "the process itself: the others held no memory of that device");
}

void vs_oom_family_json(const struct vs_oom_family *family, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.oom.family/1");
    const struct vs_tree *tree = family->tree;
    const struct vs_oom_process *p =
        family->first < family->count ? &family->items[family->first] : NULL;
    const struct vs_tree_gpu *gpu = p ? gpu_of(family, p) : NULL;
    for (uint32_t i = 0; vs_json_next_object(&json, "processes", i, tree->count); i++) {
        const struct vs_tree_member *m = &tree->members[i];
        const struct vs_oom_process *one = process_of(family, m);
        vs_json_members(&json, VS_J_TEXT("trace", m->path), VS_J_TEXT("program", m->program),
                        VS_J_UINT_IF(m->job.has_rank, "rank", m->job.rank),
                            VS_J_UINT("pid", m->pid),
                        VS_J_UINT("failures", one ? one->failures : 0),
                        VS_J_UINT("recovered", one ? one->recovered : 0));
        if (one && one->failed)
            vs_json_object(&json, "failure", VS_J_TEXT("verdict", one->verdict->name),
                           VS_J_UINT("time_ns", one->time_ns),
                           VS_J_TEXT("what", vs_failure_key(&one->failure)),
                           VS_J_UINT("requested_bytes", one->failure.requested),
                           VS_J_UINT("missing_bytes", one->missing));
        else
            vs_json_string(&json, "failure", NULL);
    }
    if (p) {
        uint32_t member = member_of(family, p);
        bool together = others_suffice(p, gpu, gpu ? vs_tree_total(tree, gpu, member) : 0);
        vs_json_members(&json, VS_J_UINT("first", member),
                        VS_J_UINT("first_ns", tree->requested_ns),
                        VS_J_TEXT("cause", together ? "together" : "itself"));
    } else {
        vs_json_members(&json, VS_J_TEXT("first", NULL), VS_J_UINT("first_ns", 0),
                        VS_J_TEXT("cause", NULL));
    }
    for (size_t i = 0; vs_json_next_object(&json, "devices", i, p ? tree->gpu_count : 0); i++) {
        const struct vs_tree_gpu *device = &tree->gpus[i];
        vs_json_members(&json, VS_J_TEXT("name", device->name), VS_J_TEXT("uuid", device->uuid),
                        VS_J_UINT("total_bytes", device->total_bytes),
                        VS_J_BOOL("simulated", device->simulated));
        for (uint32_t k = 0; vs_json_next(&json, "held", k, tree->count); k++)
            vs_json_object(&json, NULL, VS_J_UINT("reserved_bytes", device->held[k].reserved),
                           VS_J_UINT("context_bytes", device->held[k].contexts));
    }
    vs_json_end_object(&json);
}
