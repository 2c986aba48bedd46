/* SPDX-License-Identifier: Apache-2.0
 *
 * A call site is chosen by the function and line that the report names it by, in whichever stack they are:
 * that is what an expression of `vramscope replay` can say. */
#include "analysis/whatif/whatif_changes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/naming/naming.h"
#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define CHANGES_MAX 80
#define FRAMES_MAX 20      /* call sites that are tried */
#define FRAME_TEXT_MAX 320 /* longer ones are not: nobody reads the command */
#define MATCHED_MAX 1024   /* of a frame that an expression is matched with */
/* Runs of all changes: entries in all, for each entry of the log, and at least. */
#define RUN_ENTRIES_EACH 3
#define RUN_ENTRIES_LEAST 5000000

const char *const vs_whatif_swept[] = {
    "expandable_segments:True",
    "max_split_size_mb:32",
    "max_split_size_mb:128",
    "max_split_size_mb:512",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
    "large_segment_size_mb:32",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.99",
    "expandable_segments:True,roundup_power2_divisions:8",
    "max_split_size_mb:128,garbage_collection_threshold:0.8,per_process_memory_fraction:0.99",
    NULL,
};

const char *vs_tried_name(enum vs_tried what)
{
    static const char *const names[VS_TRIED_COUNT] = {
        "nothing", "setting", "policy", "empty_cache", "no_limit", "no_other_processes", "trim_pools",
        "free_at_step_end", "without", "together"};
    return names[what];
}

const char *vs_whatif_recorded_name(const struct vs_whatif_recorded *recorded)
{
    if (recorded->requests == VS_WHATIF_PROGRAM && !recorded->cached)
        return "observe";
    if (*recorded->conf)
        return recorded->conf;
    if (recorded->policy == VS_POLICY_EXPANDABLE)
        return "expandable_segments:True";
    return vs_policies[recorded->policy]->name;
}

/* --- call sites --- */

static void frame_text(const struct vs_chain_frame *frame, char text[MATCHED_MAX])
{
    const char *file = frame->file ? vs_text_base_name(frame->file) : NULL;
    if (file)
        snprintf(text, MATCHED_MAX, "%s (%s:%u)", frame->function, file, frame->line);
    else
        snprintf(text, MATCHED_MAX, "%s", frame->function);
}

size_t vs_whatif_match(const struct vs_whatif_log *log, const struct vs_reader *reader, const regex_t *expression,
                       enum vs_whatif_site_rule rule, struct vs_whatif_site *sites)
{
    struct vs_symbols *symbols = vs_symbols_open(reader);
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    char text[MATCHED_MAX];
    size_t found = 0;
    for (size_t i = 0; i < log->site_count; i++) {
        bool matches = false;
        size_t count = vs_naming_chain(reader, symbols, log->stacks[i], false, chain);
        for (size_t k = 0; k < count && !matches; k++) {
            frame_text(&chain[k], text);
            matches = regexec(expression, text, 0, NULL, 0) == 0;
        }
        if (matches)
            sites[found++] = (struct vs_whatif_site){log->stacks[i], rule, 0, rule == VS_WHATIF_ABSENT};
    }
    vs_symbols_close(symbols);
    return found;
}

/* A frame that call sites are chosen by, with the sites that have it. */
struct chosen_frame {
    const char *text;
    const char *shown;  /* the same as the report prints it */
    const char *option; /* the expression that matches it and nothing else */
    bool calls;         /* some are of the user's functions that it calls */
    uint64_t *stacks;
    size_t count, capacity;
};

static const char *expression_of(struct vs_arena *memory, const char *text)
{
    char out[4 * FRAME_TEXT_MAX + 8], *at = out;
    *at++ = '^';
    for (; *text; text++) {
        if (strchr(".[\\()*+?{|^$", *text))
            *at++ = '\\';
        *at++ = *text;
    }
    *at++ = '$';
    *at = 0;
    return vs_xarena_text(memory, out);
}

static bool is_plain(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)text[i]))
            return false;
    return length && length < FRAME_TEXT_MAX;
}

/* The frames of *query*, each once, with their stacks; returns how many have any. Python code is named
 * without looking up the libraries' names. */
static size_t choose_frames(const struct vs_whatif_log *log, const struct vs_reader *reader,
                            const struct vs_changes_query *query, struct vs_arena *memory,
                            struct chosen_frame frames[FRAMES_MAX])
{
    struct vs_symbols *symbols = vs_symbols_open(reader);
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    char text[MATCHED_MAX], shown[MATCHED_MAX];
    size_t count = 0, used = 0;
    for (size_t i = 0; i < query->frame_count && count < FRAMES_MAX; i++) {
        bool known = !is_plain(query->frames[i]);
        for (size_t k = 0; k < count; k++)
            known |= strcmp(frames[k].text, query->frames[i]) == 0;
        if (!known)
            frames[count++] = (struct chosen_frame){.text = query->frames[i]};
    }
    for (size_t i = 0; count && i < log->site_count; i++) {
        size_t depth = vs_naming_chain(reader, symbols, log->stacks[i], true, chain);
        if (!depth)
            depth = vs_naming_chain(reader, symbols, log->stacks[i], false, chain);
        for (size_t k = 0; k < depth; k++) {
            frame_text(&chain[k], text);
            for (size_t f = 0; f < count; f++) {
                struct chosen_frame *frame = &frames[f];
                bool has = frame->count && frame->stacks[frame->count - 1] == log->stacks[i];
                if (has || strcmp(frame->text, text) != 0)
                    continue;
                VS_VEC_ADD(frame->stacks, frame->count, frame->capacity, log->stacks[i]);
                if (!frame->shown)
                    frame->shown = vs_xarena_text(memory, vs_naming_text(&chain[k], shown, sizeof shown));
                for (size_t inner = 0; inner < k; inner++)
                    frame->calls |= chain[inner].python && !*chain[inner].library;
            }
        }
    }
    for (size_t f = 0; f < count; f++)
        if (frames[f].count) {
            frames[used] = frames[f];
            frames[used].option = expression_of(memory, frames[f].text);
            if (frames[used].calls)
                frames[used].shown = vs_xarena_printf(memory, "%s and what it calls", frames[f].shown);
            used++;
        }
    vs_symbols_close(symbols);
    return used;
}

/* --- the list --- */

struct change_list {
    struct vs_arena *memory;
    const struct vs_whatif_recorded *recorded;
    struct vs_whatif_change items[CHANGES_MAX];
    size_t count;
};

static struct vs_whatif_setting *add(struct change_list *list, enum vs_tried what, const char *text,
                                     const char *option, const char *value)
{
    struct vs_whatif_change *change = &list->items[list->count];
    if (list->count + 1 < CHANGES_MAX)
        list->count++;
    *change = (struct vs_whatif_change){.what = what, .text = text, .option = option, .value = value};
    vs_whatif_setting_init(&change->setting);
    return &change->setting;
}

static void set_sites(struct change_list *list, struct vs_whatif_setting *setting,
                      const struct chosen_frame *frame, enum vs_whatif_site_rule rule)
{
    size_t before = setting->site_count;
    struct vs_whatif_site *sites = vs_xarena(list->memory, (before + frame->count) * sizeof *sites);
    if (before)
        memcpy(sites, setting->sites, before * sizeof *sites);
    for (size_t i = 0; i < frame->count; i++)
        sites[before + i] = (struct vs_whatif_site){frame->stacks[i], rule, 0, rule == VS_WHATIF_ABSENT};
    setting->sites = sites;
    setting->site_count = before + frame->count;
}

static void add_setting(struct change_list *list, const char *conf)
{
    char why[VS_WHATIF_WHY_MAX];
    if (strcasecmp(conf, vs_whatif_recorded_name(list->recorded)) != 0 &&
        vs_whatif_setting_conf(add(list, VS_TRIED_SETTING, conf, "--set", conf), conf, why))
        list->count--;
}

static void add_policy(struct change_list *list, enum vs_policy_id policy)
{
    const char *name = vs_policies[policy]->name;
    if (policy != VS_POLICY_EXPANDABLE && strcmp(name, vs_whatif_recorded_name(list->recorded)) != 0)
        vs_whatif_setting_policy(add(list, VS_TRIED_POLICY, name, "--policy", name), policy);
}

/* What is about the whole program, and for the recorded run rather than for its allocator. */
static void add_whole(struct change_list *list)
{
    const struct vs_whatif_recorded *recorded = list->recorded;
    bool program = recorded->requests == VS_WHATIF_PROGRAM;
    if (recorded->limit_bytes != VS_WHATIF_NONE)
        add(list, VS_TRIED_NO_LIMIT, "", "--limit none", NULL)->limit = VS_WHATIF_NONE;
    if (recorded->others_peak)
        add(list, VS_TRIED_NO_OTHERS, "", "--others 0", NULL)->others_most = 0;
    if (recorded->pool_kept_peak)
        add(list, VS_TRIED_TRIM_POOLS, "", "--pool-keep 0", NULL)->pool_keep = 0;
    if (recorded->steps && (recorded->cached || !program))
        add(list, VS_TRIED_EMPTY_CACHE, "", "--empty-cache", NULL)->empty_cache_at_step_end = true;
}

/* By at least a thousandth. */
static bool differs(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) >= b / 1000 + 1;
}

static bool is_changed(const struct vs_whatif_outcome *now, const struct vs_whatif_outcome *before)
{
    return !now->err && (now->survives != before->survives || differs(now->reserved_peak, before->reserved_peak) ||
                         differs(now->allocated_peak, before->allocated_peak) ||
                         differs(now->used_peak, before->used_peak) || now->retries != before->retries);
}

static void run(const struct vs_whatif_log *log, struct vs_whatif_change *changes, size_t count,
                struct vs_arena *memory)
{
    struct vs_whatif_setting settings[CHANGES_MAX] = {0};
    struct vs_whatif_outcome outcomes[CHANGES_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        changes[i].setting.curve = vs_xarena(memory, sizeof *changes[i].setting.curve);
        settings[i] = changes[i].setting;
    }
    vs_whatif_run_all(log, settings, count, outcomes);
    for (size_t i = 0; i < count; i++)
        changes[i].outcome = outcomes[i];
}

/* Whether *a* is better than *b*: it gets through, or needs less. */
static bool is_better(const struct vs_whatif_outcome *a, const struct vs_whatif_outcome *b)
{
    if (a->err || b->err)
        return !a->err;
    if (a->survives != b->survives)
        return a->survives;
    return a->reserved_peak < b->reserved_peak;
}

/* All call sites whose blocks, freed at the end of their step, lower the peak, together, and the best
 * setting with them. */
static void add_together(struct change_list *list, const struct chosen_frame *frames, size_t frame_count)
{
    const struct vs_whatif_outcome *before = &list->items[0].outcome;
    const struct vs_whatif_change *best = NULL;
    struct vs_whatif_setting all;
    const char *expression = "", *text, *option = "--free-site";
    size_t sites = 0;
    vs_whatif_setting_init(&all);
    for (size_t i = 1; i < list->count; i++) {
        const struct vs_whatif_change *change = &list->items[i];
        if (change->what == VS_TRIED_SETTING && is_better(&change->outcome, best ? &best->outcome : before))
            best = change;
        for (size_t f = 0; f < frame_count && sites < 8; f++)
            if (change->what == VS_TRIED_FREE && change->text == frames[f].shown &&
                is_better(&change->outcome, before)) {
                set_sites(list, &all, &frames[f], VS_WHATIF_FREE_AT_STEP_END);
                expression = vs_xarena_printf(list->memory, "%s%s%s", expression, sites++ ? "|" : "",
                                              frames[f].option);
            }
    }
    if (!sites || (sites == 1 && !best))
        return;
    text = vs_xarena_printf(list->memory, "%zu call site%s freed at the end of the step%s%s", sites,
                            sites == 1 ? "" : "s", best ? ", with " : "", best ? best->text : "");
    if (best) {
        option = vs_xarena_printf(list->memory, "%s %s --free-site", best->option, best->value);
        all.server = best->setting.server;
        all.config = best->setting.config;
    }
    *add(list, VS_TRIED_TOGETHER, text, option, expression) = all;
}

enum vs_err vs_whatif_changes(const struct vs_whatif_log *log, const struct vs_reader *reader,
                              const struct vs_changes_query *query, struct vs_arena *memory,
                              struct vs_whatif_changes *out)
{
    struct chosen_frame frames[FRAMES_MAX];
    struct change_list list = {.memory = memory, .recorded = &log->recorded};
    size_t frame_count = choose_frames(log, reader, query, memory, frames);
    size_t most = query->most, kept = 1;
    *out = (struct vs_whatif_changes){.recorded = &log->recorded};
    add(&list, VS_TRIED_NOTHING, "", "", NULL);
    add_setting(&list, vs_whatif_swept[0]); /* helps most often */
    add_whole(&list);
    size_t settings = 1;
    for (size_t i = 0; vs_whatif_swept[settings] || i < VS_POLICY_COUNT || i < frame_count; i++) { /* in turn, so
                                                        * that a short list has some of each */
        if (i < frame_count)
            set_sites(&list, add(&list, VS_TRIED_WITHOUT, frames[i].shown, "--without-site", frames[i].option),
                      &frames[i], VS_WHATIF_ABSENT);
        if (i < frame_count && log->recorded.steps)
            set_sites(&list, add(&list, VS_TRIED_FREE, frames[i].shown, "--free-site", frames[i].option),
                      &frames[i], VS_WHATIF_FREE_AT_STEP_END);
        if (!i && list.recorded->cached)
            add(&list, VS_TRIED_POLICY, "observe", "--policy", "observe")->server = VS_WHATIF_DRIVER;
        if (vs_whatif_swept[settings])
            add_setting(&list, vs_whatif_swept[settings++]);
        if (i < VS_POLICY_COUNT)
            add_policy(&list, (enum vs_policy_id)i);
    }
    uint64_t entries = log->store.entries ? log->store.entries : 1;
    if (!most)
        most = RUN_ENTRIES_EACH + RUN_ENTRIES_LEAST / entries;
    if (list.count - 1 > most) {
        out->left_out = list.count - 1 - most;
        list.count = most + 1;
    }
    run(log, list.items, list.count, memory);
    enum vs_err err = list.items[0].outcome.err;
    size_t single = list.count;
    if (!err && !out->left_out) {
        add_together(&list, frames, frame_count);
        run(log, list.items + single, list.count - single, memory);
    }
    out->tried = list.count - 1;
    for (size_t i = 1; i < list.count; i++)
        if (is_changed(&list.items[i].outcome, &list.items[0].outcome))
            list.items[kept++] = list.items[i];
    out->items = vs_xarena(memory, kept * sizeof *out->items);
    memcpy(out->items, list.items, kept * sizeof *out->items);
    out->count = err ? 0 : kept;
    for (size_t f = 0; f < frame_count; f++)
        free(frames[f].stacks);
    return err;
}
