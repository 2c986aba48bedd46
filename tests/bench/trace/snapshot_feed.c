/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The times of a snapshot are in the past of this machine's clock; they are shifted
 * so that the first is the present. */
#define _GNU_SOURCE
#include "snapshot_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_clock.h"
#include "trace/record/recorder_internal.h"

struct line {
    char what[16];
    char *texts[2];
    uint64_t numbers[5];
};

struct vs_snapshot {
    struct line *lines;
    size_t count, capacity;
    uint64_t events;
};

static const struct {
    const char *name;
    unsigned texts, numbers;
} shapes[] = {{"function", 2, 0}, {"node", 0, 3},          {"alloc", 0, 5},
              {"free", 0, 4},     {"segment_alloc", 0, 5}, {"segment_free", 0, 3}};
#define SHAPES (sizeof shapes / sizeof *shapes)

static bool parse(char *text, struct line *line)
{
    char *word = strsep(&text, "\t\n");
    size_t shape = 0;
    while (shape < SHAPES && strcmp(word, shapes[shape].name) != 0)
        shape++;
    if (shape == SHAPES)
        return false;
    snprintf(line->what, sizeof line->what, "%s", word);
    for (unsigned i = 0; i < shapes[shape].texts; i++) {
        if (!(word = strsep(&text, "\t\n")) || !(line->texts[i] = strdup(word)))
            return false;
    }
    for (unsigned i = 0; i < shapes[shape].numbers; i++) {
        if (!(word = strsep(&text, "\t\n")))
            return false;
        line->numbers[i] = strtoull(word, NULL, 10);
    }
    return true;
}

static bool add_line(struct vs_snapshot *s, char *text)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? s->capacity * 2 : 4096;
        struct line *lines = realloc(s->lines, capacity * sizeof *lines);
        if (!lines)
            return false;
        s->lines = lines;
        s->capacity = capacity;
    }
    struct line *line = &s->lines[s->count++];
    memset(line, 0, sizeof *line);
    if (!parse(text, line))
        return false;
    s->events += line->what[0] != 'n' && strcmp(line->what, "function") != 0;
    return true;
}

struct vs_snapshot *vs_snapshot_load(const char *path)
{
    FILE *file = fopen(path, "r");
    struct vs_snapshot *s = file ? calloc(1, sizeof *s) : NULL;
    char *text = NULL;
    size_t room = 0;
    bool good = s != NULL;
    while (good && getline(&text, &room, file) > 0)
        good = add_line(s, text);
    free(text);
    if (file)
        fclose(file);
    if (good && s->events)
        return s;
    vs_snapshot_free(s);
    return NULL;
}

void vs_snapshot_free(struct vs_snapshot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        free(s->lines[i].texts[0]);
        free(s->lines[i].texts[1]);
    }
    free(s->lines);
    free(s);
}

uint64_t vs_snapshot_events(const struct vs_snapshot *s)
{
    return s->events;
}

struct feed {
    struct vs_recorder *recorder;
    uint64_t first_us, start_ns, random, functions;
    uint64_t malloc_name, free_name;
    bool digits;
};

static void feed_function(struct feed *f, const struct line *line)
{
    struct vs_event e = {.kind = VS_EVENT_module};
    e.module.module = f->functions++;
    e.module.path = vs_recorder_string(f->recorder, line->texts[0], SIZE_MAX);
    e.module.function = vs_recorder_string(f->recorder, line->texts[1], SIZE_MAX);
    e.module.alive = 1;
    vs_recorder_event(f->recorder, &e);
}

static void feed_node(struct feed *f, const struct line *line)
{
    struct vs_recorder *r = f->recorder;
    vs_recorder_acquire(r);
    if (vs_window_reserve_locked(r, VS_STACK_NODE_BYTES_MAX))
        vs_intern_node_locked(r, line->numbers[0], line->numbers[1], line->numbers[2]);
    vs_recorder_release(r);
}

static void feed_event(struct feed *f, const struct line *line)
{
    const uint64_t *n = line->numbers;
    struct vs_event e = {0};
    if (!f->first_us)
        f->first_us = n[0];
    e.time_ns = f->start_ns + (n[0] - f->first_us) * 1000;
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (f->digits)
        e.time_ns += (f->random >> 33) % 1000;
    if (!strcmp(line->what, "alloc")) {
        e.kind = VS_EVENT_alloc;
        e.alloc.addr = n[1];
        e.alloc.requested = e.alloc.size = n[2];
        e.alloc.context = e.alloc.stream = 1 + n[3];
        e.alloc.api = f->malloc_name;
        e.alloc.stack = n[4];
    } else if (!strcmp(line->what, "free")) {
        e.kind = VS_EVENT_free;
        e.free.addr = n[1];
        e.free.stream = 1 + n[2];
        e.free.api = f->free_name;
        e.free.stack = n[3];
    } else if (!strcmp(line->what, "segment_alloc")) {
        e.kind = VS_EVENT_segment_alloc;
        e.segment_alloc.addr = n[1];
        e.segment_alloc.size = n[2];
        e.segment_alloc.context = e.segment_alloc.stream = 1 + n[3];
        e.segment_alloc.stack = n[4];
    } else {
        e.kind = VS_EVENT_segment_free;
        e.segment_free.addr = n[1];
        e.segment_free.size = n[2];
    }
    vs_recorder_event(f->recorder, &e);
}

void vs_snapshot_feed(struct vs_snapshot *s, struct vs_recorder *recorder, bool digits)
{
    struct feed f = {.recorder = recorder, .start_ns = vs_clock_ns(), .digits = digits};
    f.malloc_name = vs_recorder_string(recorder, "cudaMalloc", SIZE_MAX);
    f.free_name = vs_recorder_string(recorder, "cudaFree", SIZE_MAX);
    for (size_t i = 0; i < s->count; i++) {
        const struct line *line = &s->lines[i];
        if (!strcmp(line->what, "function"))
            feed_function(&f, line);
        else if (!strcmp(line->what, "node"))
            feed_node(&f, line);
        else
            feed_event(&f, line);
    }
}
