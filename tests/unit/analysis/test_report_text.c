/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of `vramscope report`, compared with files in tests/golden/text, which show what a user
 * reads. Lines of the source are written as N. With the argument --write it writes the files. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/checkpoint/trace_state.h"
#include "support/trace_builder.h"
#include "viewer/report/report_text.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define KEPT __attribute__((noinline, noclone, unused))
#define BASE UINT64_C(0x700000000000)

static struct vs_builder b;

/* A call site: the innermost function of the stack is the caller of this one. */
static void alloc_at(uint64_t stack, enum vs_family family, uint64_t addr, uint64_t bytes,
                     uint64_t size)
{
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_alloc,
        .alloc = {.addr = addr, .requested = bytes, .size = size, .family = family,
                  .api = vs_builder_string(&b, family == VS_FAMILY_DEVICE ? "cudaMalloc"
                                                                          : "cudaMallocManaged"),
                  .stack = stack}});
}

#define SITE(name) \
    KEPT static void name(uint64_t addr, uint64_t bytes) \
    { \
        alloc_at(vs_recorder_stack(b.recorder, 0), VS_FAMILY_DEVICE, addr, bytes, bytes); \
        __asm__ volatile(""); \
    }
SITE(load_weights)
SITE(log_activation)
SITE(run_layer)
SITE(make_scratch_buffer_for_the_convolution_of_one_layer)

KEPT static void round_up(uint64_t addr, uint64_t bytes)
{
    alloc_at(vs_recorder_stack(b.recorder, 0), VS_FAMILY_DEVICE, addr, bytes, 2 * MIB);
    __asm__ volatile("");
}

KEPT static void refuse(uint64_t bytes)
{
    uint64_t stack = b.stack;
    b.stack = vs_recorder_stack(b.recorder, 0);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, bytes, 3 * MIB, GIB);
    b.stack = stack;
    __asm__ volatile("");
}

static void start(const char *policy)
{
    vs_builder_open(&b, policy);
    b.tick_ns = 1000000;
    vs_builder_device(&b, 0, "Test GPU", GIB);
}

/* Three steps of forward and backward; a buffer of each step stays. */
static void training(uint64_t kept)
{
    load_weights(BASE, 64 * MIB);
    for (unsigned step = 1; step <= 6; step++) {
        vs_builder_step(&b, step);
        vs_builder_push(&b, "forward");
        run_layer(BASE + step * GIB, 100 * MIB);
        if (kept)
            log_activation(BASE + (100 + step) * GIB, kept);
        vs_builder_pop(&b);
        vs_builder_push(&b, "backward");
        run_layer(BASE + (200 + step) * GIB, 30 * MIB);
        vs_builder_free(&b, 0, BASE + step * GIB);
        vs_builder_free(&b, 0, BASE + (200 + step) * GIB);
        vs_builder_pop(&b);
        vs_builder_pop(&b);
    }
}

static void build_training(void)
{
    start("observe");
    training(0);
    vs_builder_free(&b, 0, BASE);
}

static void build_leak(void)
{
    start("observe");
    training(16 * MIB);
    refuse(900 * MIB);
}

static void build_segments(void)
{
    start("caching");
    for (unsigned i = 0; i < 3; i++)
        vs_builder_segment(&b, 0, BASE + i * GIB, 20 * MIB);
    vs_builder_event(&b, EVENT(segment_alloc, .addr = BASE + 9 * GIB, .size = 2 * MIB, .stream = 7,
                               .pool = 1));
    load_weights(BASE, 20 * MIB);
    run_layer(BASE + GIB, 5 * MIB);
    run_layer(BASE + GIB + 15 * MIB, 5 * MIB);
    for (unsigned i = 0; i < 20; i++)
        run_layer(BASE + 2 * GIB + i * MIB, MIB / 4);
    round_up(BASE + 9 * GIB, MIB / 2);
}

/* A phase that does not have the peak of the whole trace, and one before any memory. */
static void build_segments_of_phases(void)
{
    start("caching");
    vs_builder_push(&b, "before");
    vs_builder_pop(&b);
    vs_builder_segment(&b, 0, BASE, 20 * MIB);
    load_weights(BASE, 2 * MIB);
    vs_builder_push(&b, "large");
    run_layer(BASE + 2 * MIB, 16 * MIB);
    vs_builder_free(&b, 0, BASE + 2 * MIB);
    vs_builder_pop(&b);
    vs_builder_push(&b, "small");
    run_layer(BASE + 2 * MIB, 5 * MIB);
    vs_builder_free(&b, 0, BASE + 2 * MIB);
    vs_builder_pop(&b);
}

KEPT static void request_segment(uint64_t addr, uint64_t bytes)
{
    vs_builder_event(&b, EVENT(segment_alloc, .addr = addr, .size = bytes,
                               .stack = vs_recorder_stack(b.recorder, 0)));
    __asm__ volatile("");
}

/* Of three segments one is used in part, one is free. */
static void build_cached(void)
{
    start("caching");
    for (unsigned i = 0; i < 3; i++)
        request_segment(BASE + i * GIB, 20 * MIB);
    load_weights(BASE, 20 * MIB);
    run_layer(BASE + GIB, 15 * MIB);
    log_activation(BASE + 2 * GIB, 20 * MIB);
    vs_builder_free(&b, 0, BASE + 2 * GIB);
}

/* 41 segments, of which 30 and then 10 look the same. */
static void build_equal_segments(void)
{
    start("caching");
    for (unsigned i = 0; i < 41; i++) {
        vs_builder_segment(&b, 0, BASE + i * GIB, 20 * MIB);
        run_layer(BASE + i * GIB, i == 30 ? 19 * MIB : i < 30 ? 16 * MIB : 20 * MIB);
    }
}

static void build_storm(void)
{
    start("observe");
    load_weights(BASE, 512 * MIB);
    for (unsigned i = 0; i < 1000; i++)
        refuse((600 + i % 3) * MIB);
    b.tick_ns = 1000;
    run_layer(BASE + GIB, 8 * MIB);
}

static void build_recovered(void)
{
    start("observe");
    refuse(700 * MIB);
    load_weights(BASE, 700 * MIB);
}

static void build_churn(void)
{
    start("observe");
    for (unsigned step = 1; step <= 4; step++) {
        vs_builder_step(&b, step);
        for (unsigned i = 0; i < 50; i++) {
            make_scratch_buffer_for_the_convolution_of_one_layer(BASE, 16 * MIB);
            vs_builder_free(&b, 0, BASE);
        }
        vs_builder_pop(&b);
    }
}

static void build_unused(void)
{
    start("observe");
    load_weights(BASE, 64 * MIB);
    vs_builder_kernel(&b, 0, 7, "matmul", 1000000, 500000);
    run_layer(BASE + GIB, 32 * MIB);
}

static void tensor(uint64_t addr, uint64_t size, uint64_t total)
{
    vs_builder_event(&b, EVENT(framework_alloc, .addr = addr, .size = size,
                               .total_allocated = total, .total_reserved = 40 * MIB));
}

static void build_tensors(void)
{
    start("observe");
    alloc_at(0, VS_FAMILY_DEVICE, BASE, 20 * MIB, 20 * MIB);
    for (unsigned i = 0; i < 3; i++)
        vs_builder_event(&b, EVENT(framework_alloc, .addr = BASE + i * 6 * MIB, .size = 4 * MIB,
                                   .total_allocated = (i + 1) * 4 * MIB,
                                   .total_reserved = 20 * MIB));
}

/* The first step begins before the program uses the device, and PyTorch before any tensor: its peak is that
 * of its tensor, and it keeps one that the later steps replace. */
static void build_first_use_in_step(void)
{
    vs_builder_open(&b, "observe");
    b.tick_ns = 1000000;
    for (unsigned step = 0; step < 3; step++) {
        vs_builder_step(&b, step);
        if (step == 0) {
            vs_builder_device(&b, 0, "Test GPU", GIB);
            alloc_at(0, VS_FAMILY_DEVICE, BASE, 40 * MIB, 40 * MIB);
        }
        tensor(BASE + (step % 2) * 20 * MIB, 10 * MIB, step ? 20 * MIB : 10 * MIB);
        if (step)
            vs_builder_event(&b, EVENT(framework_free, .addr = BASE + (1 - step % 2) * 20 * MIB,
                                       .size = 10 * MIB, .total_allocated = 10 * MIB,
                                       .total_reserved = 40 * MIB));
        vs_builder_pop(&b);
    }
}

/* --- */

/* "file.c:123" and "function:123" become "…:N"; the rest stays. */
static char *without_lines(const char *text)
{
    char *out = malloc(strlen(text) + 1), *to = out;
    for (const char *p = text; *p; p++) {
        *to++ = *p;
        bool line = *p == ':' && isdigit((unsigned char)p[1]) && p > text &&
                    (isalpha((unsigned char)p[-1]) || p[-1] == '_');
        if (!line)
            continue;
        while (isdigit((unsigned char)p[1]))
            p++;
        *to++ = 'N';
    }
    *to = 0;
    return out;
}

/* The number of the event that is number *at* without those of loaded objects, of which there are
 * more with a sanitizer. */
static uint64_t event_number(struct vs_reader *reader, uint64_t at)
{
    struct vs_event event;
    uint64_t number = 0;
    while (at && vs_reader_next(reader, &event) == VS_OK) {
        number++;
        at -= event.kind != VS_EVENT_module;
    }
    return number;
}

static char *text_of(const struct vs_report_wish *wish, uint64_t at, bool ascii)
{
    struct vs_reader *reader;
    struct vs_report *report;
    char why[VS_READER_WHY_MAX], *text = NULL;
    size_t size;
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    struct vs_time_window window = {.to = {.given = at != 0, .by_event = true, .value = event_number(reader, at)}};
    struct vs_report_options options = {.window = &window, .wish = wish};
    assert_int_equal(vs_report_build(reader, "trace.vst", &options, &report), VS_OK);
    report->trace_bytes = report->events = 0; /* sanitizers load more objects, an event each */
    report->part.last_event = at;
    FILE *out = open_memstream(&text, &size);
    struct vs_style style = {.out = out, .ascii = ascii, .width = 80, .sites = 5, .kernels = 5};
    vs_report_text(report, 0, &style);
    fclose(out);
    vs_report_free(report);
    vs_reader_close(reader);
    char *plain = without_lines(text);
    free(text);
    return plain;
}

static const struct {
    const char *name;
    void (*build)(void);
    struct vs_report_wish wish;
    uint64_t at; /* event_number; 0: whole trace */
    bool ascii;
} cases[] = {
    {.name = "training", .build = build_training},
    {.name = "training_by_all", .build = build_training,
     .wish = {.by = (1u << VS_BY_COUNT) - 1}},
    {.name = "leak", .build = build_leak},
    {.name = "leak_by_step", .build = build_leak, .wish = {.by = 1u << VS_BY_STEP | 1u << VS_BY_AGE}},
    {.name = "leak_of_steps_2_and_3", .build = build_leak,
     .wish = {.filter = {.steps = true, .step_from = 2, .step_to = 3, .min_bytes = MIB}}},
    {.name = "moment", .build = build_leak, .at = 7},
    {.name = "moment_by_phase", .build = build_leak, .at = 7, .wish = {.by = 1u << VS_BY_PHASE}},
    {.name = "phase", .build = build_leak, .wish = {.filter = {.phase = "step / forward"}}},
    {.name = "phase_in_steps", .build = build_leak,
     .wish = {.by = 1u << VS_BY_SITE | 1u << VS_BY_SIZE,
              .filter = {.phase = "forward", .steps = true, .step_from = 2, .step_to = 3}}},
    {.name = "phase_map", .build = build_segments_of_phases, .wish = {.map = true, .filter = {.phase = "small"}}},
    {.name = "phase_without_memory", .build = build_segments_of_phases, .wish = {.filter = {.phase = "before"}}},
    {.name = "moment_cached", .build = build_cached, .at = 10},
    {.name = "moment_cached_by_site", .build = build_cached, .at = 10, .wish = {.by = 1u << VS_BY_SITE}},
    {.name = "segments", .build = build_segments},
    {.name = "segments_map", .build = build_segments, .wish = {.map = true}},
    {.name = "segments_map_ascii", .build = build_segments, .wish = {.map = true}, .ascii = true},
    {.name = "equal_segments_map", .build = build_equal_segments, .wish = {.map = true}},
    {.name = "allocations_map", .build = build_training, .wish = {.map = true}},
    {.name = "failures_storm", .build = build_storm},
    {.name = "failure_recovered", .build = build_recovered},
    {.name = "allocated_again_and_again", .build = build_churn},
    {.name = "unused", .build = build_unused},
    {.name = "first_use_in_step", .build = build_first_use_in_step},
    {.name = "phase_of_tensors", .build = build_first_use_in_step, .wish = {.filter = {.phase = "step"}}},
    {.name = "tensors", .build = build_tensors, .wish = {.by = 1u << VS_BY_SITE | 1u << VS_BY_KIND,
                                                         .map = true}},
};
#define CASES (sizeof cases / sizeof *cases)

static char *read_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 65536);
    if (file) {
        size_t size = fread(text, 1, 65535, file);
        text[size] = 0;
        fclose(file);
    }
    return text;
}

static bool writing;

static void check_case(size_t i)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.txt", VS_GOLDEN_TEXT, cases[i].name);
    cases[i].build();
    vs_builder_close(&b, VS_END_EXIT, 0);
    char *text = text_of(&cases[i].wish, cases[i].at, cases[i].ascii);
    if (writing) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
    char *golden = read_golden(path);
    if (strcmp(text, golden) != 0)
        fail_msg("%s differs; now it is:\n%s", path, text);
    free(golden);
    free(text);
}

static void the_text_is_as_in_its_golden_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        check_case(i);
}

static size_t columns(const char *line, const char *end)
{
    size_t count = 0;
    for (; line < end; line++)
        count += ((unsigned char)*line & 0xc0) != 0x80;
    return count;
}

static void no_line_is_wider_than_80_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.txt", VS_GOLDEN_TEXT, cases[i].name);
        char *text = read_golden(path);
        for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
            if (columns(line, end) > 80)
                fail_msg("%s: %.*s", path, (int)(end - line), line);
        free(text);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_as_in_its_golden_file),
        cmocka_unit_test(no_line_is_wider_than_80_columns),
    };
    writing = argc > 1 && strcmp(argv[1], "--write") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
